-- matmul.t.lua - matrix products of every dtype, held against float64.
--
-- Products of the inputs are exact in float32, but for TF32's rounding of the inputs,
-- and sums are in float32; their order is the library's. The error of a sum of k products
-- is at most k 2^-24 times the sum S of their absolute values, twice that here. TF32 has 11
-- significant bits, and hardware may cut off the others: 2^-10 for each factor. A half
-- type rounds the result, and where k is split, perhaps the parts, a quarter of S at most.

local T = require "tap"
local N = require "both.numbers"
local ideal = require "lua.ideal"

T.open()

local shapes = {
    { 1, 1, 1 }, { 3, 5, 7 }, { 17, 33, 65 }, { 64, 1, 64 }, { 130, 257, 31 },
    { 1, 129, 1 }, { 1, 40, 33 },
    { 65, 3, 1 }, { 16, 16, 16 }, { 128, 64, 128 },
}

-- The product of row-major lists, and that of their absolute values.
local function reference(a, b, m, k, n)
    local product, absolute = {}, {}
    for i = 0, m - 1 do
        for j = 1, n do
            local sum, size = 0, 0
            for l = 1, k do
                local term = a[i * k + l] * b[(l - 1) * n + j]
                sum = sum + term
                size = size + (term < 0 and -term or term)
            end
            product[i * n + j], absolute[i * n + j] = sum, size
        end
    end
    return product, absolute
end

local function matrix(list, columns, dtype)
    return lab.tensor(N.rows(list, columns), { dtype = dtype })
end

local function tolerance_of(dtype, tf32, k, absolute)
    local unit = dtype == "float32" and 0 or N.unit(dtype)
    local input = tf32 and 2.0 ^ -9 or 0
    return function(w, i)
        return unit * (math.abs(w) + absolute[i] / 4)
            + (k * 2.0 ^ -23 + input) * absolute[i] + N.tiny(dtype)
    end
end

local function fractions(dtype, tf32)
    for i, shape in ipairs(shapes) do
        local m, k, n = table.unpack(shape)
        local a = N.rounded(N.data(m * k, -2, 2, i), dtype)
        local b = N.rounded(N.data(k * n, -2, 2, i + 50), dtype)
        local want, absolute = reference(a, b, m, k, n)
        local got = lab.matmul(matrix(a, k, dtype), matrix(b, n, dtype), { tf32 = tf32 })
        N.close(T, got, want, tolerance_of(dtype, tf32, k, absolute),
                ("%dx%d times %dx%d in %s"):format(m, k, k, n, tf32 and "TF32" or dtype))
    end
end

-- Whole numbers that every format here holds: sums of them are exact in any order.
local function whole_numbers()
    for _, case in ipairs{ { "float32" }, { "float32", true }, { "bfloat16" }, { "float16" } } do
        local dtype, tf32 = case[1], case[2]
        local a, b = N.whole(23 * 31, -2, 2, 1), N.whole(31 * 29, -2, 2, 2)
        local want = reference(a, b, 23, 31, 29)
        N.equal(T, lab.matmul(matrix(a, 31, dtype), matrix(b, 29, dtype), { tf32 = tf32 }), want,
                "small whole numbers are exact in " .. (tf32 and "TF32" or dtype))
    end
    -- 1024 products of 2 and 1; all of these formats hold 2048.
    for _, dtype in ipairs(N.floats) do
        local c = lab.matmul(lab.full(2, 1024, 1024, { dtype = dtype }),
                             lab.ones(1024, 1024, { dtype = dtype }))
        local difference = lab.add(c, -2048)
        T.is(lab.sum(lab.mul(difference, difference)):item(), 0,
             "1024 products of 2 and 1 are 2048 everywhere in " .. dtype)
    end
    local long_a, long_b = N.whole(4 * 20000, -1, 1, 3), N.whole(20000 * 4, -1, 1, 4)
    N.equal(T, lab.matmul(matrix(long_a, 20000), matrix(long_b, 4)),
            (reference(long_a, long_b, 4, 20000, 4)), "a long inner size is summed completely")
end

