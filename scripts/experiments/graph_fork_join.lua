-- What do forks and joins cost in streams, and in a graph?
--
-- It is often said that "branches of a graph are free, an edge costs nothing". A level forks into k
-- branches of one kernel of 8 us and joins them again, 20 times. In streams that takes two waits
-- for each branch. Expected: for many branches the host is too slow for that, and the graph is not.
-- But a level takes some us more than its kernel, and more with each branch. The stream that forks
-- and joins has no kernel: so every branch gets an edge from every one of all levels before, and
-- edges take time to instantiate. With an empty kernel at each join it is some 3 for a branch.
local lab = require "streamlab"
local levels <const>, kernel_us <const> = 20, 8
local main, sides = lab.stream{ name = "main" }, {}
for i = 1, 16 do sides[i] = lab.stream{ name = "side " .. i } end

local function work(k, kernel_at_join)
    for _ = 1, levels do
        for i = 1, k do sides[i]:wait_stream(main) end
        for i = 1, k do lab.spin(kernel_us / 1000, { stream = sides[i] }) end
        for i = 1, k do main:wait_stream(sides[i]) end
        if kernel_at_join then lab.spin(0, { stream = main }) end
    end
end

local function row(k, kernel_at_join)
    local function all() work(k, kernel_at_join) end
    local function level_us(f)
        return lab.measure(f, { reps = 5 }).median_us / levels - kernel_us
    end
    local r = { branches = k, kernel_at_join = kernel_at_join, streams_us = level_us(all) }
    local start_us = lab.now_us()
    local g = lab.graph(all, { stream = main })
    r.setup_ms = (lab.now_us() - start_us) / 1000
    r.edges, r.graph_us = #g:edges(), level_us(function() g:launch{ stream = main } end)
    return r
end

lab.spin(0)                                                 -- the first ones are dearer
lab.graph(function() lab.spin(0) end):launch()
local rows, by = {}, { [true] = {}, [false] = {} }
for _, kernel_at_join in ipairs{ false, true } do
    for _, k in ipairs{ 1, 2, 4, 8, 16 } do
        local r = row(k, kernel_at_join)
        rows[#rows + 1], by[kernel_at_join][k] = r, r
    end
end
lab.table(rows, { columns = { "branches", "kernel_at_join", "edges", "streams_us", "graph_us",
    "setup_ms" }, title = "20 levels; us that a level takes beyond its kernel of 8 us" }):show()
local one, most, joined = by[false][1], by[false][16], by[true][16]
print(("Verdict: %s: branches of a graph are free: a level costs %.1f us with 1 branch, %.1f with "
    .. "16 (in streams %.1f); setup %.1f ms with %d edges; with a kernel at the join %.1f us, %.1f "
    .. "ms, %d edges"):format(most.graph_us < one.graph_us + 1
    and most.setup_ms < 2 * joined.setup_ms
    and "holds" or "no longer holds", one.graph_us, most.graph_us, most.streams_us, most.setup_ms,
    most.edges, joined.graph_us, joined.setup_ms, joined.edges))
