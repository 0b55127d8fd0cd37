-- 23-api-kernel.t.lua - lab.kernel: what it takes and refuses, what a launch takes and refuses,
-- what a kernel tells about itself, how long launches take, and values from a function in Lua.

local T = require "tap"

lab.open{ profile = "textbook" }
T.open()

-- A kernel without a source, so that no compiler is needed.
local function plain(args, more)
    local opts = { name = "k", args = args or {}, cpu = function() end }
    for key, value in pairs(more or {}) do opts[key] = value end
    return lab.kernel(opts)
end

local function duration(k, grid, block, ...)
    local arguments = table.pack(...)
    local tl = lab.profile(function()
        k(grid, block, table.unpack(arguments, 1, arguments.n))
        lab.synchronize()
    end)
    local span = tl:spans()[1]
    return span.end_us - span.start_us, span
end

-- ---- making one ------------------------------------------------------------------------

local function refused(opts, text, name)
    T.throws_like(function() lab.kernel(opts) end, text, name)
end

local nothing <const> = "__global__ void nothing() {}"

refused(nil, "kernel: it needs a table", "no table")
refused({}, "source = is missing", "neither source nor cpu")
refused({ source = nothing, file = "x.cu", args = {} }, "source = and file =: one of them", "both")
refused({ source = 12, args = {} }, "option 'source' must be a text", "a source that is none")
refused({ sourc = nothing }, "unknown option 'sourc'", "an option that there is not")
refused({ source = nothing }, "args = is missing", "no args")
refused({ source = nothing, args = "f32" }, "option 'args' must be a list of texts",
        "args that are no list")
refused({ source = nothing, args = { 1 } }, "option 'args' must be a list of texts",
        "args that are no texts")
refused({ source = nothing, args = { "flot" } }, '"flot" is no type of an argument',
        "an unknown type")
refused({ source = nothing, args = { "float" } }, '"float" has C\'s name of a type: write "f32"',
        "a number's type in C")
refused({ source = nothing, args = { "in float*" } },
        '"in float%*" has C\'s name of a type: write "in f32%*"',
        "a tensor's type in C")
refused({ source = nothing, args = { "inout  int *" } }, 'write "inout  i32%*"',
        "the same with blanks")
refused({ source = nothing, args = { "f32*" } }, "put in, out or inout before it", "no access")
refused({ source = nothing, args = { "in f32" } }, "a tensor without its %*",
        "a number that is read")
refused({ source = nothing, args = { "f16" } }, "is no number: those are f32",
        "a number of 16 bits")
refused({ source = nothing, args = { "in u32*" } }, "is no tensor: elements are f32",
        "a tensor of u32")
refused({ source = nothing, args = { "in f32* x" } }, "something behind the type",
        "a name behind it")
refused({ source = "int x;", args = {} }, "the source has no __global__ function",
        "a source without a kernel")
refused({ source = "void k(float *x) {}", name = "k", args = { "inout f32*" } },
        "the source has no __global__ function", "a function without __global__")
refused({ source = "// __global__\nvoid k(float *x) {}", name = "k", args = { "inout f32*" } },
        "the source has no __global__ function", "__global__ in a comment")
refused({ source = "__global__ void f() {}\n__global__ void g() {}", args = {} },
        "the source has f, g", "two kernels and no name")
refused({ source = nothing, name = "a;b", args = {} }, "is no name of a function",
        "a name with a semicolon")
refused({ source = nothing, name = "9f", args = {} }, "is no name of a function",
        "a name with a digit first")
refused({ file = "/nonexistent.cu", args = {} }, "nonexistent.cu", "a file that is not there")
refused({ name = "k", args = {}, cpu = 3 }, "option 'cpu' must be a function", "cpu that is none")
refused({ name = "k", args = {}, cpu = print, cost = 3 }, "option 'cost' must be a table",
        "cost that is none")
