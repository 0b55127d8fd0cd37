-- api.lua - one random program of valid and invalid calls of the laboratory, for make fuzz-api.
--
--   streamlab tests/fuzz/api.lua SEED [CALLS]
--
-- Names, arguments and options are those of docs/api; most arguments have the type that is said
-- there, some anything at all. Even seeds make small tensors and look at values; odd ones make
-- tensors of any size on a GPU with unlimited memory, and look at none. What is checked is that
-- the process survives (the sanitizers see to the rest), that an error is one of the laboratory's
-- with a known code, that no count of what is live is negative, and that no tensor, no event and no
-- graph is live at the end.

local seed, n_calls = math.tointeger(tonumber(arg[1])), math.tointeger(tonumber(arg[2] or 300))
assert(seed and n_calls, "usage: streamlab tests/fuzz/api.lua SEED [CALLS]")
local root = arg[0]:match("^(.*)tests/fuzz/api%.lua$")
package.path = root .. "tests/fuzz/?.lua;" .. package.path
local random, looks = math.random, seed % 2 == 0
math.randomseed(seed)

local values = require "api_values"
local pick, odd = values.pick, values.odd

-- ---- what can be called ---------------------------------------------------------------------

-- They take long, whatever they are asked; tap:done says how the process ends.
local never = { ["lab.probes"] = true, ["lab.claims"] = true, ["tap:done"] = true }
-- They compute values, which takes as long as the tensors are large.
local look = {
    get = true, item = true, totable = true, allclose = true, ["lab.allclose"] = true, set = true,
}
local pages = {
    "asynchronous", "communicators", "cuda", "custom", "devices", "events", "graphs", "kernels",
    "measuring", "probing", "races", "recording", "streams", "tap", "tensors",
    "threads", "timelines", "trace_files", "views",
}

-- {call =, class = or nil, arguments =, options =} of every function and method.
local function read_entries()
    local entries = {}
    for _, page in ipairs(pages) do
        for _, entry in ipairs(dofile(root .. "docs/api/" .. page .. ".lua").entries) do
            local class, method = entry.name:match("^(%a+):([%w_]+)$")
            local path = entry.name:match("^lab%.([%w_.]+)$")
            local fits = (class or path) and not entry.type and not never[entry.name]
                and (looks or not look[method or entry.name])
            if fits then
                entries[#entries + 1] = {
                    class = class, method = method, path = path, name = entry.name,
                    arguments = entry.arguments or {}, options = entry.options,
                }
            end
        end
    end
    return entries
end

local entries = read_entries()

local function resolve(path)
    local value = lab
    for name in path:gmatch("[^.]+") do value = value[name] end
    return value
end

-- ---- arguments ------------------------------------------------------------------------------

local function argument(types, name)
    if random(12) == 1 then return odd() end
    if types == "integer" and not looks and random(3) == 1 then return values.odd_integer() end
    return values.of(types, name)
end

local function options_of(entry)
    local options = {}
    for _, option in ipairs(entry.options) do
        if random(3) == 1 then options[option[1]] = argument(option[2], option[1]) end
    end
    if random(30) == 1 then options[pick{ "strem", 1, true }] = odd() end
    return options
end

-- A packed list; some arguments at the end are left out, now and then one is too many.
local function arguments_of(entry)
    local list = { n = 0 }
    local function add(value) list.n = list.n + 1 list[list.n] = value end
    for _, wanted in ipairs(entry.arguments) do
        local several = wanted[1] == "..." and random(0, 3) or 1
        if wanted.default and random(3) == 1 then break end
        for _ = 1, several do
            local of_thread = entry.name == "lab.thread" and wanted[1] == "f" and random(8) > 1
            add(of_thread and values.thread_function() or argument(wanted[2], wanted[1]))
        end
    end
    if entry.options and random(2) == 1 then add(options_of(entry)) end
    if random(40) == 1 then add(odd()) end
    return list
end

-- ---- calls ----------------------------------------------------------------------------------

