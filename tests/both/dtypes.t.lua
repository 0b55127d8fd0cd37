-- dtypes.t.lua - float64 and int32: filling, reading, copies, kernels.
--
-- A number of Lua is a float64, so that what one operation of float64 gives is known to the
-- bit. int32 is arithmetic modulo 2^32, by Lua's 64-bit integers.

local T = require "tap"
local N = require "both.numbers"
local ideal = require "lua.ideal"

T.open()

local f64, i32 = { dtype = "float64" }, { dtype = "int32" }
local least, greatest = -2147483648, 2147483647
local sizes = { 0, 1, 2, 3, 5, 8, 9, 255, 1025, 4099 }

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- As a signed number of 32 bits.
local function wrapped(x)
    x = x & 0xffffffff
    return x > greatest and x - (1 << 32) or x
end

-- n numbers of 32 bits, irregular and always the same ones.
local function integers(n, seed)
    return N.map(N.whole(n, 0, 2 ^ 24 - 1, seed), function(x, i)
        return wrapped(math.tointeger(x) * 0x9E3779B1 + i)
    end)
end

local function doubles(n, seed)
    return N.map(N.data(n, -4, 4, seed), function(x, i) return x / 3 + i * 2.0 ^ -40 end)
end

-- ---- memory ------------------------------------------------------------------------------

local function filling()
    for _, device in ipairs{ "cuda", "cpu" } do
        local function one(value, dtype)
            return lab.full(value, 3, { device = device, dtype = dtype }):get(3)
        end
        T.is(one(0.1, "float64"), 0.1, "full of float64 keeps every bit on " .. device)
        T.is(one(1e300, "float64"), 1e300, "beyond float32 on " .. device)
        T.is(1 / one(-0.0, "float64"), -math.huge, "-0 keeps its sign on " .. device)
        T.ok(one(0 / 0, "float64") ~= one(0 / 0, "float64"), "NaN is a value on " .. device)
        T.is(one(16777217, "int32"), 16777217, "full of int32 is exact on " .. device)
        T.is(one(2.5, "int32"), 2, "rounds to even on " .. device)
        T.is(one(-1e10, "int32"), least, "ends at the least on " .. device)
        T.is(one(1e10, "int32"), greatest, "and at the greatest on " .. device)
        T.is(one(0 / 0, "int32"), 0, "NaN is 0 on " .. device)
        for _, dtype in ipairs{ "float64", "int32" } do
            local options, right = { device = device, dtype = dtype }, true
            for _, n in ipairs(sizes) do
                local z, o = lab.zeros(n, options), lab.ones(n, options)
                local f = lab.empty(n, options):fill_(-7)
                for i = 1, n do
                    right = right and z:get(i) == 0 and o:get(i) == 1 and f:get(i) == -7
                    if i == 9 then break end
                end
                right = right and lab.allclose(f:zero_(), z)
            end
            T.ok(right, ("zeros, ones, fill_ and zero_ of %s on %s"):format(dtype, device))
        end
    end
end

local function reading()
    local t = lab.tensor({ { 1, -2 }, { 0.1, 1e300 } }, f64)
    T.is(t:nbytes(), 32, "float64 has 8 bytes")
    T.is_deeply(t:totable(), { { 1, -2 }, { 0.1, 1e300 } },
                "a table becomes float64 and comes back")
    T.is(t:set(2, 1, 1 / 3):get(2, 1), 1 / 3, "an element is set")
    T.is(lab.tensor(0.1, f64):item(), 0.1, "item gives a scalar")
    T.is(tostring(t), "tensor 2x2 float64 on cuda", "a tensor names its dtype")
    local u = lab.tensor({ 1.5, -3, 2e9, 3e9 }, i32)
    T.is(u:nbytes(), 16, "int32 has 4")
    T.is_deeply(u:totable(), { 2, -3, 2000000000, greatest }, "a table becomes whole numbers")
    T.is(u:set(1, least):get(1), least, "the least number is one")
    T.ok(lab.allclose(lab.tensor({ 1, 2 }, i32), lab.tensor({ 1, 2 }, f64)),
         "allclose compares them with others")
    T.ok(not lab.allclose(lab.tensor({ 16777217 }, i32),
                          lab.tensor({ 16777216 }, i32), { rtol = 0 }),
         "to the last bit")
end

local function copies()
    for dtype, list in pairs{ float64 = doubles(1025, 1), int32 = integers(1025, 1) } do
        local pinned = lab.empty(1025, { device = "cpu", pinned = true, dtype = dtype })
        local there = lab.tensor(list, { dtype = dtype })
        pinned:copy_(there)
        N.equal(T, pinned, list, "device to host, " .. dtype)
        N.equal(T, pinned:cuda(), list, "host to device, " .. dtype)
        N.equal(T, lab.empty(1025, { dtype = dtype }):copy_(there), list, "within, " .. dtype)
        N.equal(T, there:cpu(), list, "to pageable memory, " .. dtype)
        N.equal(T, there:cpu():pin_memory():to("cuda", { non_blocking = true }), list,
                "there and back, " .. dtype)
        local part = lab.full(9, 1030, { dtype = dtype })
        part:narrow(1, 4, 1025):copy_(there)
        N.equal(T, part:narrow(1, 4, 1025), list, "into a view, " .. dtype)
        T.ok(part:get(3) == 9 and part:get(1029) == 9, "and nothing beside, " .. dtype)
    end
    refuses(function() lab.ones(2, f64):copy_(lab.ones(2)) end, "SL_EDTYPE",
            "the destination is float64, the source float32", "a copy keeps the dtype")
