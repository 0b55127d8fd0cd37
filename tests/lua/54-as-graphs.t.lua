-- 54-as-graphs.t.lua - what explanations say that work would take as a graph is what it takes as
-- one.
local tap = require "tap"
local lab = require "streamlab"

local core = debug.getregistry()["streamlab.internals"]
-- What is said leaves out that branches start one after the other, and what forks and joins take.
local few_percent <const>, copies_percent <const> = 1, 6
local branches_percent <const>, joins_percent <const> = 8, 20

local function promise(tl) return core.explanation(tl).trace.as_graphs() end

-- Both end with a synchronisation.
local function timed(f)
    f()
    lab.synchronize()
    collectgarbage()
    return lab.profile(function() f() lab.synchronize() end)
end

local function compare(name, f, main, percent)
    local found = promise(timed(f))
    local g <close> = lab.graph(f, { stream = main })
    local taken_us = timed(function() g:launch{ stream = main } end).makespan_us
    local said_us = found.makespan_ns / 1000
    tap.is(found.n_graphs, 1, name .. ": one graph")
    tap.ok(math.abs(said_us - taken_us) <= taken_us * percent / 100,
        ("%s: %.1f us is said, and %.1f us are taken"):format(name, said_us, taken_us))
end

local main, sides

local function fork()
    local start = main:record_event()
    for i = 1, 4 do sides[i]:wait_event(start) end
end

local function join()
    for i = 1, 4 do main:wait_event(sides[i]:record_event()) end
end

local function chain()
    for _ = 1, 300 do lab.spin(0.001, { stream = main }) end
end

local function branches()
    fork()
    for _ = 1, 20 do
        for i = 1, 4 do lab.spin(0.002, { stream = sides[i], blocks = 4 }) end
    end
    join()
end

local function levels()
    for _ = 1, 20 do
        fork()
        for i = 1, 4 do lab.spin(0.003, { stream = sides[i], blocks = 4 }) end
        join()
        lab.spin(0.001, { stream = main })
    end
end

local function host_functions()
    for _ = 1, 5 do
        lab.spin(0.001, { stream = main })
        main:launch_host_func(function() end)
        lab.spin(0.001, { stream = main })
    end
end

local function pipeline(n)
    local weights, items = lab.rand(n, n), {}
    for i = 1, 16 do
        items[i] = {
            from = lab.rand(n, n, { device = "cpu", pinned = true }), x = lab.zeros(n, n),
            y = lab.zeros(n, n), to = lab.zeros(n, n, { device = "cpu", pinned = true }),
        }
    end
    return function()
        fork()
        for i, item in ipairs(items) do
            local on = { stream = sides[(i - 1) % 4 + 1], non_blocking = true }
            item.x:copy_(item.from, on)
            lab.matmul(item.x, weights, { stream = on.stream, out = item.y })
            item.to:copy_(item.y, on)
        end
        join()
    end
end

for _, profile in ipairs{ "textbook", "h200" } do
    lab.open{ backend = "sim", profile = profile }
    main, sides = lab.stream{ name = "main" }, {}
    for i = 1, 4 do sides[i] = lab.stream{ name = "side " .. i } end
    compare(profile .. ", a chain", chain, main, few_percent)
    compare(profile .. ", branches", branches, main, branches_percent)
    compare(profile .. ", forks and joins", levels, main, joins_percent)
    compare(profile .. ", host functions", host_functions, main, few_percent)
    compare(profile .. ", a pipeline of 128", pipeline(128), main, copies_percent)
    compare(profile .. ", a pipeline of 256", pipeline(256), main, copies_percent)
end

-- ---- what a capture cannot contain ---------------------------------------------------------

local function rounds(between)
    return timed(function()
        for _ = 1, 5 do
            for _ = 1, 40 do lab.spin(0.001, { stream = main }) end
            between()
        end
    end)
end

