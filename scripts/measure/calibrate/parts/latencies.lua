-- latencies.lua - the time between a call and its operation, and between operations.
--
-- Kernels here do nothing (lab.spin(0)) or little, so that only gaps are measured. The time
-- between two operations is a sum of the simulator's gaps: a timed record, for example, is
-- followed by a stream gap like any other work, so stream_gap_us is subtracted.

local context = import "scripts/measure/calibrate/context.lua"
local durations = import "scripts/measure/calibrate/durations.lua"
local lists = import "repl/run/lists.lua"
local owner = import "scripts/measure/calibrate/owner.lua"

local part = { name = "latencies", passes = 15,
               title = "latencies of streams, events and the host" }

local spread = context.spread
local middle = context.middle

local row_length <const> = 100      -- operations in a stream, one behind the other
local rounds <const> = 5
local crossed <const> = 5           -- streams that take turns

-- Sets a value that may not be negative, as the difference of two measurements can be.
local function set(c, key, samples, how, less)
    c:set(key, math.max(0, middle(samples) - (less or 0)), how, spread(samples))
end

local function us(samples)
    return ("%.3g us"):format(middle(samples))
end

-- The device's pauses between spans of each kind and the span after, in order of issue, as
-- lists by "kernel>memcpy_h2d".
local function gaps_of(spans, into)
    for i = 2, #spans do
        local key = spans[i - 1].kind .. ">" .. spans[i].kind
        into[key] = into[key] or {}
        table.insert(into[key], spans[i].start_us - spans[i - 1].end_us)
    end
    return into
end

-- The gaps of several rounds of what enqueue(i) puts into held streams for i = 1, ..., the
-- row's length.
local function gaps(c, streams, enqueue)
    local found = {}
    for round = 0, rounds do
        local spans = c:held(streams, function()
            for i = 1, row_length do
                enqueue(i)
            end
        end)
        if round > 0 then
            gaps_of(spans, found)
        end
    end
    return found
end

-- ---- within one stream ------------------------------------------------------------------------

local function kernels_in_a_row(c, stream)
    local spin = { stream = stream }
    local empty = gaps(c, { stream }, function() c.lab.spin(0, spin) end)["kernel>kernel"]
    set(c, "stream_gap_us", empty, "empty kernels in one stream: end to start")
end

-- Some take longer than others, and which ones differs from process to process: the simulator has
-- one figure for all.
local switches <const> = { "memcpy_h2d>kernel", "kernel>memcpy_d2h", "memcpy_d2h>kernel",
                           "kernel>memcpy_h2d" }

