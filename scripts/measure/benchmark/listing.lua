-- listing.lua - what a program of the benchmark does, as a table for JSON: docs/benchmark.md
-- describes its fields. The family's script runs with a module of its own in place of
-- "streamlab", which notes each call and does nothing else, so that the listing has what the script
-- really calls.

local families = import "scripts/measure/benchmark/families.lua"

local listing = {}

-- What is noted of the program that runs now: `program`, the table that comes out; take(step), what
-- becomes of a call; `current`, the stream, and `device`; `of`, the streams by their numbers.
local noted

local ended <const> = {}        -- raised when the program has been recorded

local function note(op, step)
    step.op = op
    noted.take(step)
end

-- Calls f while take(step) has the calls.
local function taking(take, f)
    local outer = noted.take
    noted.take = take
    f()
    noted.take = outer
end

-- Adds an object of the program: its number in the list of its kind.
local function number(kind, object)
    table.insert(noted.program[kind], object)
    return #noted.program[kind]
end

-- ---- memory ----------------------------------------------------------------------------------

local widths <const> = { float32 = 4, int32 = 4, bfloat16 = 2 }

local Tensor = {}
Tensor.__index = Tensor

local function bytes_of(shape, dtype)
    local bytes = widths[dtype] or error("no width of " .. dtype)
    for _, size in ipairs(shape) do
        bytes = bytes * size
    end
    return bytes
end

local function new_tensor(shape, options)
    local gpu = options.device ~= "cpu"
    local t = setmetatable({ shape = shape, dtype = options.dtype or "float32", gpu = gpu }, Tensor)
    t.bytes = bytes_of(t.shape, t.dtype)
    t.id = number("memory", { shape = shape, dtype = t.dtype, bytes = t.bytes,
        where = gpu and "gpu" or options.pinned and "pinned" or "pageable",
        device = gpu and (options.device or noted.device).index or nil })
    return t
end

