-- communicators.lua - lab.comm: collectives between GPUs. l_comm.c gives them to the core.
--
-- A communicator has ranks, each of which is one GPU. Where this process has all of them, a
-- collective takes a list with a tensor for each rank; a tensor alone is that of one rank, which
-- is the one of its device.

local lab, core = ...

local as, refuse, type_name = core.as, core.refuse, core.type_name
local check_options, no_more = core.arguments.check_options, core.arguments.no_more
local check_function = core.arguments.check_function
local is_text, is_count = core.arguments.is_text, core.arguments.is_count
local is_boolean, is_list = core.arguments.is_boolean, core.arguments.is_list
local format = string.format
local classes = core.need("classes")

local function is_stream(value) return type_name(value) == "stream" end
local function is_tensor(value) return type_name(value) == "tensor" end
local function is_positive(value) return is_count(value) and value > 0 end
local function any() return true end
local function is_devices(value) return is_list(value, any) and #value > 0 end
local function is_streams(value) return is_list(value, is_stream) end
local function is_tensors(value) return is_tensor(value) or is_list(value, is_tensor) end

local reductions <const> = { sum = true, prod = true, min = true, max = true, avg = true }
local function is_reduction(value) return reductions[value] == true end

-- Waiting for asynchronous calls -----------------------------------------------------------

-- Of each: name, events, streams (where their callers were), and whether its group is still open.
local work_meta, works, state_of = classes{
    name = "streamlab.work", what = "what an asynchronous collective gave", call = "w:%s()",
}
local work_methods = work_meta.__methods

local function check_work(w, op)
    local state = state_of(w, op)
    if state.pending then
        refuse(op, "%s is in a comm:group that has not ended: nothing of it is enqueued",
               state.name)
    end
    return state
end

-- The streams come behind the collective; the host does not wait.
function work_methods.wait(w, ...)
    no_more(1, "wait", ...)
    local state = check_work(w, "wait")
    for i, event in ipairs(state.events) do
        local stream = state.streams[i]
        as("wait", stream.wait_event, stream, event)
    end
end

function work_methods.synchronize(w, ...)
    no_more(1, "synchronize", ...)
    for _, event in ipairs(check_work(w, "synchronize").events) do
        as("synchronize", event.synchronize, event)
    end
end

function work_methods.query(w, ...)
    no_more(1, "query", ...)
    for _, event in ipairs(check_work(w, "query").events) do
        if not as("query", event.query, event) then return false end
    end
    return true
end

function work_meta.__tostring(w)
    local state = works[w] or check_work(w, "tostring")
    return format("work: %s%s", state.name, state.pending and " (its group is open)" or "")
end

core.define_class(work_meta)

-- The communicator ------------------------------------------------------------------------

local function devices_of(state)
    local list = {}
    for i, rank in ipairs(state.ranks) do list[i] = rank.device end
    return list
end

-- Of each object: handle, size, ranks (a list of {rank, device}), own (streams of asynchronous
-- calls, by rank).
local meta, states, check_self = classes{
    name = "streamlab.comm", what = "a communicator", self = "what lab.comm gave",
    call = "comm:%s(...)", fields = { size = true, rank = true, devices = true },
    field = function(state, key)
        if key == "size" then return state.size end
        if key == "rank" then return #state.ranks == 1 and state.ranks[1].rank or nil end
        return devices_of(state)
    end,
}
local methods = meta.__methods

