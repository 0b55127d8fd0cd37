-- record.lua FOLDER - records traces for check.py, and what this program says of each:
-- FOLDER/NAME.json, and FOLDER/NAME.figures.json in the form of `streamlab show --json`,
-- with the launches and the longest queue of each stream besides.

local lab = require "streamlab"

local folder <const> = arg[1]

local function one_kernel() lab.spin(1) end

-- The puzzler as it stands; what it prints is not wanted here.
local function puzzler()
    local print_before, arg_before = print, arg
    arg = { [0] = "scripts/puzzler.lua", "--variant", "blocking" }
    print = function() end
    dofile("scripts/puzzler.lua")
    print, arg = print_before, arg_before
end

-- Every kind of operation and of waiting, on four streams.
local function many_streams()
    local a = lab.stream{ name = "a", priority = "high" }
    local b = lab.stream{ name = "b" }
    local c = lab.stream{ name = "c", non_blocking = true }
    local x, y = lab.zeros(1 << 20), lab.ones(512, 512)
    local host = lab.ones(1 << 20, { device = "cpu", pinned = true })
    local back = lab.ones(1 << 20, { device = "cpu", pinned = true })
    local e = lab.event{}
    for _ = 1, 20 do
        lab.spin(0.2, { stream = a, blocks = 4 })
        e:record(a)
        b:wait_event(e)
        x:copy_(host, { non_blocking = true, stream = b })
        lab.matmul(y, y, { stream = a })
        lab.pow(x, 2, { stream = b, out = x })
        lab.spin(0.5, { stream = c, blocks = 4 })
        back:copy_(x, { non_blocking = true, stream = b })
        b:launch_host_func(function() end)
        x:zero_{ stream = b }
        b:record_event():synchronize()
        lab.host_work(0.02)
        c:synchronize()
        lab.spin(0.05)
        lab.cuda.free(lab.cuda.malloc(1024))
    end
    lab.synchronize()
end

-- Launches of a graph with two branches, beside copies. HTA takes no cudaGraphLaunch for a launch.
local function graphs()
    local side, forked, joined = lab.stream{ name = "side" }, lab.event{}, lab.event{}
    local x, y = lab.zeros(1 << 20), lab.ones(512, 512)
    local host = lab.ones(1 << 20, { device = "cpu", pinned = true })
    local g = lab.graph(function()
        lab.spin(0.05)
        forked:record()
        side:wait_event(forked)
        x:copy_(host, { non_blocking = true, stream = side })
        lab.matmul(y, y)
        joined:record(side)
        lab.current_stream():wait_event(joined)
        x:zero_()
    end)
    for _ = 1, 5 do g:launch() end
    lab.synchronize()
end

local function ns(us) return math.floor(us * 1000 + 0.5) end

-- The most launches of one stream that wait to start; equal times in order of launches.
local function longest_queues(spans)
    local edges, length, longest = {}, {}, {}
    for _, span in ipairs(spans) do
        local stream = tostring(span.stream_id + 7)     -- as traces number them
        edges[#edges + 1] = { at = ns(span.host_start_us), stream = stream, change = 1 }
        edges[#edges + 1] = { at = ns(span.start_us), stream = stream, change = -1 }
    end
    table.sort(edges, function(p, q)
        if p.at ~= q.at then return p.at < q.at end
        return p.change > q.change
    end)
    for _, edge in ipairs(edges) do
        length[edge.stream] = (length[edge.stream] or 0) + edge.change
        longest[edge.stream] = math.max(longest[edge.stream] or 0, length[edge.stream])
    end
    return longest
end

-- Objects with their keys in order; lists are tables with [1].
local function to_json(value)
    if type(value) ~= "table" then
        return type(value) == "string" and ("%q"):format(value) or tostring(value)
    end
    local parts = {}
    if value[1] ~= nil then
        for i, item in ipairs(value) do parts[i] = to_json(item) end
        return "[" .. table.concat(parts, ",") .. "]"
    end
    for key, item in pairs(value) do parts[#parts + 1] = ("%q:%s"):format(key, to_json(item)) end
    table.sort(parts)
    return "{" .. table.concat(parts, ",") .. "}"
end

local function figures(tl)
    local f = { makespan_us = tl.makespan_us, wall_us = tl.wall_us, overlap_us = {}, launches = {} }
    for _, kind in ipairs{ "memcpy_h2d", "memcpy_d2h", "memset" } do
        f.overlap_us["kernel&" .. kind] = tl:overlap_us("kernel", kind)
    end
    local on_device = {}
    for _, span in ipairs(tl:spans()) do
        if span.kind ~= "host_func" then on_device[#on_device + 1] = span end
    end
    for i, span in ipairs(on_device) do
        f.launches[i] = { correlation = span.correlation, delay_ns =
            math.max(0, ns(span.start_us) - ns(span.host_end_us)) }
    end
    f.longest_queue = longest_queues(on_device)
    f.critical_path_us = tl:bounds().critical_path_us
    return f
end

-- Sums beside kernels and by themselves: the file of one of two GPUs, for which the program is
-- asked.
local function communication(path)
    local gpus = { lab.open{ backend = "sim", index = 0 }, lab.open{ backend = "sim", index = 1 } }
    local comm, t = lab.comm{ devices = gpus }, {}
    for k = 1, 2 do t[k] = lab.ones(1 << 20, { device = gpus[k] }) end
    local tl = lab.profile(function()
        for i = 1, 10 do
            for k = 1, 2 do lab.mul(t[k], 2) end
            local work = comm:all_reduce(t, { async = i % 2 == 0 })
            for k = 1, 2 do
                gpus[k]:make_current()
                lab.spin(0.01 * i, { blocks = 64 })
                lab.zeros(1 << 18, { device = gpus[k] }):zero_()
            end
            if i % 2 == 0 then work:wait() end
        end
    end)
    tl:save(path)
    lab.load(path, { device = 0 }):save(path)
    comm:free()
end

local works <const> = { { "one_kernel", one_kernel }, { "puzzler", puzzler },
                        { "many_streams", many_streams }, { "graphs", graphs, no_launches = true } }
for _, work in ipairs(works) do
    local tl = lab.profile(work[2])
    local path = folder .. "/" .. work[1]
    tl:save(path .. ".json")
    local file = assert(io.open(path .. ".figures.json", "w"))
    local f = figures(tl)
    if work.no_launches then f.launches = nil end
    file:write(to_json(f), "\n")
    file:close()
end
communication(folder .. "/communication.json")