refused({ name = "k", args = {}, cpu = print, cost = { ms = 3 } }, "cost has 'ms'", "a cost in ms")
refused({ name = "k", args = {}, cpu = print, cost = { us = -1 } },
        "cost.us must be a number from 0", "below 0")
refused({ name = "k", args = {}, cpu = print, cost = { us = 1, bytes = 3 } },
        "us beside bytes", "two costs")
do
    local many = {}
    for i = 1, 33 do many[i] = "i32" end
    refused({ name = "k", args = many, cpu = print }, "33 arguments: at most 32", "33 arguments")
end

do
    local k = lab.kernel{ args = {}, cpu = function() end, source = [[
__global__ void
__launch_bounds__ (128, 2) bounded() {}
// __global__ void in_a_comment() {}
__device__ int other(int x) { return x; }]] }
    T.is(k.name, "bounded", "the name of a kernel with launch bounds")
end

-- ---- what it is ------------------------------------------------------------------------

do
    local k = plain{ "f32", "in f32*", "inout bf16*", "out u8*", "i64" }
    T.is(tostring(k), "kernel k(f32, in f32*, inout bf16*, out u8*, i64)", "as text")
    T.is_deeply(k.args, { "f32", "in f32*", "inout bf16*", "out u8*", "i64" }, "its arguments")
    local counts = lab.kernel{ args = { "inout i32*" }, source = [[
        __global__ void count(int *bins) { atomicAdd(&bins[threadIdx.x], 1); }]] }
    T.is(counts.args[1] .. " " .. tostring(counts), "inout i32* kernel count(inout i32*)",
         "also of one that is used by atomic operations alone")
    T.is(k.name, "k", "its name")
    T.is(k.registers, nil, "registers are not known")
    T.is(k.max_threads, 1024, "threads")
    T.is(k.max_blocks_per_sm, 32, "blocks of a warp on an SM")
    T.is(k.has_values, true, "cpu gives its values")
    T.like(k.hash, "^%x+$", "its hash")
    T.isnt(k.hash, plain{ "f32" }.hash, "which depends on the arguments")
    T.is(k.hash, plain{ "f32", "in f32*", "inout bf16*", "out u8*", "i64" }.hash,
         "and on nothing else")
    T.is(k:occupancy(1024), 2, "2048 threads on an SM")
    T.is(k:occupancy{ 32, 8 }, 8, "a block with two sizes")
    T.is(k:occupancy(32, { shared = 100000 }), 2, "shared memory decides")
    for _, bytes in ipairs{ 300000, math.maxinteger - 1 } do
        T.is(k:occupancy(32, { shared = bytes }), 0, "none, if a block has more than there is")
    end
    T.throws_like(function() k:occupancy(0) end, "a block cannot have 0 threads", "no threads")
    T.throws_like(function() k:occupancy(2048) end, "2048 threads", "too many threads")
    T.throws_like(function() k:occupancy("x") end, "must be a whole number or a list", "a text")
    T.throws_like(function() return k.colour end, "kernel", "a field that it has not")
end

-- ---- launching -------------------------------------------------------------------------

