-- 22-api-graphs.t.lua - graphs in Lua: how they are captured, what is asked of them, and what is
-- refused. What a replay computes is in tests/both/graphs.t.lua.

local T = require "tap"
local ideal = require "lua.ideal"

ideal.open()

-- f raises that code, with the operation and the message like the pattern, and this file's line.
local function refuses(f, code, pattern, name)
    local fine, err = pcall(f)
    if fine or type(err) ~= "table" then
        T.ok(false, name)
        T.diag("raised " .. tostring(err))
        return
    end
    local said = (err.op ~= "" and err.op .. ": " or "") .. err.message
    local rightly = err.code == code and said:find(pattern)
        and err.where:find("^22%-api%-graphs%.t%.lua:%d+$")
    if not T.ok(rightly, name) then T.diag(err.code .. ": " .. tostring(err)) end
end

local function nothing() end

-- A graph of n short kernels in a chain.
local function chain(n, opts)
    return lab.graph(function() for _ = 1, n do lab.spin(0.01) end end, opts)
end

local function capturing()
    local x = lab.zeros(4)
    local g, y, more = lab.graph(function() return x:add(1), "more" end)
    T.is(tostring(g), 'graph 1 "graph 1" (1 node, not launched)', "a graph says what it has")
    T.is(y:size(1), 4, "lab.graph gives what its function returned")
    T.is(more, "more", "all of it")
    T.is(g.id, 1, "graphs are numbered from 1")
    T.is(g.name, "graph 1", "and named after that")
    T.is(chain(2, { name = "step" }).name, "step", "name = names one")
    T.is(chain(2, { name = "" }).name:match "%a+", "graph", "an empty name names none")
    T.is(g.launches, 0, "nothing has run")
    g:launch()
    T.is(tostring(g), 'graph 1 "graph 1" (1 node, launched 1 time)', "a launch is counted")
    T.is(y:get(1), 1, "and does the work")
    T.ok(g.instantiated, "it is instantiated")
    T.is(g.priorities, false, "without priorities")
    T.is(chain(1, { priorities = true }).priorities, true, "unless they are wanted")
    T.is(g.device, lab.device(), "it knows its device")
end

local function streams()
    local before = lab.current_stream()
    local inside
    local g = lab.graph(function() inside = lab.current_stream() lab.spin(1) end)
    T.isnt(inside, before, "the default stream cannot be captured: another is current meanwhile")
    T.is(inside.name, "capture", "which has a name")
    T.is(lab.current_stream(), before, "afterwards the earlier one is current")
    T.is(g:nodes()[1].stream, "capture", "and nodes say where they were captured")
    local s = lab.stream{ name = "s" }
    lab.graph(function() inside = lab.current_stream() end, { stream = s })
    T.is(inside, s, "stream = names the one to capture in")
    lab.with(s, function() lab.graph(function() inside = lab.current_stream() end) end)
    T.is(inside, s, "otherwise it is the current one")
    T.is(s:capture_status(), "none", "which is in no capture afterwards")
end

local function errors_inside()
    local s, mark = lab.stream(), {}
    local fine, err = pcall(lab.graph, function() lab.spin(1) error(mark) end, { stream = s })
    T.ok(not fine and err == mark, "an error in the function passes as it is")
    T.is(s:capture_status(), "none", "the capture is thrown away")
    T.is(lab.current_stream(), lab.default_stream(), "the earlier stream is current again")
    T.is(lab.live().graphs, 0, "no graph is left")
    lab.spin(1, { stream = s })
    s:synchronize()
    T.ok(s:query(), "and the stream is usable")
    T.ok(pcall(lab.graph, nothing, { stream = s }), "also for the next capture")
    local x = lab.ones(4)
    refuses(function() lab.graph(function() x:totable() end) end, "SL_ECAPTURE",
            "^totable: .*cudaErrorStreamCaptureUnsupported",
            "a call that is forbidden names itself and CUDA's error")
    refuses(function()
        lab.graph(function() pcall(lab.synchronize) lab.spin(1) end)
    end, "SL_ECAPTURE", "^spin: .*cudaErrorStreamCaptureInvalidated",
        "if its error is caught, the next call fails")
    refuses(function() lab.graph(function() pcall(lab.synchronize) end) end, "SL_ECAPTURE",
            "^graph: .*cudaErrorStreamCaptureInvalidated", "or the end")
    T.is(x:get(1), 1, "afterwards everything works")
