-- fails: 1.1 1.2 1.3 1.4 2.1 2.2 2.3 2.4 2.5 2.6
-- A wait that comes before its event is recorded waits for nothing; and a slot is filled again
-- though nobody knows whether it has been read.

function hand_over(produce, prepare, consume)
    local producer, consumer, produced = lab.stream(), lab.stream(), lab.event()
    consumer:wait_event(produced)
    local x = lab.with(producer, produce)
    produced:record(producer)
    local w = lab.with(consumer, prepare)
    return lab.with(consumer, consume, x, w)
end

function fan(source, branches, join)
    local main, results, sides = lab.stream(), {}, {}
    local x = lab.with(main, source)
    for i, branch in ipairs(branches) do
        sides[i] = lab.stream()
        sides[i]:wait_stream(main)
        results[i] = lab.with(sides[i], branch, x)
    end
    for _, side in ipairs(sides) do main:wait_stream(side) end
    return lab.with(main, join, results)
end

function time_each(steps)
    local from, to, times, stream = {}, {}, {}, lab.stream()
    for i = 1, #steps do
        from[i] = stream:record_event()
        lab.with(stream, steps[i])
        to[i] = stream:record_event()
    end
    stream:synchronize()
    for i = 1, #steps do times[i] = from[i]:elapsed_time(to[i]) end
    return times
end

function relay(slots, count, produce, consume)
    local producer, consumer, results = lab.stream(), lab.stream(), {}
    for i = 1, count do
        local slot = slots[(i - 1) % #slots + 1]
        lab.with(producer, produce, slot, i)
        consumer:wait_stream(producer)
        results[i] = lab.with(consumer, consume, slot, i)
    end
    return results
end
