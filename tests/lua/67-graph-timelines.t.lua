-- 67-graph-timelines.t.lua - launches of graphs in timelines, trace files, pictures and pages.
local T = require "tap"
local ideal = require "lua.ideal"
local kineto_check = require "kineto_check"
local lab = require "streamlab"

lab.open { backend = "sim", profile = "h200" }

local folder <const> = os.tmpname()
os.remove(folder)

-- In the graph: a product, then a sum beside it in another stream, then a second sum behind both.
local function record()
    local a, b = lab.rand(64, 64, { device = "cuda" }), lab.rand(64, 64, { device = "cuda" })
    local side, forked, joined = lab.stream { name = "side" }, lab.event(), lab.event()
    local g = lab.graph(function()
        local c = a:matmul(b)
        forked:record()
        side:wait_event(forked)
        lab.with(side, function() return a:add(b) end)
        joined:record(side)
        lab.current_stream():wait_event(joined)
        return c:add(c)
    end, { name = "step" })
    return lab.profile(function()
        a:add(b)
        g:launch()
        g:launch()
    end), g
end

local function fields(tl, g)
    local spans, nodes = tl:spans(), g:nodes()
    T.is(#spans, 7, "each node of each launch is an operation")
    T.is(spans[1].node, nil, "what no graph ran is no node")
    local right = 0
    for i = 2, 7 do
        local s, node = spans[i], nodes[(i - 2) % 3 + 1]
        right = right + (s.graph == "step" and s.node == (i - 2) % 3 + 1 and s.name == node.name
                         and s.where == node.where and s.call == "cudaGraphLaunch" and 1 or 0)
    end
    T.is(right, 6, "the others say which node they are, and the line that was captured")
    local launches = {}
    for _, call in ipairs(tl:calls()) do
        if call.name == "cudaGraphLaunch" then launches[#launches + 1] = call end
    end
    T.is(#launches, 2, "launches are calls")
    T.is(launches[2].graph .. " " .. launches[2].nodes, "step 3", "with their graph")
    T.is(spans[7].launch, launches[2].correlation, "and nodes say which one ran them")
end

local function files(tl)
    tl:save(folder .. ".json")
    T.is_deeply(kineto_check.complaints(ideal.read(folder .. ".json")), {}, "its trace is one")
    local back = lab.load(folder .. ".json")
    back:save(folder .. ".again.json")
    T.is(ideal.read(folder .. ".again.json"), ideal.read(folder .. ".json"),
         "read back it is the same")
    T.is_deeply(back:spans(), tl:spans(), "with all that operations say")
    T.is_deeply(back:calls(), tl:calls(), "and calls")
    T.is_deeply(back:causes(), tl:causes(), "and the same causes")
    tl:save(folder .. ".svg")
    T.like(ideal.read(folder .. ".svg"), 'node 3 of graph "step"',
        "pictures say which node an operation is")
end

do
    local tl, g = record()
    fields(tl, g)
    files(tl)
end

-- Copy nodes take the host so long that the first ones run while the call still issues the others.
local function long_call()
    local main, host, streams = lab.stream(), {}, {}
    for i = 1, 4 do streams[i] = lab.stream() end
    for i = 1, 32 do host[i] = lab.ones(1 << 16, { device = "cpu", pinned = true }) end
    local g = lab.graph(function()
        for _, s in ipairs(streams) do s:wait_stream(main) end
        for i, h in ipairs(host) do
            h:to("cuda", { non_blocking = true, stream = streams[i % 4 + 1] })
        end
        for _, s in ipairs(streams) do main:wait_stream(s) end
    end, { stream = main })
    g:launch(main)
    lab.synchronize()
    local tl = lab.profile(function() g:launch(main) end)
    local call, first = tl:calls()[1], tl:spans()[1]
    T.ok(call.host_end_us > first.end_us, "the launch goes on while its first nodes run")
    local of_host = {}
    for _, part in ipairs(tl:makespan_parts()) do
        if part.cause:find("^host") then of_host[#of_host + 1] = part end
    end
    T.is(#of_host, 1, "of the host there is one part")
    T.is(of_host[1].cause, "host_issuing", "it is issuing")
    T.is(of_host[1].by_where, call.where, "in the call that launches the graph")
end
long_call()

-- What is between two kernels: a capture, an instantiation, an update.
local function other_calls()
    local x, line = lab.ones(64), debug.getinfo(1, "l").currentline
    local function adds() for _ = 1, 300 do x:add(x, { out = x }) end end
    local tl = lab.profile(function()
        lab.spin(0.001)
        local g <close> = lab.graph(adds)
        g:launch()
        g:update(adds)
        g:launch()
    end)
    local names, by = {}, {}
    for i, call in ipairs(tl:calls()) do names[i], by[call.name] = call.name, call end
    T.is(table.concat(names, " ", 1, 7),
        "cudaStreamBeginCapture cudaStreamEndCapture cudaGraphInstantiate cudaGraphLaunch "
        .. "cudaStreamBeginCapture cudaStreamEndCapture cudaGraphExecUpdate",
        "captures, instantiations and updates are calls of a timeline")
    T.like(by.cudaGraphInstantiate.where, ":" .. line + 4 .. "$", "with their lines")
    T.ok(by.cudaGraphInstantiate.host_end_us > by.cudaGraphInstantiate.host_start_us, "and times")
    local captured = 0
    for _, cause in ipairs(tl:causes()) do
        if cause.sentence:find("the host captured a graph at [^ ]+:" .. line + 4) then
            captured = captured + 1
            T.is(cause.remedy, "Capture a graph once, before the part that counts",
                 "which a remedy is for")
        end
    end
    T.is(captured, 1, "between the two ends of a capture the host captures")
end
other_calls()

-- Names of calls with their numbers, "cudaGraphLaunch 2, cudaStreamSynchronize 1", in order;
-- without the one that ends the recording.
local function counted(tl)
    local names, count = {}, {}
    for _, call in ipairs(tl:calls()) do
        if not call.of_stop then
            if not count[call.name] then names[#names + 1] = call.name end
            count[call.name] = (count[call.name] or 0) + 1
        end
    end
    for i, name in ipairs(names) do names[i] = name .. " " .. count[name] end
    return table.concat(names, ", ")
end

-- A launch is one call, whatever the graph has.
local function one_call()
    local main, side = lab.stream{ name = "main" }, lab.stream{ name = "beside" }
    local x, y = lab.ones(64), lab.ones(64)
    local host = lab.ones(64, { device = "cpu", pinned = true })
    local forks = lab.graph(function()
        for _ = 1, 31 do
            side:wait_stream(main)
            lab.mul(x, x, { out = x })
            lab.mul(y, y, { out = y, stream = side })
            main:wait_stream(side)
        end
    end, { stream = main })
    local others = lab.graph(function()
        local z = lab.add(lab.zeros(64), 1)
        main:launch_host_func(function() end)
        host:copy_(z, { non_blocking = true })
    end, { stream = main })
    lab.synchronize()
    local tl = lab.profile(function()
        forks:launch(main)
        others:launch(main)
        main:synchronize()
    end)
    T.is(counted(tl), "cudaGraphLaunch 2, cudaStreamSynchronize 1",
        "forks, joins, memory and host functions of a graph are no calls")
    tl:save(folder .. ".json")
    T.is(counted(lab.load(folder .. ".json")), counted(tl), "nor in its trace")
    return tl
end
local one_by_one = one_call()

-- What assertions count, and what holds the host, is the launch.
local function asserted(tl)
    lab.tap()                   -- reads the file
    local failed = {}
    local core <const> = debug.getregistry()["streamlab.internals"]
    local t = core.tap(function(r)
        if r.status == "failed" then failed[#failed + 1] = r.look or r.name end
    end)
    t:call_count(tl, "cudaGraphLaunch", { exactly = 2 }, "launches")
    t:no_call(tl, "cudaEventRecord", "records")
    t:no_call(tl, "cudaStreamWaitEvent", "waits")
    T.is(table.concat(failed, "; "), "", "assertions about calls count launches alone")
    t:host_block(tl, { at_most_us = 1 }, "the host is held")
    T.is(select(2, failed[1]:gsub("cudaGraphLaunch", "")), 2, "and each launch holds the host once")
end
asserted(one_by_one)

local pytorch = lab.load("tests/timeline/data/graph_branches.json")
T.is(pytorch.stream_count, 1, "rows of a stream are no streams")
T.is(pytorch:spans()[4].node, 2, "PyTorch's nodes have the file's numbers")
T.is(pytorch:spans()[4].graph, "graph 3", "so have its graphs")
T.like(pytorch:causes()[1].sentence, "an edge of the graph, probably from split",
    "an edge that the file does not have is a guess")

for _, ending in ipairs { ".json", ".again.json", ".svg" } do os.remove(folder .. ending) end
T.done()
