-- values.t.lua - what the elementwise kernels and fills compute, held against float64.
--
-- Kernels compute in float32 and round the result to the tensor's dtype. One addition
-- or multiplication is therefore right to the bit in every dtype: rounding a sum or a
-- product of halves to 24 bits first changes nothing, 24 being at least 2 x 11 + 2.

local T = require "tap"
local N = require "both.numbers"

T.open()

-- Around the widths of vectors, warps and blocks, with tails of every kind.
local sizes = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 1023, 4097 }

-- As float32 and then as `dtype`, in the way of a kernel.
local function result(x, dtype) return N.round(N.round(x, "float32"), dtype) end

local function new(list, dtype) return lab.tensor(list, { dtype = dtype }) end

-- ---- creating and reading back --------------------------------------------------------

local function rounding()
    for _, dtype in ipairs(N.floats) do
        local list = N.data(500, -3, 3, 7)
        for e = -28, 15 do list[#list + 1] = 1.7 * 2.0 ^ e end
        for _, device in ipairs{ "cuda", "cpu" } do
            local t = lab.tensor(list, { dtype = dtype, device = device })
            N.equal(T, t, N.rounded(list, dtype),
                    dtype .. " on " .. device .. " holds the nearest numbers")
        end
    end
end

-- ---- one operation -------------------------------------------------------------------------

local function binary(name, f, reference, dtype)
    local got, want = {}, {}
    for i, n in ipairs(sizes) do
        local a = N.rounded(N.data(n, -4, 4, i), dtype)
        local b = N.rounded(N.data(n, -4, 4, i + 100), dtype)
        got[i] = f(new(a, dtype), new(b, dtype)):totable()
        want[i] = N.map(a, function(x, k) return result(reference(x, b[k]), dtype) end)
    end
    N.equal(T, N.flat(got), N.flat(want), name .. " of " .. dtype .. " at 16 sizes")
end

local function with_number(name, f, reference, dtype)
    local got, want = {}, {}
    for i, n in ipairs(sizes) do
        local a = N.rounded(N.data(n, -4, 4, i), dtype)
        for _, number in ipairs{ 0.75, -1.5, 0, 3 } do
            got[#got + 1] = f(new(a, dtype), number):totable()
            want[#want + 1] = N.map(a, function(x) return result(reference(x, number), dtype) end)
        end
    end
    N.equal(T, N.flat(got), N.flat(want), name .. " of " .. dtype .. " and a number at 16 sizes")
end

local arithmetic = {
    { "add", lab.add, function(x, y) return x + y end },
    { "sub", lab.sub, function(x, y) return x - y end },
    { "mul", lab.mul, function(x, y) return x * y end },
    { "div", lab.div, function(x, y) return x / y end },
}

local function with_one_operation()
    for _, dtype in ipairs(N.floats) do
        for _, case in ipairs(arithmetic) do
            local name, f, reference = table.unpack(case)
            binary(name, f, reference, dtype)
            with_number(name, f, reference, dtype)
            with_number(name .. ", number first,", function(t, x) return f(x, t) end,
                        function(x, y) return reference(y, x) end, dtype)
        end
        local list = N.rounded(N.data(1025, -4, 4, 9), dtype)
        N.equal(T, -new(list, dtype), N.map(list, function(x) return -x end), "neg of " .. dtype)
        N.equal(T, lab.relu(new(list, dtype)), N.map(list, function(x) return math.max(x, 0) end),
                "relu of " .. dtype)
    end
end

local function zeros_and_nan()
    local inf, nan = math.huge, 0 / 0
    local x = new({ 0, -0.0, inf, -inf, nan, 2.0 ^ -149 }, "float32")
    N.equal(T, lab.relu(x), { 0, 0, inf, 0, nan, 2.0 ^ -149 }, "relu of special values")
    N.equal(T, lab.div(1, x), { inf, -inf, 0, 0, nan, inf }, "1 by special values")
    N.equal(T, x / x, { nan, nan, nan, nan, nan, 1 }, "special values by themselves")
    N.equal(T, x - x, { 0, 0, nan, nan, nan, 0 }, "special values minus themselves")
    local signs = lab.relu(new({ -0.0, -1 }, "float32")):totable()
    T.ok(1 / signs[1] > 0 and 1 / signs[2] > 0, "relu gives no zero with a sign")
    T.ok(1 / lab.neg(new({ 0 }, "float32")):get(1) < 0, "neg of 0 is -0")
end

local function small_and_large()
    -- 2^-24 is float16's least number, 65504 its greatest; doubling and halving are exact.
    local x = new({ 2.0 ^ -24, 3 * 2.0 ^ -24, 2.0 ^ -15, 65504, 40000 }, "float16")
    N.equal(T, lab.mul(x, 2), { 2.0 ^ -23, 3 * 2.0 ^ -23, 2.0 ^ -14, math.huge, math.huge },
            "float16 has subnormal numbers in kernels, and becomes infinite beyond 65504")
    N.equal(T, lab.mul(new({ 2.0 ^ -149, 2.0 ^ -140, 2.0 ^ 127 }, "float32"), 2),
            { 2.0 ^ -148, 2.0 ^ -139, math.huge }, "so does float32, beyond its own range")
    N.equal(T, lab.mul(new({ 2.0 ^ -133, 2.0 ^ -126, 2.0 ^ 127 }, "bfloat16"), 2),
            { 2.0 ^ -132, 2.0 ^ -125, math.huge }, "and bfloat16")
    N.equal(T, lab.mul(new({ 1, 3 }, "float32"), 2.0 ^ -149), { 2.0 ^ -149, 3 * 2.0 ^ -149 },
            "a result below the normal numbers is kept")
end

local function specials(dtype)
    local inf, nan = math.huge, 0 / 0
    local a = new({ inf, -inf, nan, inf, 0, -0.0, inf, 1 }, dtype)
    local b = new({ 1, 1, 1, -inf, -0.0, -0.0, 0, nan }, dtype)
    local sum, product = lab.add(a, b):totable(), lab.mul(a, b):totable()
    N.equal(T, sum, { inf, -inf, nan, nan, 0, 0, inf, nan }, "add of infinities and NaN, " .. dtype)
    T.ok(1 / sum[5] == inf and 1 / sum[6] == -inf, "0 + -0 is 0, and -0 + -0 is -0, " .. dtype)
    N.equal(T, product, { inf, -inf, nan, -inf, 0, 0, nan, nan },
            "mul of infinities and NaN, " .. dtype)
    T.ok(1 / product[5] == -inf and 1 / product[6] == inf, "zeros have their signs, " .. dtype)
end

-- ---- pow ------------------------------------------------------------------------------

-- How often float32 rounds on the way, in half units of the last place. CUDA documents
-- powf to 4 units. Two half units are for other orders of multiplying.
local roundings = {
    [2] = 1, [3] = 2, [0.5] = 1, [-1] = 1, [0] = 0, [1] = 0, [-2] = 2, [5] = 4, [4] = 3, [7] = 6,
    [-3] = 3, [2.5] = 8, [-0.5] = 8, [1 / 3] = 8,
}

local function is_whole(x) return x == math.floor(x) end

local function pow_at(exponent, dtype)
    local on_the_way = (roundings[exponent] + 2) * 2.0 ^ -24
    local function tolerance(w)
        return (N.unit(dtype) * 1.001 + on_the_way) * math.abs(w) + N.tiny(dtype)
    end
    local got, want = {}, {}
    for i, n in ipairs(sizes) do
        local low = is_whole(exponent) and -4 or 0.25
        local a = N.rounded(N.data(n, low, 4, i), dtype)
        for k, x in ipairs(a) do        -- away from 0, where powers leave float16
            if math.abs(x) < 0.25 then a[k] = x < 0 and -0.25 or 0.25 end
        end
        got[i] = lab.pow(new(a, dtype), exponent):totable()
        -- The exponent of a kernel is a float32.
        want[i] = N.map(a, function(x) return x ^ N.round(exponent, "float32") end)
    end
    N.close(T, N.flat(got), N.flat(want), tolerance,
            ("pow %g of %s at 16 sizes"):format(exponent, dtype))
end

local function powers()
    local exponents = {}
    for exponent in pairs(roundings) do exponents[#exponents + 1] = exponent end
    table.sort(exponents)
    for _, dtype in ipairs(N.floats) do
        for _, exponent in ipairs(exponents) do pow_at(exponent, dtype) end
    end
end

-- Signs of zeros are part of it: 1 / x tells them apart. Where C's pow and a root differ
-- (at -0 and -infinity for one half), nothing is asked.
local function special_powers(dtype)
    local inf, nan = math.huge, 0 / 0
    local cases = {
        { 2, { 0, -0.0, inf, -inf, nan }, { 0, 0, inf, inf, nan } },
        { 3, { 0, -0.0, inf, -inf, nan }, { 0, -0.0, inf, -inf, nan } },
        { 5, { 0, -0.0, inf, -inf, nan }, { 0, -0.0, inf, -inf, nan } },
        { 1, { 0, -0.0, inf, -inf, nan }, { 0, -0.0, inf, -inf, nan } },
        { 0, { 0, -0.0, inf, -inf, nan, -3 }, { 1, 1, 1, 1, 1, 1 } },
        { -1, { 0, -0.0, inf, -inf, nan }, { inf, -inf, 0, -0.0, nan } },
        { -2, { 0, -0.0, inf, -inf, nan }, { inf, inf, 0, 0, nan } },
        { 0.5, { 0, inf, nan, -1 }, { 0, inf, nan, nan } },
        { 2.5, { 0, inf, nan, -1 }, { 0, inf, nan, nan } },
    }
    for _, case in ipairs(cases) do
        local got = lab.pow(new(case[2], dtype), case[1]):totable()
        N.equal(T, got, case[3],
                ("pow %g of zeros, infinities and NaN, %s"):format(case[1], dtype))
        local signs = true
        for i, want in ipairs(case[3]) do
            signs = signs and (want ~= 0 or 1 / got[i] == 1 / want)
        end
        T.ok(signs, ("pow %g gives zeros their signs, %s"):format(case[1], dtype))
    end
end

-- ---- where the result goes ------------------------------------------------------------

local function in_place()
    for _, dtype in ipairs(N.floats) do
        local list = N.whole(1025, -8, 8, 3)
        local t, u = new(list, dtype), new(N.whole(1025, -8, 8, 4), dtype)
        local second = N.flat(u:totable())
        lab.add(t, u, { out = t })
        lab.mul(t, 2, { out = t })
        lab.mul(t, t, { out = u })
        lab.pow(t, 2, { out = t })
        local want = N.map(list, function(x, i)
            return N.round((2 * (x + second[i])) ^ 2, dtype)
        end)
        N.equal(T, t, want, "out may be the operand, " .. dtype)
        N.equal(T, u, want, "or another tensor, " .. dtype)
    end
    local deep = lab.full(3, 2, 1, 5, 2)
    T.is_deeply(lab.add(deep, deep):totable(), lab.full(6, 2, 1, 5, 2):totable(),
                "elementwise kernels take any number of dimensions")
    T.is(lab.mul(lab.full(4), lab.full(5)):item(), 20, "and none")
end

-- 2^22 elements and some: more than one for each thread that any GPU can hold.
local function large()
    local n = (1 << 22) + 5
    local a = lab.rand(n, { seed = 5 })
    local twice = lab.add(a, a)
    local half = lab.mul(twice, 0.5)
    for _, i in ipairs{ 1, 2, 4097, n // 2, n - 1, n } do
        T.is(half:get(i), a:get(i), "element " .. i .. " of 2^22 + 5 comes back doubled and halved")
    end
    T.is(lab.sum(lab.add(half, lab.mul(a, -1))):item(), 0, "and so do all others")
end

-- ---- fills ----------------------------------------------------------------------------

local function all_are(list, value)
    for _, x in ipairs(list) do
        if x ~= value then return false end
    end
    return true
end

local function fills()
    for _, device in ipairs{ "cuda", "cpu" } do
        for _, dtype in ipairs{ "float32", "bfloat16", "float16", "uint8" } do
            local options, right = { device = device, dtype = dtype }, true
            for _, n in ipairs(sizes) do
                local zeros, ones = lab.zeros(n, options), lab.ones(n, options)
                local full = lab.full(200, n, options)
                right = right and #zeros:totable() == n and all_are(zeros:totable(), 0)
                    and all_are(ones:totable(), 1) and all_are(full:totable(), 200)
                    and all_are(full:fill_(7):totable(), 7) and all_are(ones:zero_():totable(), 0)
            end
            T.ok(right, ("zeros, ones, full, fill_ and zero_ of %s on %s at 16 sizes")
                 :format(dtype, device))
        end
    end
end

local function filled_values()
    for _, device in ipairs{ "cuda", "cpu" } do
        local function one(value, dtype)
            return lab.full(value, 3, { device = device, dtype = dtype }):get(3)
        end
        T.is(one(0.1, "float32"), 0.10000000149011612, "full rounds to float32 on " .. device)
        T.is(one(1 / 3, "bfloat16"), 171 / 512, "to bfloat16 on " .. device)
        T.is(one(1 / 3, "float16"), 1365 / 4096, "to float16 on " .. device)
        T.is(one(70000, "float16"), math.huge, "beyond float16 is infinite on " .. device)
        T.is(one(-math.huge, "bfloat16"), -math.huge, "infinity is a value on " .. device)
        T.ok(one(0 / 0, "float32") ~= one(0 / 0, "float32"), "and so is NaN on " .. device)
        T.is(1 / one(-0.0, "float32"), -math.huge, "-0 keeps its sign on " .. device)
        T.is(1 / one(-0.0, "float16"), -math.huge, "in float16 as well on " .. device)
        T.is(one(300, "uint8"), 255, "uint8 ends at 255 on " .. device)
        T.is(one(-5, "uint8"), 0, "and at 0 on " .. device)
    end
end

rounding()
with_one_operation()
zeros_and_nan()
small_and_large()
for _, dtype in ipairs(N.floats) do specials(dtype) end
powers()
for _, dtype in ipairs(N.floats) do special_powers(dtype) end
in_place()
large()
fills()
filled_values()
T.done()