end

-- ---- kernels -----------------------------------------------------------------------------

-- f on tensors, at all sizes, is what `reference` gives of each element.
local function elementwise(name, f, reference, list_of, options)
    local got, want = {}, {}
    for i, n in ipairs(sizes) do
        local a, b = list_of(n, i), list_of(n, i + 100)
        got[i] = f(lab.tensor(a, options), lab.tensor(b, options)):totable()
        want[i] = N.map(a, function(x, k) return reference(x, b[k]) end)
    end
    N.equal(T, N.flat(got), N.flat(want), name .. " of " .. options.dtype)
end

local function double_arithmetic()
    local function check(name, f, reference)
        elementwise(name, f, reference or f, doubles, f64)
    end
    check("a + b", function(a, b) return a + b end)
    check("a - b", function(a, b) return a - b end)
    check("a * b", function(a, b) return a * b end)
    check("a / b", function(a, b) return a / b end)
    check("a + number", function(a) return a + 0.1 end)
    check("a - number", function(a) return a - 0.1 end)
    check("a * number", function(a) return a * 0.1 end)
    check("a / number", function(a) return a / 0.1 end)
    check("number - a", function(a) return 0.1 - a end)
    check("number / a", function(a) return 0.1 / a end)
    check("-a", function(a) return -a end)
    check("relu", function(a) return lab.relu(a) end, function(a) return math.max(a, 0) end)
    check("a ^ 2", function(a) return a ^ 2 end, function(a) return a * a end)
    check("a ^ 3", function(a) return a ^ 3 end, function(a) return a * a * a end)
    check("a ^ 5", function(a) return a ^ 5 end, function(a) return a * a * a * a * a end)
    check("a ^ -1", function(a) return a ^ -1 end, function(a) return 1 / a end)
    check("a ^ 0", function(a) return a ^ 0 end, function() return 1 end)
    local list = N.map(doubles(1025, 3), math.abs)
    N.equal(T, lab.tensor(list, f64) ^ 0.5, N.map(list, math.sqrt),
            "a ^ 0.5 of float64 is the root")
    N.close(T, lab.tensor(list, f64) ^ 2.5, N.map(list, function(x) return x ^ 2.5 end),
            function(w) return 8 * 2.0 ^ -53 * w end, "a ^ 2.5 of float64")
    local odd = lab.relu(lab.tensor({ 0 / 0, -0.0, -math.huge }, f64)):totable()
    T.ok(odd[1] ~= odd[1] and 1 / odd[2] > 0 and odd[3] == 0, "relu of float64: NaN stays, -0 goes")
end

local function integer_arithmetic()
    local function check(name, f, reference)
        elementwise(name, f, function(a, b) return wrapped((reference or f)(a, b)) end, integers,
                    i32)
    end
    check("a + b", function(a, b) return a + b end)
    check("a - b", function(a, b) return a - b end)
    check("a * b", function(a, b) return a * b end)
    check("a + number", function(a) return a + greatest end)
    check("a - number", function(a) return a - least end)
    check("a * number", function(a) return a * -3 end)
    check("number - a", function(a) return 7 - a end)
    check("-a", function(a) return -a end)
    check("relu", function(a) return lab.relu(a) end, function(a) return math.max(a, 0) end)
    check("a ^ 2", function(a) return a ^ 2 end, function(a) return a * a end)
    check("a ^ 7", function(a) return a ^ 7 end, function(a)
        local product = 1
        for _ = 1, 7 do product = wrapped(product * a) end
        return product
    end)
    check("a ^ 0", function(a) return a ^ 0 end, function() return 1 end)
    T.is(lab.neg(lab.tensor({ least }, i32)):item(), least, "the least number has no opposite")
end

local function sums()
    for _, n in ipairs{ 0, 1, 3, 4, 1025, 100003 } do
        T.is(lab.ones(n, f64):sum():item(), n, "the sum of float64 ones, " .. n)
        T.is(lab.ones(n, i32):sum():item(), n, "of int32 ones, " .. n)
        local list, want = integers(n, n), 0
        for _, x in ipairs(list) do want = want + x end
        T.is(lab.tensor(list, i32):sum():item(), wrapped(want), "of int32 modulo 2^32, " .. n)
    end
    local list = N.whole(1025, -1000, 1000, 5)
    local want = 0
    for i, x in ipairs(list) do
        list[i] = x + 2.0 ^ -30
        want = want + x
    end
    T.is(lab.tensor(list, f64):sum():item(), want + 1025 * 2.0 ^ -30,
         "a float64 sum is added in float64")
    local one = lab.empty(1, f64)
    T.is(lab.sum(lab.ones(3, f64), { out = one }):item(), 3, "into out")