end

local function coroutines()
    local s, g = lab.stream(), nil
    local co = coroutine.create(function()
        g = lab.graph(function() lab.spin(1) coroutine.yield() lab.spin(1) end, { stream = s })
    end)
    coroutine.resume(co)
    T.is(s:capture_status(), "active", "the function may yield: the capture goes on")
    T.is(lab.current_stream(), lab.default_stream(), "outside, the earlier stream is current")
    lab.spin(1, { stream = lab.stream() })
    T.ok(coroutine.resume(co), "and it continues")
    T.is(#g:nodes(), 2, "with what was enqueued inside alone")
    co = coroutine.create(function() lab.graph(coroutine.yield, { stream = s }) end)
    coroutine.resume(co)
    coroutine.close(co)
    T.is(s:capture_status(), "none", "a coroutine that is closed ends its capture")
    co = coroutine.create(function() lab.graph(coroutine.yield, { stream = s }) end)
    coroutine.resume(co)
    co = nil -- luacheck: ignore
    collectgarbage()
    T.is(s:capture_status(), "none", "and so does one that is collected")
end

local function plain_calls()
    local s, x = lab.stream(), lab.zeros(4)
    T.is(s:capture_status(), "none", "a stream is in no capture at first")
    s:begin_capture()
    T.is(s:capture_status(), "active", "begin_capture begins one")
    local begun <const> = debug.getinfo(1, "l").currentline - 2
    refuses(function() s:begin_capture() end, "SL_ECAPTURE",
            "is captured already, since 22%-api%-graphs.t.lua:" .. begun
                .. ": end that capture first",
            "which is refused while it goes on, with its line")
    lab.with(s, function() x:add(1, { out = x }) end)
    local g = s:end_capture()
    T.is(tostring(g), 'graph 1 "graph 1" (1 node, not instantiated)', "end_capture gives a graph")
    refuses(function() g:launch() end, "SL_ESTATE",
            "^launch: graph 1 is not instantiated: instantiate it first$",
            "it cannot be launched yet")
    lab.cuda.graph_instantiate(g, { priorities = true })
    T.ok(g.instantiated and g.priorities, "graph_instantiate changes that")
    refuses(function() lab.cuda.graph_instantiate(g) end, "SL_ESTATE",
            "^cuda.graph_instantiate: the graph is instantiated already", "once")
    lab.cuda.graph_launch(g, s)
    lab.cuda.graph_launch(g, { stream = s })
    s:synchronize()
    T.is(x:get(1), 2, "graph_launch launches it")
    lab.cuda.stream_begin_capture(s, "relaxed")
    T.is(lab.cuda.stream_is_capturing(s), "active", "the same in lab.cuda")
    lab.with(s, function() x:add(5, { out = x }) end)
    local from = lab.cuda.stream_end_capture(s)
    T.is(lab.cuda.graph_exec_update(g, from), true,
         "graph_exec_update takes over what another graph does")
    g:launch()
    T.is(x:get(1), 7, "which its launches do then")
    T.is(from:nodes()[1].where, g:nodes()[1].where, "the other graph still has its nodes")
    refuses(function() lab.cuda.graph_instantiate(from) end, "SL_ESTATE",
            "has updated another graph, which has its nodes now: capture them again",
            "but cannot be instantiated")
    refuses(function() lab.cuda.graph_exec_update(chain(1), from) end, "SL_ESTATE",
            "has updated another graph", "or update a second graph")
    T.is_deeply({ lab.cuda.graph_exec_update(chain(2), (function()
        s:begin_capture()
        return s:end_capture()
    end)()) }, { false, "the graph has 2 nodes and the new one 0: capture a new graph" },
        "or says why it cannot")
    lab.cuda.graph_destroy(g)
    refuses(function() lab.cuda.graph_launch(g) end, "SL_ECLOSED",
            "^cuda.graph_launch: argument 1 %(graph%): the graph was freed$",
            "graph_destroy frees it")
end

local function parts()
    local a, b = lab.stream{ name = "a", priority = "high" }, lab.stream{ name = "b" }
    local x = lab.zeros(4)
    local pinned = lab.ones(4, { device = "cpu", pinned = true })
    local g = lab.graph(function()
        x:copy_(pinned, { non_blocking = true })
        b:wait_stream(a)
        lab.spin(1)
        lab.spin(1, { stream = b })
        a:wait_stream(b)
        a:launch_host_func(nothing)
    end, { stream = a, name = 'a "quoted" name' })
    local nodes = g:nodes()
    T.is_deeply({ nodes[1].kind, nodes[1].bytes, nodes[1].stream }, { "memcpy_h2d", 16, "a" },
                "a node has a kind, bytes of a copy, and a stream")
    T.is_deeply({ nodes[2].name, nodes[2].kind, nodes[2].bytes }, { "spin", "kernel", nil },
                "a kernel has its name and no bytes")
    T.is(nodes[3].stream, "b", "a stream that has joined is named")
    T.is(nodes[4].kind, "host_func", "a host function is a node")
    T.like(nodes[2].where, "^22%-api%-graphs%.t%.lua:%d+$", "a node knows its line")
    T.is(nodes[2].priority, a.priority, "and the priority of its stream")
    T.is_deeply(g:edges(), { { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 } }, "edges are pairs of nodes")
    local dot = g:dot()
    T.like(dot, '^digraph "a \\"quoted\\" name" {\n', "dot() quotes names")
    T.like(dot, 'subgraph cluster_1 {\n +label="a";\n +n1 ', "has a box for each stream")
    T.like(dot, "\n +n3 %-> n4;\n}\n$", "and an arrow for each edge")
    T.is_deeply({ #lab.graph(nothing):nodes(), #lab.graph(nothing):edges() }, { 0, 0 },
                "an empty graph has neither")
    T.like(lab.graph(nothing):dot(), "^digraph", "and can be drawn all the same")
end

local function updating()
    local x = lab.zeros(4)
    local g = lab.graph(function() x:add(1, { out = x }) end)
    local fine, result = g:update(function() x:add(3, { out = x }) return "result" end)
    T.ok(fine and result == "result", "update gives true and what the function returned")
    g:launch()
    T.is(x:get(1), 3, "launches do what is new")
    local why
    fine, why = g:update(function() lab.spin(1) lab.spin(1) end)
    T.is(fine, false, "it gives false where there are other nodes")
    T.is(why, "the graph has 1 node and the new one 2: capture a new graph", "and says why")
    fine, why = g:update(function() x:zero_() end)
    T.is(why, "node 1 of the graph is a kernel and of the new one a memset: capture a new graph",
        "or nodes of another kind")
    T.is(fine, false, "which is no update either")
    local on_cpu = lab.zeros(4, { device = "cpu", pinned = true })
    local copy = lab.graph(function()
        x:zero_()
        x:copy_(on_cpu, { non_blocking = true })
    end)
    T.is(select(2, copy:update(function()
        x:zero_()
        on_cpu:copy_(x, { non_blocking = true })
    end)), "node 2, a copy, has another direction in the new graph: capture a new graph",
        "a copy keeps its direction")
    copy:free()
    g:launch()
    T.is(x:get(1), 6, "the graph is what it was")
    fine = pcall(g.update, g, function() error("no") end)
    T.ok(not fine and g.instantiated, "an error in the function leaves it as it was, too")
    T.is(lab.live().graphs, 1, "what was captured for updates is gone")
    refuses(function() g:update(function() g:free() end) end, "SL_ECLOSED",
            "^update: the graph was freed", "the function must not free the graph")
end

local function ends()
    local g, other = chain(3), chain(1)
    T.is_deeply(lab.graphs(), { g, other }, "lab.graphs() has all, in their order")
    T.is(lab.live().graphs, 2, "lab.live() counts them")
    g:launch()
    g:free()
    T.is(tostring(g), "graph (freed)", "a freed graph says so")
    T.ok(g.freed and not other.freed, "and so does its field")
    T.is_deeply(lab.graphs(), { other }, "it is not listed")
    g:free()
    T.ok(true, "freeing it again does nothing")
    refuses(function() g:launch() end, "SL_ECLOSED", "^launch: the graph was freed$",
            "a freed graph cannot be launched")
    refuses(function() return g.name end, "SL_ECLOSED", "^name: the graph was freed$",
            "nor asked for its name")
    do
        local _ <close> = chain(1)
        T.is(#lab.graphs(), 2, "a graph can be local to a block")
    end
    T.is(#lab.graphs(), 1, "at whose end it is freed")
    other = nil -- luacheck: ignore
    collectgarbage()
    T.is(#lab.graphs(), 0, "the collector frees graphs")
    lab.synchronize()
    T.is(lab.live().graphs, 0, "of which nothing is left")
end

local function wrong_use()
    local g = chain(1)
    refuses(function() lab.graph() end, "SL_EINVAL",
            "^graph: argument 1 %(f%) must be a function, got nothing$",
            "lab.graph needs a function")
    refuses(function() lab.graph(nothing, 1) end, "SL_EINVAL",
            "^graph: argument 2 %(options%) must be a table of options, got number$",
            "and options in a table")
    refuses(function() lab.graph(nothing, { modes = 1 }) end, "SL_EINVAL",
            "^graph: unknown option 'modes'; known: mode, priorities, stream, name$",
            "that it knows")
    refuses(function() lab.graph(nothing, { mode = "strict" }) end, "SL_EINVAL",
            '^graph: option \'mode\' must be "global", "thread_local" or "relaxed", got "strict"$',
            "a mode that there is")
    refuses(function() lab.graph(nothing, { stream = lab.default_stream() }) end, "SL_ECAPTURE",
            "^graph: .*cudaErrorStreamCapture", "the default stream cannot be captured")
    refuses(function() lab:graph(nothing) end, "SL_EINVAL",
            "^graph: called as lab:graph%(...%); functions of lab take a dot", "a colon is found")
    refuses(function() g.launch() end, "SL_EINVAL",
            "^launch: argument 1 %(self%) must be a graph, got nothing; call it as g:launch%(%)$",
            "and a dot")
    refuses(function() g:launch(g) end, "SL_EINVAL",
            "^launch: argument 2 %(stream%) must be a stream or a table of options, got graph$",
            "launch takes a stream")
    refuses(function() g:update({}) end, "SL_EINVAL",
            "^update: argument 2 %(f%) must be a function, got table$", "update a function")
    refuses(function() g:update(nothing, { priorities = true }) end, "SL_EINVAL",
            "^update: unknown option 'priorities'; known: mode, stream$", "and fewer options")
    refuses(function() return g.node end, "SL_EINVAL",
            "^graph has no field or method 'node'; did you mean 'nodes'%?$",
            "names that are near are named")
    refuses(function() g.name = "x" end, "SL_EINVAL", "^field 'name' cannot be set$",
            "fields cannot be set")
    local s = lab.stream()
    refuses(function() s:begin_capture("strict") end, "SL_EINVAL",
            '^begin_capture: argument 2 %(mode%) must be "global", "thread_local" or "relaxed", '
                .. 'got "strict"$', "begin_capture needs a mode that there is")
    refuses(function() s:end_capture() end, "SL_ECAPTURE",
            "^end_capture: .*cudaErrorIllegalState", "end_capture a capture")
    s:begin_capture()
    refuses(function() s:begin_capture() end, "SL_ECAPTURE",
            "^begin_capture: .*cudaErrorIllegalState", "one at a time")
    refuses(function() g:launch(s) end, "SL_ECAPTURE",
            "^launch: .*cudaErrorStreamCaptureUnsupported",
            "a graph is not launched into a capture")
    s:close()
    lab.synchronize()
    T.is(lab.live().graphs, 1, "closing the stream ends its capture")
    s = lab.stream()
    do
        local _ <close> = lab.use(s)
        s:begin_capture()
        s:close()
        T.is(lab.current_stream():capture_status(), "active", "but not while it is the current one")
        collectgarbage()
    end
    lab.synchronize()
    T.is(lab.live().graphs, 1, "which ends its capture when another becomes current")
    s = lab.stream()
    s:begin_capture()
    s = nil -- luacheck: ignore
    collectgarbage()
    T.is(lab.live().graphs, 1, "and so does collecting it")
end

local function in_host_functions()
    local s, problems = lab.stream(), {}
    local g = chain(1)
    s:launch_host_func(function()
        for _, f in ipairs{ function() lab.graph(nothing) end, function() g:launch() end,
                            function() s:begin_capture() end } do
            local _, err = pcall(f)
            problems[#problems + 1] = err.code
        end
        g:free()
    end)
    s:synchronize()
    T.is_deeply(problems, { "SL_ESTATE", "SL_ESTATE", "SL_ESTATE" },
                "a host function can neither capture nor launch")
    T.is(tostring(g), "graph (freed)", "but may free a graph")
end

for _, part in ipairs{ capturing, streams, errors_inside, coroutines, plain_calls, parts, updating,
                       ends, wrong_use,
                       in_host_functions } do
    part()
    collectgarbage()
    ideal.open()
end
T.done()
