-- fails: 1.3 1.4 2.3 2.4 2.5
-- Nothing races, but more is waited for than is needed: of a slot's reader for all rounds so far,
-- and of the device for each step.

function hand_over(produce, prepare, consume)
    local producer, consumer = lab.stream(), lab.stream()
    local x = lab.with(producer, produce)
    local w = lab.with(consumer, prepare)
    consumer:wait_stream(producer)
    return lab.with(consumer, consume, x, w)
end

function fan(source, branches, join)
    local streams, results = {}, {}
    for i = 1, #branches do streams[i] = lab.stream() end
    local x = lab.with(streams[1], source)
    for i = 2, #branches do streams[i]:wait_stream(streams[1]) end
    for i, branch in ipairs(branches) do results[i] = lab.with(streams[i], branch, x) end
    for i = 2, #branches do streams[1]:wait_stream(streams[i]) end
    return lab.with(streams[1], join, results)
end

function time_each(steps)
    local stream, times = lab.stream(), {}
    for i, step in ipairs(steps) do
        local from = stream:record_event()
        lab.with(stream, step)
        local to = stream:record_event()
        lab.synchronize()
        times[i] = from:elapsed_time(to)
    end
    return times
end

function relay(slots, count, produce, consume)
    local producer, consumer, results = lab.stream(), lab.stream(), {}
    for i = 1, count do
        local slot = slots[(i - 1) % #slots + 1]
        producer:wait_stream(consumer)
        lab.with(producer, produce, slot, i)
        consumer:wait_stream(producer)
        results[i] = lab.with(consumer, consume, slot, i)
    end
    return results
end
