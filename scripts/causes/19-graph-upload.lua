-- The first launch of a graph: is it as quick as the others?
--
-- A launch of a thousand kernels costs the host a few microseconds. But the first one also uploads
-- the graph to the GPU, which takes about a microsecond for each kernel.

local lab = require "streamlab"
local function chain() for _ = 1, 1000 do lab.spin(0.001) end end
local graphs = { lab.graph(chain, { name = "first" }), lab.graph(chain, { name = "second" }) }
local function prepare(g) return g end
for i = 1, 2 do prepare(graphs[i]) end

local function experiment()
    lab.spin(0.1)
    table.remove(graphs):launch()
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
