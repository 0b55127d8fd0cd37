-- chakra.lua - a timeline as execution traces of MLCommons Chakra, which ASTRA-sim and others
-- replay: a file a rank, "run.0.et" for "run.et", of one message GlobalMetadata and a Node for each
-- task (schema/protobuf/et_def.proto of mlcommons/chakra).
--
--   - All dependencies are data_deps: some readers leave ctrl_deps out.
--   - Attributes have the types that ASTRA-sim's readers expect, the old one and the one of today.
--   - Times are whole us from the first operation's start. Start and end are rounded, so that
--     durations in a row add up.
--   - A copy between host and GPU is a MEM_LOAD_NODE or a MEM_STORE_NODE: from and to remote
--     memory.
--   - comm_size is what a rank puts in. Without pg_name a collective is of all ranks; a
--     communicator of some has its ranks in a METADATA_NODE, as PyTorch writes them.
--   - num_ops is left out: how many a kernel takes is not known.
--
-- The wire format of Protocol Buffers: a field's key is its number and how its value is written, as
-- a varint or, behind its length, as bytes.

local _, core = ...
local tasks = core.need("exports/tasks")
local put_message = core.put_message

local function varint(n)
    local bytes = {}
    while n & ~0x7f ~= 0 do
        bytes[#bytes + 1] = string.char(n & 0x7f | 0x80)
        n = n >> 7
    end
    return table.concat(bytes) .. string.char(n)
end

local function number_key(field) return varint(field << 3) end
local function bytes_key(field) return varint(field << 3 | 2) end
local function bytes(field, value) return bytes_key(field) .. varint(#value) .. value end

local meta_version <const> = 1 -- a field of GlobalMetadata,
local node <const> = { -- of Node,
    id = number_key(1), name = 2, type = number_key(3), data_deps = bytes_key(5),
    start = number_key(6), duration = number_key(7), inputs = 8, attr = 10,
}
local info_values <const> = 1 -- of IOInfo,
local attr_name <const> = 1 -- and of AttributeProto
local int32 <const>, int64 <const>, uint64 <const> = number_key(7), number_key(9), number_key(13)
local bool <const>, text_field <const> = number_key(27), 29

local types <const> = {
    METADATA_NODE = 1, MEM_LOAD_NODE = 2, MEM_STORE_NODE = 3, COMP_NODE = 4, COMM_SEND_NODE = 5,
    COMM_RECV_NODE = 6, COMM_COLL_NODE = 7,
}

-- Attributes ----------------------------------------------------------------------------------

local function number(name, key, value)
    return bytes(node.attr, bytes(attr_name, name) .. key .. varint(value))
end

local function text(name, value)
    return bytes(node.attr, bytes(attr_name, name) .. bytes(text_field, value))
end

-- f(n), of each n once.
local function once(f)
    return setmetatable({}, { __index = function(known, n)
        known[n] = f(n)
        return known[n]
    end })
end

-- CollectiveCommType.
local comm_types <const> = { all_reduce = 0, all_gather = 2, reduce_scatter = 7, broadcast = 5 }

local function collective(task)
    local note, group = task.note, task.group
    local size = note.in_bytes > 0 and note.in_bytes or note.out_bytes
    local root = note.collective == "broadcast" and group[note.peer]
    return number("comm_type", int64, comm_types[note.collective])
        .. number("comm_size", int64, size)
        .. (root and number("comm_src", int32, root) or "")
        .. (group.is_everyone and "" or text("pg_name", ("%d"):format(note.comm)))
end

local function message(task)
    local sends = task.form == "send"
    return number("comm_src", int32, sends and task.rank or task.peer)
        .. number("comm_dst", int32, sends and task.peer or task.rank)
        .. number("comm_tag", int32, task.tag) .. number("comm_size", int64, task.bytes)
end

-- Nodes ---------------------------------------------------------------------------------------

local work_types <const> = { memcpy_h2d = types.MEM_LOAD_NODE, memcpy_d2h = types.MEM_STORE_NODE }
local form_types <const> = {
    collective = types.COMM_COLL_NODE, send = types.COMM_SEND_NODE, recv = types.COMM_RECV_NODE,
}

-- Two functions that write tasks to the outputs of their ranks, as tasks.lua calls them. What is
-- the same for many nodes is encoded once.
local function writers(outputs, first_ns)
    local names = once(function(name) return bytes(node.name, name) .. node.type end)
    local streams = once(function(n) return number("stream", int64, n) end)
    local sizes = once(function(n) return n > 0 and number("tensor_size", uint64, n) or "" end)
    local on_host, on_device = number("is_cpu_op", bool, 1), number("is_cpu_op", bool, 0)
    local id_key, deps_key = node.id, node.data_deps
    local start_key, duration_key = node.start, node.duration

    local function put(id, rank, stream, deps, n_deps, name, type, kind, start_ns, end_ns, more)
        local start = (start_ns - first_ns + 500) // 1000
        local duration = (end_ns - first_ns + 500) // 1000 - start
        local place = kind == "host_func" and on_host or on_device
        if n_deps == 0 then
            put_message(outputs[rank], id_key, id, names[name], type, start_key, start,
                        duration_key, duration, place, streams[stream], more)
        else
            put_message(outputs[rank], id_key, id, names[name], type, deps_key, deps, n_deps,
                        start_key, start, duration_key, duration, place, streams[stream], more)
        end
    end

    -- It has no times.
    local function put_order(task, type)
        local deps = {}
        for i = 1, task.n_deps do deps[i] = varint(task.deps[i]) end
        deps = table.concat(deps)
        deps = deps ~= "" and deps_key .. varint(#deps) .. deps or ""
        put_message(outputs[task.rank], id_key, task.id, names.order, type, deps, on_device,
                    streams[task.stream], message(task))
    end

    local function put_work(id, rank, stream, deps, n_deps, name, kind, start_ns, end_ns, size)
        put(id, rank, stream, deps, n_deps, name, work_types[kind] or types.COMP_NODE, kind,
            start_ns, end_ns, sizes[size])
    end
    local function put_task(task)
        local type = form_types[task.form]
        if task.orders then return put_order(task, type) end
        put(task.id, task.rank, task.stream, task.deps, task.n_deps, task.name, type, task.kind,
            task.start_ns, task.end_ns,
            task.form == "collective" and collective(task) or message(task))
    end
    return put_work, put_task
end

-- ['[{"pg_name": "2", "ranks": [0, 3]}]'], of the groups that this rank is in; "" without one.
local function describe_groups(groups, rank)
    local described = {}
    for _, group in ipairs(groups) do
        local ranks, is_in = {}, false
        for i = 0, group.n - 1 do
            ranks[i + 1], is_in = group[i], is_in or group[i] == rank
        end
        if is_in and not group.is_everyone then
            described[#described + 1] = ('{"pg_name": "%d", "ranks": [%s]}'):format(
                group.comm, table.concat(ranks, ", "))
        end
    end
    return #described > 0 and "['[" .. table.concat(described, ", ") .. "]']" or ""
end

local function begin_rank(groups, rank)
    local output = core.output()
    local described = describe_groups(groups, rank)
    put_message(output, bytes(meta_version, "0.0.4"))
    if described ~= "" then
        put_message(output, node.id, 0, bytes(node.name, "## process_group:init ##"), node.type,
                    types.METADATA_NODE, bytes(node.inputs, bytes(info_values, described)))
    end
    return output
end

-- The files, as core.write_files takes them: "run.3.et" for "run.et".
return function(timeline, path)
    local program = tasks.open(timeline, "Chakra")
    local outputs, files = {}, {}
    for rank = 0, program.n_ranks - 1 do
        outputs[rank] = begin_rank(program.groups, rank)
        files[rank + 1] = { path = path:gsub("%.et$", ("." .. rank .. "%0")), text = outputs[rank] }
    end
    program:each(writers(outputs, program.first_ns))
    return files
end