local function without_elements()
    T.is_deeply(lab.matmul(lab.empty(3, 0), lab.empty(0, 4)):totable(),
                { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
                "an inner size of 0 gives zeros")
    local out = lab.full(7, 2, 2, { dtype = "float16" })
    lab.matmul(lab.empty(2, 0, { dtype = "float16" }), lab.empty(0, 2, { dtype = "float16" }),
               { out = out })
    T.is_deeply(out:totable(), { { 0, 0 }, { 0, 0 } }, "also in an out that had other values")
    T.is(lab.matmul(lab.empty(0, 3), lab.ones(3, 4)):numel(), 0, "no rows give no rows")
    T.is(lab.matmul(lab.ones(4, 3), lab.empty(3, 0)):numel(), 0, "nor columns columns")
end

local function operands()
    local square = matrix({ 1, 2, 3, 4 }, 2)
    T.is_deeply(lab.matmul(square, square):totable(), { { 7, 10 }, { 15, 22 } },
                "both operands may be the same tensor")
    local out = lab.full(9, 2, 2)
    T.is(lab.matmul(square, square, { out = out }), out, "out = is the result")
    lab.matmul(square, out, { out = lab.empty(2, 2) })
    T.is_deeply(out:totable(), { { 7, 10 }, { 15, 22 } }, "and replaces what was there")
    local power = square
    for _ = 1, 5 do power = lab.matmul(power, square) end
    -- {{1, 2}, {3, 4}}^6 by hand: squares of {{37, 54}, {81, 118}}, the third power
    T.is_deeply(power:totable(), { { 5743, 8370 }, { 12555, 18298 } }, "a chain of products")
    local inf = lab.matmul(matrix({ math.huge, 0, 0, 1 }, 2), lab.ones(2, 2)):totable()
    T.is_deeply(inf, { { math.huge, math.huge }, { 1, 1 } }, "infinity passes through")
    local nan = lab.matmul(matrix({ 0 / 0, 0, 0, 1 }, 2), lab.ones(2, 2)):totable()
    T.ok(nan[1][1] ~= nan[1][1] and nan[2][1] == 1, "so does NaN, in its own row")
end

-- Stacks of products, each against the product of its matrices by itself.
local function stacks()
    local a, b = N.whole(2 * 3 * 5 * 7, -4, 4, 7), N.whole(2 * 3 * 7 * 4, -4, 4, 8)
    local want = {}
    for i = 0, 5 do
        local one = reference(table.move(a, i * 35 + 1, i * 35 + 35, 1, {}),
                              table.move(b, i * 28 + 1, i * 28 + 28, 1, {}), 5, 7, 4)
        table.move(one, 1, 20, i * 20 + 1, want)
    end
    for _, dtype in ipairs(N.floats) do
        local left, right = matrix(a, 7, dtype), matrix(b, 4, dtype)
        local c = lab.matmul(left:view(6, 5, 7), right:view(6, 7, 4))
        T.is_deeply({ c:size() }, { 6, 5, 4 }, "six products of 5x7 times 7x4 in " .. dtype)
        N.equal(T, c:view(30, 4), want, "and each is right")
        c = lab.matmul(left:view(2, 3, 5, 7), right:view(2, 3, 7, 4))
        T.is_deeply({ c:size() }, { 2, 3, 5, 4 }, "the same as 2 x 3")
        N.equal(T, c:view(30, 4), want, "has the same values")
        c = lab.matmul(left:view(6, 5, 7), right:view(6, 7, 4):narrow(1, 3, 1):view(7, 4))
        local shared = reference(a, table.move(b, 57, 84, 1, {}), 30, 7, 4)
        N.equal(T, c:view(30, 4), shared, "each by one matrix, a view, is right")
    end
    local out = lab.full(9, 3, 2, 2)
    lab.matmul(lab.ones(2, 2, 3), lab.ones(2, 3, 2), { out = out:narrow(1, 2, 2) })
    T.is_deeply(out:totable(),
                { { { 9, 9 }, { 9, 9 } }, { { 3, 3 }, { 3, 3 } }, { { 3, 3 }, { 3, 3 } } },
                "a part of a stack may be out")
    T.is_deeply(lab.matmul(lab.empty(2, 2, 0), lab.empty(2, 0, 1)):totable(),
                { { { 0 }, { 0 } }, { { 0 }, { 0 } } }, "an inner size of 0 gives zeros in all")
    T.is(lab.matmul(lab.empty(0, 2, 3), lab.empty(0, 3, 2)):numel(), 0, "no matrices give none")
    local graph, product = lab.graph(function()
        return lab.matmul(lab.full(2, 3, 1, 2), lab.full(3, 3, 2, 1))
    end)
    graph:launch()
    T.is_deeply(product:totable(), { { { 12 } }, { { 12 } }, { { 12 } } },
                "a stack is one node of a graph")
end

-- x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
local function gelu(x)
    local t = math.exp(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x^3))
    return x / 2 * (1 + (t - 1) / (t + 1))
end

local activations <const> = {
    none = function(x) return x end, relu = function(x) return math.max(x, 0) end, gelu = gelu,
}

