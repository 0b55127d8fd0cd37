-- Lab 2: events and ordering. The solution.

function hand_over(produce, prepare, consume)
    local producer, consumer = lab.stream{ name = "producer" }, lab.stream{ name = "consumer" }
    local x = lab.with(producer, produce)
    local produced = producer:record_event()
    local w = lab.with(consumer, prepare)       -- beside produce()
    consumer:wait_event(produced)               -- on the GPU; the host goes on
    return lab.with(consumer, consume, x, w)
end

function fan(source, branches, join)
    local main = lab.stream{ name = "main" }
    local x = lab.with(main, source)
    local ready, results, done = main:record_event(), {}, {}
    for i, branch in ipairs(branches) do
        local side = lab.stream{ name = "branch " .. i }
        side:wait_event(ready)
        results[i] = lab.with(side, branch, x)
        done[i] = side:record_event()
    end
    for _, event in ipairs(done) do main:wait_event(event) end
    return lab.with(main, join, results)
end

function time_each(steps)
    local stream, marks, times = lab.stream{ name = "timed", non_blocking = true }, {}, {}
    marks[1] = stream:record_event()
    for i, step in ipairs(steps) do
        lab.with(stream, step)
        marks[i + 1] = stream:record_event()
    end
    marks[#marks]:synchronize()                 -- once, and for this stream alone
    for i = 1, #steps do times[i] = marks[i]:elapsed_time(marks[i + 1]) end
    return times
end

function relay(slots, count, produce, consume)
    local producer, consumer = lab.stream{ name = "producer" }, lab.stream{ name = "consumer" }
    local results, free = {}, {}                -- free[k]: slot k has been read
    for i = 1, count do
        local k = (i - 1) % #slots + 1
        if free[k] then producer:wait_event(free[k]) end
        lab.with(producer, produce, slots[k], i)
        consumer:wait_event(producer:record_event())
        results[i] = lab.with(consumer, consume, slots[k], i)
        free[k] = consumer:record_event()
    end
    return results
end