local codes = {}
for code in ("EINVAL ESHAPE EDTYPE EPLACE EDEVICE ECLOSED ESTATE ENOTFOUND EUNSUPPORTED ENOMEM " ..
             "EIO ECOMPILE EHOSTFUNC EINTERRUPT ERACE ECAPTURE"):gmatch("%u+") do
    codes["SL_" .. code] = true
end

local depth, last = 0, ""
local ended = false         -- what is made while Lua closes is never finalized

local function describe(name, list)
    local texts = {}
    for i = 1, list.n do
        local ok, text = pcall(tostring, list[i])
        texts[i] = math.type(list[i]) and ("%.17g"):format(list[i]) or
                   ok and ("%q"):format(text:sub(1, 60)) or "?"
    end
    return name .. "(" .. table.concat(texts, ", ") .. ")"
end

local function fail(what)
    ended = true
    io.stderr:write(("api.lua %d: %s, after %s\n"):format(seed, what, last))
    os.exit(1)
end

-- Errors are the laboratory's, or those that a callback of ours raised.
local function check_error(err)
    if type(err) == "string" then
        if err:find("fuzz", 1, true) or err:find("attempt to yield", 1, true) then return end
        fail("an error that is a text: " .. err)
    end
    local code = (type(err) == "table" or type(err) == "userdata") and err.code
    if err and err ~= 42 and not codes[code] then
        fail("an error without a known code: " .. tostring(err))
    end
end

local function finish(ok, ...)
    if not ok then return check_error((...)) end
    for i = 1, select("#", ...) do values.keep((select(i, ...))) end
end

local function call(entry)
    local list = arguments_of(entry)
    local object = entry.class and values.any_of(entry.class)
    if entry.class and not object then return end
    local f = entry.path and resolve(entry.path) or object[entry.method]
    last = describe(entry.name, list)
    if os.getenv("FUZZ_TRACE") then io.stderr:write(last, "\n") end
    if object then
        finish(pcall(f, object, table.unpack(list, 1, list.n)))
    else
        finish(pcall(f, table.unpack(list, 1, list.n)))
    end
end

-- ---- what else a script does ------------------------------------------------------------------

local function random_call() call(pick(entries)) end