local function cuts()
    local x = lab.ones(4)
    local with_item = rounds(function() x:sum{ stream = main }:item() end)
    local found = promise(with_item)
    tap.is(found.n_graphs, 5, "reading a value ends a graph")
    tap.ok(found.makespan_ns < with_item.makespan_us * 1000, "and what is between still gains")
    tap.is(promise(rounds(function() main:synchronize() end)).n_graphs, 5,
           "so does a synchronisation")
    tap.is(promise(rounds(function() lab.host_work(0.1) end)).n_graphs, 5,
           "so does work of the host")
    tap.is(promise(rounds(function() end)).n_graphs, 1, "a loop alone does not")
end

local function sentence()
    for _, cause in ipairs(rounds(function() main:synchronize() end):causes()) do
        if cause.cause == "host_issuing" then return cause.sentence end
    end
end

local function remedy()
    local tl = rounds(function() lab.ones(4):sum{ stream = main }:item() end)
    for _, cause in ipairs(tl:causes()) do
        if cause.as_graph_us and cause.remedy:find("alternately") then return cause.remedy end
    end
end

local function no_graphs()
    local g <close> = lab.graph(chain, { stream = main })
    local replayed = timed(function() g:launch{ stream = main } g:launch{ stream = main } end)
    tap.is(promise(replayed).n_graphs, 0, "what is a graph already is left as it is")
    tap.is(promise(lab.profile(function() end)).n_graphs, 0, "nothing is no graph")
    tap.is(promise(timed(function() lab.spin(0.001, { stream = main }) end)).n_graphs, 0,
        "nor is one operation")
end

lab.open{ backend = "sim", profile = "textbook" }
main, sides = lab.stream{ name = "main" }, nil
cuts()
tap.like(sentence(), "; host%-bound: 200 launches of [%d.]+ us; as 5 graphs, which end where the "
    .. "host waits or works, all would take about %d+ us %(simulated%)$", "the sentence says so")
tap.like(remedy(), "; or launch both with one call: a CUDA graph %(lab.graph%)$",
         "as does the remedy")
no_graphs()

-- ---- whose figures ---------------------------------------------------------------------------

local path = os.tmpname()
local function said(tl)
    for _, cause in ipairs(tl:causes()) do
        if cause.sentence:find("(simulated)", 1, true) then return cause.sentence end
    end
end
local tl = timed(chain)
tl:save(path .. ".json")
tap.like(said(tl), "as a graph all would take about", "a timeline says it")
tap.is(said(lab.load(path .. ".json")), said(tl), "saved and loaded it says the same")
os.remove(path .. ".json")
os.remove(path)

local planted = lab.load("tests/timeline/data/planted/launch_bound.json.gz")
tap.ok(math.abs(planted:causes()[1].as_graph_us - 864) <= 86, "and scripts have them")
local us = tonumber(said(planted):match("all would take about (%d+) us %(simulated%)$"))
tap.ok(us and math.abs(us - 864) <= 86,
    ("600 kernels that PyTorch launched, 864 us as a graph on that H200: %s us are "
        .. "said"):format(us))
-- ---- what the simulator knows of a launch ------------------------------------------------------

local function side_by_side()
    local e = main:record_event()
    sides[1]:wait_event(e)
    lab.spin(0.1, { stream = sides[1], blocks = 4 })
    lab.spin(0.05, { stream = main, blocks = 4 })
    main:wait_event(sides[1]:record_event())
    lab.spin(0.05, { stream = main, blocks = 4 })
end

local function is_known()
    local g <close> = lab.graph(side_by_side, { stream = main })
    local launched = timed(function() g:launch{ stream = main } g:launch{ stream = main } end)
    tap.ok(not core.explanation(launched).inferred, "nothing has to be inferred, records included")
end

main, sides = lab.stream{ name = "main" }, { lab.stream{ name = "side" } }
is_known()
main, sides = nil, nil
tap.done()
