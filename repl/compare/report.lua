-- report.lua - one script in full: its makespans, then its parts, those that are furthest off
-- first.

local command = import "repl/run/command.lua"
local order = import "repl/compare/order.lua"
local times = import "repl/compare/times.lua"

local report = {}

local most_parts <const> = 3

-- A line, which may begin with an empty one.
local function say(form, ...)
    local text = form:format(...)
    print((text:match("^\n") or "") .. command.clean((text:gsub("^\n", ""))))
end

local function name_of(span)
    return ("%s in %s (operation %d)"):format(span.name, span.stream, span.correlation)
end

local function say_order(part, other)
    local result = order.compare(part.matched.list)
    if result.neighbours == 0 then
        return
    end
    say("order of starts: %d of %d neighbours start in the other order", result.swapped,
        result.neighbours)
    if result.first then
        say("  first: %s starts before %s on %s, behind it on the simulator",
            name_of(result.first[1][2]), name_of(result.first[2][2]), other)
    end
end

-- "2 of 3 of lanes"; of pairs that are not the same in all runs it tells.
local function pairs_text(counts, name)
    local text = ("%d of %d of %s"):format(counts.same, counts.pairs, name)
    if counts.steady < counts.pairs then
        text = ("%s (%d of %d steady ones)"):format(text, counts.steady_same, counts.steady)
    end
    return text
end

local function say_overlaps(part, other)
    say("pairs that overlap, the same on both: %s, %s", pairs_text(part.lanes, "lanes"),
        pairs_text(part.operations, "operations"))
    local sim_alone, gpu_alone = part.matched.sim_alone, part.matched.gpu_alone
    if sim_alone + gpu_alone > 0 then
        say("operations without a partner: %d on the simulator, %d on %s", sim_alone, gpu_alone,
            other)
    end
end

local function say_part(part, n_parts, other)
    local try = command.try
    say("\n== part %d of %d: %s simulated, %s measured, ratio %.3f", part.number, n_parts,
        times.text(part.sim.makespan_us), times.text(part.gpu.makespan_us), part.ratio)
    say_order(part, other)
    say_overlaps(part, other)
    say("\n%s, and below it the simulator, on one scale of time:", other)
    try(part.gpu.show, part.gpu, { beside = part.sim })
    try(part.sim.show, part.sim, { beside = part.gpu })
    print()
    try(part.gpu.diff, part.gpu, part.sim, { names = { other, "the simulator" } })
    say("\n%s explained:", other)
    try(part.gpu.explain, part.gpu)
    print("the simulator explained:")
    try(part.sim.explain, part.sim)
end

local function error_of(part)
    return math.abs(part.ratio - 1)
end

local function worst_first(parts)
    local list = table.move(parts, 1, #parts, 1, {})
    table.sort(list, function(a, b)
        if error_of(a) ~= error_of(b) then
            return error_of(a) > error_of(b)
        end
        return a.number < b.number
    end)
    return list
end

-- `other`: what the simulator is compared with, "the GPU".
function report.print(result, other)
    local r = result.record
    say("%s: %s simulated, %s measured (%s to %s), ratio %.3f", result.entry.name,
        times.text(r.sim_us), times.text(r.gpu_us), times.text(r.gpu_min_us),
        times.text(r.gpu_max_us), r.sim_us / r.gpu_us)
    if not result.gpu then
        return
    end
    if #result.sim.parts ~= #result.gpu.parts then
        say("it records %d timelines on the simulator and %d on %s", #result.sim.parts,
            #result.gpu.parts, other)
    end
    for i, part in ipairs(worst_first(result.parts)) do
        if i <= most_parts then
            say_part(part, #result.sim.parts, other)
        end
    end
    if #result.parts > most_parts then
        say("\n%d parts that are nearer are not shown", #result.parts - most_parts)
    end
    print()
end

return report
