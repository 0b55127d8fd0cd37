-- two slots, three branches and twenty steps are built in
local function arrow(from, to) to:wait_event(from:record_event()) end
function hand_over(produce, prepare, consume)
    local a, b = lab.stream(), lab.stream()
    local x = lab.with(a, produce)
    local w = lab.with(b, prepare)
    arrow(a, b)
    return lab.with(b, consume, x, w)
end
function fan(source, branches, join)
    local s, s1, s2, s3 = lab.stream(), lab.stream(), lab.stream(), lab.stream()
    local x = lab.with(s, source)
    arrow(s, s1) arrow(s, s2) arrow(s, s3)
    local r1, r2, r3 = lab.with(s1, branches[1], x), lab.with(s2, branches[2], x),
        lab.with(s3, branches[3], x)
    arrow(s1, s) arrow(s2, s) arrow(s3, s)
    return lab.with(s, join, { r1, r2, r3 })
end
function time_each(steps)
    local s, e, times = lab.stream{ non_blocking = true }, {}, {}
    for i = 1, 21 do e[i] = lab.event() end
    e[1]:record(s)
    for i = 1, 20 do
        lab.with(s, steps[i])
        e[i + 1]:record(s)
    end
    e[21]:synchronize()
    for i = 1, 20 do times[i] = e[i]:elapsed_time(e[i + 1]) end
    return times
end
function relay(slots, count, produce, consume)
    local fill, read = lab.stream(), lab.stream()
    local results, free = {}, {}
    for i = 1, count do
        local k = (i + 1) % 2 + 1                   -- slots 1, 2, 1, 2
        if i > 2 then fill:wait_event(free[k]) end
        lab.with(fill, produce, slots[k], i)
        arrow(fill, read)
        results[i] = lab.with(read, consume, slots[k], i)
        free[k] = read:record_event()
    end
    return results
end
