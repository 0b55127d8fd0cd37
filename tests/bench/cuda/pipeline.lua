-- pipeline.lua - pipelines of copies and matmuls, and pow against a copy kernel. Sections of
-- bench.lua.

-- The Lua side of raw.pipeline: the same memory, the same calls in the same order. checked: with
-- the numbers of the raw side in the first item, which are slow to make in Lua.
local function open_lua(b, n, items, checked)
    local lab = b.lab
    local pinned = { device = "cpu", pinned = true }
    local p = { host_in = {}, on_gpu = {}, product = {}, host_out = {} }
    p.factor = checked and lab.tensor(b.pattern({ n, n }, 1)) or lab.rand(n, n)
    p.host_in[1] = checked and lab.tensor(b.pattern({ n, n }, 2), pinned) or lab.rand(n, n, pinned)
    for i = 1, items do
        p.host_in[i] = p.host_in[i] or lab.empty(n, n, pinned):copy_(p.host_in[1])
        p.on_gpu[i], p.product[i] = lab.empty(n, n), lab.empty(n, n)
        p.host_out[i] = lab.empty(n, n, pinned)
    end
    lab.synchronize()
    return p
end

-- A function that runs all items once and gives its wall time in ms.
local function runner(b, p, items, streams)
    local lab, now = b.lab, b.raw.now_ns
    local matmul = lab.matmul
    local copying, multiplying = {}, {}
    for i = 1, items do
        local stream = streams[(i - 1) % #streams + 1]
        copying[i] = { non_blocking = true, stream = stream }
        multiplying[i] = { out = p.product[i], stream = stream }
    end
    return function()
        lab.synchronize()
        local began = now()
        for i = 1, items do
            p.on_gpu[i]:copy_(p.host_in[i], copying[i])
            matmul(p.on_gpu[i], p.factor, multiplying[i])
            p.host_out[i]:copy_(p.product[i], copying[i])
        end
        lab.synchronize()
        return (now() - began) / 1e6
    end
end

local function measure(b, n, items, all_streams, checked)
    local raw <close> = b.closing(b.raw.pipeline(n, items))
    local p = open_lua(b, n, items, checked)
    for _, count in ipairs { 2, 4, items } do
        local run = runner(b, p, items, table.move(all_streams, 1, count, 1, {}))
        local theirs, ours = {}, {}
        for i = -1, b.size.runs do
            local wall_ns, wall_ms = raw.object:run(count), run()
            if i >= 1 then theirs[i], ours[i] = wall_ns / 1e6, wall_ms end
        end
        b.table:ratio(("%d x %d, %d streams"):format(n, n, count), b.report.summary(theirs),
                      b.report.summary(ours), "ms", nil)
    end
    if checked then
        b.check("the pipeline", p.host_out[1]:totable()[1], raw.object:values(1, n))
    end
end

local function pipelines(b)
    local items = b.size.items
    b.table:section("The pipeline H2D, matmul, D2H", ([[
%d items, each H2D, matmul with one matrix on the GPU, D2H in one stream; pinned memory, all
allocated before. Wall time with the final synchronise; median of %d runs (least to largest), Lua
and raw by turns.]])
        :format(items, b.size.runs), "raw CUDA C", "streamlab from Lua")
    local streams = {}
    for i = 1, items do streams[i] = b.lab.stream() end
    for i, n in ipairs(b.size.pipelines) do
        measure(b, n, items, streams, i == 1)
        collectgarbage()
        b.lab.synchronize()
    end
end

-- The pipeline as a graph -------------------------------------------------------------------

-- Functions that launch the graph of all items in four streams, and enqueue the items in them. Both
-- give the host's time and the wall time in us.
local function graph_runner(b, p, items, streams)
    local lab, now = b.lab, b.raw.now_ns
    local main = streams[1]
    local copying, multiplying = {}, {}
    for i = 1, items do
        local stream = streams[(i - 1) % #streams + 1]
        copying[i] = { non_blocking = true, stream = stream }
        multiplying[i] = { out = p.product[i], stream = stream }
    end
    local function enqueue()
        for i = 2, #streams do streams[i]:wait_stream(main) end
        for i = 1, items do
            p.on_gpu[i]:copy_(p.host_in[i], copying[i])
            lab.matmul(p.on_gpu[i], p.factor, multiplying[i])
            p.host_out[i]:copy_(p.product[i], copying[i])
        end
        for i = 2, #streams do main:wait_stream(streams[i]) end
    end
    local graph = lab.graph(enqueue, { stream = main })
    local options = { stream = main }
    local function timed(f)
        return function()
            lab.synchronize()
            local began = now()
            f()
            local enqueued = now()
            lab.synchronize()
            return (enqueued - began) / 1000, (now() - began) / 1000
        end
    end
    return timed(function() graph:launch(options) end), timed(enqueue)
end

local function measure_graph(b, n, items, streams, checked)
    local raw <close> = b.closing(b.raw.pipeline(n, items))
    local p = open_lua(b, n, items, checked)
    local launch, enqueue = graph_runner(b, p, items, streams)
    raw.object:capture(#streams)
    local theirs, ours, plain = { host = {}, wall = {} }, { host = {}, wall = {} }, {}
    for i = -1, 51 do
        local host_ns, wall_ns = raw.object:launch()
        local host, wall = launch()
        local _, plain_wall = enqueue()
        if i >= 1 then
            theirs.host[i], theirs.wall[i] = host_ns / 1000, wall_ns / 1000
            ours.host[i], ours.wall[i], plain[i] = host, wall, plain_wall
        end
    end
    local name = ("%d x %d"):format(n, n)
    local summary = b.report.summary
    b.table:ratio(name .. ", host time of a launch", summary(theirs.host), summary(ours.host), "us",
                  1.05)
    b.table:ratio(name .. ", wall", summary(theirs.wall), summary(ours.wall), "us", 1.02)
    b.table:ratio(name .. ", wall as a graph beside streams", summary(plain), summary(ours.wall),
                  "us", n == 256 and 0.55 or nil)
    if checked then
        b.check("the graph", p.host_out[1]:totable()[1], raw.object:values(1, n))
    end
end

local function graphs(b)
    local items, streams = 32, {}
    b.table:section("The pipeline as a graph", ([[
%d items, each H2D, matmul, D2H, in 4 streams that fork and join; %d nodes. Time of the host in one
launch, and wall time with the final synchronise; median of 51, Lua and raw by turns. The third row
of a size has streamlab's streams in place of raw CUDA.]])
        :format(items, 3 * items), "raw CUDA C", "streamlab from Lua")
    for i = 1, 4 do streams[i] = b.lab.stream{ non_blocking = true } end
    for i, n in ipairs{ 256, 1024, 2048 } do
        measure_graph(b, n, items, streams, i == 1)
        collectgarbage()
        b.lab.synchronize()
    end
end

return { pipelines = pipelines, graphs = graphs }