function meta.__tostring(c)
    local state = check_self(c, "tostring")
    if core.comm_is_freed(state.handle) then return "comm (freed)" end
    local names = {}
    for i, rank in ipairs(state.ranks) do
        names[i] = format("rank %d on %s %d", rank.rank, rank.device.backend, rank.device.index)
        if i == 4 and #state.ranks > 5 then
            names[5] = format("and %d more", #state.ranks - 4)
            break
        end
    end
    return format("comm (%d rank%s: %s)", state.size, state.size == 1 and "" or "s",
                  table.concat(names, ", "))
end

-- What a call names -------------------------------------------------------------------------

-- The number of the process's rank that the tensor is of, from 1.
local function rank_of(state, tensor, op)
    if #state.ranks == 1 then return 1 end
    local rank = core.comm_rank_of(state.handle, tensor, op)
    if rank then return rank end
    refuse(op, "the tensor is on %s, where the communicator has no rank", tostring(tensor.device))
end

local function check_length(state, list, what, op)
    if #list == #state.ranks then return end
    refuse(op, "%s has %d element%s, and this process has %d rank%s: one for each", what, #list,
           #list == 1 and "" or "s", #state.ranks, #state.ranks == 1 and "" or "s")
end

-- Of the argument t: the ranks that take part, and a list of their tensors.
local function read_tensors(state, t, op)
    if is_tensor(t) then return { rank_of(state, t, op) }, { t } end
    if not is_list(t, is_tensor) then
        refuse(op, "argument 2 (t) must be a tensor, or a list with a tensor for each rank, got %s",
               type_name(t))
    end
    check_length(state, t, "t", op)
    local ranks = {}
    for i = 1, #t do ranks[i] = i end
    return ranks, t
end

-- out =, which must be as t is: a tensor, or a list of as many.
local function read_out(out, t, tensors, op)
    if is_tensor(out) ~= is_tensor(t) then
        refuse(op, "option 'out' must be %s, as t is, got %s",
               is_tensor(t) and "a tensor" or "a list of tensors", type_name(out))
    end
    if is_tensor(out) then return { out } end
    if #out ~= #tensors then
        refuse(op, "out has %d element%s, and t has %d", #out, #out == 1 and "" or "s", #tensors)
    end
    return out
end

-- The streams that were given, for each rank that takes part.
local function read_streams(state, opts, ranks, op)
    if opts.stream and opts.streams then refuse(op, "stream = and streams = : one of them") end
    if opts.stream then
        if #ranks > 1 then
            refuse(op, "stream = is for one rank: give streams =, a list with a stream for each")
        end
        return { opts.stream }
    end
    if not opts.streams then return {} end
    if #opts.streams == #ranks then return opts.streams end
    check_length(state, opts.streams, "streams", op)
    return { opts.streams[ranks[1]] }
end

-- What a gather or a scatter gives: the first dimension counts all ranks, or a part of them.
local function new_tensor(t, first, device, stream, op)
    local sizes = { t:size() }
    sizes[1] = first
    sizes[#sizes + 1] = { dtype = t.dtype, device = device, stream = stream }
    return as(op, lab.empty, table.unpack(sizes))
end

local function gathered(state, t, device, stream, op)
    return new_tensor(t, ((t:size()) or 1) * state.size, device, stream, op)
end

local function scattered(state, t, device, stream, op)
    local first = (t:size())
    if not first then refuse(op, "the tensor is a scalar: it cannot be divided among ranks") end
    if first % state.size ~= 0 then
        refuse(op, "the tensor's first size is %d: it cannot be divided among %d ranks", first,
               state.size)
    end
    return new_tensor(t, first // state.size, device, stream, op)
end

-- Asynchronous calls --------------------------------------------------------------------------

local open_groups, pending = 0, {}

-- The rank's stream for asynchronous calls, as PyTorch has one for NCCL.
local function own_stream(state, rank)
    local own = state.own[rank]
    if not own then
        own = lab.stream{ device = state.ranks[rank].device, non_blocking = true,
                          name = format("comm %d", state.ranks[rank].rank) }
        state.own[rank] = own
    end
    return own
end

-- Puts the rank's own streams behind the callers', which it gives, in their place.
local function take_own_streams(state, ranks, streams, op)
    local callers = {}
    for i, rank in ipairs(ranks) do
        local caller = streams[i] or core.current_stream_of(state.ranks[rank].device)
        local own = own_stream(state, rank)
        as(op, own.wait_stream, own, caller)
        callers[i], streams[i] = caller, own
    end
    return callers
end

local function record_events(work, op)
    for i, stream in ipairs(work.own) do
        work.events[i] = as(op, stream.record_event, stream)
    end
    work.pending = false
end

local function new_work(name, own, callers, op)
    local w = setmetatable({}, work_meta)
    local work = { name = name, own = own, streams = callers, events = {}, pending = true }
    works[w] = work
    if open_groups > 0 then
        pending[#pending + 1] = work
    else
        record_events(work, op)
    end
    return w
end

-- Collectives -----------------------------------------------------------------------------------

local function option(name, wanted, test) return { name, wanted, test } end
local known_options = {
    out = option("out", "a tensor, or a list of tensors", is_tensors),
    op = option("op", "\"sum\", \"prod\", \"min\", \"max\" or \"avg\"", is_reduction),
    root = option("root", "a rank, a whole number from 0 on", is_count),
    dst = option("dst", "a rank, a whole number from 0 on", is_count),
    src = option("src", "a rank, a whole number from 0 on", is_count),
    stream = option("stream", "a stream", is_stream),
    streams = option("streams", "a list of streams", is_streams),
    async = option("async", "true or false", is_boolean),
    name = option("name", "a text", is_text),
}

local function options_named(...)
    local list = {}
    for i, name in ipairs{ ... } do list[i] = known_options[name] end
    return list
end

-- How each collective uses its tensors: make(state, t, device, stream, op) gives the output if
-- there is no out =; without make the tensor itself is the output.
local collectives = {
    all_reduce = { options = options_named("op", "out", "stream", "streams", "async", "name") },
    all_gather = { options = options_named("out", "stream", "streams", "async", "name"),
                   make = gathered },
    reduce_scatter = { options = options_named("op", "out", "stream", "streams", "async", "name"),
                       make = scattered },
    broadcast = { options = options_named("root", "stream", "streams", "async", "name"),
                  peer = "root" },
    send = { options = options_named("dst", "stream", "async", "name"), peer = "dst",
             single = true },
    recv = { options = options_named("src", "stream", "async", "name"), peer = "src",
             single = true },
}

local function choose_outputs(how, state, opts, t, ranks, tensors, streams, op)
    if opts.out then return read_out(opts.out, t, tensors, op) end
    if not how.make then return tensors end
    local outputs = {}
    for i, tensor in ipairs(tensors) do
        outputs[i] = how.make(state, tensor, state.ranks[ranks[i]].device, streams[i], op)
    end
    return outputs
end

local function read_peer(how, opts, op)
    if not how.peer then return -1 end
    local peer = opts[how.peer]
    if peer then return peer end
    if how.peer == "root" then return 0 end
    refuse(op, "%s = is missing: the rank that the tensor %s", how.peer,
           how.peer == "dst" and "goes to" or "comes from")
end

local function run(op, c, t, opts, ...)
    local how, state = collectives[op], check_self(c, op)
    no_more(3, op, ...)
    opts = check_options(opts, how.options, op)
    if how.single and not is_tensor(t) then
        refuse(op, "argument 2 (t) must be a tensor, got %s", type_name(t))
    end
    local ranks, tensors = read_tensors(state, t, op)
    local streams = table.move(read_streams(state, opts, ranks, op), 1, #ranks, 1, {})
    local peer = read_peer(how, opts, op)
    local outputs = choose_outputs(how, state, opts, t, ranks, tensors, streams, op)
    local callers = opts.async and take_own_streams(state, ranks, streams, op)
    as(op, core.comm_call, state.handle, op, ranks, tensors, outputs, streams, opts.op, peer,
       opts.name)
    local result = is_tensor(t) and outputs[1] or outputs
    if not callers then return result end
    return new_work(op, streams, callers, op), result
end

for name in next, collectives do
    methods[name] = function(c, ...) return run(name, c, ...) end
end

-- Groups -------------------------------------------------------------------------------------

local group_meta = { __close = function(guard)
    if guard.ended then return end
    open_groups = open_groups - 1
    core.comm_group_abort()
    if open_groups == 0 then pending = {} end
end }

local function end_group(guard)
    guard.ended = true
    open_groups = open_groups - 1
    local ended = pending
    if open_groups == 0 then pending = {} end
    as("group", core.comm_group_end)
    if open_groups > 0 then return end
    for _, work in ipairs(ended) do record_events(work, "group") end
end

local function finish_group(guard, ...)
    end_group(guard)
    return ...
end

function methods.group(c, f, ...)
    check_self(c, "group")
    check_function(f, 2, "group")
    open_groups = open_groups + 1
    core.comm_group_begin()
    local guard <close> = setmetatable({ ended = false }, group_meta)
    return finish_group(guard, f(...))
end

-- The end ------------------------------------------------------------------------------------

function methods.free(c, ...)
    no_more(1, "free", ...)
    as("free", core.comm_free, check_self(c, "free").handle)
end

function methods.abort(c, ...)
    no_more(1, "abort", ...)
    as("abort", core.comm_abort, check_self(c, "abort").handle)
end

core.define_class(meta)

-- Making -------------------------------------------------------------------------------------

local options = {
    { "devices", "a list of GPUs: numbers, names as \"cuda:1\", or what lab.open gave",
      is_devices },
    { "rank", "a whole number from 0 on", is_count },
    { "size", "a whole number from 1 on", is_positive },
    { "id", "a file's name", is_text },
    { "timeout", "seconds, a number above 0",
      function(value) return type(value) == "number" and value > 0 and value < math.huge end },
    { "device", "a GPU: a number, a name as \"cuda:1\", or what lab.open gave", any },
    { "channels", "a whole number from 1 on", is_positive },
    { "copy_engines", "true or false", is_boolean },
}

local function new(handle)
    local c = setmetatable({}, meta)
    local size, ranks = core.comm_ranks(handle)
    states[c] = { handle = handle, size = size, ranks = ranks, own = {} }
    return c
end

local function join(opts)
    if not opts.id then
        refuse("comm", "devices = is missing: the GPUs of this process; or for a rank of several "
               .. "processes id =, a file that all of them see")
    end
    if (opts.rank == nil) ~= (opts.size == nil) then
        refuse("comm", "%s = is missing: rank and size go together, or come from Slurm or MPI",
               opts.rank == nil and "rank" or "size")
    end
    local rank, size = opts.rank, opts.size
    if not rank then rank, size = as("comm", core.comm_rank_here) end
    return new(as("comm", core.comm_join, opts.device, rank, size, opts.id, opts.timeout or 300,
                  opts.channels or 0, opts.copy_engines or false))
end

function lab.comm(opts, ...)
    no_more(1, "comm", ...)
    if opts == nil then refuse("comm", "it needs a table: lab.comm{ devices = { 0, 1 } }") end
    opts = check_options(opts, options, "comm")
    if not opts.devices then return join(opts) end
    for _, name in ipairs{ "rank", "size", "id", "timeout", "device" } do
        if opts[name] ~= nil then
            refuse("comm", "devices = and %s =: the first is for a process that has all ranks",
                   name)
        end
    end
    return new(as("comm", core.comm_create, opts.devices, opts.channels or 0,
                  opts.copy_engines or false))
end

-- The metatables, for tests.
return { comm = meta, work = work_meta }