end

local function products()
    local a = lab.tensor({ { 1, 2, 3 }, { 4, 5, 6 } }, f64)
    local b = lab.tensor({ { 1, 0.5 }, { 2 ^ -40, 1 }, { 0, -1 } }, f64)
    T.is_deeply(lab.matmul(a, b):totable(),
                { { 1 + 2 ^ -39, -0.5 }, { 4 + 5 * 2 ^ -40, 1 } }, "matmul of float64 by hand")
    local m, k, n = 65, 33, 40
    local x, y = N.whole(m * k, -9e6, 9e6, 1), N.whole(k * n, -9e6, 9e6, 2)
    local want = {}
    for i = 0, m - 1 do
        for j = 1, n do
            local sum = 0
            for l = 1, k do sum = sum + x[i * k + l] * y[(l - 1) * n + j] end
            want[i * n + j] = sum
        end
    end
    N.equal(T, lab.matmul(lab.tensor(N.rows(x, k), f64), lab.tensor(N.rows(y, n), f64)), want,
            "whole numbers up to 2^53 are exact")
    T.is_deeply(lab.matmul(lab.empty(2, 0, f64), lab.empty(0, 2, f64)):totable(),
                { { 0, 0 }, { 0, 0 } },
                "and an inner size of 0 gives zeros")
end

local function at_odd_addresses()
    for dtype, list in pairs{ float64 = doubles(70001, 4), int32 = integers(70001, 4) } do
        local n = #list
        local options = { dtype = dtype }
        local t, room = lab.tensor(list, options), lab.full(5, n + 3, options)
        local view = room:narrow(1, 2, n):copy_(t)
        lab.sub(view, 1, { out = view })
        T.ok(lab.allclose(view, t - 1, { rtol = 0, atol = 0 }), "in place in a view, " .. dtype)
        T.is(lab.sum(view):item(), lab.sum(t - 1):item(), "its sum, " .. dtype)
        T.ok(room:get(1) == 5 and room:get(n + 2) == 5, "and nothing beside, " .. dtype)
        T.is(view:fill_(3):get(n), 3, "it is filled, " .. dtype)
        T.ok(room:get(1) == 5 and room:get(n + 2) == 5, "to its ends, " .. dtype)
    end
end

-- ---- what there is not ---------------------------------------------------------------------

local function refusals()
    local t, d = lab.ones(2, i32), lab.ones(2, f64)
    local floats = "float32, float64, bfloat16 or float16"
    refuses(function() return t / t end, "SL_EDTYPE", "a is int32; div takes " .. floats,
            "int32 has no quotients")
    refuses(function() return t / 2 end, "SL_EDTYPE", "div_scalar takes " .. floats,
            "nor by a number")
    refuses(function() lab.matmul(lab.ones(2, 2, i32), lab.ones(2, 2, i32)) end, "SL_EDTYPE",
            "a is int32; matmul takes " .. floats, "nor products of matrices")
    refuses(function() lab.softmax(d) end, "SL_EDTYPE",
            "a is float64; softmax takes float32, bfloat16 or float16", "softmax has no float64")
    refuses(function() return t + 1.5 end, "SL_EDTYPE",
            "a is int32: the number must be whole, from %-2147483648 to 2147483647, got 1.5",
            "a number beside int32 is whole")
    refuses(function() return t * (greatest + 1) end, "SL_EDTYPE", "got 2147483648",
            "and not too large")
    refuses(function() return t - 0 / 0 end, "SL_EDTYPE", "nan", "and a number")
    refuses(function() return t ^ -1 end, "SL_EDTYPE",
            "a is int32: the exponent must be whole, from 0 to 2147483647, got %-1",
            "an exponent of int32 is not negative")
    refuses(function() return t + d end, "SL_EDTYPE", "a is int32, b is float64",
            "operands have one dtype")
    refuses(function() lab.rand(2, f64) end, "SL_EDTYPE",
            "the tensor is float64; random numbers need float32, bfloat16 or float16",
            "random numbers have 24 bits at most, so not in float64")
    refuses(function() lab.randn(2, i32) end, "SL_EDTYPE", "the tensor is int32",
            "nor in int32")
    refuses(function() lab.ones(2, { dtype = "int64" }) end, "SL_EDTYPE",
            "unknown dtype \"int64\"; known: float32, float64, bfloat16, float16, int32, uint8",
            "there is no int64")
end

local function names()
    local of = {}
    for _, name in ipairs{ "float32", "float64", "bfloat16", "float16", "int32", "uint8" } do
        of[#of + 1] = lab.empty(1, { dtype = lab[name] }).dtype
    end
    T.is(table.concat(of, " "), "float32 float64 bfloat16 float16 int32 uint8",
         "lab.float64 is float64, as torch.float64 is")
end

for _, test in ipairs{ filling, reading, copies, double_arithmetic, integer_arithmetic, sums,
                       products, at_odd_addresses, refusals, names } do
    test()
end
T.done()
