-- durations.lua - how long operations take by the device's clock, back to back in one stream,
-- and how much several streams gain over one.
--
-- The device's clock ticks every 32 ns or so. A median of short operations is a whole number of
-- ticks; the mean of the middle half is not, and is no more disturbed by a busy moment.

local context = import "repl/calibrate/context.lua"

local durations = {}

function durations.middle(list)
    local sorted = table.move(list, 1, #list, 1, {})
    table.sort(sorted)
    local first, last, sum = #sorted // 4 + 1, #sorted - #sorted // 4, 0
    for i = first, last do
        sum = sum + sorted[i]
    end
    return sum / (last - first + 1)
end

-- A stream of its own, closed at the end of its scope.
function durations.stream(c, name)
    return c.lab.stream { non_blocking = true, name = name }
end

function durations.of_stream(spans, stream)
    local own = {}
    for _, span in ipairs(spans) do
        if span.stream == stream.name then
            own[#own + 1] = span
        end
    end
    return own
end

-- The spans of run(1, options) .. run(warm + n, options), each of which enqueues one operation
-- with the options' stream, without those of the first `warm`.
function durations.spans(c, warm, n, run)
    local stream <close> = durations.stream(c, "measured")
    local options = { stream = stream }
    local spans = c:held({ stream }, function()
        for i = 1, warm + n do
            run(i, options)
        end
    end)
    return table.move(durations.of_stream(spans, stream), warm + 1, warm + n, 1, {})
end

-- How long one of them takes in us, the spread, and the last one's span.
function durations.of(c, warm, n, run)
    local list, spans = {}, durations.spans(c, warm, n, run)
    for i, span in ipairs(spans) do
        list[i] = span.end_us - span.start_us
    end
    return durations.middle(list), context.spread(list), spans[#spans]
end

-- From the first start to the last end.
local function makespan_us(spans)
    local first, last = math.huge, -math.huge
    for _, span in ipairs(spans) do
        first, last = math.min(first, span.start_us), math.max(last, span.end_us)
    end
    return last - first
end

-- How long the jobs take when each has a stream of its own and all are let go at once. A job is
-- run(options), which enqueues with the options' stream. Also the spans of each job.
function durations.together(c, jobs)
    local streams, options = {}, {}
    for i in ipairs(jobs) do
        streams[i] = durations.stream(c, "job " .. i)
        options[i] = { stream = streams[i] }
    end
    local spans = c:held(streams, function()
        for i, job in ipairs(jobs) do
            job(options[i])
        end
    end)
    local of_job, all = {}, {}
    for i, stream in ipairs(streams) do
        of_job[i] = durations.of_stream(spans, stream)
        table.move(of_job[i], 1, #of_job[i], #all + 1, all)
        stream:close()
    end
    return makespan_us(all), of_job
end

-- The sum of what the jobs take one by one, over what they take together: 1 is no gain. Medians
-- of `reps` rounds in which both are taken in turn. Also both times.
function durations.gain(c, reps, jobs)
    local alone, together = {}, {}
    durations.together(c, jobs)
    for rep = 1, reps do
        alone[rep] = 0
        for _, job in ipairs(jobs) do
            alone[rep] = alone[rep] + durations.together(c, { job })
        end
        together[rep] = durations.together(c, jobs)
    end
    local alone_us, together_us = context.median(alone), context.median(together)
    return alone_us / together_us, alone_us, together_us
end

return durations