do
    local k = plain{ "f32", "in f32*", "out i32*", "i32", "u32" }
    local x, n = lab.ones(8), lab.zeros(8, { dtype = "int32" })
    local function launch(text, name, ...)
        local arguments = table.pack(...)
        T.throws_like(function() k(table.unpack(arguments, 1, arguments.n)) end, text, name)
    end
    T.lives(function() k(1, 32, 1.5, x, n, -3, 7) end, "right ones")
    T.lives(function() k({ 1, 2, 3 }, { 4, 5, 6 }, { shared = 64 }, 2, x, n, 3.0, 7) end,
            "with options")
    launch("argument 1 %(grid%) must be a whole number or a list", "no grid", nil, 32)
    launch("argument 1 %(grid%) must be .*, got 1.5", "half a block as grid: the number", 1.5, 32)
    launch("argument 2 %(block%) must be .*, got tensor", "a tensor for the block", 1, x, n)
    launch("argument 1 %(grid%) must be .*, got tensor", "a tensor for the grid", x, 32)
    launch("argument 1 %(grid%) must be .*, got nothing", "nothing at all")
    launch("argument 2 %(block%) must be", "a block with four sizes", 1,
           { 1, 1, 1, 1 }, 1, x, n, 1, 1)
    launch("argument 1 %(grid%) must be", "half a block", 1.5, 32, 1, x, n, 1, 1)
    launch("the grid's x is 0: it can be 1 to 2147483647", "an empty grid", 0, 32, 1, x, n, 1, 1)
    launch("the grid's y is 65536: it can be 1 to 65535", "a grid too high", { 1, 65536 },
           32, 1, x, n, 1, 1)
    launch("the block's z is 65: it can be 1 to 64", "a block too deep", 1,
           { 1, 1, 65 }, 1, x, n, 1, 1)
    launch("k: a block of 64 x 32 x 1 has 2048 threads: it can have 1024", "too many threads", 1,
           { 64, 32 }, 1, x, n, 1, 1)
    launch("shared is 300000 bytes", "too much shared memory", 1, 32,
           { shared = 300000 }, 1, x, n, 1, 1)
    launch("unknown option 'shard'", "an unknown option", 1, 32, { shard = 3 }, 1, x, n, 1, 1)
    launch("3 arguments behind grid and block: the kernel has 5", "too few", 1, 32, 1, x, n)
    launch("6 arguments behind grid and block: the kernel has 5", "too many", 1, 32,
           1, x, n, 1, 1, 1)
    launch("argument 2 %(in f32%*%) must be a tensor, got nothing", "nil for a tensor", 1, 32,
           1, nil, n, 1, 1)
    launch("argument 1 %(f32%) must be a number, got string", "a text for a number", 1, 32,
           "1", x, n, 1, 1)
    launch("argument 1 %(f32%) is a tensor, and the kernel's is a number", "a tensor for a number",
           1, 32, x, x, n, 1, 1)
    launch("argument 2 is a number, and the kernel's is in f32%*", "a number for a tensor", 1,
           32, 1, 2, n, 1, 1)
    launch("argument 3 is a tensor of float32, and the kernel's is out i32%*; t:to%(\"int32\"%) "
        .. "casts", "another dtype", 1, 32, 1, x, x, 1, 1)
    launch("argument 2 %(in f32%*%) is on the cpu; t:cuda%(%)", "a tensor on the host", 1, 32, 1,
           lab.ones(8, { device = "cpu" }), n, 1, 1)
    launch("argument 4 %(i32%) is no whole number", "half a number", 1, 32, 1, x, n, 1.5, 1)
    launch("argument 4 %(i32%) is too large", "a large number", 1, 32, 1, x, n, 2^31, 1)
    launch("argument 5 %(u32%) is too large", "a number below 0", 1, 32, 1, x, n, 1, -1)
    local freed = lab.ones(8)
    freed:free()
    launch("argument 2 %(in f32%*%): the tensor was freed", "a freed tensor", 1, 32,
           1, freed, n, 1, 1)
    launch("a cooperative launch of 1000000 blocks: at most",
           "too many that wait for each other", 1000000, 32,
           { cooperative = true }, 1, x, n, 1, 1)
    T.throws_like(function()
        local before <close> = lab.use(lab.open{ profile = "t4" }:default_stream())
        k(1, 32, { stream = lab.current_stream() }, 1, x, n, 1, 1)
    end, "device", "a stream of another device")
end

-- ---- how long it takes -----------------------------------------------------------------

