-- rows.t.lua - softmax over rows and sums over everything, held against float64.
--
-- softmax: an exponential of float32 is good to a few units of 2^-24 relative to itself,
-- and its argument x - max is rounded once, an error of up to 2^-24 |x - max|; 1e-5
-- covers both for |x - max| up to 30, and what is below 1e-7 of a row counts as nothing.
-- sum: in float32 by some tree of additions or better; its depth is below 50, so that the
-- error is at most 50 x 2^-24 = 3e-6 times the sum of the absolute values.

local T = require "tap"
local N = require "both.numbers"

T.open()

-- ---- softmax --------------------------------------------------------------------------

local function softmax_of(row)
    local largest, total, out = -math.huge, 0, {}
    for _, x in ipairs(row) do largest = math.max(largest, x) end
    for i, x in ipairs(row) do
        out[i] = math.exp(x - largest)
        total = total + out[i]
    end
    for i, x in ipairs(out) do out[i] = x / total end
    return out
end

local function tolerance_of(dtype)
    local relative = 1e-5 + N.unit(dtype) * 1.001
    return function(w) return relative * w + 1e-7 + N.tiny(dtype) end
end

local function rows_of(rows, columns, dtype, low, high)
    local values = N.rounded(N.data(rows * columns, low, high, rows + columns), dtype)
    local list, want = N.rows(values, columns), {}
    for i, row in ipairs(list) do want[i] = softmax_of(row) end
    local t = lab.tensor(list, { dtype = dtype })
    return t, N.flat(want)
end

local function softmax()
    local shapes = { { 1, 1 }, { 3, 5 }, { 5, 32 }, { 7, 33 }, { 7, 1023 }, { 2, 4097 },
                     { 300, 3 }, { 1, 20001 },
                     { 1000, 1 } }
    for _, dtype in ipairs(N.floats) do
        for _, shape in ipairs(shapes) do
            local t, want = rows_of(shape[1], shape[2], dtype, -10, 10)
            N.close(T, lab.softmax(t), want, tolerance_of(dtype),
                    ("softmax of %d rows of %d in %s"):format(shape[1], shape[2], dtype))
        end
        local far, want = rows_of(4, 100, dtype, 30000, 30020)
        N.close(T, lab.softmax(far), want, tolerance_of(dtype),
                "softmax of large numbers does not overflow, " .. dtype)
        local low, want_low = rows_of(4, 100, dtype, -30020, -30000)
        N.close(T, lab.softmax(low, { out = low }), want_low, tolerance_of(dtype),
                "softmax of large negative numbers in place, " .. dtype)
    end
end

local function softmax_of_strange_rows()
    local inf, nan = math.huge, 0 / 0
    local got = lab.softmax(lab.tensor{ { 0, -inf, 0 }, { 1, nan, 2 }, { 5, 5, 5 },
                                        { -inf, -inf, 3 } })
    N.close(T, got, { 0.5, 0, 0.5, nan, nan, nan, 1 / 3, 1 / 3, 1 / 3, 0, 0, 1 },
            function() return 1e-6 end, "-infinity is nothing, and NaN makes its row NaN")
    for _, n in ipairs{ 5, 200, 1000, 2000, 20001 } do
        T.is(lab.softmax(lab.empty(0, n)):numel(), 0, ("no rows of %d give no rows"):format(n))
    end
    lab.synchronize()
    T.is(lab.sum(lab.ones(10)):item(), 10, "and the device goes on")
    T.is(lab.softmax(lab.empty(5, 0)):numel(), 0, "empty rows stay empty")
    T.is(lab.softmax(lab.full(3)):item(), 1, "a single number is a row of one")
    local deep, flat = lab.rand(3, 4, 50, { seed = 1 }), nil
    local list = deep:totable()
    flat = lab.softmax(deep):totable()
    N.close(T, N.flat(flat[3][2]), softmax_of(list[3][2]), tolerance_of("float32"),
            "more dimensions are rows of the last one")
end

-- ---- sum ------------------------------------------------------------------------------

local function sums_of(list)
    local sum, size = 0, 0
    for _, x in ipairs(list) do
        sum = sum + x
        size = size + math.abs(x)
    end
    return sum, size
