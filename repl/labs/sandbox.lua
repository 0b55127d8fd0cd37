-- sandbox.lua - the environment that a submission runs in.
--
-- The submission shares the Lua state with the test that calls it, so nothing that the test uses
-- may be reachable from it: every library is a copy, `lab` too, the metatables of the
-- laboratory's classes are locked, and so is that of strings, which all code shares. Functions
-- that read or write files are disabled for the whole process (internals.close_files); the
-- operating system's limits are the next barrier (repl/sandbox/confine.h).
--
-- steady.lua hides what differs from run to run.

local steady = import "repl/labs/steady.lua"

local sandbox = {
    loaded = "=(load)"      -- the name of chunks that a submission loads
}

-- What a script would have elsewhere, and what to use instead.
local missing = {
    io = "print(...) shows text; a lab has no files",
    os = "measure with lab.profile and lab.measure; a lab has no clock, files or commands",
    package = "a lab has the laboratory, and no other modules",
    debug = "lab.profile and tl:explain() tell what happened",
    dofile = "a submission is one file", loadfile = "a submission is one file",
    collectgarbage = "memory is freed by itself, and a tensor's at once by t:free()",
}

-- The functions of `lab` that a submission has, and those that it does not have, and why.
-- tests/labs/20-attacks.t.lua fails for a function that is in neither list: whoever adds one
-- decides.
local in_lab = {
    "allclose", "bfloat16", "current_stream", "default_stream", "device", "empty", "event",
    "float16", "float32", "float64", "full", "graph", "graphs", "host_work",
    "int32", "live", "measure", "now_us", "ones", "per_thread_stream", "profile", "rand", "randn",
    "record", "spin", "stream", "sweep", "synchronize", "table", "tap", "tensor", "uint8", "use",
    "version", "with", "zeros",
}
table.move(internals.kernels, 1, #internals.kernels, #in_lab + 1, in_lab)   -- add, matmul, ...

local missing_in_lab = {
    open = "the GPU of the lab is open already",
    devices = "the GPU of the lab is open already",
    kernel = "this lab does not ask for kernels of your own",
    comm = "where a lab has several GPUs its tests give you the communicator",
    load = "a lab has no files", ranks = "a lab has no files",
    torch_defaults = "a lab's streams and events are CUDA's: write { non_blocking = true }, { "
        .. "timing = false }",
    check = "the race checker is on already",
    thread = "the race checker, which is on, knows one thread only",
    tune = "the GPU of the lab multiplies as its profile says: there is nothing to tune",
    whatif = "change the script and run it again",
    races = "races are reported when the test has ended",
    probe = "it asks the GPU, not your work",
    probes = "it asks the GPU, not your work",
    capture_probes = "it asks the GPU, not your work",
    claims = "it asks the GPU, not your work",
}

local in_cuda = {
    "cublas_create", "cublas_destroy", "device_can_access_peer", "device_disable_peer_access",
    "device_enable_peer_access", "device_set_limit", "free", "free_async", "free_host",
    "func_set_cache_config", "graph_destroy", "graph_exec_update", "graph_instantiate",
    "graph_launch", "host_register", "host_unregister", "malloc", "malloc_async",
    "malloc_host", "mem_get_info", "memcpy", "memcpy_async", "memset", "memset_async",
    "stream_begin_capture", "stream_end_capture", "stream_is_capturing",
}

local missing_in_cuda = { trap = "it breaks the GPU" }

-- Lua's functions that are passed on unchanged. pcall, xpcall and coroutines are the program's,
-- which stop when the time is up.
local plain = { "assert", "error", "ipairs", "pcall", "rawequal", "rawget", "rawlen", "rawset",
    "select", "tonumber", "type", "xpcall", "_VERSION" }

-- And of its libraries; utf8 and table change nothing but what they are given.
local library_functions = {
    coroutine = { "close", "create", "isyieldable", "resume", "running", "status", "wrap",
        "yield" },
    string = { "byte", "char", "find", "gmatch", "gsub", "len", "lower", "match", "pack",
        "packsize", "rep", "reverse", "sub", "unpack", "upper" },
    table = { "concat", "insert", "move", "pack", "remove", "sort", "unpack" },
    utf8 = { "char", "charpattern", "codepoint", "codes", "len", "offset" },
}

local function copy(t)
    local result = {}
    for key, value in next, t do
        result[key] = value
    end
    return result
end

local function choose(t, names)
    local result = {}
    for _, name in ipairs(names) do
        result[name] = t[name]
    end
    return result
end

-- ---- lab.kernel --------------------------------------------------------------------------

local kernel_refused = {
    file = "a lab has no files: write source = [[ ... ]]",
    cost = "how long your kernel takes is not yours to say: leave out cost",
}

-- What a lab grades is the source: what `cpu` would compute is not used, and without a source there
-- would be nothing else.
local function make_kernel(options, ...)
    if type(options) ~= "table" then
        return steady.at_caller(pcall(lab.kernel, options, ...))
    end
    local mine = {}
    for key, value in next, options do
        if kernel_refused[key] then
            error("kernel: " .. kernel_refused[key], 2)
        end
        mine[key] = value
    end
    if type(mine.source) ~= "string" then
        error("kernel: a lab's kernels have a source: source = [[ ... ]]", 2)
    end
    if type(mine.cpu) == "function" then
        mine.cpu = nil
    end
    return steady.at_caller(pcall(lab.kernel, mine, ...))
end

-- ---- Lua's functions ---------------------------------------------------------------------

-- A finalizer could run after the test, and without end.
local function set_metatable(t, metatable, ...)
    if type(metatable) == "table" and rawget(metatable, "__gc") ~= nil then
        error("setmetatable: a lab has no finalizers (__gc)", 2)
    end
    return steady.at_caller(pcall(setmetatable, t, metatable, ...))
end

-- Of the laboratory's objects their class's name alone.
local function get_metatable(value)
    local metatable = debug.getmetatable(value)
    local name = type(metatable) == "table" and rawget(metatable, "__name")
    if type(name) == "string" and name:find("^streamlab%.") then
        return name
    end
    return getmetatable(value)
end

-- Text only: binary code can crash Lua. The caller cannot choose the chunk's name, because
-- messages and explanations quote lines of the chunk that they name.
local function loader(environment)
    return function(text, _, _, ...)
        local own = environment
        if select("#", ...) > 0 then
            own = (...)
        end
        return load(text, sandbox.loaded, "t", own)
    end
end

local function show(...)
    local texts = table.pack(...)
    for i = 1, texts.n do
        texts[i] = steady.text(texts[i])
    end
    io.stdout:write(table.concat(texts, "\t"), "\n")
end

-- ---- the tables ----------------------------------------------------------------------------

-- What Python and C call these.
local spelt <const> = {
    True = "true", False = "false", TRUE = "true", FALSE = "false", None = "nil", null = "nil",
    NULL = "nil", nullptr = "nil",
}

-- Makes reading an undefined variable an error with a hint: most often it is a typing mistake.
local function make_strict(environment)
    local function read_missing(_, name)
        if missing[name] then
            error(("there is no '%s' in a lab: %s"):format(name, missing[name]), 2)
        end
        local near = spelt[name] or type(name) == "string" and internals.nearest(name, environment)
        error(("there is no variable '%s'%s"):format(tostring(name),
            near and ("; did you mean '%s'?"):format(near) or ""), 2)
    end
    setmetatable(environment, { __index = read_missing, __metatable = false })
end

-- A table with functions of `whole`; reading one of the others says why it is not there.
local function make_part(whole, name, has, has_not)
    return setmetatable(choose(whole, has), {
        __index = function(_, key)
            if has_not[key] then
                error(("%s.%s: a submission does not have it: %s"):format(name, key,
                    has_not[key]), 2)
            end
        end,
        __metatable = false,
    })
end

-- Of all strings; the table that `__index` is must not be the one that a submission can change.
local function lock_strings(methods)
    local metatable = copy(debug.getmetatable(""))
    metatable.__index = copy(methods)
    metatable.__metatable = false
    debug.setmetatable("", metatable)
end

-- The globals of a submission, with lab.kernel if `has_kernels`. From now on this process opens no
-- file, and all strings have locked methods.
function sandbox.make(has_kernels)
    internals.close_files()
    local environment = choose(_ENV, plain)
    for name, functions in next, library_functions do
        environment[name] = choose(_ENV[name], functions)
    end
    environment.string.format = steady.format
    lock_strings(environment.string)
    environment.math = steady.math()
    environment.getmetatable, environment.setmetatable = get_metatable, set_metatable
    environment.pairs, environment.next = steady.pairs, steady.next
    environment.tostring, environment.print = steady.tostring, show
    environment.load = loader(environment)
    environment.lab = make_part(lab, "lab", in_lab, missing_in_lab)
    if has_kernels then
        rawset(environment.lab, "kernel", make_kernel)
    end
    environment.lab.cuda = make_part(lab.cuda, "lab.cuda", in_cuda, missing_in_cuda)
    environment.arg = false
    environment._G = environment
    function environment.require(name)
        if name == "streamlab" then
            return environment.lab
        end
        error(("require: a lab has \"streamlab\" and no other modules, got %s"):format(
            type(name) == "string" and '"' .. name .. '"' or type(name)), 2)
    end
    make_strict(environment)
    return environment
end

return sandbox