do
    local x = lab.ones(1024, 1024)
    local us, span = duration(plain({}, { cost = { us = 40 } }), 100, 256)
    T.near(us, 40, 1e-3, "as long as it says")
    T.is(span.name, "k", "under its name")
    T.is(span.blocks, 100, "with its grid")
    T.is(span.threads, 256, "and its block")
    T.is(span.guessed, nil, "which is no guess")
    us, span = duration(plain{ "in f32*" }, 4096, 256, x)
    T.is(span.guessed, true, "without a cost it is a guess")
    local given = duration(plain({ "in f32*" }, { cost = { bytes = 4 * 1024 * 1024 } }),
                           4096, 256, x)
    T.near(us, given, 2e-3, "of its tensors' bytes")
    T.near(duration(plain({ "i32" }, { cost = { us = function(_, _, n) return 2 * n end } }), 8,
                    32, 21), 42, 1e-3,
           "a function of its arguments")
    T.near(duration(plain({ "i32" }, { cost = function(grid, block, n)
        return { us = grid * n + block[2] }
    end }), 8, { 16, 2 }, 5), 42, 1e-3,
        "a function that gives the table, with grid and block as they are given")
    T.throws_like(function()
        duration(plain({}, { cost = { us = function() return "x" end } }), 1, 32)
    end,
                  "cost.us must give a number", "a function that gives none")
    T.throws_like(function() duration(plain({}, { cost = function() return 3 end }), 1, 32) end,
                  "must give a table", "and one that gives no table")
    T.throws_like(function()
        duration(plain({}, { cost = { us = function() error("broken") end } }), 1, 32)
    end,
                  "broken", "and one that fails")
end

-- ---- values from Lua -------------------------------------------------------------------

do
    local seen
    local k = plain({ "f32", "in f32*", "inout f32*", "out i32*", "i32" },
        { cpu = function(grid, block, a, x, y, z, n)
        seen = { grid, block, a, n, #x }
        for i = 1, n do
            y[i] = y[i] + a * x[i]
            z[i] = i
        end
        x[1] = 99
    end })
    local x, y, z = lab.full(2, 4), lab.ones(4), lab.zeros(4, { dtype = "int32" })
    k({ 2, 3 }, 64, 0.5, x, y, z, 3)
    T.is(seen, nil, "it does not run before somebody reads")
    T.is_deeply(y:totable(), { 2, 2, 2, 1 }, "what it wrote")
    T.is_deeply(seen, { { 2, 3, 1 }, { 64, 1, 1 }, 0.5, 3, 4 }, "what it was given")
    T.is_deeply(z:totable(), { 1, 2, 3, 0 }, "in two tensors")
    T.is_deeply(x:totable(), { 2, 2, 2, 2 }, "and not in one that it only reads")
    k(1, 1, 1, x, y, z, 4)
    k(1, 1, 1, x, y, z, 4)
    T.is_deeply(y:totable(), { 6, 6, 6, 5 }, "once for each launch")

    local m = lab.zeros(6)
    k(1, 1, 1, lab.ones(2), m:narrow(1, 3, 2), lab.zeros(2, { dtype = "int32" }), 2)
    T.is_deeply(m:totable(), { 0, 0, 1, 1, 0, 0 }, "a view is a part of its tensor")

    local wrong = plain({ "out f32*" }, { cpu = function(_, _, t) t[2] = "x" end })
    local t = lab.zeros(3)
    wrong(1, 1, t)
    T.throws_like(function() return t:totable() end,
                  "element 2 of argument 1 is no number, but string", "a text in it")
    T.throws_like(function() return (t + 1):totable() end, "element 2 of argument 1",
                  "what depends on it says the same")
    local failing = plain({ "out f32*" }, { cpu = function() error("no idea", 0) end })
    failing(1, 1, t)
    T.throws_like(function() return t:totable() end,
                  "kernel k, launched at .*: the function cpu = failed: no idea", "an error in it")
    local calling = plain({ "out f32*" }, { cpu = function() lab.zeros(3) end })
    calling(1, 1, t)
    T.throws_like(function() return t:totable() end, "kernel k", "it cannot enqueue")
end

-- ---- nobody knows the values -----------------------------------------------------------

T.done()