end

local function check_sum(list, dtype, name)
    local want, size = sums_of(list)
    N.close(T, { lab.sum(lab.tensor(list, { dtype = dtype })):item() }, { want }, function(w)
        return 3e-6 * size + N.unit(dtype) * 1.001 * math.abs(w) + N.tiny(dtype)
    end, name)
end

local function sum()
    for _, dtype in ipairs(N.floats) do
        for _, n in ipairs{ 0, 1, 2, 3, 31, 1023, 4097, 70001 } do
            check_sum(N.rounded(N.data(n, -1, 1.5, n + 1), dtype), dtype,
                      ("sum of %d numbers in %s"):format(n, dtype))
        end
    end
    check_sum(N.rounded(N.data(200003, 0, 1, 9), "float32"), "float32", "sum of 200003 numbers")
end

-- Every number has its negative somewhere, so what is left is the rounding.
local function cancelling()
    local list = N.rounded(N.data(50000, -1000, 1000, 4), "float32")
    for i = 1, 50000 do list[#list + 1] = -list[(i * 7919) % 50000 + 1] end
    check_sum(list, "float32", "numbers and their negatives cancel but for the rounding")
    local large = { 1e30, 1e30, -1e30, -1e30 }
    for i, x in ipairs(N.rounded(N.data(5000, -1, 1, 8), "float32")) do large[i + 4] = x end
    for i, x in ipairs(large) do large[i] = N.round(x, "float32") end
    check_sum(large, "float32", "numbers of 1e30 that cancel")
end

-- Sums of whole numbers below 2^24 are exact in float32 and in anything better.
local function exact()
    for _, n in ipairs{ 1, 1000, 65536, 1000000, 10000019 } do
        T.is(lab.sum(lab.ones(n)):item(), n, n .. " ones")
    end
    T.is(lab.sum(lab.ones(4096, { dtype = "float16" })):item(), 4096,
         "halves are not added up in halves: 4096 ones in float16")
    T.is(lab.sum(lab.ones(4096, { dtype = "bfloat16" })):item(), 4096, "and in bfloat16")
    T.is(lab.sum(lab.tensor({ 60000, 60000, -60000 }, { dtype = "float16" })):item(),
         60000 // 32 * 32,
         "a sum may pass beyond float16 on the way")
    T.is(lab.sum(lab.full(2, 40000, { dtype = "float16" })):item(), math.huge,
         "and is infinite beyond it at the end")
    local out = lab.full(5, 1)
    T.is(lab.sum(lab.full(3, 7, 11), { out = out }), out, "out = is the result")
    T.is(out:get(1), 231, "and has the sum")
    local inf = math.huge
    T.is(lab.sum(lab.tensor{ 1, inf, 2 }):item(), inf, "infinity is the sum")
    local nothing = lab.sum(lab.tensor{ inf, 1, -inf }):item()
    T.ok(nothing ~= nothing, "infinity less infinity is NaN")
end

-- A kernel that needs memory of its own besides must leave it fit for the next one.
local function one_after_the_other()
    local sizes, outs = { 1000000, 1, 1000, 0, 5, 100000, 3 }, {}
    local inputs = {}
    for i, n in ipairs(sizes) do inputs[i] = lab.full(i, n) end
    local streams = {}
    for i = 1, 4 do streams[i] = lab.stream{} end
    lab.synchronize()
    for round = 1, 10 do
        for i, input in ipairs(inputs) do
            for k, s in ipairs(streams) do
                outs[#outs + 1] = { lab.sum(input,
                                            { stream = s, out = lab.empty(1, { stream = s }) }),
                                    i * sizes[i] }
            end
        end
    end
    lab.synchronize()
    local wrong = 0
    for _, pair in ipairs(outs) do
        if pair[1]:item() ~= pair[2] then wrong = wrong + 1 end
    end
    T.is(wrong, 0, "280 sums of all sizes in 4 streams are all right")
end

softmax()
softmax_of_strange_rows()
sum()
cancelling()
exact()
one_after_the_other()
T.done()
