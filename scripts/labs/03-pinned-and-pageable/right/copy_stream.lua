-- Pinned in place and undone; both buffers cut out of one tensor; copies in a stream of their own.

function feed(source, times, work)
    if times > 1 then source:pin() end
    local x = lab.empty(source:size())
    for i = 1, times do
        x:copy_(source, { non_blocking = true })
        work(i, x)
    end
    if times > 1 then
        lab.synchronize()
        source:unpin()
    end
end

local function halves(size)
    local both = lab.empty(2 * size, { device = "cpu", pinned = true })
    return { both:narrow(1, 1, size), both:narrow(1, size + 1, size) }
end

function stage(count, size, load, work)
    local copies, buffers = lab.stream(), halves(size)
    local xs = { lab.empty(size), lab.empty(size) }
    local copied, worked = {}, {}
    for i = 1, count do
        local k = i % 2 + 1
        if copied[k] then copied[k]:synchronize() end
        load(i, buffers[k])
        if worked[k] then copies:wait_event(worked[k]) end
        xs[k]:copy_(buffers[k], { non_blocking = true, stream = copies })
        copied[k] = copies:record_event()
        lab.current_stream():wait_event(copied[k])
        work(i, xs[k])
        worked[k] = lab.current_stream():record_event()
    end
end

function collect(count, size, make, use)
    local copies, buffers, arrived = lab.stream(), halves(size), {}
    local function issue(i)
        local k = i % 2 + 1
        lab.current_stream():wait_stream(copies)        -- y is made again when it has been copied
        local y = make(i)
        copies:wait_stream(lab.current_stream())
        buffers[k]:copy_(y, { non_blocking = true, stream = copies })
        arrived[k] = copies:record_event()
    end
    issue(1)
    for i = 1, count do
        if i < count then issue(i + 1) end
        arrived[i % 2 + 1]:synchronize()
        use(i, buffers[i % 2 + 1])
    end
end
