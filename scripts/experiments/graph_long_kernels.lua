-- From which length of kernels on does a graph gain nothing?
--
-- It is often said that "CUDA graphs speed up a program by removing launch overhead". 200 kernels
-- of 1 to 200 us run in a stream and as a graph, and again with a host that reads a value after
-- each tenth kernel; no graph can contain that, so it is twenty launches. Expected: a graph saves
-- at most what the host needs for its calls, and the longer gap between two kernels of a stream.
-- Where kernels take longer than the calls, the GPU is the bound, and the graph gains next to
-- nothing.
local lab = require "streamlab"
local kernels <const> = 200
local value = lab.ones(1)
lab.spin(0)                                 -- the first launch loads the kernel

local function ms(f) return lab.measure(f, { reps = 5 }).median_us / 1000 end

local function row(us)
    local function chain(n)
        return function() for _ = 1, n do lab.spin(us / 1000) end end
    end
    local function with_reads(part)
        return function()
            for _ = 1, kernels / 10 do
                part()
                value:item()
            end
        end
    end
    local whole, part = lab.graph(chain(kernels)), lab.graph(chain(10))
    local r = { kernel_us = us, stream_ms = ms(chain(kernels)), read_ms = ms(with_reads(chain(10))),
        graph_ms = ms(function() whole:launch() end),
        read_graph_ms = ms(with_reads(function() part:launch() end)) }
    r.quicker, r.read_quicker = r.stream_ms / r.graph_ms, r.read_ms / r.read_graph_ms
    return r
end

local rows = {}
lab.with(lab.stream{ name = "s" }, function()
    for i, us in ipairs{ 1, 2, 5, 10, 50, 200 } do rows[i] = row(us) end
end)
lab.table(rows, { columns = { "kernel_us", "stream_ms", "graph_ms", "quicker", "read_ms",
    "read_graph_ms", "read_quicker" }, title = "200 kernels; read: the host reads a value after "
    .. "each tenth" }):show()
local short, long = rows[1], rows[#rows]
print(("Verdict: %s: graphs speed up a program: with kernels of %d us %.2f times, of %d us %.2f; "
    .. "if the host reads values %.2f and %.2f"):format(long.quicker > 1.2 and "holds"
    or short.quicker > 1.2 and "depends" or "no longer holds", short.kernel_us, short.quicker,
    long.kernel_us, long.quicker, short.read_quicker, long.read_quicker))
