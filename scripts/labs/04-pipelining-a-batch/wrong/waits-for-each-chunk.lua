-- fails: 1.2 1.3 1.4 2.1 2.2 2.3 2.4
-- Synchronises "to be safe" at the end of each round. All streams and buffers are there, but the
-- host issues the next chunk only when this one has gone all its way.

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
        lab.with(streams[k], function()
            x:copy_(from[i], { non_blocking = true })
            work(x, y)
            to[i]:copy_(y, { non_blocking = true })
        end)
        streams[k]:synchronize()
    end
end

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
        down:synchronize()
    end
end

function choose(input, output, work)
    local best, best_us
    for e = 0, 7 do
        local chunks = 1 << e
        map(input, output, chunks, work)        -- warm-up: the first launch loads the kernel
        local us = lab.profile(map, input, output, chunks, work).makespan_us
        if not best or us < best_us then best, best_us = chunks, us end
    end
    return best
end
