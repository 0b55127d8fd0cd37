-- graph_launches.lua - what a launch of a graph costs the host, by its number of kernels. It runs
-- before recordings: after the first one of a process CUPTI stays in it, and makes each node of a
-- launch cost 0.56 us more (measured on an H200: 565 us in place of 4.6 for 1000 kernels).

local context = import "scripts/measure/calibrate/context.lua"
local lists = import "repl/run/lists.lua"
local shapes = import "scripts/measure/calibrate/graph_shapes.lua"

local part = { name = "graph_launches", unrecorded = true,
               title = "what launches of graphs cost the host" }

-- {kernels, launches}. Each launch finds an idle device.
local chains <const> = { { 1, 61 }, { 10, 61 }, { 100, 61 }, { 1000, 41 },
                         { 4000, 15 }, { 10000, 9 } }
local kernel_ms <const> = 0

-- Medians and spreads of the calls, without what reading the clock takes.
local function launch_us(c, stream, n, launches)
    local graph <close> = c.lab.graph(function()
        shapes.chain(c.lab, stream, n, kernel_ms)
    end, { stream = stream })
    local clock, times = c:clock_us(), {}
    graph:launch(stream)                -- uploads it
    c.lab.synchronize()
    for i = 1, launches do
        times[i] = c:timed(clock, graph.launch, graph, stream)
        c.lab.synchronize()
    end
    return context.median(times), context.spread(times)
end

function part.run(c)
    c:with_streams(1, { non_blocking = true }, function(streams)
        local most = 0
        shapes.chain(c.lab, streams[1], 1, kernel_ms)           -- loads the kernel
        c.lab.synchronize()
        local points = lists.map(chains, function(chain)
            local us, spread = launch_us(c, streams[1], chain[1], chain[2])
            most = math.max(most, spread)
            return { chain[1], us }
        end)
        c:set("host_graph.launch_us", points,
              "graph:launch of chains of so many kernels, not the first one", most)
    end)
end

return part
