-- actions.lua - a program with its changes as a script of any language does it again: which
-- streams, events, kernels and buffers it needs, and what it calls, with loops.
--
-- Before each call the host waits until it is as long behind the last call that waited as it was in
-- the program, so that what calls cost in the script's language is part of that time, and not added
-- to it: `gap` is what is added to that moment.

local _, core = ...
local fold = core.need("exports/loops").fold
local make_graphs = core.need("exports/graph_bodies").make

local most_actions <const>, most_lines <const> = 300000, 20000
local usual_return_ns <const> = 8000 -- of a call that waits; what took longer was its own work

local actions = {}

local function refuse(text, ...)
    core.raise("SL_EUNSUPPORTED", "export", text:format(...))
end

-- A list in which things with the same key have the same number.
local function numbered()
    local list, by_key = {}, {}
    return list, function(key, make)
        local n = by_key[key]
        if not n then
            n = #list + 1
            list[n], by_key[key] = make(), n
        end
        return n
    end
end

-- Each action gets a key: equal ones do the same, if for other times.
local function name_things(found, plan)
    local streams, stream = numbered()
    local kernels, kernel = numbered()
    local copies, copy = numbered()
    plan.streams, plan.kernels, plan.copies, plan.set_bytes = streams, kernels, copies, 0
    for _, a in ipairs(found) do
        local raw = found.streams[a.stream]
        a.on = stream(a.stream, function() return raw end)
        if a.kind == "kernel" then
            local threads = a.threads > 0 and a.threads or 1024
            local key = ("%s\0%d\0%d\0%d"):format(a.name, a.blocks, threads, a.shared)
            a.uses = kernel(key, function()
                return { name = a.name, blocks = a.blocks, threads = threads, shared = a.shared,
                         in_graph = false }
            end)
            kernels[a.uses].in_graph = kernels[a.uses].in_graph or a.inside or false
        elseif a.kind == "copy" then
            a.uses = copy(("%s\0%s\0%d"):format(a.from, a.to, a.bytes), function()
                return { from = a.from, to = a.to, bytes = a.bytes, n = 0, us = 0 }
            end)
            local c = copies[a.uses]
            c.n, c.us = c.n + 1, (c.us * c.n + a.work / 1000) / (c.n + 1)
        elseif a.kind == "memset" then
            plan.set_bytes = math.max(plan.set_bytes, a.bytes)
        end
    end
end

local of_events <const> = { record = true, wait = true, event_sync = true }

-- Records get the lowest event that nobody waits for any more.
local function name_events(list)
    local last, most, free, held = {}, 0, {}, {}
    for i, a in ipairs(list) do
        if of_events[a.kind] then last[a.event] = i end
    end
    local kept = {}
    for i, a in ipairs(list) do
        if a.kind == "record" then
            table.sort(free)
            held[a.event] = table.remove(free, 1) or most + 1
            most = math.max(most, held[a.event])
        end
        if of_events[a.kind] then
            a.slot = held[a.event]
            if last[a.event] == i and a.slot then
                free[#free + 1], held[a.event] = a.slot, nil
            end
        end
        -- What was recorded before the program began has happened.
        if a.slot or not of_events[a.kind] then kept[#kept + 1] = a end
    end
    return kept, most
end

local function key_of(a)
    return ("%s %d %d %d %d %s"):format(a.kind, a.on, a.uses or 0, a.slot or 0,
        a.kind == "memset" and a.bytes or 0, a.waits or "")
end

local function cells_of(list)
    local cells = {}
    for i, a in ipairs(list) do
        cells[i] = { key = key_of(a), n = 1, gap = a.gap, work = a.work or 0, what = a }
    end
    return cells
end

-- ---- time ----------------------------------------------------------------------------------

local blocks <const> = { stream_sync = true, event_sync = true, device_sync = true }

-- own_us: what a call costs in the language, which it begins earlier.
local function set_gaps(list, own_us)
    local own_ns, due = own_us * 1000, 0
    for _, a in ipairs(list) do
        local waits = blocks[a.kind] or a.waits
        local at = waits and a.start or math.max(a.start, a.stop - own_ns)
        a.gap = math.max(0, at - due)
        due = math.max(due, at)
        if waits then due = a.stop - math.max(0, a.returns - usual_return_ns) end
    end
end

-- ---- all -----------------------------------------------------------------------------------

local function count(list)
    local n = 0
    for _, item in ipairs(list) do n = n + (item.body and count(item.body) + 2 or 1) end
    return n
end

-- {streams =, events = how many, captures = streams in which graphs are captured, kernels =,
-- copies =, set_bytes = the most, graphs = {{body =}, ...}, body =, n_actions =, follow_us =,
-- graph_follow_us =, total_us =}. Numbers count from 1. Bodies are as loops.lua has them, of cells
-- whose `what` has kind, on (stream), uses (kernel, copy or graph), slot (event), bytes.
function actions.plan(found, own_us)
    if #found > most_actions then
        refuse("the program makes %d calls: %d can be exported", #found, most_actions)
    end
    local plan = { follow_us = found.follow / 1000, graph_follow_us = found.graph_follow / 1000,
                   total_us = found.total / 1000, n_actions = #found }
    name_things(found, plan)
    local list, launches, bodies = {}, {}, {}
    for _, a in ipairs(found) do
        if a.inside then
            bodies[a.graph] = bodies[a.graph] or {}
            table.insert(bodies[a.graph], a)
        end
    end
    for _, a in ipairs(found) do
        if a.kind == "graph" and bodies[a.graph] then launches[#launches + 1] = a end
        if not a.inside and (a.kind ~= "graph" or bodies[a.graph]) then list[#list + 1] = a end
    end
    local n_events
    list, plan.events = name_events(list)
    plan.graphs, plan.captures, n_events = make_graphs(launches, bodies, name_events, key_of)
    plan.events = math.max(plan.events, n_events)
    set_gaps(list, own_us)
    plan.body = fold(cells_of(list))
    plan.lines = count(plan.body)
    if plan.lines > most_lines then
        refuse("the script would have %d lines, since little in it repeats: %d can be exported; "
            .. "take a part of the program, of some steps", plan.lines, most_lines)
    end
    return plan
end

return actions