local function engine_switches(c, stream, tiny)
    local spin, way = { stream = stream }, { stream = stream, non_blocking = true }
    local found = gaps(c, { stream }, function()
        tiny.device:copy_(tiny.host, way)
        c.lab.spin(0, spin)
        tiny.host:copy_(tiny.device, way)
        c.lab.spin(0, spin)
    end)
    local sum, most = 0, 0
    for _, key in ipairs(switches) do
        sum, most = sum + middle(found[key]), math.max(most, spread(found[key]))
        c:find("engine_switch_us", ("%s %s"):format(key:gsub(">", " to "), us(found[key])))
    end
    c:set("engine_switch_us", math.max(0, sum / #switches),
          "the mean of H2D copy to kernel, kernel to D2H copy, D2H copy to kernel and kernel to "
          .. "H2D copy in one stream: end to start", most)
end

local function records_between(c, stream)
    local spin = { stream = stream }
    local event <close> = c.lab.event()
    local timed = gaps(c, { stream }, function()
        c.lab.spin(0, spin)
        event:record(stream)
    end)["kernel>kernel"]
    set(c, "record_us", timed, "what a timed record between two kernels adds to their gap",
        c.values.stream_gap_us)
end

-- ---- between streams --------------------------------------------------------------------------

-- Kernels by turns in several streams, each behind the event of the one before: from one stream to
-- the next it takes longer or less long, as their channels are.
local function across_streams(c)
    local event <close> = c.lab.event { timing = false }
    local found = c:with_streams(crossed, { non_blocking = true }, function(streams)
        return gaps(c, streams, function(i)
            local stream = streams[i % crossed + 1]
            if i > 1 then
                stream:wait_event(event)
            end
            c.lab.spin(0.01, { stream = stream })
            event:record(stream)
        end)
    end)
    set(c, "cross_stream_us", found["kernel>kernel"],
        ("kernel, event, kernel of another one of %d streams: end to start"):format(crossed))
end

-- ---- between host and device ------------------------------------------------------------------

local pause_ms <const> = 0.03       -- after it nothing of the work before is felt

-- How long after its call an operation starts in a device that is idle.
local function starts(c, enqueue)
    local function row()
        for _ = 1, row_length do
            enqueue()
            c.lab.synchronize()
            c.lab.host_work(pause_ms)
        end
    end
    c:record(row)
    return lists.map(c:record(row):spans(), function(span)
        return span.start_us - span.host_end_us - (span.recording_us or 0)
    end)
end

local function submission(c, stream)
    local spin = { stream = stream }
    set(c, "submit_us", starts(c, function() c.lab.spin(0, spin) end),
        "an idle stream's empty kernel: end of its call to start")
end

-- From a kernel's end to the return of the synchronisation that waits for it.
local function wake(c, stream)
    local spin = { stream = stream }
    local function wakings()
        local tl = c:record(function()
            for _ = 1, row_length do
                c.lab.spin(0.1, spin)
                stream:synchronize()
            end
        end)
        local spans, samples = tl:spans(), {}
        for _, call in ipairs(tl:calls()) do
            if call.kind == "stream_sync" and not call.of_stop then
                local i = #samples + 1
                samples[i] = call.host_end_us - spans[i].end_us
            end
        end
        return samples
    end
    wakings()
    set(c, "wake_us", wakings(), "a kernel's end to the return of its stream's synchronisation")
end

-- What the samples have to be multiplied by, so that both take as long as a host function does
-- where nothing is recorded, if the part host has measured that.
local function unrecorded(c, into, out)
    local trips = c.host_func_trips
    if not trips then
        return 1
    end
    local gap_us = c.values.stream_gap_us
    return (context.median(trips) + gap_us) / (middle(into) + middle(out))
end

-- The host waits meanwhile, because it runs the function.
local function host_functions(c, stream)
    local spin = { stream = stream }
    local function nothing() end
    local into, out = {}, {}
    for round = 0, row_length // 2 do
        local spans = c:record(function()
            c.lab.spin(0.1, spin)
            stream:launch_host_func(nothing)
            c.lab.spin(0, spin)
            stream:synchronize()
        end):spans()
        if round > 0 then
            into[round] = spans[2].start_us - spans[1].end_us
            out[round] = spans[3].start_us - spans[2].end_us
        end
    end
    local gap_us, by = c.values.stream_gap_us, unrecorded(c, into, out)
    into = lists.map(into, function(sample) return sample * by end)
    out = lists.map(out, function(sample) return sample * by end)
    set(c, "host_func_in_us", into, "a kernel's end to a host function's start, less a gap", gap_us)
    set(c, "host_func_out_us", out, "a host function's end to a kernel's start, less a gap", gap_us)
end

-- ---- clocks and small kernels -----------------------------------------------------------------

-- The largest step of which all values are multiples, or nil. Grows more exact with each
-- value, from the smallest on.
local function common_step(values)
    table.sort(values)
    local least
    for i = 2, #values do
        local step = values[i] - values[i - 1]
        if step > 0.5 and (not least or step < least) then
            least = step
        end
    end
    for parts = 1, least and 64 or 0 do
        local step, fits = least / parts, true
        for _, value in ipairs(values) do
            local times = math.floor(value / step + 0.5)
            if math.abs(value - times * step) > 0.1 * step then
                fits = false
                break
            elseif times > 0 then
                step = value / times
            end
        end
        if fits then
            return step
        end
    end
end

-- Only pairs that lie close together: CUDA gives a float of milliseconds.
local function event_tick(c, stream)
    local pairs_of_events, spin = {}, { stream = stream }
    for i = 1, 200 do
        pairs_of_events[i] = { c.lab.event(), c.lab.event() }
        pairs_of_events[i][1]:record(stream)
        c.lab.spin(i * 37 % 101 * 1e-4, spin)
        pairs_of_events[i][2]:record(stream)
    end
    stream:synchronize()
    local values = {}
    for i, events in ipairs(pairs_of_events) do
        values[i] = events[1]:elapsed_time(events[2]) * 1e6
        events[1]:close()
        events[2]:close()
    end
    local step = common_step(values)
    if step then
        c:set("event_tick_ns", tonumber(("%.3g"):format(step)),
              "the greatest step that 200 elapsed times are multiples of")
    else
        c:find("event_tick_ns", "200 elapsed times have no common step")
    end
end

local function kernel_fixed(c, stream, tiny)
    local into = { stream = stream, out = tiny.device }
    local function additions()
        return durations.of_spans((c:held({ stream }, function()
            for _ = 1, row_length do
                c.lab.add(tiny.device, 1, into)
            end
        end)))
    end
    additions()
    set(c, "kernel_fixed_us", additions(), "an addition of one element: its duration")
end

function part.run(c)
    local lab = c.lab
    local stream <close> = lab.stream()
    local own <close> = owner.new()
    local tiny = { device = own(lab.zeros(1)),
                   host = own(lab.zeros(1, { device = "cpu", pinned = true })) }
    c.progress("gaps in one stream")
    kernels_in_a_row(c, stream)
    engine_switches(c, stream, tiny)
    records_between(c, stream)
    c.progress("from stream to stream")
    across_streams(c)
    c.progress("between host and device")
    submission(c, stream)
    wake(c, stream)
    host_functions(c, stream)
    c.progress("the clock of events, small kernels")
    event_tick(c, stream)
    kernel_fixed(c, stream, tiny)
end

return part
