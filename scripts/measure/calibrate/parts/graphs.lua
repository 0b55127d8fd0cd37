-- graphs.lua - the time between the nodes of a graph, and between its launches, on the device.
--
-- A recording, which has a span for each node, may change it, so nothing is recorded here. Two
-- events around a long and a short row, both behind a hold, give the time of one more item. Graphs
-- are compared with the same operations in a stream, so that what a kernel takes is no part of the
-- difference.

local context = import "scripts/measure/calibrate/context.lua"
local lists = import "repl/run/lists.lua"
local shapes = import "scripts/measure/calibrate/graph_shapes.lua"
local statistics = import "repl/run/statistics.lua"
local median, spread = context.median, context.spread

local part = { name = "graphs", passes = 7, title = "graphs on the device" }

local rounds <const> = 3
local kernel_ms <const> = 0.004
local first_hold_ms <const>, longest_hold_ms <const> = 0.3, 100

-- ---- time of rows -----------------------------------------------------------------------------

-- What a measurement needs: the stream of the rows, another one that holds it, and events.
local function new_rig(c, stream)
    return {
        c = c, lab = c.lab, stream = stream,
        holder = c.lab.stream { non_blocking = true, name = "hold" },
        gate = c.lab.event { timing = false }, from = c.lab.event(), to = c.lab.event(),
    }
end

local function close_rig(rig)
    rig.lab.synchronize()
    for _, name in ipairs { "holder", "gate", "from", "to" } do
        rig[name]:close()
    end
end

-- The device's time for what f() enqueues in the rig's stream, in us, and the hold that was long
-- enough.
local function queued_us(rig, f, hold_ms)
    local lab, stream = rig.lab, rig.stream
    while true do
        lab.synchronize()
        lab.spin(hold_ms, { stream = rig.holder })
        rig.gate:record(rig.holder)
        stream:wait_event(rig.gate)
        rig.from:record(stream)
        f()
        rig.to:record(stream)
        local in_time = not rig.gate:query()
        stream:synchronize()
        if in_time or hold_ms >= longest_hold_ms then
            return rig.from:elapsed_time(rig.to) * 1000, hold_ms
        end
        hold_ms = hold_ms * 2
    end
end

-- What each further item takes, in us, as often as there are rounds: of row(n), which gives what
-- enqueues a row of n items.
local function item_us(rig, few, many, row)
    local short, long = row(few), row(many)
    local samples, hold_ms = {}, first_hold_ms
    for i = 0, rounds do
        local of_long, enough_ms = queued_us(rig, long, hold_ms)
        hold_ms = enough_ms
        local of_short = queued_us(rig, short, hold_ms)
        samples[math.max(1, i)] = (of_long - of_short) / (many - few)   -- not the first one
    end
    return samples
end

-- The same of what enqueue(n) enqueues, in the stream or as a graph.
local function stream_us(rig, few, many, enqueue)
    return item_us(rig, few, many, function(n)
        return function() enqueue(n) end
    end)
end

