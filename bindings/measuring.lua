-- measuring.lua - how long something takes: on the host's clock, or on the device's while the
-- streams are held until everything is enqueued.

local lab, core = ...

local as, refuse, type_name = core.as, core.refuse, core.type_name
local synchronize, new_stream, new_event = lab.synchronize, lab.stream, lab.event
local current_stream, spin = lab.current_stream, lab.spin
local check_function, no_more = core.arguments.check_function, core.arguments.no_more
local check_options, is_count = core.arguments.check_options, core.arguments.is_count

local function is_hold(value)
    return type(value) == "boolean" or type(value) == "table" and rawlen(value) > 0
end

core.measure_options = {
    { "warmup", "a whole number from 0 to 1e6",
      function(value) return is_count(value) and value <= 1e6 end },
    { "reps", "a whole number from 1 to 1e6",
      function(value) return is_count(value) and value >= 1 and value <= 1e6 end },
    { "hold", "a list of streams, or true for the current one", is_hold },
}

-- {median_us, min_us, max_us, spread, samples_us}
local function statistics(samples)
    local sorted = table.move(samples, 1, #samples, 1, {})
    table.sort(sorted)
    local n = #sorted
    local median_us = (sorted[(n + 1) // 2] + sorted[n // 2 + 1]) / 2
    local range_us = sorted[n] - sorted[1]
    return { median_us = median_us, min_us = sorted[1], max_us = sorted[n],
             spread = range_us == 0 and 0 or range_us / median_us, samples_us = samples }
end

-- Holding --------------------------------------------------------------------------------
--
-- The host enqueues slower than the GPU works through short kernels, so that streams seem to
-- take turns only because the host feeds them in turn. A kernel on a stream of its own holds the
-- streams, each of which waits for the event behind it, until f has enqueued everything.

local first_us <const> = 200        -- more than twice the time that enqueuing takes
local growth <const> = 4            -- of the hold, when it was too short
local most_overruns <const> = 2
local longest_us <const> = 2e6      -- a GPU with a display ends kernels of some seconds

-- The streams, without duplicates.
local function held_streams(hold, op)
    if hold == true then return { as(op, current_stream) } end
    local streams, seen = {}, {}
    for i = 1, rawlen(hold) do
        local stream = rawget(hold, i)
        if type_name(stream) ~= "stream" then
            refuse(op, "option 'hold': item %d must be a stream, got %s", i, type_name(stream))
        end
        if not seen[stream] then streams[#streams + 1] = stream end
        seen[stream] = true
    end
    return streams
end

local holder_meta = {}

-- Closing does not release the streams early: the work that holds them is enqueued already.
function holder_meta.__close(holder)
    holder.stream:close()
    holder.gate:close()
    for _, done in ipairs(holder.ends) do done:close() end
end

-- What holds the streams: its own stream, and events, which are reused. least_us is the shortest
-- time that f has taken on the host so far.
local function new_holder(streams, op)
    local holder = as(op, new_stream, { non_blocking = true, name = "hold" })
    local ends = {}
    for i = 1, #streams do ends[i] = as(op, new_event, { timing = true }) end
    as(op, spin, 0, { stream = holder })    -- loads the kernel, which may synchronise
    as(op, synchronize)
    return setmetatable({ stream = holder, gate = as(op, new_event, { timing = true }), op = op,
                          streams = streams, ends = ends, least_us = math.huge }, holder_meta)
end

-- Calls f and gives how long that took on the host's clock.
local function timed_us(holder, f)
    local start_ns = core.now_ns()
    f()
    local us = (core.now_ns() - start_ns) / 1000
    holder.least_us = math.min(holder.least_us, us)
    return us
end

local function hold(holder, hold_us)
    local op, gate = holder.op, holder.gate
    as(op, spin, hold_us / 1000, { blocks = 1, stream = holder.stream })
    as(op, gate.record, gate, holder.stream)
    for _, stream in ipairs(holder.streams) do as(op, stream.wait_event, stream, gate) end
end

-- From the release to the end of the last work in the streams.
local function released_us(holder)
    local last_ms = 0
    for _, done in ipairs(holder.ends) do
        last_ms = math.max(last_ms, as(holder.op, holder.gate.elapsed_time, holder.gate, done))
    end
    return last_ms * 1000
end

-- One sample, or nil if the streams were released before everything was enqueued; then how
-- long f took on the host.
local function held_sample(holder, f, hold_us)
    local op, gate = holder.op, holder.gate
    hold(holder, hold_us)
    local enqueue_us = timed_us(holder, f)
    for i, stream in ipairs(holder.streams) do
        local done = holder.ends[i]
        as(op, done.record, done, stream)
    end
    local in_time = not as(op, gate.query, gate)
    as(op, synchronize)
    return in_time and released_us(holder) or nil, enqueue_us
end

-- Raises if f did not end before the release. A function that waits for the device ends soon
-- when the streams are held for a short time only.
local function fail_to_hold(holder, hold_us, enqueue_us)
    local slow = holder.least_us > hold_us / 2
    refuse(holder.op, "option 'hold': f was to return before the streams go on, but took %.4g ms "
           .. "on the host while they were held for %.4g ms: %s", enqueue_us / 1000,
           hold_us / 1000, slow and "it enqueues too slowly" or "it waits for the device, by a "
           .. "synchronize, a look at values, a blocking copy, or because the launch queue is "
           .. "full; with hold it must only enqueue")
end

-- A sample, and for how long the streams were held for it, at least `hold_us`. A slow function
-- ends in time when the streams are held for longer than it took; one that waits for the device
-- never does, and is given up after the second time.
local function hold_until_enqueued(holder, f, hold_us)
    local overruns, before_us = 0, math.huge
    while true do
        hold_us = math.min(hold_us, longest_us)
        local sample, enqueue_us = held_sample(holder, f, hold_us)
        if sample then return sample, hold_us end
        if before_us < hold_us then overruns = overruns + 1 end
        if hold_us == longest_us or overruns == most_overruns then
            fail_to_hold(holder, hold_us, enqueue_us)
        end
        hold_us, before_us = hold_us * growth, enqueue_us
    end
end

local function measure_held(op, f, opts)
    local holder <close> = new_holder(held_streams(opts.hold, op), op)
    local samples, hold_us = {}, first_us
    for _ = 1, opts.warmup or 3 do
        hold_us = first_us + 2 * timed_us(holder, f)    -- that of the last one
        as(op, synchronize)
    end
    for i = 1, opts.reps or 9 do
        samples[i], hold_us = hold_until_enqueued(holder, f, hold_us)
    end
    return statistics(samples)
end

-- Both -----------------------------------------------------------------------------------

-- On the host's clock; the device is idle at both ends of each repetition.
local function measure_all(op, f, opts)
    local samples = {}
    for _ = 1, opts.warmup or 3 do f() end
    as(op, synchronize)
    for i = 1, opts.reps or 9 do
        local start_ns = core.now_ns()
        f()
        as(op, synchronize)
        samples[i] = (core.now_ns() - start_ns) / 1000
    end
    return statistics(samples)
end

-- For the function `op`, with its checked options.
function core.measure(op, f, opts)
    return (opts.hold and measure_held or measure_all)(op, f, opts)
end

function lab.measure(f, opts, ...)
    check_function(f, 1, "measure")
    no_more(2, "measure", ...)
    return core.measure("measure", f, check_options(opts, core.measure_options, "measure"))
end
