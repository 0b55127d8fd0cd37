-- fails: 1.1 1.2 2.1
-- Page-locks in the loop: "pinned memory is faster", so each copy gets some. But page-locking
-- costs as much as what it is to save, each time.

function feed(source, times, work)
    local x = lab.empty(source:numel())
    for i = 1, times do
        x:copy_(source:pin_memory(), { non_blocking = true })
        work(i, x)
    end
end

function stage(count, size, load, work)
    local buffers, copied = {}, {}
    for k = 1, 2 do
        buffers[k] = lab.empty(size, { device = "cpu", pinned = true })
        copied[k] = lab.event()
    end
    local x = lab.empty(size)
    for i = 1, count do
        local k = i % 2 + 1
        copied[k]:synchronize()                 -- of the copy two batches ago; at first of nothing
        load(i, buffers[k])
        x:copy_(buffers[k], { non_blocking = true })
        copied[k]:record()
        work(i, x)
    end
end

function collect(count, size, make, use)
    local buffers, arrived = {}, {}
    for k = 1, 2 do
        buffers[k] = lab.empty(size, { device = "cpu", pinned = true })
        arrived[k] = lab.event()
    end
    for i = 1, count + 1 do
        if i <= count then
            local k = i % 2 + 1
            buffers[k]:copy_(make(i), { non_blocking = true })
            arrived[k]:record()
        end
        if i > 1 then
            local k = (i - 1) % 2 + 1
            arrived[k]:synchronize()
            use(i - 1, buffers[k])
        end
    end
end
