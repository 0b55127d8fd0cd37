-- 48-guessed-waits.t.lua - which event a stream waited for, guessed where a trace does not say it,
-- against what the simulator knows.
--
-- Random programs of four streams are saved, and all that PyTorch's profiler does not write with
-- CUDA 13 is taken out of the file: our own header, and the cuda_sync events.

local T = require "tap"

local path = os.tmpname()

local function read(name)
    local file <close> = assert(io.open(name))
    return file:read("a")
end

local function write(name, text)
    local file <close> = assert(io.open(name, "w"))
    file:write(text)
end

-- Kernels that fill the GPU and such that do not, copies, and waits before some of them.
local function program(seed)
    math.randomseed(seed)
    local random = math.random
    lab.open{ backend = "sim", profile = "textbook" }
    local streams, host, device = {}, {}, {}
    for i = 1, 4 do
        streams[i] = lab.stream{ non_blocking = true }
        host[i] = lab.empty(1 << 20, { device = "cpu", pinned = true })
        device[i] = lab.empty(1 << 20)
    end
    lab.synchronize()
    local function kernel(i, longest_us)
        lab.spin(random(20, longest_us) / 1000, { stream = streams[i], threads = 256,
                                                blocks = random(4) == 1 and 4000 or random(60) })
    end
    return lab.profile(function()
        for _ = 1, 120 do
            local i, what, other = random(4), random(10), random(4)
            if what <= 5 then
                kernel(i, 400)
            elseif what == 6 then
                device[i]:copy_(host[i], { non_blocking = true, stream = streams[i] })
            elseif what == 7 then
                host[i]:copy_(device[i], { non_blocking = true, stream = streams[i] })
            elseif other ~= i then
                streams[i]:wait_event(streams[other]:record_event(lab.event{ timing = false }))
                kernel(i, 200)
            end
            if random(25) == 1 then streams[i]:synchronize() end
        end
    end)
end

-- As PyTorch would have written it.
local function without_answers(tl)
    tl:save(path .. ".json")
    local text = read(path .. ".json")
    text = text:gsub('"streamlab":.-\n"traceEvents"', '"traceEvents"')
    text = text:gsub('{"ph":"X","cat":"cuda_sync"[^\n]*\n', "")
    text = text:gsub('"traceEvents":%[', '%0{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)",'
        .. '"pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":1},')
    write(path .. ".json", text)
    return lab.load(path .. ".json")
end

-- Of each operation that waited for events how long, and for the events behind which ones.
local function waits_of(tl)
    local us, by = {}, {}
    for _, cause in ipairs(tl:causes{ waits = true }) do
        for _, wait in ipairs(cause.cause == "event_wait" and cause.waits or {}) do
            us[wait.waiter] = (us[wait.waiter] or 0) + wait.to_us - wait.from_us
            by[wait.waiter .. " " .. (wait.by or 0)] = true
        end
    end
    return us, by
end

local known_us, found_us, named, right, shared = 0, 0, 0, 0, 0
for seed = 1, 24 do
    local tl = program(seed)
    local stripped = without_answers(tl)
    local known, by = waits_of(tl)
    local guessed, guessed_by = waits_of(stripped)
    for waiter, us in pairs(known) do
        known_us = known_us + us
        found_us = found_us + math.min(us, guessed[waiter] or 0)
    end
    for pair in pairs(guessed_by) do
        named = named + 1
        right = right + (by[pair] and 1 or 0)
    end
    for _, cause in ipairs(stripped:causes()) do
        shared = shared + (cause.cause == "channel_alias" and 1 or 0)
    end
end
T.diag(("%d of %d guessed events are right; %.0f of %.0f us of waiting are "
    .. "found"):format(right, named,
    found_us, known_us))
T.ok(named > 300, "events are guessed at")
T.ok(right >= 0.95 * named, "19 of 20 are right")
T.ok(found_us >= 0.6 * known_us,
     "and most of the time in which operations waited for events is found")
T.is(shared, 0, "no shared channel is claimed in its place")
os.remove(path .. ".json")
os.remove(path)
T.done()
