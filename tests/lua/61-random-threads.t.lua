-- 61-random-threads.t.lua - random programs of several threads of the host, with streams, an event
-- and memory that all share: each run is the same, streams keep their order, nothing begins before
-- its call, no thread makes two calls at the same time, and no lower bound is above the makespan.

local T = require "tap"

local n_programs <const>, n_threads <const> = 20, 4

local function worker(seed, shared, x, h, e)
    local state = seed
    local function pick(n)
        state = (state * 1103515245 + 12345) % 2147483648
        return (state >> 8) % n + 1
    end
    local streams <const> = { shared, lab.stream(), lab.default_stream(), lab.per_thread_stream() }
    local actions <const> = {
        function(s) lab.spin(pick(100) / 1000, { stream = s }) end,
        function(s) lab.spin(pick(100) / 1000, { stream = s, blocks = pick(40) }) end,
        function(s) s:synchronize() end,
        function(s) x:copy_(h, { stream = s }) end,
        function(s) h:copy_(x, { stream = s }) end,
        function(s) e:record(s) end,
        function(s) s:wait_event(e) end,
        function() e:synchronize() end,
        function() lab.host_work(pick(50) / 1000) end,
        function(s) s:launch_host_func(function() lab.host_work(0.01) end) end,
        function(s) lab.ones(pick(100), { stream = s }):add(1) end,
        function() lab.synchronize() end,
        function() lab.empty(1000, { device = "cpu" }):pin() end,
    }
    for _ = 1, 40 do actions[pick(#actions)](streams[pick(#streams)]) end
    return state
end

local function record(seed)
    lab.open{ backend = "sim", profile = seed % 2 == 0 and "textbook" or "h200" }
    local tl = lab.profile(function()
        local s, x, e = lab.stream(), lab.zeros(100000), lab.event()
        local h = lab.zeros(100000, { device = "cpu" })
        local threads = {}
        for i = 1, n_threads do threads[i] = lab.thread(worker, seed * 10 + i, s, x, h, e) end
        worker(seed * 77, s, x, h, e)
        for i = 1, n_threads do threads[i]:join() end
    end)
    collectgarbage()
    return tl
end

local function text_of(tl)
    local lines = {}
    for i, s in ipairs(tl:spans()) do
        lines[i] = ("%d %s %d %.3f %.3f %.3f %.3f"):format(s.thread, s.name,
            s.stream_id, s.start_us,
            s.end_us, s.host_start_us, s.host_end_us)
    end
    return table.concat(lines, "\n")
end

-- What is wrong with the timeline, or nil.
local function fault_of(tl)
    local ended, calls = {}, {}
    for _, s in ipairs(tl:spans()) do
        if s.start_us < s.host_start_us then return s.name .. " began before its call" end
        if s.start_us < (ended[s.stream_id] or s.start_us) then
            return s.name .. " is out of order"
        end
        ended[s.stream_id] = s.end_us
        calls[#calls + 1] = s
    end
    for _, call in ipairs(tl:calls()) do calls[#calls + 1] = call end
    table.sort(calls, function(a, b)
        if a.host_start_us ~= b.host_start_us then return a.host_start_us < b.host_start_us end
        return a.host_end_us < b.host_end_us
    end)
    local free = {}
    for _, call in ipairs(calls) do
        if call.host_start_us < (free[call.thread] or 0) - 1e-6 then
            return ("thread %d makes two calls at %.3f us"):format(call.thread, call.host_start_us)
        end
        free[call.thread] = call.host_end_us
    end
    if tl:bounds().lower_us > tl.makespan_us + 1e-6 then
        return "the bound is above the makespan"
    end
end

local differs, wrong
for seed = 1, n_programs do
    local tl = record(seed)
    local fault = fault_of(tl)
    if fault then wrong = ("program %d: %s"):format(seed, fault) end
    if text_of(tl) ~= text_of(record(seed)) then differs = seed end
    tl:verdict()
end
T.is(wrong, nil, "timelines of " .. n_programs .. " random programs are possible ones")
T.is(differs, nil, "and the same when the program runs again")
lab.synchronize()

T.done()
