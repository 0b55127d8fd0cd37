-- 39-memory.t.lua - the simulated GPU's memory: full as a real one's, and the same in every run.

local T = require "tap"
local ideal = require "lua.ideal"

local GiB <const> = 1 << 30

-- A T4 has 16 GiB.
local function t4(overrides)
    lab.synchronize()
    return lab.open{backend = "sim", profile = "t4", overrides = overrides}
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
    T.lives(function() bytes(1 << 50, {device = "cpu", pinned = true}) end,
            "the host is not the T4")
    T.is(device.memory_bytes, 16 * GiB, "memory_bytes is the profile's")
    small:free()
end

local function plain_calls()
    t4()
    local keep = bytes(10 * GiB)
    for _, name in ipairs{"malloc", "malloc_async"} do
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
        setmetatable({bytes(3 * GiB)}, {__gc = function(t) t[1]:free() closed = closed + 1 end})
    end
    T.ok(closed >= 45, "with what scripts have in finalizers")
end

-- Kernels hold their memory until they end. The outcome depends on what is reachable and what
-- is in flight, and not on when Lua collects.
local function times(mode)
    t4()
    collectgarbage("collect")
    if mode == "stop" then collectgarbage("stop") end
    local tl = lab.profile(function()
        for i = 1, 12 do
            local t = lab.full(1, 5 * GiB // 4)
            if mode == "often" then collectgarbage() end
            lab.mul(t, 2, {out = t})
            if i % 4 == 0 then lab.host_work(100) end
        end
    end)
    collectgarbage("restart")
    local list = {}
    for i, span in ipairs(tl:spans()) do list[i] = ("%s %.3f"):format(span.name, span.start_us) end
    return table.concat(list, "\n"), #list
end

local function in_flight()
    local usual, n = times("usual")
    T.is(n, 24, "memory that work in flight holds is waited for")
    T.is(times("stop"), usual, "at the same times when the collector rests")
    T.is(times("often"), usual, "and when it runs all the time")
    T.lives(function()
        lab.stream{}
        local s = lab.stream{}
        for _ = 1, 10 do
            lab.spin(0.2, {stream = s})
            lab.zeros(8 * GiB, {dtype = "uint8", stream = s})
        end
        lab.synchronize()
    end, "in any stream")
end

local function unlimited()
    local device = t4{memory_bytes = "unlimited"}
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
    for _, wrong in ipairs{"unlimted", "", 0, -1, 0 / 0, 1e19, math.huge, {1, 2}} do
        ideal.refuses(T, function() t4{memory_bytes = wrong} end, "SL_EINVAL", "memory_bytes",
                      "a profile's memory is a number or unlimited, not " .. tostring(wrong))
    end
end

for _, test in ipairs{too_much, plain_calls, garbage, in_flight, unlimited} do
    test()
    collectgarbage()
end
T.done()
