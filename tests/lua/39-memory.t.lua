-- 39-memory.t.lua - the simulated GPU's memory: full as a real one's, and the same in every run.

local T = require "tap"
local ideal = require "lua.ideal"

local GiB <const> = 1 << 30

-- A T4 has 16 GiB.
local function t4(overrides)
    lab.synchronize()
    return lab.open{ backend = "sim", profile = "t4", overrides = overrides }
end

local function bytes(n, options)
    options = options or {}
    options.dtype = "uint8"
    return lab.empty(n, options)
end

local function too_much()
    local device = t4()
    ideal.refuses(T, function() bytes(400 * GiB) end, "SL_ENOMEM",
                  "429496729600 bytes asked, 17179869184 of Tesla T4's 17179869184 are free",
                  "400 GiB do not fit into the 16 of a T4")
    local big, small = bytes(9 * GiB), bytes(2 * GiB)
    ideal.refuses(T, function() bytes(5 * GiB + 1) end, "SL_ENOMEM",
                  "; live here: 2 tensors, 11.0 GiB on the device, 0 operations in flight; " ..
                  "the largest: 9.0 GiB %(9663676416 uint8, 39%-memory.t.lua:%d+%), " ..
                  "2.0 GiB %(2147483648 uint8, 39%-memory.t.lua:%d+%)",
                  "what is live is said, with the lines where it was made")
    T.lives(function() bytes(5 * GiB) end, "what is left can be had to the last byte")
    T.is(lab.cuda.mem_get_info(), 5 * GiB, "cudaMemGetInfo tells what is left, garbage apart")
    big:free()
    T.is(lab.cuda.mem_get_info(), 14 * GiB, "and what free() gives back")
    T.lives(function() bytes(1 << 50, { device = "cpu", pinned = true }) end,
            "the host is not the T4")
    T.is(device.memory_bytes, 16 * GiB, "memory_bytes is the profile's")
    small:free()
end

local function plain_calls()
    t4()
    local keep = bytes(10 * GiB)
    for _, name in ipairs{ "malloc", "malloc_async" } do
        local memory, message, code = lab.cuda[name](7 * GiB)
        T.is(memory, nil, name .. " gives nil beyond what tensors have left")
        T.like(message, "6442450944 of Tesla T4's 17179869184 are free; live here: 1 tensor, " ..
               "10.0 GiB", "a sentence that says what is live")
        T.is(code, "SL_ENOMEM", "and the code")
    end
    local memory = lab.cuda.malloc(6 * GiB)
    ideal.refuses(T, function() bytes(1) end, "SL_ENOMEM", "1 bytes asked, 0 of",
                  "what cudaMalloc has is no tensor's")
    lab.cuda.free(memory)
    keep:free()
end

-- Nobody frees them; Lua does not see 6 GiB behind an object of some bytes.
local function garbage()
    t4()
    T.lives(function() for _ = 1, 50 do bytes(6 * GiB) end end,
            "garbage is collected before memory is out")
    local closed = 0
    for _ = 1, 50 do
        setmetatable({ bytes(3 * GiB) }, { __gc = function(t) t[1]:free() closed = closed + 1 end })
    end
    T.ok(closed >= 45, "with what scripts have in finalizers")
end

local function starts(tl)
    local list = {}
    for i, span in ipairs(tl:spans()) do list[i] = ("%s %.3f"):format(span.name, span.start_us) end
    return table.concat(list, "\n"), #list
end

