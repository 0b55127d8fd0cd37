-- The stream that is current does half of the work; timings by query() in place of a wait.

function hand_over(produce, prepare, consume)
    local side = lab.stream{ non_blocking = true }
    local w = lab.with(side, prepare)
    local prepared = side:record_event()
    local x = produce()
    lab.current_stream():wait_event(prepared)
    return consume(x, w)
end

function fan(source, branches, join)
    local main, ready, results, done = lab.current_stream(), lab.event(), {}, {}
    local x = source()
    ready:record(main)
    for i = #branches, 2, -1 do
        local side = lab.stream{ non_blocking = true }
        side:wait_event(ready)
        results[i] = lab.with(side, branches[i], x)
        done[i] = side:record_event()
    end
    results[1] = branches[1](x)
    for i = 2, #branches do main:wait_event(done[i]) end
    return join(results)
end

function time_each(steps)
    local s, marks = lab.stream{ non_blocking = true }, {}
    local g <close> = lab.use(s)
    for i, step in ipairs(steps) do
        marks[i] = marks[i] or s:record_event()
        step()
        marks[i + 1] = s:record_event()
    end
    while not marks[#marks]:query() do lab.host_work(0.01) end
    local times = {}
    for i = 1, #steps do times[i] = marks[i]:elapsed_time(marks[i + 1]) end
    return times
end

function relay(slots, count, produce, consume)
    local writer, reader = lab.stream{ non_blocking = true }, lab.current_stream()
    local read, results = {}, {}
    for i = 1, count do
        local slot, before = slots[(i - 1) % #slots + 1], read[i - #slots]
        if before then writer:wait_event(before) end
        lab.with(writer, produce, slot, i)
        local filled = writer:record_event()
        reader:wait_event(filled)
        results[i] = consume(slot, i)
        read[i] = reader:record_event()
    end
    return results
end
