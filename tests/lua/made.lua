-- made.lua - timelines made by hand: a list of spans and calls, written as a trace of ours and
-- read back. Times are in ns; correlations count from 1 in the order of the list.
--
--   made {
--       {"kernel", 1, 0, 40000000},                        -- kind, stream, start, end
--       {"memcpy_h2d", 2, 0, 100, engine = "copy", waited = true, name = "up"},
--       {record = 1},                                      -- of an event in stream 1
--       {wait = 2, target = 3, of = 1},                    -- stream 2 waits for call 3 in stream 1
--       {sync = {91, 591}}, {host_work = {41, 91}},        -- of the device; the host's own
--       {"memcpy_d2h", 3, 0, 9, bytes = 4096, where = "x.lua:3"},
--       {"kernel", 1, 0, 9, blocks = 64, threads = 256},
--       sources = {["x.lua:3"] = "a:copy_(b)"},
--       streams = {[1] = "math"}, device = {name = "GPU", simulated = true},
--       wall = {-1000, 57100000},                          -- the recording; without it as short
--   }                                                      -- as the calls
local lab = require "streamlab"

local engines <const> = {
    kernel = "compute", memcpy_h2d = "h2d", memcpy_d2h = "d2h", memcpy_d2d = "compute",
    memcpy_p2p = "p2p", memset = "compute", host_func = "host",
}
local categories <const> = {
    kernel = "kernel", memset = "gpu_memset", host_func = "cpu_op",
    memcpy_h2d = "gpu_memcpy", memcpy_d2h = "gpu_memcpy", memcpy_d2d = "gpu_memcpy",
    memcpy_p2p = "gpu_memcpy",
}
local host_pid <const>, host_func_row <const>, first_stream <const> = 4242, 2000000, 7
local device_row <const> = 1000000

local function us(ns)
    return ("%s%d.%03d"):format(ns < 0 and "-" or "", math.abs(ns) // 1000, math.abs(ns) % 1000)
end

local function quote(text)
    return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

-- Adds a slice; args are a list of "key": value.
local function add(events, category, name, pid, tid, from, to, args)
    events[#events
        + 1] = ('{"ph":"X","cat":"%s","name":%s,"pid":%d,"tid":%d,"ts":%s,"dur":%s,"args":{%s}}')
        :format(category, quote(name), pid, tid, us(from), us(to - from), table.concat(args, ","))
end

-- The host's call, which takes 2 ns; one comes every 10 ns.
local function add_call(events, i, name, base, more)
    local args = { ('"External id":%d,"correlation":%d'):format(i, i), table.unpack(more) }
    add(events, "cuda_runtime", name, host_pid, host_pid, i * 10 - base, i * 10 + 2 - base, args)
end

-- One that takes from `at[1]` to `at[2]`.
local function add_long_call(events, i, one, base)
    local at, args = one.sync or one.host_work, { ('"External id":%d'):format(i) }
    if one.where then args[2] = '"where":' .. quote(one.where) end
    if one.host_work then
        add(events, "cpu_op", "host_work", host_pid, host_pid, at[1] - base, at[2] - base, args)
        return
    end
    add(events, "cuda_runtime", "cudaDeviceSynchronize", host_pid, host_pid, at[1] - base,
        at[2] - base, { ('"correlation":%d'):format(i), table.unpack(args) })
    add(events, "cuda_sync", "Context Sync", 0, device_row, at[1] - base, at[2] - base,
        { ('"External id":%d,"device":0,"correlation":%d,"stream":-1'):format(i, i) })
end

local function add_span(events, i, span, base)
    local kind, stream, from, to = table.unpack(span, 1, 4)
    local is_host, row = kind == "host_func", first_stream + stream
    local more = {}
    if span.waited then more[1] = '"host waited":true' end
    if span.where then more[#more + 1] = '"where":' .. quote(span.where) end
    add_call(events, i, is_host and "cudaLaunchHostFunc" or "cudaLaunchKernel", base,
        more)
    local args = { ('"External id":%d'):format(i), ('"kind":"%s","engine":"%s"')
        :format(kind, span.engine or engines[kind]) }
    if span.guessed then args[#args + 1] = '"guessed":true' end
    if span.bytes then args[#args + 1] = ('"bytes":%d'):format(span.bytes) end
    if span.blocks then
        args[#args + 1] = ('"grid":[%d,1,1],"block":[%d,1,1]'):format(span.blocks, span.threads)
    end
    if not is_host then
        args[#args + 1] = ('"device":0,"correlation":%d,"stream":%d'):format(i, row)
    end
    add(events, categories[kind], span.name or kind, is_host and host_pid or 0,
        is_host and host_func_row + row or row, from - base, to - base, args)
end

local function streams_of(names)
    local list = {}
    for id, name in pairs(names or {}) do
        list[#list + 1] = ('{"id":%d,"name":%s,"priority":0,"non_blocking":false}')
            :format(id, quote(name))
    end
    return table.concat(list, ",")
end

local function sources_of(lines)
    local list = {}
    for where, line in pairs(lines or {}) do
        list[#list + 1] = quote(where) .. ":" .. quote(line)
    end
    return table.concat(list, ",")
end

return function(t)
    local wall = t.wall or { 0, (#t + 1) * 10 }
    local device, base, events = t.device or {}, wall[1], {}
    for i, one in ipairs(t) do
        if one.record then
            add_call(events, i, "cudaEventRecord", base,
                { ('"in stream":%d'):format(first_stream + one.record) })
        elseif one.wait then
            add_call(events, i, "cudaStreamWaitEvent", base,
                { ('"in stream":%d,"waits for":%d,"recorded in":%d'):format(
                    first_stream + one.wait, one.target, first_stream + one.of) })
        elseif one.sync or one.host_work then
            add_long_call(events, i, one, base)
        else
            add_span(events, i, one, base)
        end
    end
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write('{"deviceProperties":[{"id":0,"name":', quote(device.name or ""), '}],',
        '"streamlab":{"version":"0","backend":"', device.name and "sim" or "",
        '","device":', quote(device.name or ""), ',"profile":"","simulated":',
        tostring(device.simulated or false), ',"async_engines":0,"priorities":[0,0],"start_ns":',
        base, ',"wall_ns":', wall[2] - base, ',"streams":[', streams_of(t.streams),
        '],"sources":{', sources_of(t.sources), '}},"traceEvents":[\n',
        table.concat(events, ",\n"), "]}\n")
    file:close()
    local is_read, timeline = pcall(lab.load, path)
    os.remove(path)
    return is_read and timeline or error(timeline, 2)
end
