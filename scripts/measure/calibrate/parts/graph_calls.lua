-- graph_calls.lua - what graphs cost the host, as scripts make them: capture, instantiate, launch,
-- update, through Lua.
--
-- Each launch finds an idle device; what one costs by its number of kernels is in
-- graph_launches.lua. What nodes of a kind cost is the difference to a graph without them.

local context = import "scripts/measure/calibrate/context.lua"
local lists = import "repl/run/lists.lua"
local shapes = import "scripts/measure/calibrate/graph_shapes.lua"
local median, spread = context.median, context.spread

local part = { name = "graph_calls", passes = 7, title = "what graphs cost the host" }

local kernel_ms <const> = 0

-- ---- the time of calls ------------------------------------------------------------------------

local function timed(c, ...) return c:timed(c.clock, ...) end

local function captured(stream, enqueue)
    stream:begin_capture("thread_local")
    local ok, failure = pcall(enqueue)
    local ended, graph = pcall(stream.end_capture, stream)
    if not ok or not ended then
        error(ok and graph or failure, 0)
    end
    return graph
end

local function add(list, us) list[#list + 1] = us end

-- Adds to lists of `costs` what each call takes of one graph, from begin to end.
local function live(c, stream, enqueue, costs, launches)
    local cuda = c.lab.cuda
    local graph <close> = captured(stream, enqueue)
    local function launch() graph:launch(stream) end
    add(costs.instantiate, (timed(c, cuda.graph_instantiate, graph)))
    add(costs.first, (timed(c, launch)))
    c.lab.synchronize()
    for _ = 1, launches do
        add(costs.launch, (timed(c, launch)))
        c.lab.synchronize()
    end
    local other <close> = captured(stream, enqueue)
    local us, updated, why = timed(c, cuda.graph_exec_update, graph, other)
    if not updated then
        error("a graph could not be updated from the same capture: " .. why, 0)
    end
    add(costs.update, us)
end

-- Medians and spreads of what a graph costs: of so many graphs, each launched so often.
local function costs_of(c, stream, graphs, launches, enqueue)
    local costs = { instantiate = {}, first = {}, launch = {}, update = {} }
    for _ = 1, graphs do
        live(c, stream, enqueue, costs, launches)
    end
    local medians = { spread = {} }
    for _, name in ipairs { "instantiate", "first", "launch", "update" } do
        medians[name], medians.spread[name] = median(costs[name]), spread(costs[name])
    end
    return medians
end

local function set(c, key, us, how, of_samples)
    c:set("host_graph." .. key, math.max(0, us), how, of_samples)
end

-- ---- captures ---------------------------------------------------------------------------------

local captures <const>, captured_calls <const>, capture_rounds <const> = 50, 200, 5

local function ends_of_captures(c, stream)
    local begins, ends = {}, {}
    for i = 1, captures do
        begins[i] = timed(c, stream.begin_capture, stream, "thread_local")
        shapes.chain(c.lab, stream, 1, kernel_ms)
        local us, graph = timed(c, stream.end_capture, stream)
        ends[i] = us
        graph:free()
    end
    set(c, "begin_us", median(begins), "stream:begin_capture", spread(begins))
    set(c, "end_us", median(ends), "stream:end_capture, of one kernel", spread(ends))
end

-- Kinds of nodes {name in a key, call, name of the call, how many more of them a graph gets}. A
-- launch in CUDA can have but a few host functions (docs/design/cuda.md).
local function kinds_of(c, stream, tiny)
    local lab = c.lab
    local way, here = { stream = stream, non_blocking = true }, { stream = stream }
    local function nothing() end
    return {
        { "kernel", function() lab.spin(kernel_ms, here) end, "lab.spin" },
        { "copy", function() tiny.device:copy_(tiny.host, way) end,
          "pinned tensor:copy_ to the device", 50 },
        { "memset", function() tiny.device:zero_(here) end, "tensor:zero_", 50 },
        { "host_func", function() stream:launch_host_func(nothing) end, "stream:launch_host_func",
          8 },
    }
end

local function captured_us(c, stream, n, call)
    return c:measure(capture_rounds, function()
        local us
        captured(stream, function() us = c:loop_us(n, call) end):free()
        return us
    end)
end

local function calls_in_captures(c, stream, kinds)
    for _, kind in ipairs(kinds) do
        local us, off = captured_us(c, stream, captured_calls, kind[2])
        set(c, "capture_" .. kind[1] .. "_us", us, kind[3] .. " in a capture", off)
    end
    local event <close> = c.lab.event { timing = false }
    local us, off = captured_us(c, stream, captured_calls // 2, function()
        event:record(stream)
        stream:wait_event(event)
    end)
    set(c, "capture_event_us", us / 2, "event:record and stream:wait_event in a capture", off)
end

-- ---- chains of kernels ------------------------------------------------------------------------

-- {kernels, graphs, launches of each}. The largest ones take longer, and are in each second pass.
local chains <const> = { { 1, 9, 5 }, { 10, 9, 5 }, { 100, 5, 5 }, { 1000, 3, 7 }, { 4000, 1, 9 },
                         { 10000, 1, 7 } }
local uploaded <const>, large <const> = 1000, 4000      -- kernels

local function chain_costs(c, stream, n, graphs, launches)
    return costs_of(c, stream, graphs, launches, function()
        shapes.chain(c.lab, stream, n, kernel_ms)
    end)
end

local tables <const> = {
    { "instantiate", "lab.cuda.graph_instantiate of chains of so many kernels" },
    { "update", "lab.cuda.graph_exec_update of chains of so many kernels" },
}

local function uploads(c, rows)
    local function by_kernel(row) return (row.first - row.launch) / row.n end
    for _, row in ipairs(rows) do
        if row.n == uploaded then
            set(c, "upload_us", by_kernel(row), ("the first launch of %d kernels, less a later "
                .. "one, by kernel"):format(uploaded), row.spread.first)
        end
    end
    c:find("host_graph.upload_us", "for each kernel " .. lists.join(rows, function(row)
        return ("of %d %.3g us"):format(row.n, by_kernel(row))
    end))
end

-- Gives what a graph of one kernel costs.
local function all_chains(c, stream)
    local measured = lists.select(chains, function(chain)
        return chain[1] < large or c.pass % 2 == 1
    end)
    local rows = lists.map(measured, function(chain)
        local row = chain_costs(c, stream, table.unpack(chain))
        row.n = chain[1]
        return row
    end)
    for _, named in ipairs(tables) do
        local name, most = named[1], 0
        local points = lists.map(rows, function(row)
            most = math.max(most, row.spread[name])
            return { row.n, row[name] }
        end)
        c:set("host_graph." .. name .. "_us", points, named[2], most)
    end
    uploads(c, rows)
    return rows[1]
end

-- ---- other nodes ------------------------------------------------------------------------------

local other_graphs <const>, other_launches <const> = 5, 5

-- What each node of a kind adds to a graph of one kernel.
local function other_nodes(c, stream, kinds, one)
    local instantiate_us, most, words = 0, 0, {}
    for i = 2, #kinds do
        local name, call, call_name, others = table.unpack(kinds[i])
        local costs = costs_of(c, stream, other_graphs, other_launches, function()
            kinds[1][2]()
            for _ = 1, others do
                call()
            end
        end)
        set(c, name .. "_us", (costs.launch - one.launch) / others,
            ("what each of %d adds to the launch of a kernel: %s"):format(others, call_name),
            costs.spread.launch)
        local each_us = (costs.instantiate - one.instantiate) / others
        instantiate_us = instantiate_us + each_us / (#kinds - 1)
        most = math.max(most, costs.spread.instantiate)
        words[i - 1] = ("a %s %.3g us"):format((name:gsub("_func", " function")), each_us)
    end
    c:find("host_graph.instantiate_other_us", table.concat(words, ", "))
    set(c, "instantiate_other_us", instantiate_us, "the mean of what a copy, a memset and a host "
        .. "function add to instantiating a kernel", most)
end

-- ---- branches ---------------------------------------------------------------------------------

local width <const>, levels <const>, branch_graphs <const>, branch_launches <const> = 8, 20, 3, 9

-- What a graph of branches costs, with its numbers of nodes `n` and of `edges`, and what a chain of
-- as many kernels costs.
local function beside_chain(c, stream, enqueue)
    local costs = costs_of(c, stream, branch_graphs, branch_launches, enqueue)
    local graph <close> = captured(stream, enqueue)
    costs.n, costs.edges = #graph:nodes(), #graph:edges()
    return costs, chain_costs(c, stream, costs.n, branch_graphs, branch_launches)
end

local function branches(c, streams)
    local lab, stream = c.lab, streams[1]
    local lanes, chain = beside_chain(c, stream, function()
        shapes.lanes(lab, streams, levels, kernel_ms)
    end)
    local branch_us = (lanes.launch - chain.launch) / (width - 1)
    set(c, "branch_us", branch_us, ("graph:launch of %d branches, less a chain of as many "
        .. "kernels, by further branch"):format(width), lanes.spread.launch)
    local diamonds
    diamonds, chain = beside_chain(c, stream, function()
        shapes.diamonds(lab, streams, levels, kernel_ms)
    end)
    local more_us = diamonds.launch - chain.launch - (width - 1) * math.max(0, branch_us)
    set(c, "cross_node_us", more_us / (diamonds.n - 1), ("the same of branches that fork and join "
        .. "%d times, less branch_us, by node"):format(levels), diamonds.spread.launch)
    local meshes
    meshes, chain = beside_chain(c, stream, function()
        shapes.meshes(lab, streams, levels, kernel_ms)
    end)
    set(c, "instantiate_edge_us",
        (meshes.instantiate - chain.instantiate) / (meshes.edges - (meshes.n - width)),
        ("lab.cuda.graph_instantiate of %d levels of %d kernels, each behind all of the level "
        .. "before, less a chain, by edge"):format(levels, width), meshes.spread.instantiate)
end

-- ---- from the call to the device --------------------------------------------------------------

local starts <const>, long_ms <const> = 60, 0.03

-- From the return of the call until the host sees the end of a kernel that is longer than the call.
local function until_seen(c, stream, call)
    call()
    local us = timed(c, stream.synchronize, stream)
    c.lab.host_work(long_ms)
    return us
end

local function submission(c, stream)
    local function plain() c.lab.spin(long_ms, { stream = stream }) end
    local graph <close> = c.lab.graph(plain, { stream = stream })
    local function launch() graph:launch(stream) end
    local samples = {}
    for i = 0, starts do
        samples[math.max(1, i)] = until_seen(c, stream, launch) - until_seen(c, stream, plain)
    end
    local submit_us = c.values.submit_us
    local all = lists.map(samples, function(more_us) return submit_us + more_us end)
    set(c, "submit_us", median(all), "submit_us, and how much longer it takes from the call to the "
        .. "end of a kernel if a graph launches it", spread(all))
end

function part.run(c)
    c.clock = c:clock_us()
    shapes.with_tiny(c.lab, function(tiny)
        c:with_streams(width, { non_blocking = true }, function(streams)
            local stream = streams[1]
            local kinds = kinds_of(c, stream, tiny)
            for _, kind in ipairs(kinds) do
                kind[2]()           -- loads what it needs
            end
            c.lab.synchronize()
            c.progress("captures")
            ends_of_captures(c, stream)
            calls_in_captures(c, stream, kinds)
            c.progress("chains of kernels")
            local one = all_chains(c, stream)
            c.progress("other nodes")
            other_nodes(c, stream, kinds, one)
            c.progress("branches")
            branches(c, streams)
            c.progress("from the call to the device")
            submission(c, stream)
        end)
    end)
end

return part
