-- fails: 1.1 1.2 1.3 1.4 2.1 2.2 2.3 2.4
-- Trusts the stream: "what is in one stream runs in order". So it does; but the host is in no
-- stream. It loads into a buffer whose copy has not run, and reads results that are on their way.

function feed(source, times, work)
    if times > 2 then source = source:pin_memory() end
    local x = lab.empty(source:numel())
    for i = 1, times do
        x:copy_(source, { non_blocking = true })
        work(i, x)
    end
end

function stage(count, size, load, work)
    local buffers = {}
    for k = 1, 2 do buffers[k] = lab.empty(size, { device = "cpu", pinned = true }) end
    local x = lab.empty(size)
    for i = 1, count do
        local buffer = buffers[i % 2 + 1]
        load(i, buffer)
        x:copy_(buffer, { non_blocking = true })
        work(i, x)
    end
end

function collect(count, size, make, use)
    local buffers = {}
    for k = 1, 2 do buffers[k] = lab.empty(size, { device = "cpu", pinned = true }) end
    for i = 1, count do
        local buffer = buffers[i % 2 + 1]
        buffer:copy_(make(i), { non_blocking = true })
        use(i, buffer)
    end
end