-- A tensor that a step makes comes from the stream's pool, and what fills it is a kernel; memory
-- that is zeroed is a memset.
local function made(call)
    return function(...)
        local shape = table.pack(...)
        local options = type(shape[#shape]) == "table" and table.remove(shape) or {}
        shape.n = nil
        local t = new_tensor(shape, options)
        note("allocate", { stream = noted.current.id, memory = t.id })
        note(call, { stream = noted.current.id, writes = { t.id }, bytes = t.bytes })
        return t
    end
end

-- "h2d", "d2h" or "d2d", of two GPUs "p2p".
local function direction_of(to, from)
    if to.gpu and from.gpu then
        local memory = noted.program.memory
        return memory[to.id].device == memory[from.id].device and "d2d" or "p2p"
    end
    return to.gpu and "h2d" or "d2h"
end

function Tensor:copy_(from, options)
    note("copy", { stream = options.stream.id, direction = direction_of(self, from),
        reads = { from.id }, writes = { self.id }, bytes = self.bytes,
        blocking = not options.non_blocking })
end

function Tensor:zero_()
    note("zeros", { stream = noted.current.id, writes = { self.id }, bytes = self.bytes })
end

function Tensor:free()
    note("free", { stream = noted.current.id, memory = self.id })
end

-- ---- streams, events, graphs -------------------------------------------------------------------
--
-- `behind` of a stream that is being captured: the nodes that its next one comes behind, as a set.

local function merge(stream, nodes)
    for node in pairs(nodes) do
        stream.behind[node] = true
    end
end

local Stream = {}
Stream.__index = Stream

local function new_stream(options, name)
    local stream = setmetatable({ behind = {} }, Stream)
    stream.id = number("streams", { name = options.name or name,
        device = (options.device or noted.device).index, priority = options.priority or 0,
        non_blocking = options.non_blocking or false })
    return stream
end

local function record(event, stream, timing)
    event.behind = {}
    for node in pairs(stream.behind) do
        event.behind[node] = true
    end
    note("record", { stream = stream.id, event = event.id, timing = timing })
end

function Stream:wait_event(event)
    merge(self, event.behind)
    note("wait", { stream = self.id, event = event.id })
end

function Stream:wait_stream(other)
    local event = { id = number("events", {}) }
    record(event, other, false)
    self:wait_event(event)
end

function Stream:synchronize()
    note("synchronize", { stream = self.id })
end

function Stream:query()
    note("query", { stream = self.id })
end

function Stream:launch_host_func(f)
    local ms = 0
    taking(function(step) ms = ms + step.ms end, f)
    note("host_function", { stream = self.id, ms = ms })
end

local Event = {}
Event.__index = Event

function Event:record(stream)
    record(self, stream, self.timing)
end

local Graph = {}
Graph.__index = Graph

function Graph:launch(options)
    note("launch_graph", { stream = options.stream.id, graph = self.id })
end

-- Records and waits say what the next node of a stream comes behind; memory that a capture makes is
-- the graph's.
local no_node <const> = { record = true, wait = true, allocate = true, free = true }

-- A step of a capture becomes a node.
local function add_node(graph, step)
    if no_node[step.op] then
        return
    end
    table.insert(graph.nodes, step)
    local stream = noted.of[step.stream]
    for node in pairs(stream.behind) do
        table.insert(graph.edges, { node, #graph.nodes })
    end
    stream.behind = { [#graph.nodes] = true }
end

local function capture(graph, f)
    taking(function(step) add_node(graph, step) end, f)
    table.sort(graph.edges, function(a, b)
        return a[2] < b[2] or a[2] == b[2] and a[1] < b[1]
    end)
    for _, stream in pairs(noted.of) do
        stream.behind = {}
    end
end

-- ---- kernels -----------------------------------------------------------------------------------

local function ids(...)
    local list = {}
    for _, t in ipairs { ... } do
        list[#list + 1] = t.id
    end
    return list
end

local function sum_of(a, ...)
    return a and a.bytes + sum_of(...) or 0
end

-- A kernel of one output; without `out` the result is a new tensor from the stream's pool.
local function kernel(op, options, shape, dtype, reads, more)
    local stream, out = options.stream or noted.current, options.out
    if not out then
        out = new_tensor(shape, { dtype = dtype })
        note("allocate", { stream = stream.id, memory = out.id })
    end
    local step = more or {}
    step.stream, step.reads, step.writes = stream.id, ids(table.unpack(reads)), { out.id }
    step.bytes = sum_of(table.unpack(reads)) + out.bytes
    note(op, step)
    return out
end

local function binary(op)
    return function(a, b, options)
        return kernel(op, options, a.shape, a.dtype, { a, b }, { shape = a.shape })
    end
end

local function unary(op)
    return function(a, options)
        return kernel(op, options, a.shape, a.dtype, { a }, { shape = a.shape })
    end
end

function Tensor:sum()
    return kernel("sum", {}, { 1 }, self.dtype, { self }, { shape = self.shape })
end

local function three(size)
    return type(size) == "table" and { size[1], size[2] or 1, size[3] or 1 } or { size, 1, 1 }
end

-- A kernel of one's own has a number from its first launch on.
local function own_kernel(definition)
    local source, id = definition.source:gsub("__launch_bounds__%b() ", ""), nil
    local name = source:match "__global__ void ([%w_]+)"
    return function(grid, block, options, ...)
        id = id or number("kernels", { name = name, source = definition.source,
                                       arguments = definition.args })
        local arguments, cost = {}, definition.cost(grid, block, ...)
        for i, value in ipairs { ... } do
            local tensor = getmetatable(value) == Tensor
            arguments[i] = tensor and { memory = value.id } or { value = value }
        end
        note("launch", { stream = options.stream.id, kernel = id, grid = three(grid),
            block = three(block), shared = options.shared or 0, arguments = arguments,
            flops = cost.flops, bytes = cost.bytes })
    end
end

-- ---- collectives -------------------------------------------------------------------------------

local function collective(op)
    return function(_, tensors, options)
        local streams = {}
        for i, stream in ipairs(options.streams) do
            streams[i] = stream.id
        end
        note(op, { streams = streams, reads = ids(table.unpack(tensors)),
            writes = ids(table.unpack(options.out or tensors)), bytes = tensors[1].bytes,
            dtype = tensors[1].dtype })
    end
end

local communicator <const> = { free = function() end }
for _, op in ipairs { "all_reduce", "all_gather", "reduce_scatter", "broadcast" } do
    communicator[op] = collective(op)
end

-- ---- the module --------------------------------------------------------------------------------

local lab = { rand = made "rand", ones = made "ones", zeros = made "zeros", add = binary "add",
              mul = binary "mul", relu = unary "relu", softmax = unary "softmax",
              kernel = own_kernel }

function lab.matmul(a, b, options)
    local m, k, n = a.shape[1], a.shape[2], b.shape[2]
    return kernel("matmul", options, { m, n }, a.dtype, { a, b }, { m = m, n = n, k = k,
        flops = 2 * m * n * k, dtype = options.tf32 and "tf32" or a.dtype })
end

function lab.pow(a, exponent, options)
    return kernel("pow", options, a.shape, a.dtype, { a },
        { shape = a.shape, exponent = exponent })
end

function lab.spin(ms, options)
    note("spin", { stream = options.stream.id, ms = ms, blocks = options.blocks,
                   threads = options.threads })
end

function lab.stream(options)
    local stream = new_stream(options)
    noted.of[stream.id] = stream
    return stream
end

function lab.default_stream()
    return noted.null
end

-- f(...) with the stream as the current one.
function lab.with(stream, f, ...)
    local outer = noted.current
    noted.current = stream
    local result = f(...)
    noted.current = outer
    return result
end

function lab.event(options)
    return setmetatable({ id = number("events", {}), timing = options.timing }, Event)
end

function lab.graph(f, options)
    local graph = { priorities = options.priorities or false, nodes = {}, edges = {} }
    capture(graph, f)
    return setmetatable({ id = number("graphs", graph) }, Graph)
end

function lab.host_work(ms)
    note("host_work", { ms = ms })
end

function lab.synchronize()
    note("synchronize", { device = noted.device.index })
end

function lab.open(options)
    local device = { index = options.index }
    device.make_current = function() noted.device = device end
    device.make_current()
    return device
end

function lab.comm()
    return communicator
end

-- The recording is what is listed.
function lab.profile(f)
    taking(function(step) table.insert(noted.program.steps, step) end, f)
    error(ended, 0)
end

lab.cuda = {
    malloc = function(bytes)
        note("cuda_malloc", { bytes = bytes })
        return { bytes = bytes }
    end,
    free = function(memory) note("cuda_free", { bytes = memory.bytes }) end,
    device_can_access_peer = function() return true end,
    device_enable_peer_access = function() noted.program.peer_access = true end,
    device_disable_peer_access = function() noted.program.peer_access = false end,
}

setmetatable(lab, { __index = function(_, name)
    error(("a listing has no lab.%s"):format(name))
end })

-- ---- one program -------------------------------------------------------------------------------

-- Loads the script so that it, and what it loads, finds the module here; nothing is printed.
local function run(family, seed)
    local arguments = { [0] = family.script, "--seed", tostring(seed) }
    for word in family.arguments:gmatch "%S+" do
        table.insert(arguments, word)
    end
    local script = assert(loadfile(family.script, "t",
        setmetatable({ arg = arguments }, { __index = _G })))
    local loaded = package.loaded.streamlab
    package.loaded.streamlab = lab
    local _, reason = pcall(script)
    package.loaded.streamlab = loaded
    if reason ~= ended then
        error(reason, 0)
    end
end

-- The program of a family and a seed, from the repository's root. Raises what is wrong.
function listing.program(name, seed)
    local family = families[name]
    noted = { of = {}, take = function() end, device = { index = 0 },
              program = { family = name, seed = seed, gpus = family.gpus, streams = {}, memory = {},
                          events = {}, kernels = {}, graphs = {}, steps = {} } }
    noted.null = new_stream({ name = "NULL" })
    noted.current = noted.null
    noted.of[noted.null.id] = noted.null
    run(family, seed)
    local program = noted.program
    program.events = #program.events
    return program
end

return listing
