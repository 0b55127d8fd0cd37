-- durations.lua - how long operations take by the device's clock, back to back in one stream,
-- and how much several streams gain over one.
--
-- The device's clock ticks every 32 ns or so: a median of short operations is a whole number of
-- ticks, and statistics.middle is not.

local context = import "scripts/measure/calibrate/context.lua"
local lists = import "repl/run/lists.lua"
local statistics = import "repl/run/statistics.lua"

local durations = {}

function durations.of_span(span) return span.end_us - span.start_us end

function durations.of_spans(spans) return lists.map(spans, durations.of_span) end

-- From the end of each span to the start of the next one.
function durations.gaps(spans)
    local gaps = {}
    for i = 2, #spans do
        gaps[i - 1] = spans[i].start_us - spans[i - 1].end_us
    end
    return gaps
end

-- ---- streams --------------------------------------------------------------------------------

local stream_count <const> = 8

-- The calibration's i-th stream for these measurements. They are kept for the next measurement:
-- cuBLAS allocates memory for each new stream, which takes longer than the products. They are
-- created one after the other, because hardware channels are assigned round-robin: streams that
-- share a channel would delay each other.
local function stream_at(c, i)
    if not c.streams then
        c.streams = {}
        for k = 1, stream_count do
            c.streams[k] = c.lab.stream { non_blocking = true, name = "measured " .. k }
        end
    end
    return c.streams[i]
end

-- Each part that uses this file calls it at its end.
function durations.close(c)
    for _, stream in ipairs(c.streams or {}) do
        stream:close()
    end
    c.streams = nil
end

local function of_stream(spans, stream)
    return lists.select(spans, function(span) return span.stream == stream.name end)
end

-- ---- one after the other --------------------------------------------------------------------

-- The spans of run(1, options) .. run(n, options), which enqueue with the options' stream.
local function spans_in_a_row(c, n, run)
    local stream = stream_at(c, 1)
    local options = { stream = stream }
    return of_stream(c:held({ stream }, function()
        for i = 1, n do
            run(i, options)
        end
    end), stream)
end

-- The spans of run(1, options) .. run(warm + n, options), each of which enqueues one operation
-- with the options' stream, without those of the first `warm`.
function durations.spans(c, warm, n, run)
    return table.move(spans_in_a_row(c, warm + n, run), warm + 1, warm + n, 1, {})
end

-- The spans of run(1, options) .. run(n, options) whose name has `pattern`.
function durations.named(c, n, run, pattern)
    return lists.select(spans_in_a_row(c, n, run), function(span)
        return span.name:find(pattern)
    end)
end

-- How long one of them takes in us, the spread, and the last one's span.
function durations.of(c, warm, n, run)
    local spans = durations.spans(c, warm, n, run)
    local list = durations.of_spans(spans)
    return statistics.middle(list), context.spread(list), spans[#spans]
end

-- ---- several streams ------------------------------------------------------------------------

-- From the first start to the last end.
function durations.makespan_us(spans)
    local first, last = math.huge, -math.huge
    for _, span in ipairs(spans) do
        first, last = math.min(first, span.start_us), math.max(last, span.end_us)
    end
    return last - first
end

-- How long the jobs take when each has a stream of its own and all are released at once. A job is
-- run(options), which enqueues with the options' stream; up to eight. Also the spans of each job.
function durations.together(c, jobs)
    local streams, options = {}, {}
    for i in ipairs(jobs) do
        streams[i] = stream_at(c, i)
        options[i] = { stream = streams[i] }
    end
    local spans = c:held(streams, function()
        for i, job in ipairs(jobs) do
            job(options[i])
        end
    end)
    local all = {}
    local of_job = lists.map(streams, function(stream)
        local own = of_stream(spans, stream)
        lists.append(all, own)
        return own
    end)
    return durations.makespan_us(all), of_job
end

-- ---- who comes first ------------------------------------------------------------------------

local copied_bytes <const> = 1048576
local begin_rounds <const> = 3

-- How far, from 0 to 1, the last operation of long(options, start) is when late(options) begins,
-- and when that ends: `long` enqueues and may record the event `start`, from which on a copy from
-- the host keeps `late` back until the other has its blocks placed. Medians, and the last one's
-- span.
function durations.beside(c, long, late)
    local lab <const> = c.lab
    local host = lab.empty(copied_bytes // 4, { device = "cpu", pinned = true })
    local landing = lab.empty(copied_bytes // 4)
    local begin, finish, span = {}, {}, nil
    for round = 1, begin_rounds do
        local start <close> = lab.event { timing = false }
        local _, spans = durations.together(c, {
            function(options) long(options, start) end,
            function(options)
                options.stream:wait_event(start)
                landing:copy_(host, { non_blocking = true, stream = options.stream })
                late(options)
            end,
        })
        local other
        span, other = spans[1][#spans[1]], spans[2][#spans[2]]
        local us = durations.of_span(span)
        begin[round] = (other.start_us - span.start_us) / us
        finish[round] = (other.end_us - span.start_us) / us
    end
    host:free()
    landing:free()
    return context.median(begin), context.median(finish), span
end

return durations
