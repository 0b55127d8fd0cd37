-- mixed.lua - what calls cost the host in a sequence of them as scripts make it: products of other
-- shapes, kernels, copies and events of several streams, one after the other.
--
-- The same call over and over finds all that it needs in the processor's caches, and in cuBLAS and
-- the driver what it left there; next to others it takes up to three times as long. The sequence
-- is random and always the same. What it asks of the device is less than the host's time, so that
-- no queue fills.

local numbers = import "repl/calibrate/numbers.lua"

local mixed = {}

local stream_count <const> = 4
local kept <const> = 0.95           -- of a kind's calls: the longest ones were interrupted
local repetitions <const> = 9

-- ---- the sequence ---------------------------------------------------------------------------

-- A generator of its own: a script's random numbers are none of its business.
local function random_new(seed)
    return function(n)
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        return (seed >> 8) % n + 1
    end
end

local function shuffle(list)
    local random = random_new(20)
    for i = #list, 2, -1 do
        local k = random(i)
        list[i], list[k] = list[k], list[i]
    end
    return list
end

local shapes <const> = {        -- m, n, k
    { 64, 64, 64 }, { 128, 128, 128 }, { 96, 96, 96 }, { 192, 192, 192 }, { 256, 256, 256 },
    { 32, 256, 64 }, { 256, 64, 128 }, { 128, 512, 64 },
}
local modes <const> = {
    { dtype = "float32" }, { dtype = "float32", tf32 = true }, { dtype = "bfloat16" },
}

-- Calls of a kind are added with add(kind, times, call): call(stream) makes one. own(tensor) is
-- freed in the end.
local function add_products(lab, add, own)
    for _, shape in ipairs(shapes) do
        local m, n, k = table.unpack(shape)
        for _, mode in ipairs(modes) do
            local options = { dtype = mode.dtype }
            local a, b = own(lab.ones(m, k, options)), own(lab.ones(k, n, options))
            local out = own(lab.empty(m, n, options))
            local into, anew = { out = out, tf32 = mode.tf32 }, { tf32 = mode.tf32 }
            if pcall(lab.matmul, a, b, into) then       -- not every GPU has every type
                add("matmul", 2, function(stream)
                    into.stream = stream
                    lab.matmul(a, b, into)
                end)
                local result = {}
                -- The one before is freed: sooner or later a script pays for that, too.
                add("matmul_new", 1, function(stream)
                    if result.tensor then
                        result.tensor:free()
                    end
                    anew.stream = stream
                    result.tensor = lab.matmul(a, b, anew)
                end)
                own { free = function() result.tensor:free() end }
            end
        end
    end
end

local function add_kernels(lab, add, own)
    for _, shape in ipairs { { 64, 64 }, { 256, 256 }, { 128, 512 } } do
        local a, out = own(lab.ones(shape[1], shape[2])), own(lab.empty(shape[1], shape[2]))
        local options = { out = out }
        for _, call in ipairs { function() lab.pow(a, 2, options) end,
                                function() lab.add(a, a, options) end,
                                function() lab.softmax(a, options) end } do
            add("launch", 6, function(stream)
                options.stream = stream
                call()
            end)
        end
    end
    for _, blocks in ipairs { 1, 8, 32, 128 } do
        local options = { blocks = blocks, threads = 128 }
        add("launch", 6, function(stream)
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
        add("memcpy_async", 4, function(stream)
            options.stream = stream
            device:copy_(host, options)
        end)
        add("memcpy_async", 4, function(stream)
            options.stream = stream
            host:copy_(device, options)
        end)
        add("memset", 4, function(stream)
            clear.stream = stream
            device:zero_(clear)
        end)
    end
end

local function add_events(lab, add, own)
    local events = {}
    for i, timing in ipairs { true, false, false } do
        local event = lab.event { timing = timing }
        own { free = function() event:close() end }
        event:record()
        events[i] = event
        add(timing and "record" or "record_untimed", 12, function(stream) event:record(stream) end)
        add("wait", 8, function(stream) stream:wait_event(event) end)
    end
end

-- ---- measuring ------------------------------------------------------------------------------

-- Makes all calls once, and adds to samples[kind] what each took.
local function go_through(c, calls, streams, samples)
    local now_us, asking_us = c.lab.now_us, c:clock_us()
    for _, item in ipairs(calls) do
        local stream, call = streams[item.stream], item.call
        local start_us = now_us()
        call(stream)
        local us = now_us() - start_us - asking_us
        local list = samples[item.kind]
        list[#list + 1] = us
    end
end

-- Calls in their order, of a stream each, and an empty list for each kind.
local function sequence(lab, own)
    local calls, kinds, random = {}, {}, random_new(7)
    local function add(kind, times, call)
        kinds[kind] = {}
        for _ = 1, times do
            calls[#calls + 1] = { kind = kind, call = call, stream = random(stream_count) }
        end
    end
    for _, some in ipairs { add_products, add_kernels, add_copies, add_events } do
        some(lab, add, own)
    end
    return shuffle(calls), kinds
end

-- By kind (matmul, matmul_new, launch, memcpy_async, memset, record, record_untimed, wait) what a
-- call costs, in us; and how many calls are in the sequence.
function mixed.costs(c)
    local lab, owned, streams = c.lab, {}, {}
    local function own(thing)
        owned[#owned + 1] = thing
        return thing
    end
    local calls, samples = sequence(lab, own)
    for i = 1, stream_count do
        streams[i] = lab.stream()
    end
    for repetition = 0, repetitions do
        c:record(function() go_through(c, calls, streams, samples) end)
        for kind in pairs(samples) do
            samples[kind] = repetition > 0 and samples[kind] or {}      -- the first one warms up
        end
    end
    lab.synchronize()
    for _, thing in ipairs(owned) do
        thing:free()
    end
    for _, stream in ipairs(streams) do
        stream:close()
    end
    local costs = {}
    for kind, list in pairs(samples) do
        costs[kind] = { us = math.max(0, numbers.trimmed(list, kept)),
                        spread = numbers.spread(list) }
    end
    return costs, #calls
end

return mixed
