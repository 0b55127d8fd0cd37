-- The two ways the other way round: map by a stream for each engine, scan by a stream for each
-- chunk that is on its way, with an event from each step to the next.

function map(input, output, chunks, work)
    local from, to = input:chunk(chunks), output:chunk(chunks)
    local up, run, down = lab.stream(), lab.stream(), lab.stream()
    local x, y, read, stored = {}, {}, {}, {}
    for i, part in ipairs(from) do
        local k, rows = (i - 1) % 3 + 1, part:size(1)
        x[k], y[k] = x[k] or lab.empty(from[1]:size()), y[k] or lab.empty(from[1]:size())
        local xi, yi = x[k]:narrow(1, 1, rows), y[k]:narrow(1, 1, rows)
        if read[k] then up:wait_event(read[k]) end
        xi:copy_(part, { non_blocking = true, stream = up })
        run:wait_stream(up)
        if stored[k] then run:wait_event(stored[k]) end
        lab.with(run, work, xi, yi)
        read[k] = run:record_event()
        down:wait_event(read[k])
        to[i]:copy_(yi, { non_blocking = true, stream = down })
        stored[k] = down:record_event()
    end
    lab.synchronize()
end

function scan(input, output, chunks, step)
    local from, to = input:chunk(chunks), output:chunk(chunks)
    local streams, x, y, stepped, stored = {}, {}, {}, {}, {}
    for k = 1, 3 do streams[k] = lab.stream() end
    for k = 0, 1 do x[k], y[k] = lab.empty(from[1]:size()), lab.empty(from[1]:size()) end
    for i, part in ipairs(from) do
        local s, k = streams[i % 3 + 1], i % 2
        if i > 2 then s:wait_event(stepped[i - 2]) end          -- x[k] has been read
        x[k]:copy_(part, { non_blocking = true, stream = s })
        if i > 1 then s:wait_event(stepped[i - 1]) end          -- what the step before has left
        if i > 2 then s:wait_event(stored[i - 2]) end           -- y[k] has been copied down
        lab.with(s, step, i, x[k], y[k])
        stepped[i] = s:record_event()
        to[i]:copy_(y[k], { non_blocking = true, stream = s })
        stored[i] = s:record_event()
    end
    for _, s in ipairs(streams) do s:synchronize() end
end

function choose(input, output, work)
    local best, best_us = 1, math.huge
    for _, n in ipairs{ 1, 2, 4, 8, 16, 32, 64, 128 } do
        map(input, output, n, work)
        local us = lab.profile(map, input, output, n, work).makespan_us
        if us < best_us then best, best_us = n, us end
    end
    return best
end
