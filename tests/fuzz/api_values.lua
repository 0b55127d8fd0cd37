-- api_values.lua - random values for tests/fuzz/api.lua: by the types that docs/api names, and
-- such as no function wants.

local values = {}

local random = math.random

-- What calls have given so far, by class; the oldest make room.
local classes = { "device", "stream", "event", "graph", "kernel", "tensor", "timeline",
                  "results", "tap", "comm", "work", "thread" }
local pool, room = {}, 24
local to_end = {}       -- all threads and communicators: {method, object}
for _, class in ipairs(classes) do pool[class] = {} end

function values.pick(list) return list[random(#list)] end

function values.class_of(value)
    local meta = debug.getmetatable(value)
    local name = type(meta) == "table" and rawget(meta, "__name")
    return type(name) == "string" and name:match("^streamlab%.(%a+)$") or nil
end

function values.keep(value)
    local class = values.class_of(value)
    local list = pool[class]
    if class == "thread" then to_end[#to_end + 1] = { "join", value } end
    if class == "comm" then to_end[#to_end + 1] = { "abort", value } end
    if list then list[#list < room and #list + 1 or random(room)] = value end
end

function values.any_of(class)
    local list = pool[class]
    return list and #list > 0 and list[random(#list)] or nil
end

-- A list of those, and one more.
function values.all_of(class, more)
    local list = table.move(pool[class], 1, #pool[class], 1, {})
    list[#list + 1] = more or nil
    return list
end

function values.drop_some()
    local list = pool[values.pick(classes)]
    if #list > 1 then table.remove(list, random(#list)) end
end

function values.drop_all()
    for _, class in ipairs(classes) do pool[class] = {} end
end

-- Calls the method that ends it with each thread and communicator.
function values.end_all(call)
    for _, entry in ipairs(to_end) do call(entry[2][entry[1]], entry[2]) end
    to_end = {}
end

-- ---- what no function wants ---------------------------------------------------------------

local integers = {
    math.maxinteger, math.mininteger, math.maxinteger - 1, -1, -2, 1 << 62, (1 << 61) - 1, 1 << 60,
    (1 << 53) + 1, 1 << 53, 1 << 32, (1 << 31) - 1, -(1 << 31), 1 << 31, 255, 256, 65536, 0,
}
local floats = {
    0 / 0, 1 / 0, -1 / 0, -0.0, 0.5, -0.5, 1.5, 1e308, -1e308, 5e-324, 2.0 ^ 53, 2.0 ^ 63,
    -2.0 ^ 63, 2.0 ^ 64, 1e9, 1e9 + 1, 3.0, 1e-9, 1e18, 1e-300,
}
local texts = {
    "", "\0", "a\0b", "%s%n%d", "\xff\xfe", "\u{202e}x", "\27[31m", ("x"):rep(300),
    ("x"):rep(70000),
    "cuda", "cpu", "cuda:0", "cuda:1", "cuda:99999999999999999999", "kernel", "compute", "h2d",
    "memcpy_h2d", "float32", "uint8", "engines", "spans", "default", "0", "1e3", "nan",
}
-- Files lie in the current folder, which is the fuzzer's own.
local paths = {
    "x.json", "x.json.gz", "x.svg", "x.html", "x.txt", "nowhere/x.json", "", ".", "a\0b.svg",
}

function values.odd_integer() return values.pick(integers) end

-- Half of the sizes are one of two, so that shapes fit.
local usual = { random(1, 4), random(1, 4) }

local function small()
    if random(2) == 1 then return values.pick(usual) end
    return values.pick{ 0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 7, 8, 16, 31, 64, -1 }
end

local function any_class() return values.any_of(values.pick(classes)) end

local function odd_table(depth)
    local t = {}
    for _ = 1, random(0, 4) do
        local key = values.pick{ 1, 2, 3, "stream", "device", "out", "kind", 0, -1,
                                 0.5, true, "\0" }
        t[key] = depth < 3 and values.odd(depth + 1) or nil
    end
    if random(20) == 1 then t[1] = t end
    if random(20) == 1 then setmetatable(t, { __index = function() error("fuzz", 0) end }) end
    return t
end

local odd = {
    values.odd_integer, values.odd_integer, values.odd_integer,
    function() return values.pick(floats) end, function() return values.pick(floats) end,
    function() return values.pick(texts) end, function() return random(2) == 1 end,
    function() return nil end, odd_table, any_class, any_class, small,
    function() return values.callback() end, function() return io.stdout end,
    function() return coroutine.create(function() end) end, function() return lab end,
}

function values.odd(depth) return values.pick(odd)(depth or 0) end

-- ---- what they want -----------------------------------------------------------------------

local function list_of(make, n)
    local list = {}
    for i = 1, n or random(0, 4) do list[i] = make() end
    return list
end

-- Numbers, or rows of numbers, all as long.
local function nested()
    local rows, columns = random(0, 3), random(0, 4)
    if random(3) == 1 then return list_of(small) end
    return list_of(function() return list_of(small, columns) end, rows)
end

local function selection()
    return { stream = random(2) == 1 and values.any_of("stream") or nil,
             kind = random(2) == 1 and values.pick{ "kernel", "memcpy_h2d", "memset" } or nil,
             engine = random(4) == 1 and values.pick{ "compute", "d2h", "host" } or nil }
end

-- ---- threads, kernels, communicators --------------------------------------------------------

-- They have no variables from outside.
local of_threads = {
    "return ...", "error('fuzz', 0)", "return lab.ones(2, 2):matmul(lab.ones(2, 2)), ...",
    "for _ = 1, 3 do lab.spin(0.1) end lab.synchronize()", "lab.matmul(1)",
    "lab.host_work(1) return lab.event()", "local s = lab.stream() s:begin_capture() return s",
    "lab.current_stream():launch_host_func(function() lab.host_work(0.1) end)",
    "lab.graph(function() lab.current_stream():launch_host_func(function() end) end):launch()",
    "return lab.thread(function() lab.host_work(0.1) end)",
    "lab.thread(function(t) return t end, ...):join()",
    "local guard <close> = lab.use(lab.stream()) lab.spin(0.1) return lab.current_stream()",
}
function values.thread_function() return load(values.pick(of_threads), "=fuzz") end

-- Of a grid or a block.
function values.extent()
    local function size() return values.pick{ 1, 1, 2, 4, 32, 33, 1024, 1025, 0, -1, 1 << 31 } end
    return values.pick{ size, size, function() return { size(), size() } end,
                        function() return { size(), 1, size() } end, values.odd }()
end

local sources = {
    "__global__ void f(float *a, int n) { int i = threadIdx.x; if (i < n) a[i] += 1; }",
    "__global__ void f(float *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }", "no C++", "",
}

-- By the name of an argument or an option, where its type says little.
local by_name = {
    devices = function() return values.pick{ { 0 }, { 0, 1 }, { 1, 0 }, { 0, 0 }, {}, { 7 } } end,
    args = function()
        return list_of(function()
            return values.pick{ "in f32*", "out f32*", "inout f32*", "i32", "f32", "x" }
        end,
                       random(0, 3))
    end,
    source = function() return random(3) == 1 and values.pick(sources) or nil end,
    cpu = function() return values.callback() end,
}

-- By the name of a type in docs/api.
local of_type = {
    boolean = function() return random(2) == 1 end,
    integer = small,
    number = function() return values.pick{ 0, 1, 0.5, 2, 3, 1e-3, 10, -1, 100 } end,
    string = function() return values.pick{ "a", "b", "kernel", "h2d", "compute", "cpu" } end,
    path = function() return values.pick(paths) end,
    table = function() return values.pick{ nested, selection, odd_table }(0) end,
    any = function() return values.odd() end,
    ["function"] = function() return values.callback() end,
    ["nil"] = function() return nil end,
    ["tensor[]"] = function()
        return list_of(function() return values.any_of("tensor") end, random(0, 2))
    end,
    ["integer[]"] = function() return list_of(small, random(0, 4)) end,
    ["stream[]"] = function() return list_of(function() return values.any_of("stream") end) end,
    ["string[]"] = function() return list_of(function() return values.pick(texts) end) end,
    ["table[]"] = function() return list_of(odd_table) end,
}

-- One of a type such as '"x"|"y"|stream|table'.
function values.of(types, name)
    if by_name[name] and random(8) > 1 then return by_name[name]() end
    local alternatives = {}
    for one in types:gmatch("[^|]+") do alternatives[#alternatives + 1] = one end
    local one = values.pick(alternatives)
    local text = one:match('^"(.*)"$')
    if text then return text end
    if one == "string" and name == "path" then one = "path" end
    local make = of_type[one]
    if make then return make(0) end
    return values.any_of(one)
end

return values