local function graph_us(rig, few, many, enqueue)
    local graphs = {}
    local samples = item_us(rig, few, many, function(n)
        local graph = rig.lab.graph(function() enqueue(n) end, { stream = rig.stream })
        graphs[#graphs + 1] = graph
        return function() graph:launch(rig.stream) end
    end)
    for _, graph in ipairs(graphs) do
        graph:free()
    end
    return samples
end

-- The same of launches of what enqueue() enqueues.
local function launch_us(rig, few, many, enqueue)
    local graph <close> = rig.lab.graph(enqueue, { stream = rig.stream })
    return stream_us(rig, few, many, function(n)
        for _ = 1, n do
            graph:launch(rig.stream)
        end
    end)
end

-- Of each two samples the difference.
local function less(a, b)
    return lists.map(a, function(us, i) return us - b[i] end)
end

-- A key that is `base_us` and as much more as the samples say; not below 0.
local function set(c, key, samples, how, base_us, by)
    local us = (base_us or 0) + median(samples) / (by or 1)
    local each = lists.map(samples, function(sample) return (base_us or 0) + sample / (by or 1) end)
    c:set("graph." .. key, math.max(0, us), how, us > 0 and spread(each) or 0)
end

-- ---- rows -------------------------------------------------------------------------------------

local few_kernels <const>, many_kernels <const> = 20, 120

-- Gives what a kernel of a chain in a graph takes.
local function chains(rig)
    local c = rig.c
    local function enqueue(n) shapes.chain(c.lab, rig.stream, n, kernel_ms) end
    local in_stream = stream_us(rig, few_kernels, many_kernels, enqueue)
    local in_graph = graph_us(rig, few_kernels, many_kernels, enqueue)
    set(c, "gap_us", less(in_graph, in_stream), "stream_gap_us, and what a kernel of 4 us takes "
        .. "more in a graph than in a stream", c.values.stream_gap_us)
    local launches = launch_us(rig, few_kernels, many_kernels, function() enqueue(1) end)
    set(c, "launch_gap_us", less(launches, in_stream), "stream_gap_us, and what a launch of one "
        .. "such kernel takes more than the kernel", c.values.stream_gap_us)
    return in_graph
end

local few_units <const>, many_units <const>, switches <const> = 5, 30, 4

local function engines(rig)
    local c = rig.c
    shapes.with_tiny(c.lab, function(tiny)
        local function enqueue(n) shapes.engines(c.lab, rig.stream, n, kernel_ms, tiny) end
        local in_stream = stream_us(rig, few_units, many_units, enqueue)
        local in_graph = graph_us(rig, few_units, many_units, enqueue)
        set(c, "switch_us", less(in_graph, in_stream), "engine_switch_us, and what each change "
            .. "between kernels and copies of 4 bytes takes more in a graph than in a stream",
            c.values.engine_switch_us or c.values.stream_gap_us, switches)
    end)
end

-- ---- branches ---------------------------------------------------------------------------------

local few_levels <const>, many_levels <const> = 3, 23
local few_launches <const>, many_launches <const> = 3, 23
local widths <const> = { 2, 4, 8, 16 }

-- The lines through what each width takes, round by round, over the number of streams less one:
-- where they begin and their slopes. samples_of(streams) has the samples of a width; `key` and
-- `what` are for the finding.
local function lines(c, streams, key, what, samples_of)
    local columns = lists.map(widths, function(width)
        return samples_of(table.move(streams, 1, width, 1, {}))
    end)
    local begins, slopes = {}, {}
    for round = 1, rounds do
        local line = statistics.line(lists.map(widths, function(width, i)
            return { width - 1, columns[i][round] }
        end))
        begins[round], slopes[round] = line.level, line.slope
    end
    c:find("graph." .. key, what .. ": " .. lists.join(columns, function(column, i)
        return ("%d %.2f us"):format(widths[i], median(column))
    end))
    return begins, slopes
end

local function forks_and_joins(rig, streams, kernels)
    local c = rig.c
    local join_us, fork_us = lines(c, streams, "fork_us",
        "a kernel of 4 us, and so many of them between it and the next one", function(some)
            return graph_us(rig, few_levels, many_levels, function(n)
                shapes.diamonds(c.lab, some, n, kernel_ms)
            end)
        end)
    set(c, "fork_us", fork_us, "a kernel, 2 to 16 behind it, again and again: the slope")
    set(c, "join_us", less(less(join_us, kernels), kernels), "where that line begins, less two "
        .. "kernels")
    local _, cross_us = lines(c, streams, "cross_us",
        "so many kernels of 4 us, each behind all of those before", function(some)
            return graph_us(rig, few_levels, many_levels, function(n)
                shapes.meshes(c.lab, some, n, kernel_ms)
            end)
        end)
    set(c, "cross_us", cross_us,
        "2 to 16 kernels, each behind all of the 2 to 16 before: the slope")
end

local function roots(rig, streams)
    local c = rig.c
    local _, root_us = lines(c, streams, "root_us", "launches of so many kernels of 4 us side by "
        .. "side, in a row", function(some)
            return launch_us(rig, few_launches, many_launches, function()
                shapes.lanes(c.lab, some, 1, kernel_ms)
            end)
        end)
    set(c, "root_us", root_us, "launches of 2 to 16 kernels side by side: the slope")
end

function part.run(c)
    c:with_streams(widths[#widths], { non_blocking = true }, function(streams)
        local rig = new_rig(c, streams[1])
        shapes.chain(c.lab, streams[1], 1, kernel_ms)       -- loads the kernel
        c.progress("chains and launches in a row")
        local kernels = chains(rig)
        c.progress("copies among kernels")
        engines(rig)
        c.progress("branches")
        forks_and_joins(rig, streams, kernels)
        roots(rig, streams)
        close_rig(rig)
    end)
end

return part
