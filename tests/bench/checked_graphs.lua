-- checked_graphs.lua [NODES] - what the race checker costs a launch of a graph on the simulator. A
-- work-load, not a test.
--
-- Batches of 10 launches with the checker on and off alternate in one process. Prints for each
-- graph the processor's time of a launch with the checker off, in warn and in error mode: of the
-- call, and until the device is idle (medians, us).
lab.open { backend = "sim", profile = "textbook" }

local n_nodes <const> = tonumber(arg[1]) or 1000
local batches <const>, launches <const> = 15, 10

local function median(list)
    table.sort(list)
    return list[(#list + 1) // 2]
end

local streams = {}
for i = 1, 4 do streams[i] = lab.stream { non_blocking = true } end

-- A chain in so many streams: each node in the next one, behind the last.
local function chain(n_streams)
    local x, y = lab.ones(16), lab.empty(16)
    lab.synchronize()
    return lab.graph(function()
        for i = 1, n_nodes do
            local s, last = streams[(i - 1) % n_streams + 1], streams[(i - 2) % n_streams + 1]
            if i > 1 and n_streams > 1 then s:wait_stream(last) end
            lab.add(x, 1, { out = y, stream = s })
        end
        for i = 2, n_streams do streams[1]:wait_stream(streams[i]) end
    end, { stream = streams[1] })
end

-- So many streams side by side, each with memory of its own.
local function branches(n_streams)
    local x, y = {}, {}
    for i = 1, n_streams do x[i], y[i] = lab.ones(16), lab.empty(16) end
    lab.synchronize()
    return lab.graph(function()
        for i = 2, n_streams do streams[i]:wait_stream(streams[1]) end
        for i = 0, n_nodes - 1 do
            local k = i % n_streams + 1
            lab.add(x[k], 1, { out = y[k], stream = streams[k] })
        end
        for i = 2, n_streams do streams[1]:wait_stream(streams[i]) end
    end, { stream = streams[1] })
end

local function batch(graph, mode)
    lab.check(mode)
    graph:launch(streams[1])        -- what its nodes touch is listed
    lab.synchronize()
    local began = os.clock()
    for _ = 1, launches do graph:launch(streams[1]) end
    local called = os.clock()
    lab.synchronize()
    return (called - began) / launches * 1e6, (os.clock() - began) / launches * 1e6
end

local function measure(name, graph)
    local calls, idle = {}, {}
    for _, mode in ipairs { "off", "warn", "error" } do calls[mode], idle[mode] = {}, {} end
    for i = 1, batches do
        for mode, list in pairs(calls) do list[i], idle[mode][i] = batch(graph, mode) end
    end
    lab.check("off")
    for _, mode in ipairs { "off", "warn", "error" } do
        print(("%-22s %-6s %8.1f %8.1f"):format(name, mode, median(calls[mode]),
                                                median(idle[mode])))
    end
    graph:free()
end

collectgarbage()
collectgarbage("stop")
measure("chain in 1 stream", chain(1))
measure("chain in 4 streams", chain(4))
measure("4 branches", branches(4))
