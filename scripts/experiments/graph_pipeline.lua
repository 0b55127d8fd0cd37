-- How much quicker is a pipeline of copies and matmuls as a graph?
--
-- It is often said that "a graph makes a pipeline faster". 32 items are copied to the GPU,
-- multiplied and copied back, in four streams in turn: call by call, and captured once and
-- launched. Expected: the graph has the same copies and kernels. With small items the host is
-- slower than the GPU, and the graph saves what the host needs. With large items a copy engine is
-- the bound: nothing is won.
local lab = require "streamlab"
local items <const> = 32
local origin, streams = lab.stream{ name = "origin" }, {}
for i = 1, 4 do streams[i] = lab.stream{ name = "s" .. i } end

local function pipeline(list)
    for _, s in ipairs(streams) do s:wait_stream(origin) end
    for i, item in ipairs(list) do
        local opts = { non_blocking = true, stream = streams[i % #streams + 1] }
        item.a:copy_(item.from, opts)
        lab.matmul(item.a, item.a, { out = item.product, stream = opts.stream })
        item.to:copy_(item.product, opts)
    end
    for _, s in ipairs(streams) do origin:wait_stream(s) end
end

local function host_us(f)
    lab.synchronize()
    local start_us = lab.now_us()
    f()
    return lab.now_us() - start_us
end

local function row(n)
    local list, host, r = {}, { device = "cpu", pinned = true }, { n = n }
    for i = 1, items do
        list[i] = { from = lab.rand(n, n, host), to = lab.zeros(n, n, host), a = lab.empty(n, n),
                    product = lab.empty(n, n) }
    end
    local function calls() pipeline(list) end
    r.streams_us, r.calls_us = lab.measure(calls).median_us, host_us(calls)
    local g = lab.graph(calls)
    local function launch() g:launch() end
    r.graph_us, r.launch_us = lab.measure(launch).median_us, host_us(launch)
    r.quicker = r.streams_us / r.graph_us
    return r
end

local rows = {}
lab.with(origin, function()
    for i, n in ipairs{ 256, 1024, 2048 } do rows[i] = row(n) end
end)
lab.table(rows, { columns = { "n", "calls_us", "streams_us", "launch_us", "graph_us", "quicker" },
    title = "32 items of n x n. Host: calls, launch; until done: streams, graph" }):show()
local small, large = rows[1], rows[3]
print(("Verdict: %s: a graph makes a pipeline faster: %.2f times at %d, %.2f at %d, where the host "
    .. "is busy for %.0f us instead of "
    .. "%.0f"):format(large.quicker > 1.2 and "holds" or small.quicker
    > 1.2 and "depends" or "no longer holds", small.quicker, small.n, large.quicker, large.n,
    large.launch_us, large.calls_us))
