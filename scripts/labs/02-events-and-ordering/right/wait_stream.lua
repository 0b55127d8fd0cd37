-- Three streams, and wait_stream alone where the stream holds nothing more than what is needed.

function hand_over(produce, prepare, consume)
    local a, b, c = lab.stream(), lab.stream(), lab.stream()
    local w = lab.with(b, prepare)
    local x = lab.with(a, produce)
    c:wait_stream(a)
    c:wait_stream(b)
    return lab.with(c, consume, x, w)
end

function fan(source, branches, join)
    local streams, results = {}, {}
    for i = 1, #branches do streams[i] = lab.stream{ non_blocking = true } end
    local last = lab.stream{ non_blocking = true }
    local x = lab.with(last, source)
    for _, s in ipairs(streams) do s:wait_stream(last) end
    for i, branch in ipairs(branches) do results[i] = lab.with(streams[i], branch, x) end
    for _, s in ipairs(streams) do last:wait_stream(s) end
    return lab.with(last, join, results)
end

function time_each(steps)
    local s, from, to, times = lab.stream{ non_blocking = true }, {}, {}, {}
    for i, step in ipairs(steps) do
        from[i] = s:record_event()
        lab.with(s, step)
        to[i] = s:record_event()
    end
    s:synchronize()
    for i = 1, #steps do times[i] = from[i]:elapsed_time(to[i]) end
    return times
end

-- A stream that only relays: it takes over the reader's end, round by round.
function relay(slots, count, produce, consume)
    local writer, reader = lab.stream(), lab.stream()
    local results, gates = {}, {}
    for k = 1, #slots do gates[k] = lab.stream() end
    for i = 1, count do
        local k = (i - 1) % #slots + 1
        writer:wait_stream(gates[k])            -- holds the read of the round before in this slot
        lab.with(writer, produce, slots[k], i)
        reader:wait_stream(writer)
        results[i] = lab.with(reader, consume, slots[k], i)
        gates[k]:wait_stream(reader)
    end
    return results
end
