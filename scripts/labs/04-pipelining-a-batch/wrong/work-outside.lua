-- fails: 1.2 1.4 2.1 2.2 2.3 2.4
-- The copies are in streams, and `work` is called outside of lab.with: its kernels go into the
-- default stream, which waits for all streams, and they for it.

function map(input, output, chunks, work)
    local from, to = input:chunk(chunks), output:chunk(chunks)
    local streams, xs, ys = {}, {}, {}
    for k = 1, math.min(3, #from) do
        streams[k] = lab.stream{ name = "stream " .. k }
        xs[k], ys[k] = lab.empty(from[1]:size()), lab.empty(from[1]:size())
    end
    for i = 1, #from do
        local k = (i - 1) % 3 + 1
        local rows = from[i]:size(1)            -- the last chunk may be smaller
        local x, y = xs[k]:narrow(1, 1, rows), ys[k]:narrow(1, 1, rows)
        x:copy_(from[i], { non_blocking = true, stream = streams[k] })
        work(x, y)
        to[i]:copy_(y, { non_blocking = true, stream = streams[k] })
    end
    for _, stream in ipairs(streams) do stream:synchronize() end
end

-- A stream for each engine, and two buffers between each two: events in both directions, for
-- "it is there" and for "it is free again".
function scan(input, output, chunks, step)
    local from, to = input:chunk(chunks), output:chunk(chunks)
    local up, kernels, down = lab.stream{ name = "up" }, lab.stream{ name = "kernels" },
        lab.stream{ name = "down" }
    local x, y, done, stored = {}, {}, {}, {}
    for i = 1, #from do
        local k = i % 2 + 1
        if i <= 2 then
            x[k], y[k] = lab.empty(from[1]:size()), lab.empty(from[1]:size())
        else
            up:wait_event(done[k])              -- x[k] has been read
            kernels:wait_event(stored[k])       -- y[k] has been copied down
        end
        x[k]:copy_(from[i], { non_blocking = true, stream = up })
        kernels:wait_stream(up)
        lab.with(kernels, step, i, x[k], y[k])
        done[k] = kernels:record_event()
        down:wait_event(done[k])
        to[i]:copy_(y[k], { non_blocking = true, stream = down })
        stored[k] = down:record_event()
    end
    down:synchronize()
end

-- Measures: what a chunk costs besides its bytes is different for each work and each GPU.
function choose(input, output, work)
    local best, best_us
    for e = 0, 7 do
        local chunks = 1 << e
        for _ = 1, 3 do                         -- warm-up: the first launch loads the kernel
            local us = lab.profile(map, input, output, chunks, work).makespan_us
            if not best or us < best_us then best, best_us = chunks, us end
        end
    end
    return best
end
