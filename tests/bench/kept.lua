-- kept.lua KIND N - records N operations, for what a recording keeps of one: the difference of the
-- largest resident sizes (`/usr/bin/time -f %M`) of two N. KIND:
--   fresh    products whose results are tensors of their own
--   forms    kernels that all differ in their grids
--   nodes    nodes of a graph that is launched again and again
--   thread   sums by another thread of the host
-- "none" as a third argument: without a recording. A work-load for docs/results/sim.md, not a test.
local kind, n = arg[1], tonumber(arg[2])
lab.open { backend = "sim", profile = "textbook" }
local s = lab.stream()
local a, b = lab.empty(64, 64), lab.empty(64, 64)
local into = { out = a, stream = s }

local programs = {
    fresh = function()
        for _ = 1, n do lab.matmul(a, b) end
    end,
    forms = function()
        for i = 1, n do lab.spin(0.001, { stream = s, blocks = i }) end
    end,
    nodes = function(graph)
        for _ = 1, n // 1000 do graph:launch { stream = s } end
    end,
    thread = function()
        lab.thread(function(n)
            local lab = require "streamlab"
            local c = lab.empty(64, 64)
            local out = { out = c }
            for _ = 1, n do lab.add(c, c, out) end
            lab.synchronize()
        end, n):join()
    end,
}

local graph = kind == "nodes" and lab.graph(function()
    for _ = 1, 1000 do lab.add(a, b, into) end
end, { stream = s })
local tl = arg[3] ~= "none" and lab.record()
programs[kind](graph)
lab.synchronize()
if tl then tl:stop() end