local of_graphs = {}
for _, entry in ipairs(entries) do
    local text = entry.name .. " " .. (entry.class or "")
    if text:find("graph", 1, true) or text:find("captur", 1, true) then
        of_graphs[#of_graphs + 1] = entry
    end
end

local function graph_call() call(pick(of_graphs)) end

-- Of which there are few objects.
local of_few, few = {}, { comm = true, work = true, thread = true, kernel = true }
for _, entry in ipairs(entries) do
    if few[entry.class] or few[entry.path] then of_few[#of_few + 1] = entry end
end

local function rare_call() call(pick(of_few)) end

-- While a capture goes on, most calls are errors. In a callback it may be that of lab.graph.
local function end_captures()
    if depth > 0 then return end
    local ok, current = pcall(lab.current_stream)
    for _, stream in ipairs(values.all_of("stream", ok and current)) do
        local captured, status = pcall(stream.capture_status, stream)
        if captured and status ~= "none" then finish(pcall(stream.end_capture, stream)) end
    end
end

local operators = {
    function(a, b) return a + b end, function(a, b) return a * b end,
    function(a, b) return a - b end, function(a, b) return a / b end,
    function(a, b) return a ^ b end,
    function(a, b) return a == b end, function(a, b) return a < b end, function(a) return #a end,
    function(a) return -a end, function(a, b) return a .. b end, function(a, b) return a[b] end,
    function(a) return tostring(a) end, function(a) return a.device end,
    function(a) return a.freed end,
    function(a, b) a[b] = 1 end, function(a) return a() end, function(a, b) return a & b end,
}

local function random_operator()
    last = "an operator"
    local a, b = values.of("tensor|stream|event|timeline|device|graph", ""), odd()
    if random(2) == 1 then b = values.any_of("tensor") end
    local ok, err = pcall(pick(operators), a, b)
    if not ok and type(err) ~= "string" then check_error(err) end
end

local function launch_kernel()
    local kernel = values.any_of("kernel")
    if not kernel then return end
    local list = { n = random(2, 6) }
    list[1], list[2] = values.extent(), values.extent()
    for i = 3, list.n do list[i] = argument(pick{ "tensor", "tensor", "number", "table" }, "") end
    last = describe("a kernel", list)
    finish(pcall(kernel, table.unpack(list, 1, list.n)))
end

local function in_coroutine()
    local co = coroutine.create(function()
        for _ = 1, 3 do
            random_call()
            coroutine.yield()
        end
    end)
    for _ = 1, random(4) do coroutine.resume(co) end
    if random(2) == 1 then coroutine.close(co) end
end

local function in_scope()
    local ok, guard = pcall(lab.use, values.any_of("stream"))
    if not ok then return check_error(guard) end
    local scope <close> = guard
    for _ = 1, random(3) do random_call() end
end

local function with_finalizer()
    setmetatable({}, { __gc = function()
        if depth < 4 and not ended then
            depth = depth + 1
            pcall(random_call)
            depth = depth - 1
        end
    end })
end

local function collect()
    collectgarbage(pick{ "collect", "step", "incremental", "generational" })
end

local steps = {
    random_operator, in_coroutine, in_scope, with_finalizer, collect, values.drop_some,
    values.drop_some, graph_call, graph_call, end_captures, end_captures, launch_kernel,
    rare_call, rare_call, rare_call,
}

local function step() return random(8) > 1 and random_call() or pick(steps)() end

-- A function that is given to a call: it calls others, and may fail or yield.
function values.callback()
    return function(...)
        for i = 1, select("#", ...) do values.keep((select(i, ...))) end
        if depth < 3 then
            depth = depth + 1
            for _ = 1, random(0, 3) do step() end
            depth = depth - 1
        end
        local way = random(12)
        if way == 1 then error("fuzz", 0) end
        if way == 2 then error(pick{ false, 42, { code = "SL_EINVAL" } }, 0) end
        if way == 3 and coroutine.isyieldable() then coroutine.yield(odd()) end
        return values.odd(), values.odd()
    end
end

-- ---- the program ------------------------------------------------------------------------------

local function check_counts()
    local ok, live = pcall(lab.live)
    if not ok then return check_error(live) end     -- a host function that failed meanwhile
    for what, count in pairs(live) do
        if count < 0 then fail(("%d %s are live"):format(count, what)) end
    end
end

local memory = looks and 1 << 30 or "unlimited"
local device = lab.open{ backend = "sim", profile = pick{ "h200", "textbook", "t4" },
                         overrides = { memory_bytes = memory } }
values.keep(device)
if random(2) == 1 then      -- a machine of two
    values.keep(lab.open{ backend = "sim", index = 1 })
    values.keep(lab.comm{ devices = { 0, 1 } })
    values.keep(lab.zeros(4, 4, { device = "cuda:1" }))
    device:make_current()
end
values.keep(lab.kernel{ name = "f", args = { "inout f32*" }, cpu = function() return random() end })
for _ = 1, 3 do
    values.keep(lab.stream{})
    values.keep(lab.event{})
    values.keep(lab.zeros(4, 4))
end
for _ = 1, n_calls do
    step()
    check_counts()
end

-- Opening a device waits for all that are open, and raises what host functions have raised.
-- Streams may be left: one that is current.
-- A thread's state has its own; a rank that never calls its part keeps the others' tensors.
values.end_all(function(method, object) finish(pcall(method, object)) end)
ended, device = true, nil
for _, opened in ipairs(values.all_of("device")) do     -- each has a current stream
    pcall(opened.make_current, opened)
    end_captures()
end
end_captures()
values.drop_all()
collectgarbage()
for _ = 1, 5 do pcall(lab.open, { backend = "sim" }) end
for _ = 1, 3 do collectgarbage() end
local left = lab.live()
last = "the end"
-- The current stream of a device that the pool has lost may have a capture, with its events.
if left.tensors ~= 0 or left.graphs > 1 or left.graphs == 0 and left.events ~= 0 then
    fail(("%d tensors, %d events and %d graphs are live"):format(left.tensors, left.events,
                                                                 left.graphs))
end
