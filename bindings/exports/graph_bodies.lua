-- graph_bodies.lua - the graphs of an exported program: launches that run the same in each stream
-- have one graph, whose nodes take their mean time.
--
-- Recordings of other programs do not say which edges a graph has between its streams. A node comes
-- behind the last one of another stream that had ended in all launches when it began: what has an
-- edge always has, and what has none sooner or later has not.

local _, core = ...
local fold = core.need("exports/loops").fold

local bodies = {}

-- In streams of the capture, the first of which is that of the launch: {{action, ...}, ...}.
local function by_stream(body, origin)
    local numbers, lists = { [origin] = 1 }, { {} }
    for _, a in ipairs(body) do
        local number = numbers[a.on]
        if not number then
            number = #lists + 1
            numbers[a.on], lists[number] = number, {}
        end
        a.on = number
        table.insert(lists[number], a)
    end
    return lists
end

local function has_events(body)
    for _, a in ipairs(body) do
        if a.kind == "record" or a.kind == "wait" then return true end
    end
    return false
end

-- Launches with the same key have one graph.
local function key_of_launch(launch, key_of)
    local keys = {}
    for _, list in ipairs(launch.lists) do
        for _, a in ipairs(list) do keys[#keys + 1] = key_of(a) end
    end
    return table.concat(keys, "\0")
end

-- How many of the nodes of `from` had ended in all launches when this one began, at most `most`.
local function ended(launches, from, on, i, most)
    local all = most
    for _, launch in ipairs(launches) do
        local start, list = launch.lists[on][i].start, launch.lists[from]
        while all > 0 and list[all].stop > start do all = all - 1 end
    end
    return all
end

-- edges[on][i] = {[from] = the node of that stream}: where that is not the one of the node before.
local function find_edges(launches)
    local lists, edges = launches[1].lists, {}
    for on = 1, #lists do
        edges[on] = {}
        local last = {}
        for i = 1, #lists[on] do
            edges[on][i] = {}
            for from = 1, #lists do
                local k = from ~= on and ended(launches, from, on, i, #lists[from]) or 0
                if k > (last[from] or 0) then edges[on][i][from], last[from] = k, k end
            end
        end
    end
    return edges
end

-- Node after node, each stream as far as its edges let it, with records and waits: their numbers
-- count from `slot` on.
local function in_order(lists, edges, slot)
    local all, done, left = {}, {}, 0
    for on = 1, #lists do
        done[on], left = 0, left + #lists[on]
    end
    local needed = {} -- of streams: by node, the event that is recorded behind it
    for on = 1, #lists do
        for i = 1, #lists[on] do
            for from, k in next, edges[on][i] do
                needed[from] = needed[from] or {}
                if not needed[from][k] then
                    needed[from][k], slot = slot, slot + 1
                end
            end
        end
    end
    local function is_free(on)
        for from, k in next, edges[on][done[on] + 1] or {} do
            if done[from] < k then return false end
        end
        return done[on] < #lists[on]
    end
    while left > 0 do
        local before = left
        for on = 1, #lists do
            while is_free(on) do
                local i = done[on] + 1
                for from = 1, #lists do
                    local k = edges[on][i][from]
                    if k then all[#all + 1] = { kind = "wait", on = on, slot = needed[from][k] } end
                end
                all[#all + 1] = lists[on][i]
                local event = needed[on] and needed[on][i]
                if event then all[#all + 1] = { kind = "record", on = on, slot = event } end
                done[on], left = i, left - 1
            end
        end
        if left == before then break end -- times that contradict each other
    end
    return all, slot
end

-- All streams begin behind that of the launch, and end before it does.
local function with_ends(body, n_streams)
    if n_streams == 1 then return body end
    local all = { { kind = "record", on = 1, slot = 1 } }
    for on = 2, n_streams do all[on] = { kind = "wait", on = on, slot = 1 } end
    table.move(body, 1, #body, #all + 1, all)
    for on = 2, n_streams do
        all[#all + 1] = { kind = "record", on = on, slot = 1 }
        all[#all + 1] = { kind = "wait", on = 1, slot = 1 }
    end
    return all
end

-- The mean times of all launches, in the first one's actions.
local function cells_of(body, launches, key_of)
    local sums = {}
    for on, list in ipairs(launches[1].lists) do
        for i, a in ipairs(list) do
            local sum = 0
            for _, launch in ipairs(launches) do sum = sum + launch.lists[on][i].work end
            sums[a] = sum / #launches
        end
    end
    local cells = {}
    for i, a in ipairs(body) do
        cells[i] = { key = key_of(a), n = 1, gap = 0, work = sums[a] or 0, what = a }
    end
    return cells
end

-- Events that the program made itself: behind the one for its ends.
local function with_own_events(body, name_events)
    local named = name_events(body)
    local most = 1
    for _, a in ipairs(named) do
        if a.slot then
            a.slot = a.slot + 1
            most = math.max(most, a.slot)
        end
    end
    return named, most
end

-- Sets `uses` of each launch, and gives the graphs, {{body =}, ...}, and how many streams and
-- events capturing them takes. launch_bodies: by the launch's number, actions. name_events and
-- key_of: those of actions.lua.
function bodies.make(launches, launch_bodies, name_events, key_of)
    local graphs, groups, by_key, n_captures, n_events = {}, {}, {}, 0, 0
    for _, a in ipairs(launches) do
        local body = launch_bodies[a.graph]
        local launch = { own_events = has_events(body) }
        if launch.own_events then body, launch.n_events = with_own_events(body, name_events) end
        launch.body, launch.lists = body, by_stream(body, a.on)
        local key = key_of_launch(launch, key_of)
        if not by_key[key] then
            groups[#groups + 1], by_key[key] = {}, #groups + 1
        end
        a.uses = by_key[key]
        table.insert(groups[a.uses], launch)
    end
    for number, group in ipairs(groups) do
        local first = group[1]
        local body, most = first.body, first.n_events
        if not first.own_events then
            body, most = in_order(first.lists, find_edges(group), 2)
        end
        body = with_ends(body, #first.lists)
        graphs[number] = { body = fold(cells_of(body, group, key_of)) }
        n_captures, n_events = math.max(n_captures, #first.lists), math.max(n_events, most)
    end
    return graphs, n_captures, n_events
end

return bodies
