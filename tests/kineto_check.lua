-- kineto_check.lua - is a text a trace that kineto's readers understand?
--
-- complaints(text) gives a list of sentences, empty if there is nothing to complain of.
-- What is asked is what Perfetto, chrome://tracing, kineto's own tools and Holistic Trace
-- Analysis (HTA) need, and what kineto_write.c promises besides:
--   * the header, integers where there must be integers, no number that is none;
--   * rows (pid, tid) have a name before their first slice, their slices come in order of
--     time and nest, to the ns and also for who adds ts and dur as doubles;
--   * a launch and its operation have one correlation that nothing else has, and one flow
--     from the start of the one to the start of the other;
--   * what a launch of a graph ran has the launch's correlation, its numbers, and an end of the
--     launch's flow; captured records and waits are instants of named rows;
--   * each synchronisation of the device belongs to the call that made it, and to the
--     record that it waits for;
--   * the first event has no correlation, the rank has its blank, "stream" is of the device
--     alone, names tell HTA what is a copy and what is not.

local json = require "both.json"

local K = {}

local max_complaints <const> = 10

local categories <const> = { kernel = true, gpu_memcpy = true, gpu_memset = true, cpu_op = true,
                             cuda_runtime = true, cuda_sync = true, user_annotation = true,
                             python_function = true }
local host_work <const> = { cpu_op = true, python_function = true, user_annotation = true }
local on_device <const> = { kernel = "cudaLaunchKernel", gpu_memcpy = "cudaMemcpyAsync",
                            gpu_memset = "cudaMemsetAsync" }
local launches <const> = { cudaLaunchKernel = true, cudaMemcpyAsync = true, cudaMemsetAsync = true,
                           cudaLaunchHostFunc = true }
local syncs <const> = { ["Stream Sync"] = "cudaStreamSynchronize",
                        ["Event Sync"] = "cudaEventSynchronize",
                        ["Context Sync"] = "cudaDeviceSynchronize",
                        ["Stream Wait Event"] = "cudaStreamWaitEvent" }

local function is_int(value, least)
    return math.type(value) == "integer" and value >= (least or math.mininteger)
end

local function is_number(value)
    return math.type(value) and value == value and value - value == 0
end

-- us as written, with three decimals, as whole ns.
local function ns(us) return math.floor(us * 1000 + 0.5) end