-- Kernels hold their memory until they end, but for what comes next in their stream. Of 16 GiB,
-- four streams cannot have five each: the fourth waits.
local function times(mode, memory)
    t4(memory)
    local streams = {}
    for i = 1, 4 do streams[i] = lab.stream{} end
    collectgarbage("collect")
    if mode == "stop" then collectgarbage("stop") end
    local tl = lab.profile(function()
        for i = 1, 12 do
            local s <close> = lab.use(streams[i % 4 + 1])
            local t = lab.full(1, 5 * GiB // 4)
            if mode == "often" then collectgarbage() end
            lab.mul(t, 2, { out = t })
            if i % 4 == 0 then lab.host_work(100) end
        end
    end)
    collectgarbage("restart")
    return starts(tl)
end

local function in_flight()
    local usual, n = times("usual")
    T.is(n, 24, "memory that other streams' work in flight holds can be had")
    T.ok(usual ~= times("usual", { memory_bytes = "unlimited" }), "it is waited for")
    T.is(times("stop"), usual, "at the same times when the collector rests")
    T.is(times("often"), usual, "and when it runs all the time")
    T.lives(function()
        lab.stream{}
        local s = lab.stream{}
        for _ = 1, 10 do
            lab.spin(0.2, { stream = s })
            lab.zeros(8 * GiB, { dtype = "uint8", stream = s })
        end
        lab.synchronize()
    end, "in any stream")
end

-- Three tensors of 5 GiB fit into a T4. In one stream forty need no wait: with all the memory of
-- the world the timeline is the same.
local function one_stream(memory, free)
    t4(memory)
    local s = lab.stream{}
    local most = 0
    local tl = lab.profile(function()
        for i = 1, 40 do
            local freed = free(function(n)
                local t = lab.full(i, n // 4, { stream = s })
                lab.mul(t, 2, { out = t, stream = s })
                return t
            end, s)
            most = math.max(most, lab.live().device_bytes)
            if freed then freed:free() end
        end
    end)
    return starts(tl), most
end

local function in_stream_order()
    local ways = {
        ["freed"] = function(make) return make(5 * GiB) end,
        ["left to the collector"] = function(make) make(5 * GiB) collectgarbage() end,
        ["freed by cudaFreeAsync"] = function(_, s)
            local memory = lab.cuda.malloc_async(5 * GiB, s)
            lab.cuda.memset_async(memory, 1, 5 * GiB, s)
            lab.cuda.free_async(memory, s)
        end,
    }
    for way, free in pairs(ways) do
        local limited, most = one_stream(nil, free)
        T.ok(most <= 5 * GiB, "in one stream, " .. way .. ", the next has the same memory")
        T.is(limited, (one_stream({ memory_bytes = "unlimited" }, free)),
             "and nothing waits for it")
    end
    t4()
    local s, other = lab.stream{}, lab.stream{ non_blocking = true }
    local free_before = lab.cuda.mem_get_info()
    local function left() return (free_before - lab.cuda.mem_get_info()) // GiB end
    lab.spin(5, { stream = s })
    local function dropped() lab.ones(5 * GiB, { dtype = "uint8", stream = s }):free() end
    dropped()
    dropped()
    T.is(left(), 5, "cudaMemGetInfo counts the memory once")
    local t = lab.empty(5 * GiB, { dtype = "uint8", stream = s })
    T.is(left(), 5, "also when the last tensor has not been used")
    t:fill_(1, { stream = other })
    T.is(left(), 10, "used first in another stream, it gets memory of its own")
    t:free()
    dropped()
    dropped()
    T.is(left(), 10, "and what it had is the first stream's")
    lab.zeros(6 * GiB, { dtype = "uint8", stream = s }):free()
    T.is(left(), 16, "other sizes get other memory")
    local last = lab.empty(6 * GiB, { dtype = "uint8", stream = s })
    last:fill_(3, { stream = other })
    T.is(left(), 6, "and without any left, that other stream's use waits for the device")
    other:synchronize()
    T.is(last:get(1), 3, "and is right")
end

local function unlimited()
    local device = t4{ memory_bytes = "unlimited" }
    T.is(device.memory_bytes, math.maxinteger, "unlimited is as much as 64 bits count")
    local t = bytes(400 * GiB)
    T.is(t:numel(), 400 * GiB, "there 400 GiB fit into a T4")
    local free, total = lab.cuda.mem_get_info()
    T.is(total, math.maxinteger, "cudaMemGetInfo has the same total")
    T.is(free, total - 400 * GiB, "and what is left of it")
    t:free()
    local first = lab.empty(1 << 60)
    ideal.refuses(T, function() lab.empty((1 << 61) - 1) end, "SL_ENOMEM",
                  "9223372036854775804 bytes, with the 4611686018427387904 that are live",
                  "all that is live is counted in 63 bits")
    T.is(lab.live().device_bytes, 1 << 62, "so no count is ever negative")
    first:free()
    for _, wrong in ipairs{ "unlimted", "", 0, -1, 0 / 0, 1e19, math.huge, { 1, 2 } } do
        ideal.refuses(T, function() t4{ memory_bytes = wrong } end, "SL_EINVAL", "memory_bytes",
                      "a profile's memory is a number or unlimited, not " .. tostring(wrong))
    end
end

for _, test in ipairs{ too_much, plain_calls, garbage, in_flight, in_stream_order, unlimited } do
    test()
    collectgarbage()
end
T.done()
