-- mixed.lua - what calls cost the host in a mixed sequence, as scripts make them: products of
-- different shapes, kernels, copies and events in several streams.
--
-- A call that is repeated finds all that it needs in the processor's caches, and its state in
-- cuBLAS and the driver; among other calls it takes up to three times as long. A script makes its
-- calls once, so between two rounds of the sequence the host does other work. The sequence is
-- random, with a fixed seed. The device needs less time for it than the host, so that no queue
-- fills.

local context = import "scripts/measure/calibrate/context.lua"
local owner = import "scripts/measure/calibrate/owner.lua"
local random = import "scripts/measure/calibrate/random.lua"
local statistics = import "repl/run/statistics.lua"

local mixed = {}

local stream_count <const> = 4
local repetitions <const> = 9

-- ---- the sequence ---------------------------------------------------------------------------

local function shuffle(list)
    local number = random.new(20)
    for i = #list, 2, -1 do
        local k = number(i)
        list[i], list[k] = list[k], list[i]
    end
    return list
end

-- For some of them, with a large k, a library launches two kernels.
local shapes <const> = {        -- m, n, k
    { 64, 64, 64 }, { 128, 128, 128 }, { 256, 256, 256 }, { 384, 384, 384 }, { 512, 512, 512 },
    { 128, 256, 1024 }, { 256, 256, 2048 }, { 1024, 256, 512 },
}
local modes <const> = {
    { name = "float32", dtype = "float32" },
    { name = "tf32", dtype = "float32", tf32 = true },
    { name = "bfloat16", dtype = "bfloat16" },
}

-- Float32 products that every library computes in one kernel determine what a product's call costs.
-- There are more of these, so that those that come first after other work do not count.
local small_side <const> = 128

-- How often a product comes, with out = and without, and its kinds.
local function turns_of(shape, mode)
    if mode.name == "float32" and math.max(table.unpack(shape)) <= small_side then
        return 4, 3, "matmul", "matmul_new"
    end
    return 2, 1, "other_matmul", "other_matmul_new"
end

-- Calls of a kind are added with add(kind, name, times, call): call(stream) makes one. own(tensor)
-- is freed in the end.
local function add_product(lab, add, own, shape, mode)
    local m, n, k = table.unpack(shape)
    local options = { dtype = mode.dtype }
    local a, b = own(lab.rand(m, k, options)), own(lab.rand(k, n, options))
    local out = own(lab.empty(m, n, options))
    local into, without_out = { out = out, tf32 = mode.tf32 }, { tf32 = mode.tf32 }
    if not context.can(lab.matmul, a, b, into) then
        return
    end
    local times, times_new, kind, kind_new = turns_of(shape, mode)
    add(kind, mode.name .. " product", times, function(stream)
        into.stream = stream
        lab.matmul(a, b, into)
    end)
    local result = {}
    -- The previous result is freed: a script pays for that, too.
    add(kind_new, mode.name .. " product, new result", times_new, function(stream)
        if result.tensor then
            result.tensor:free()
        end
        without_out.stream = stream
        result.tensor = lab.matmul(a, b, without_out)
    end)
    own { free = function() result.tensor:free() end }
end

local function add_products(lab, add, own)
    for _, shape in ipairs(shapes) do
        for _, mode in ipairs(modes) do
            add_product(lab, add, own, shape, mode)
        end
    end
end

local function add_kernels(lab, add, own)
    for _, shape in ipairs { { 64, 64 }, { 256, 256 }, { 128, 512 } } do
        local a, out = own(lab.rand(shape[1], shape[2])), own(lab.empty(shape[1], shape[2]))
        local options = { out = out }
        for _, call in ipairs { { "pow", function() lab.pow(a, 2, options) end },
                                { "add", function() lab.add(a, a, options) end },
                                { "softmax", function() lab.softmax(a, options) end } } do
            add("launch", call[1], 6, function(stream)
                options.stream = stream
                call[2]()
            end)
        end
    end
    for _, blocks in ipairs { 1, 8, 32, 128 } do
        local options = { blocks = blocks, threads = 128 }
        add("launch", "spin", 6, function(stream)
            options.stream = stream
            lab.spin(0.001, options)
        end)
    end
