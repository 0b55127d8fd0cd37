-- fails: 1.1 1.2 1.3 1.4 2.1 2.2 2.3 2.4
-- One buffer, and nobody waits until the copy before has left it: quick, and the batches and
-- results are mixed up.

function feed(source, times, work)
    if times > 2 then source = source:pin_memory() end
    local x = lab.empty(source:numel())
    for i = 1, times do
        x:copy_(source, { non_blocking = true })
        work(i, x)
    end
end

function stage(count, size, load, work)
    local buffer = lab.empty(size, { device = "cpu", pinned = true })
    local x = lab.empty(size)
    for i = 1, count do
        load(i, buffer)
        x:copy_(buffer, { non_blocking = true })
        work(i, x)
    end
end

function collect(count, size, make, use)
    local buffer = lab.empty(size, { device = "cpu", pinned = true })
    for i = 1, count do
        buffer:copy_(make(i), { non_blocking = true })
        use(i, buffer)
    end
end