-- As a reader gets them that cuts instead.
local function cut(us) return math.tointeger(us * 1000 // 1) end

local function row_of(event) return event.pid .. "/" .. event.tid end

-- What is gathered of the events, for complaints that need more than one.
local function gather()
    return {
        named = {}, processes = {}, stacks = {},
        calls = {},             -- by correlation
        operations = {},        -- of the device, by correlation; host functions, by External id
        nodes = {},             -- that a graph's launch ran: lists, by the launch's correlation
        starts = {}, ends = {}, -- of flows, by id; lists of ends
        syncs = {},
    }
end

-- ---- one event ------------------------------------------------------------------------

local function check_metadata(event, all, complain)
    if event.ts ~= 0 then complain("metadata is not at 0") end
    if type(event.args) ~= "table" then return complain("metadata has no args") end
    if event.name == "thread_name" then all.named[row_of(event)] = true end
    if event.name == "process_name" then all.processes[event.pid] = true end
end

local function three_ints(list)
    return type(list) == "table" and #list == 3 and is_int(list[1], 0) and is_int(list[2], 0)
        and is_int(list[3], 0)
end

local function check_kernel(event, complain)
    local args = event.args
    if not three_ints(args.grid) or not three_ints(args.block) then
        complain("grid and block are not three integers each")
    end
    if not is_int(args.queued, 0) then complain("queued is no integer") end
    if not is_int(args.priority or 0) then complain("priority is no integer") end
    local registers, shared = args["registers per thread"], args["shared memory"]
    if (registers or shared) and not (is_int(registers, 1) and is_int(shared, 0)) then
        complain("registers and shared memory are not two integers")
    end
    for _, key in ipairs{ "blocks per SM", "warps per SM" } do
        if not is_number(args[key] or 0) then complain(key .. " is no number") end
    end
    if event.name:find("^Memcpy") or event.name:find("^Memset") or event.name:find("^dma")
        or event.name:find("Sync") then
        complain("HTA takes this kernel for something else")
    end
end

-- What a launch of a graph ran; `launch` is the correlation of that call.
local function check_node(event, launch, all, complain)
    local graph, node = event.args["graph id"], event.args["graph node id"]
    if not is_int(graph, 1) or not is_int(node) or node >> 32 ~= graph then
        complain("the number of its node is not in its graph")
    end
    if not is_int(event.args.issue, 1) then complain("it has no number of its own") end
    if not is_int(launch, 1) then return complain("it has no launch") end
    all.nodes[launch] = all.nodes[launch] or {}
    table.insert(all.nodes[launch], event)
end

local function note_operation(event, all, complain)
    local correlation = event.args.correlation
    if event.args["graph node id"] then return check_node(event, correlation, all, complain) end
    if all.operations[correlation] then complain("its correlation is taken") end
    all.operations[correlation] = event
end

local function check_operation(event, all, complain)
    local args = event.args
    if args.stream ~= event.tid or not is_int(args.stream, 1) then
        complain("stream is not the row's number, at least 1")
    end
    if args.device ~= event.pid then complain("device is not the row's process") end
    if not is_int(args.context) then complain("context is no integer") end
    if not is_int(args.correlation, 1) then
        return complain("correlation is no integer of at least 1")
    end
    note_operation(event, all, complain)
    if event.cat == "kernel" then return check_kernel(event, complain) end
    if not is_int(args.bytes, 0) then complain("bytes is no integer") end
    if not is_number(args["memory bandwidth (GB/s)"]) then
        complain("the bandwidth is no number")
    end
    if not event.name:find(event.cat == "gpu_memset" and "^Memset" or "^Memcpy %u%l*to%u") then
        complain("HTA does not see by its name what it is")
    end
end

local function check_call(event, all, complain)
    local args = event.args
    if args.stream ~= nil then complain("a call has a stream: HTA takes it for the device's") end
    if not is_int(args.correlation, 1) then
        return complain("correlation is no integer of at least 1")
    end
    if all.calls[args.correlation] then complain("its correlation is taken") end
    all.calls[args.correlation] = event
end

local function check_sync(event, all, complain)
    local args, of_stream = event.args, event.name:find("^Stream")
    if not syncs[event.name] then complain("there is no such synchronisation") end
    if not is_int(args.stream) or of_stream and args.stream < 1
        or not of_stream and args.stream ~= -1 then
        complain("stream is neither one nor -1 for all of them")
    end
    if not is_int(args.correlation, 1) then
        return complain("correlation is no integer of at least 1")
    end
    all.syncs[#all.syncs + 1] = event
end

local function check_host_op(event, all, complain)
    local args = event.args or {}
    if args.stream ~= nil or args.correlation ~= nil then
        complain("work of the host has a stream or a correlation")
    end
    if args["graph node id"] then
        check_node(event, args["launched by"], all, complain)
    elseif event.cat == "cpu_op" and not args.range and is_int(args["External id"], 1) then
        all.operations["host " .. args["External id"]] = event
    end
end

-- The slices of a row that are open where this one starts, and the last that was closed.
local function check_nesting(event, all, complain)
    local row = row_of(event)
    local stack = all.stacks[row] or {}
    all.stacks[row] = stack
    local from, to = ns(event.ts), ns(event.ts) + ns(event.dur)
    if stack.from and from < stack.from then return complain("starts before the slice above it") end
    stack.from = from
    while #stack > 0 and stack[#stack].to <= from do stack.closed = table.remove(stack) end
    local outer, closed = stack[#stack], stack.closed
    if outer and to > outer.to then complain("ends after the slice that it starts in") end
    if outer and event.ts + event.dur > outer.event.ts + outer.event.dur then
        complain("ends, in doubles, after the slice that it starts in")
    end
    if closed and closed.event.ts + closed.event.dur > event.ts then
        complain("starts, in doubles, before the end of the slice above it")
    end
    if closed and cut(closed.event.ts) + cut(closed.event.dur) > cut(event.ts) then
        complain("starts, cut to ns, before the end of the slice above it")
    end
    stack[#stack + 1] = { event = event, to = to }
end

local function check_slice(event, all, complain)
    if not categories[event.cat] then return complain("its category is unknown") end
    if not is_number(event.dur) or event.dur < 0 then return complain("dur is not at least 0") end
    if not all.named[row_of(event)] then complain("its row has no name yet") end
    if not all.processes[event.pid] then complain("its process has no name yet") end
    check_nesting(event, all, complain)
    if host_work[event.cat] then
        return check_host_op(event, all, complain)
    end
    if type(event.args) ~= "table" then return complain("it has no args") end
    if on_device[event.cat] then return check_operation(event, all, complain) end
    if event.cat == "cuda_sync" then return check_sync(event, all, complain) end
    check_call(event, all, complain)
end

local function check_flow(event, all, complain)
    if event.cat ~= "ac2g" or event.name ~= "ac2g" then complain("it is no ac2g") end
    if event.ph == "f" and event.bp ~= "e" then complain("its end is not bound to its slice") end
    if not is_int(event.id, 1) then return complain("id is no integer of at least 1") end
    if event.ph == "f" then
        all.ends[event.id] = all.ends[event.id] or {}
        return table.insert(all.ends[event.id], event)
    end
    if all.starts[event.id] then complain("there is another one") end
    all.starts[event.id] = event
end

local function check_instant(event, all, complain)
    if event.cat ~= "graph_edge" or event.s ~= "t" then complain("it is no edge of a graph") end
    if not all.named[row_of(event)] then complain("its row has no name yet") end
    if type(event.args) ~= "table" or not is_int(event.args["launched by"], 1) then
        complain("it has no launch")
    end
end

-- Perfetto draws each member of args as a track.
local function check_counter(event, _, complain)
    local n = 0
    for _, value in pairs(type(event.args) == "table" and event.args or {}) do
        n = n + 1
        if not is_number(value) or value < 0 then complain("its value is no number from 0 on") end
    end
    if n ~= 1 then complain("it has no value, or several") end
end

local checks <const> = { M = check_metadata, X = check_slice, s = check_flow, f = check_flow,
                         i = check_instant, C = check_counter }

local function check_event(event, all, complain)
    if type(event) ~= "table" then return complain("it is no object") end
    if type(event.name) ~= "string" then return complain("it has no name") end
    if not is_int(event.pid, 0) or not is_int(event.tid, 0) then
        return complain("pid and tid are not integers")
    end
    if not is_number(event.ts) then return complain("ts is no number") end
    local check = checks[event.ph]
    if not check then return complain("ph is unknown") end
    check(event, all, complain)
end

-- ---- several --------------------------------------------------------------------------

local function same_spot(flow, slice)
    return flow.pid == slice.pid and flow.tid == slice.tid and flow.ts == slice.ts
end

local function check_flows_of(id, call, operation, all, complain)
    local start, stop = all.starts[id], (all.ends[id] or {})[1]
    if not start or not stop then return complain(("launch %d has no flow"):format(id)) end
    if not same_spot(start, call) then
        complain(("flow %d does not start where its call does"):format(id))
    end
    if #all.ends[id] > 1 then complain(("flow %d has several ends"):format(id)) end
    if not same_spot(stop, operation) then
        complain(("flow %d does not end where its operation starts"):format(id))
    end
end

local function has_end(flow_ends, operation)
    for _, stop in ipairs(flow_ends) do
        if same_spot(stop, operation) then return true end
    end
    return false
end

local function check_launch(id, nodes, all, complain)
    local call, stops = all.calls[id], all.ends[id] or {}
    if not call or call.name ~= "cudaGraphLaunch" then
        return complain(("launch %d is none of a graph"):format(id))
    end
    if not all.starts[id] or not same_spot(all.starts[id], call) then
        complain(("flow %d does not start where its call does"):format(id))
    end
    if #stops ~= #nodes then complain(("launch %d has not a flow to each node"):format(id)) end
    for _, node in ipairs(nodes) do
        if not has_end(stops, node) then
            complain(("flow %d does not end where its node %s starts"):format(id, node.name))
        end
    end
end

local function check_pairs(all, complain)
    for id, nodes in pairs(all.nodes) do check_launch(id, nodes, all, complain) end
    for id, call in pairs(all.calls) do
        local operation = all.operations[id] or all.operations["host " .. id]
        if launches[call.name] and not operation then
            complain(("launch %d has no operation"):format(id))
        elseif launches[call.name] then
            check_flows_of(id, call, operation, all, complain)
        end
    end
    for id, operation in pairs(all.operations) do
        local call = all.calls[id]
        if is_int(id) and (not call or call.name ~= on_device[operation.cat]) then
            complain(("operation %d has not the call that launches it"):format(id))
        end
    end
    for id in pairs(all.starts) do
        local call = all.calls[id]
        if not call or not (launches[call.name] or all.nodes[id]) then
            complain(("flow %d starts at no launch"):format(id))
        end
    end
    for id in pairs(all.ends) do
        if not all.starts[id] then complain(("flow %d has no start"):format(id)) end
    end
end

local function check_syncs(all, complain)
    local seen = {}
    for _, sync in ipairs(all.syncs) do
        local id, record = sync.args.correlation, sync.args.wait_on_cuda_event_record_corr_id
        local call = all.calls[id]
        local of_value = call and call.name == "cuStreamWaitValue32"
        local name = call and (of_value and "cudaStreamWaitEvent" or call.name)
        if name ~= syncs[sync.name] or seen[id] then
            complain(("synchronisation %d has no call of its own"):format(id))
        end
        seen[id] = true
        local recorded = record and all.calls[record]
        local records = of_value and "cuStreamWriteValue32" or "cudaEventRecord"
        if sync.name == "Stream Wait Event" and not record
            or record and (not recorded or recorded.name ~= records or record >= id
                           or not is_int(sync.args.wait_on_stream, 1)) then
            complain(("synchronisation %d waits for no record before it"):format(id))
        end
    end
end

-- ---- the file -------------------------------------------------------------------------

local function check_header(trace, text, complain)
    if not is_int(trace.schemaVersion) then complain("schemaVersion is no integer") end
    if trace.displayTimeUnit ~= "ms" then complain("displayTimeUnit is not ms") end
    if not is_int(trace.baseTimeNanoseconds) then complain("baseTimeNanoseconds is no integer") end
    if type(trace.traceName) ~= "string" then complain("there is no traceName") end
    if not text:find('"rank":%s+%d') then complain("the rank has not its blank") end
    local device = type(trace.deviceProperties) == "table" and trace.deviceProperties[1]
    if not device or not is_int(device.id, 0) or type(device.name) ~= "string"
        or not is_int(device.numSms, 0) then
        complain("deviceProperties does not describe a device")
    end
end

function K.complaints(text)
    local list = {}
    local function complain(what)
        if #list < max_complaints then list[#list + 1] = what end
    end
    local fine, trace = pcall(json.read, text)
    if not fine then return { "it is no JSON: " .. tostring(trace) } end
    if type(trace) ~= "table" or type(trace.traceEvents) ~= "table" then
        return { "it has no traceEvents" }
    end
    check_header(trace, text, complain)
    local first = trace.traceEvents[1]
    if type(first) ~= "table" or type(first.args) == "table" and first.args.correlation then
        complain("the first event has a correlation: HTA takes number 0 for none")
    end
    local all = gather()
    for i, event in ipairs(trace.traceEvents) do
        check_event(event, all, function(what)
            complain(("event %d (%s): %s"):format(i, type(event) == "table" and event.name or "?",
                                                  what))
        end)
    end
    check_pairs(all, complain)
    check_syncs(all, complain)
    table.sort(list)
    return list
end

return K