end

local function add_copies(lab, add, own)
    local options, clear = { non_blocking = true }, {}
    for _, elements in ipairs { 256, 1024, 4096, 16384, 65536 } do
        local device = own(lab.zeros(elements))
        local host = own(lab.zeros(elements, { device = "cpu", pinned = true }))
        add("memcpy_async", "copy to the device", 4, function(stream)
            options.stream = stream
            device:copy_(host, options)
        end)
        add("memcpy_async", "copy to the host", 4, function(stream)
            options.stream = stream
            host:copy_(device, options)
        end)
        add("memset", "zero_", 4, function(stream)
            clear.stream = stream
            device:zero_(clear)
        end)
    end
end

local function add_events(lab, add, own)
    for _, timing in ipairs { true, false, false } do
        local event = own(lab.event { timing = timing }, "close")
        event:record()
        local kind = timing and "record" or "record_untimed"
        add(kind, kind, 12, function(stream) event:record(stream) end)
        add("wait", "wait", 8, function(stream) stream:wait_event(event) end)
    end
end

-- ---- measuring ------------------------------------------------------------------------------

-- Makes all calls once. What each took, in order.
local function go_through(c, calls, streams)
    local now_us, asking_us, us = c.lab.now_us, c:clock_us(), {}
    for i, item in ipairs(calls) do
        local stream, call = streams[item.stream], item.call
        local start_us = now_us()
        call(stream)
        us[i] = now_us() - start_us - asking_us
    end
    return us
end

-- Calls in their order, each with a stream's number.
local function sequence(lab, own)
    local calls, number = {}, random.new(7)
    local function add(kind, name, times, call)
        for _ = 1, times do
            calls[#calls + 1] = { kind = kind, name = name, call = call,
                                  stream = number(stream_count) }
        end
    end
    for _, some in ipairs { add_products, add_kernels, add_copies, add_events } do
        some(lab, add, own)
    end
    return shuffle(calls)
end

local other_bytes <const> = 16 << 20

-- Something else, after which the processor's caches have little of a call left.
local function other_work(c, own)
    local elements = other_bytes // 4
    local from = own(c.lab.ones(elements, { device = "cpu" }))
    local to = own(c.lab.ones(elements, { device = "cpu" }))
    return function()
        collectgarbage()
        to:copy_(from)
    end
end

-- How long the calls took in each of `repetitions`, from 1. Repetition 0 is the warm-up.
local function times_of(c, calls, between)
    return c:with_streams(stream_count, nil, function(streams)
        local times = {}
        for repetition = 0, repetitions do
            between()
            c.lab.synchronize()
            times[repetition] = go_through(c, calls, streams)
        end
        return times
    end)
end

-- What the calls of each kind took, in all repetitions.
local function samples_by_kind(calls, times)
    local samples = {}
    for i, item in ipairs(calls) do
        local of_kind = samples[item.kind] or {}
        samples[item.kind] = of_kind
        for _, us in ipairs(times) do
            of_kind[#of_kind + 1] = us[i]
        end
    end
    return samples
end

-- What a call costs, in us, as {us, spread}, by kind: matmul and matmul_new, of small float32
-- products, launch, memcpy_async, memset, record, record_untimed, wait, ... Also how many calls are
-- in the sequence.
function mixed.costs(c)
    local own = owner.new()
    local calls = sequence(c.lab, own)
    local times = times_of(c, calls, other_work(c, own))
    own:close()
    local costs = {}
    for kind, us in pairs(samples_by_kind(calls, times)) do
        costs[kind] = { us = math.max(0, statistics.median(us)),
                               spread = statistics.spread(us) }
    end
    return costs, #calls
end

return mixed