-- Fractions whose products and sums are exact in float32; GELU's last bits are the library's own.
local function epilogues(dtype, tf32)
    local m <const>, k <const>, n <const> = 16, 8, 24
    local a, b = N.whole(m * k, -2, 2, 9), N.whole(k * n, -2, 2, 10)
    local bias = N.rounded(N.data(n, -2, 2, 11), dtype)
    local product = reference(a, b, m, k, n)
    local left, right = matrix(a, k, dtype), matrix(b, n, dtype)
    local v = lab.tensor(bias, { dtype = dtype })
    for name, f in pairs(activations) do
        for _, added in ipairs{ v, false } do
            local want = {}
            for i, x in ipairs(product) do
                want[i] = f(x + (added and bias[(i - 1) % n + 1] or 0))
            end
            local got = lab.matmul(left, right, { tf32 = tf32, bias = added or nil,
                                                  activation = name ~= "none" and name or nil })
            local unit = dtype == "float32" and 0 or N.unit(dtype)
            N.close(T, got, want, function(w) return unit * math.abs(w) + 2.0 ^ -10 end,
                    ("%s %s in %s"):format(added and "a bias and" or "no bias and", name,
                                           tf32 and "TF32" or dtype))
        end
    end
end

local function epilogues_of_all_kinds()
    for _, dtype in ipairs(N.floats) do epilogues(dtype) end
    epilogues("float32", true)
    local a, bias = lab.tensor{ { { 1, 2 } }, { { -3, 4 } } }, lab.tensor{ 10, 1 }
    local options = { bias = bias, activation = "relu" }
    -- [1 2] and [-3 4] by the identity, plus [10 1]
    T.is_deeply(lab.matmul(a, lab.tensor{ { { 1, 0 }, { 0, 1 } }, { { 1, 0 }, { 0, -1 } } },
                           options):totable(),
                { { { 11, 3 } }, { { 7, 0 } } }, "a stack adds one bias to all its products")
    T.is_deeply(a:matmul(lab.tensor{ { 1, 0 }, { 0, 1 } }, options):totable(),
                { { { 11, 3 } }, { { 7, 5 } } },
                "as a stack by one matrix does")
    local out = lab.empty(2, 1, 2)
    local s = lab.stream{ non_blocking = true }
    s:wait_stream(lab.current_stream())
    lab.matmul(a, lab.tensor{ { 1, 0 }, { 0, 1 } }, { bias = bias, out = out, stream = s })
    s:synchronize()
    T.is_deeply(out:totable(), { { { 11, 3 } }, { { 7, 5 } } }, "in a stream, with an out")
    local graph, fused = lab.graph(function()
        return lab.matmul(lab.full(2, 2, 2), lab.full(3, 2, 2), options)
    end)
    graph:launch()
    T.is_deeply(fused:totable(), { { 22, 13 }, { 22, 13 } }, "a graph has it as one node")
    bias:fill_(-13)
    graph:launch()
    T.is_deeply(fused:totable(), { { 0, 0 }, { 0, 0 } }, "which reads the bias when it runs")
end

-- Two products at a time must not share what the library works in.
local function streams()
    local a, b = N.whole(64 * 512, -3, 3, 5), N.whole(512 * 48, -3, 3, 6)
    local want = (reference(a, b, 64, 512, 48))
    local left, right = matrix(a, 512), matrix(b, 48)
    local half_left, half_right = matrix(a, 512, "bfloat16"), matrix(b, 48, "bfloat16")
    local half_want = lab.matmul(half_left, half_right)
    lab.synchronize()
    local list, outs, halves = {}, {}, {}
    for i = 1, 4 do list[i] = lab.stream{ non_blocking = true } end
    for _ = 1, 20 do
        for _, s in ipairs(list) do
            outs[#outs + 1] = lab.matmul(left, right, { stream = s })
            halves[#halves + 1] = lab.matmul(half_left, half_right, { stream = s })
        end
    end
    lab.synchronize()
    N.equal(T, outs[1], want, "a product in a stream")
    local same, same_halves = true, true
    for i, out in ipairs(outs) do
        same = same and lab.allclose(out, outs[1], { rtol = 0, atol = 0 })
        same_halves = same_halves and lab.allclose(halves[i], half_want, { rtol = 0.02, atol = 4 })
    end
    T.ok(same, "80 products in 4 streams at once are all the same")
    T.ok(same_halves, "with 80 others of another dtype between them")
end

-- More shapes than a cache of plans may hold, and back to the first.
local function many_shapes()
    local right = true
    for round = 1, 2 do
        for n = 1, 100 do
            local c = lab.matmul(lab.ones(n, 3), lab.full(2, 3, n + 1))
            right = right and c:get(n, n + 1) == 6 and c:size(2) == n + 1
        end
        T.ok(right, "a hundred shapes one after the other, round " .. round)
    end
end

for _, dtype in ipairs(N.floats) do fractions(dtype) end
fractions("float32", true)
whole_numbers()
without_elements()
operands()
stacks()
epilogues_of_all_kinds()
streams()
many_shapes()
ideal.refuses(T, function() lab.matmul(lab.ones(2, 3), lab.ones(2, 3)) end, "SL_ESHAPE",
              "2x3 times 2x3", "shapes that do not fit are refused")
T.is(lab.matmul(lab.ones(2, 2), lab.ones(2, 2)):get(2, 2), 2, "and the next product is right")
T.done()
