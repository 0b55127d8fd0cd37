-- 20-api-kernels.t.lua - what the kernels compute, and what they refuse.
--
-- Values are small integers worked out by hand, so that every order of summation
-- gives the same bits; softmax and roots are compared to a tolerance.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function all_near(t, want, tolerance, name)
    local got, worst = t:totable(), 0
    for i, row in ipairs(want) do
        for j, value in ipairs(row) do worst = math.max(worst, math.abs(got[i][j] - value)) end
    end
    T.ok(worst <= tolerance, name)
end

local function matmul()
    local a, b = lab.tensor({ { 1, 2, 3 }, { 4, 5, 6 } }),
        lab.tensor({ { 7, 8 }, { 9, 10 }, { 11, 12 } })
    -- 1*7 + 2*9 + 3*11 = 58, 1*8 + 2*10 + 3*12 = 64, 4*7 + 5*9 + 6*11 = 139, 154
    local want = { { 58, 64 }, { 139, 154 } }
    local c = lab.matmul(a, b)
    T.is_deeply(c:totable(), want, "matmul multiplies 2x3 by 3x2")
    T.is(c.device, "cuda", "its result is on the GPU")
    T.is_deeply(a:matmul(b):totable(), want, "matmul is a method as well")
    -- columns times rows: {{7, 8}, {9, 10}, {11, 12}} by {{1, 2, 3}, {4, 5, 6}}
    T.is_deeply(lab.matmul(b, a):totable(), { { 39, 54, 69 }, { 49, 68, 87 }, { 59, 82, 105 } },
                "matmul multiplies 3x2 by 2x3")
    T.is_deeply(lab.matmul(lab.tensor({ { 2 } }), lab.tensor({ { 3 } })):totable(), { { 6 } },
                "and 1x1 by 1x1")
    local out = lab.zeros(2, 2)
    T.is(lab.matmul(a, b, { out = out }), out, "out = is what matmul then gives")
    T.is_deeply(out:totable(), want, "and where the product goes")
    T.is_deeply(lab.matmul(lab.empty(2, 0), lab.empty(0, 2)):totable(), { { 0, 0 }, { 0, 0 } },
                "an inner size of zero gives zeros")
    -- a * a = {{1, 2}, {3, 4}}^2
    local square = lab.tensor({ { 1, 2 }, { 3, 4 } })
    T.is_deeply(lab.matmul(square, square):totable(), { { 7, 10 }, { 15, 22 } },
                "both operands may be the same")
    for _, dtype in ipairs{ "bfloat16", "float16" } do
        local x = lab.tensor({ { 1, 2 }, { 3, 4 } }, { dtype = dtype })
        local y = lab.matmul(x, x)
        T.is(y.dtype, dtype, "matmul of " .. dtype .. " gives " .. dtype)
        T.is_deeply(y:totable(), { { 7, 10 }, { 15, 22 } }, "with the right values")
    end
end

-- As the simulator does; hardware may also cut off what TF32 does not hold.
local function tf32_rounds_its_inputs()
    if not lab.device().simulated then return end
    -- TF32 has 11 significant bits: between 2048 and 4096 only even numbers, and a
    -- tie goes away from zero: 2049 is 2050.
    local a, one = lab.tensor({ { 2049 } }), lab.tensor({ { 1 } })
    T.is(lab.matmul(a, one):item(), 2049, "float32 matmul keeps 2049")
    T.is(lab.matmul(a, one, { tf32 = true }):item(), 2050, "tf32 = true rounds 2049 to 2050")
    T.is(lab.matmul(one, a, { tf32 = true }):item(), 2050, "in either operand")
    local b = lab.tensor({ { 2047 } })
    T.is(lab.matmul(b, one, { tf32 = true }):item(), 2047, "2047 has 11 bits and stays")
    T.is(lab.matmul(a, one, { tf32 = false }):item(), 2049, "tf32 = false is the default")
end

local function fused_matmuls()
    -- {{1, 2}, {3, 4}} by {{1, -1}, {1, -1}} is {{3, -3}, {7, -7}}
    local a, b, bias = lab.tensor{ { 1, 2 }, { 3, 4 } }, lab.tensor{ { 1, -1 }, { 1, -1 } },
        lab.tensor{ 10, 1 }
    local function is(options, want, name)
        T.is_deeply(lab.matmul(a, b, options):totable(), want, name)
    end
    is({ bias = bias }, { { 13, -2 }, { 17, -6 } }, "a bias is added to each row")
    is({ activation = "relu" }, { { 3, 0 }, { 7, 0 } }, "relu makes negative ones 0")
    is({ bias = bias, activation = "relu", tf32 = true }, { { 13, 0 }, { 17, 0 } },
       "after the bias")
    local out = lab.empty(2, 2)
    T.is(a:matmul(b, { out = out, bias = bias }), out, "out = is what it gives")
    local tl = lab.profile(function()
        lab.matmul(a, b, { out = out, bias = bias, activation = "gelu" })
        lab.matmul(a, b, { out = out, activation = "relu", tf32 = true })
        lab.matmul(a, b, { out = out, bias = bias })
        lab.matmul(a, b, { out = out })
    end)
    local names = {}
    for i, span in ipairs(tl:spans()) do names[i] = span.name end
    T.is_deeply(names, { "matmul_bias_gelu_f32", "matmul_relu_tf32",
                         "matmul_bias_f32", "matmul_f32" },
                "each is one kernel, named after what it does")
    refuses(function() lab.matmul(a, b, { bias = lab.ones(3) }) end, "SL_ESHAPE",
            "bias is 3, needed 2", "a bias has an element for each column")
    refuses(function() lab.matmul(a, b, { bias = lab.ones(2, { dtype = "float16" }) }) end,
            "SL_EDTYPE", "a is float32, bias is float16", "of the operands' dtype")
    refuses(function() lab.matmul(a, b, { bias = lab.ones(2, { device = "cpu" }) }) end,
            "SL_EPLACE", "bias is on the cpu", "on the GPU")
    refuses(function() lab.matmul(a, b, { bias = 1 }) end, "SL_EINVAL",
            "option 'bias' must be a tensor, got 1", "a number is no bias")
    refuses(function() lab.matmul(a, b, { activation = "tanh" }) end, "SL_EINVAL",
            'option \'activation\' must be "relu" or "gelu", got "tanh"',
            "there are two activations")
    refuses(function() lab.matmul(a:double(), b:double(), { activation = "relu" }) end, "SL_EDTYPE",
            "a is float64; a product with a bias or an activation takes", "float64 has neither")
    refuses(function() lab.matmul(a, b, { bias = out:view(4):narrow(1, 2, 2), out = out }) end,
            "SL_EINVAL", "out shares memory with bias", "out lies apart from the bias")
    refuses(function() lab.add(a, b, { bias = bias }) end, "SL_EINVAL", "unknown option 'bias'",
            "other kernels have none")
end

local function bad_matmuls()
    local a, b = lab.zeros(4, 3), lab.zeros(4, 3)
    refuses(function() lab.matmul(a, b) end, "SL_ESHAPE",
            "matmul: inner sizes differ: 4x3 times 4x3",
            "inner sizes that differ are named")
    refuses(function() lab.matmul(a, lab.zeros(3)) end, "SL_ESHAPE", "matmul",
            "a vector is no matrix")
    refuses(function() lab.matmul(a, lab.zeros(3, 2), { out = lab.zeros(2, 4) }) end, "SL_ESHAPE",
            "4x2",
            "an out of the wrong shape is refused with the right one")
    local s = lab.ones(2, 2)
    refuses(function() lab.matmul(s, s, { out = s }) end, "SL_EINVAL", "out",
            "out may not be an operand of matmul")
    T.is(s:get(1, 1), 1, "which keeps its values")
    refuses(function() lab.matmul(s, lab.ones(2, 2, { device = "cpu" })) end, "SL_EPLACE", "cpu",
            "an operand on the host is refused")
    refuses(function() lab.matmul(s, s, { out = lab.ones(2, 2, { device = "cpu" }) }) end,
            "SL_EPLACE", "cpu",
            "so is an out on the host")
    refuses(function() lab.matmul(s, lab.ones(2, 2, { dtype = "bfloat16" })) end, "SL_EDTYPE",
            "bfloat16",
            "dtypes must agree")
    refuses(function() lab.matmul(s, s, { tf23 = true }) end, "SL_EINVAL", "tf23",
            "a typo cannot pass")
    refuses(function() lab.matmul(s, s, { tf32 = 1 }) end, "SL_EINVAL", "tf32",
            "tf32 is true or false")
    refuses(function() lab.matmul(s, 3) end, "SL_EINVAL", "number", "a number is no matrix")
    refuses(function() lab.matmul(s) end, "SL_EINVAL", "matmul", "one operand is not enough")
    refuses(function() lab.matmul(s, s, 3) end, "SL_EINVAL", "table", "options come in a table")
    refuses(function() lab.matmul(s, s, { out = 3 }) end, "SL_EINVAL", "out", "out is a tensor")
    refuses(function() lab.matmul(s, s, { stream = "s" }) end, "SL_EINVAL", "stream",
            "stream is a stream")
end

local function pow()
    local a = lab.tensor({ { 1, 2 }, { 3, -4 } })
    T.is_deeply(lab.pow(a, 2):totable(), { { 1, 4 }, { 9, 16 } }, "pow 2 squares")
    T.is_deeply(lab.pow(a, 3):totable(), { { 1, 8 }, { 27, -64 } }, "pow 3 cubes, with the sign")
    T.is_deeply(lab.pow(a, 0):totable(), { { 1, 1 }, { 1, 1 } }, "pow 0 gives ones")
    T.is_deeply(lab.pow(a, 1):totable(), { { 1, 2 }, { 3, -4 } }, "pow 1 gives the tensor")
    T.is_deeply(a:pow(2):totable(), { { 1, 4 }, { 9, 16 } }, "pow is a method as well")
    all_near(lab.pow(lab.tensor({ { 4, 9 } }), 0.5), { { 2, 3 } }, 1e-6, "pow 0.5 is the root")
    all_near(lab.pow(lab.tensor({ { 2, 4 } }), -1), { { 0.5, 0.25 } }, 1e-7,
             "pow -1 is the inverse")
    local nan = lab.pow(lab.tensor({ -2 }), 0.5):get(1)
    T.ok(nan ~= nan, "the root of a negative number is NaN")
    local out = lab.zeros(2, 2)
    T.is(lab.pow(a, 2, { out = out }), out, "out = is what pow then gives")
    T.is_deeply(out:totable(), { { 1, 4 }, { 9, 16 } }, "and where the powers go")
    lab.pow(a, 2, { out = a })
    T.is_deeply(a:totable(), { { 1, 4 }, { 9, 16 } }, "out may be the operand")
    T.ok(ideal.error_of(lab.pow, a), "pow needs an exponent")
    T.ok(ideal.error_of(lab.pow, a, "2"), "which is a number")
    refuses(function() lab.pow(a, 2, { out = lab.zeros(3) }) end, "SL_ESHAPE", "2x2",
            "out has the same shape")
end

local function add_and_mul()
    local a, b = lab.tensor({ { 1, 2 }, { 3, 4 } }), lab.tensor({ { 10, 20 }, { 30, 40 } })
    T.is_deeply(lab.add(a, b):totable(), { { 11, 22 }, { 33, 44 } }, "add adds")
    T.is_deeply(lab.mul(a, b):totable(), { { 10, 40 }, { 90, 160 } },
                "mul multiplies element by element")
    T.is_deeply(lab.add(a, 5):totable(), { { 6, 7 }, { 8, 9 } }, "add takes a number as well")
    T.is_deeply(lab.mul(a, -2):totable(), { { -2, -4 }, { -6, -8 } }, "mul takes a number as well")
    T.is_deeply(a:add(b):totable(), { { 11, 22 }, { 33, 44 } }, "add is a method as well")
    T.is_deeply(a:mul(3):totable(), { { 3, 6 }, { 9, 12 } }, "mul is a method as well")
    T.is_deeply(lab.mul(a, a):totable(), { { 1, 4 }, { 9, 16 } }, "both operands may be the same")
    lab.add(a, b, { out = a })
    T.is_deeply(a:totable(), { { 11, 22 }, { 33, 44 } }, "out may be the first operand")
    lab.mul(a, b, { out = b })
    T.is_deeply(b:totable(), { { 110, 440 }, { 990, 1760 } }, "or the second")
    T.is_deeply(lab.add(lab.empty(0), lab.empty(0)):totable(), {},
                "nothing plus nothing is nothing")
    for _, dtype in ipairs{ "bfloat16", "float16" } do
        local x = lab.full(3, 2, { dtype = dtype })
        T.is_deeply(lab.mul(lab.add(x, x), 2):totable(), { 12, 12 }, "add and mul know " .. dtype)
    end
    refuses(function() lab.add(a, lab.zeros(2, 3)) end, "SL_ESHAPE", "2x2.*2x3",
            "add names both shapes")
    refuses(function() lab.mul(a, lab.zeros(4)) end, "SL_ESHAPE", "2x2", "mul names both shapes")
    refuses(function() lab.add(a, lab.zeros(2, 2, { dtype = "uint8" })) end, "SL_EDTYPE", "uint8",
            "dtypes must agree")
    refuses(function() lab.add(a, lab.zeros(2, 2, { device = "cpu" })) end, "SL_EPLACE", "cpu",
            "both operands must be on the GPU")
    T.ok(ideal.error_of(lab.add, a, "1"), "text is no operand")
    T.ok(ideal.error_of(lab.add, a), "one operand is not enough")
    T.is_deeply(lab.add(1, lab.tensor({ 2, 3 })):totable(), { 3, 4 }, "the number may come first")
    T.is_deeply(lab.mul(2, lab.tensor({ 2, 3 })):totable(), { 4, 6 }, "in mul as well")
    T.ok(ideal.error_of(lab.add, 1, 2), "one operand must be a tensor")
    T.is_deeply((1 + 2 * lab.tensor({ 2, 3 })):totable(), { 5, 7 },
                "of an operator the number may come first")
    T.is_deeply((lab.tensor({ 1, 2 }) + lab.tensor({ 3, 4 }) * 2 + 1):totable(), { 8, 11 },
                "+ and * are add and mul")
    T.is_deeply((lab.tensor({ 2, 3 }) ^ 2):totable(), { 4, 9 }, "^ is pow")
    T.ok(ideal.error_of(function() return lab.ones(2) ^ lab.ones(2) end),
         "with a number as exponent")
end

local function sub_and_div()
    local a, b = lab.tensor({ { 1, 2 }, { 3, 4 } }), lab.tensor({ { 8, 4 }, { 2, 1 } })
    T.is_deeply(lab.sub(a, b):totable(), { { -7, -2 }, { 1, 3 } }, "sub subtracts")
    T.is_deeply(lab.div(a, b):totable(), { { 0.125, 0.5 }, { 1.5, 4 } }, "div divides")
    T.is_deeply(lab.sub(a, 1):totable(), { { 0, 1 }, { 2, 3 } }, "sub takes a number as well")
    T.is_deeply(lab.sub(1, a):totable(), { { 0, -1 }, { -2, -3 } }, "also as the first operand")
    T.is_deeply(lab.div(a, 2):totable(), { { 0.5, 1 }, { 1.5, 2 } }, "div takes a number as well")
    T.is_deeply(lab.div(8, b):totable(), { { 1, 2 }, { 4, 8 } }, "also as the first operand")
    T.is_deeply(a:sub(b):totable(), { { -7, -2 }, { 1, 3 } }, "sub is a method as well")
    T.is_deeply(a:div(2):totable(), { { 0.5, 1 }, { 1.5, 2 } }, "and so is div")
    T.is_deeply((a - b):totable(), { { -7, -2 }, { 1, 3 } }, "- is sub")
    T.is_deeply((a / b):totable(), { { 0.125, 0.5 }, { 1.5, 4 } }, "/ is div")
    T.is_deeply((2 / (5 - a * 1 - 1)):totable()[2], { 2, math.huge },
                "of an operator the number may come first")
    T.is_deeply((a - 1):totable(), { { 0, 1 }, { 2, 3 } }, "or second")
    lab.sub(a, b, { out = b })
    T.is_deeply(b:totable(), { { -7, -2 }, { 1, 3 } }, "out may be an operand")
    T.is_deeply(lab.div(lab.tensor({ 1, -1, 0 }), 0):totable()[2], -math.huge,
                "division by zero is infinite")
    T.is_deeply(lab.div(lab.tensor({ 7, 1 }, { dtype = "float16" }), 3):totable(),
                { 2.333984375, 0.333251953125 }, "a quotient is rounded once, to float16")
    refuses(function() lab.sub(a, lab.zeros(2, 3)) end, "SL_ESHAPE",
            "sub: a is 2x2, b is 2x3: the shapes differ", "sub names both shapes")
    refuses(function() return lab.ones(2) - lab.ones(2, { dtype = "int32" }) end, "SL_EDTYPE",
            "sub: a is float32, b is int32: a kernel needs one dtype; t:to casts$",
            "and both dtypes, and what casts")
    refuses(function() return a / lab.zeros(4) end, "SL_ESHAPE", "div: a is 2x2, b is 4",
            "an operator names its kernel")
    refuses(function() lab.div(a, lab.zeros(2, 2, { device = "cpu" })) end, "SL_EPLACE", "b is on",
            "both operands of div must be on the GPU")
    T.ok(ideal.error_of(function() return a - "1" end), "text is no operand")
    T.ok(ideal.error_of(lab.div, 1, 2), "one operand must be a tensor")
    T.ok(ideal.error_of(function() return a // 2 end), "there is no //")
end

local function neg_and_relu()
    local a = lab.tensor({ { 1, -2 }, { 0, 3 } })
    T.is_deeply(lab.neg(a):totable(), { { -1, 2 }, { 0, -3 } }, "neg turns the sign")
    T.is_deeply((-a):totable(), { { -1, 2 }, { 0, -3 } }, "- before a tensor is neg")
    T.is_deeply(a:neg():totable(), { { -1, 2 }, { 0, -3 } }, "neg is a method as well")
    T.is_deeply(lab.relu(a):totable(), { { 1, 0 }, { 0, 3 } }, "relu gives 0 for what is below")
    T.is_deeply(a:relu():totable(), { { 1, 0 }, { 0, 3 } }, "relu is a method as well")
    local odd = lab.relu(lab.tensor({ 0 / 0, -math.huge, math.huge, -0.0 })):totable()
    T.ok(odd[1] ~= odd[1], "relu of NaN is NaN")
    T.ok(odd[2] == 0 and odd[3] == math.huge and 1 / odd[4] > 0,
         "relu of infinities is 0 and infinity, and of -0 it is 0")
    T.is(1 / lab.neg(lab.tensor({ 0 })):get(1), -math.huge, "neg of 0 is -0")
    lab.relu(a, { out = a })
    T.is_deeply(a:totable(), { { 1, 0 }, { 0, 3 } }, "out may be the operand")
    refuses(function() lab.relu(a, { out = lab.zeros(4) }) end, "SL_ESHAPE",
            "relu: out is 4, needed 2x2", "out of relu has the operand's shape")
    refuses(function() lab.neg(lab.ones(2, { device = "cpu" })) end, "SL_EPLACE",
            "neg: a is on the cpu", "neg works on the GPU")
    refuses(function() lab.relu(1) end, "SL_EINVAL", "a tensor", "relu of a number is refused")
    refuses(function() lab.neg(a, { outt = a }) end, "SL_EINVAL", "outt", "a typo cannot pass")
end

local function names_of_kernels()
    local a = lab.ones(4)
    local tl = lab.profile(function()
        local _ = { a - a, a - 1, 1 - a, a / a, a / 2, 2 / a, -a, a:relu() }
    end)
    local names = {}
    for i, span in ipairs(tl:spans()) do names[i] = span.name end
    T.is(table.concat(names, " "), "sub_f32 sub_scalar_f32 rsub_scalar_f32 div_f32 "
         .. "div_scalar_f32 rdiv_scalar_f32 neg_f32 relu_f32",
         "each of the new operators is one kernel of its own name")
end

local function softmax()
    -- exp(0) : exp(ln 3) = 1 : 3
    local row = lab.tensor({ { 0, math.log(3) }, { math.log(3), 0 } })
    all_near(lab.softmax(row), { { 0.25, 0.75 }, { 0.75, 0.25 } }, 1e-6,
             "softmax goes over the last dimension")
    all_near(row:softmax(), { { 0.25, 0.75 }, { 0.75, 0.25 } }, 1e-6, "softmax is a method as well")
    all_near(lab.softmax(lab.tensor({ { 1000, 1000 }, { -1000, -1000 } })),
             { { 0.5, 0.5 }, { 0.5, 0.5 } },
             1e-6,
             "large numbers do not overflow")
    all_near(lab.softmax(lab.tensor({ { 5 }, { 7 } })), { { 1 }, { 1 } }, 1e-7, "a row of one is 1")
    local out = lab.zeros(2, 2)
    T.is(lab.softmax(row, { out = out }), out, "out = is what softmax then gives")
    all_near(out, { { 0.25, 0.75 }, { 0.75, 0.25 } }, 1e-6, "and where it goes")
    -- Each of 3 x 2 rows of 4 equal numbers gives 1/4.
    local deep = lab.softmax(lab.full(3, 3, 2, 4)):totable()
    T.near(deep[3][2][4], 0.25, 1e-6, "more dimensions are rows of the last one")
    refuses(function() lab.softmax(row, { out = lab.zeros(2, 3) }) end, "SL_ESHAPE", "2x3",
            "out has the same shape")
end

local function sum()
    local t = lab.tensor({ { 1, 2 }, { 3, 4 } }):sum()
    T.is(t:numel(), 1, "sum gives a tensor of one element")
    T.is(t.device, "cuda", "on the GPU")
    T.is(t:item(), 10, "whose item is the sum")
    T.is(lab.ones(1000, 1000):sum():item(), 1000000, "a million ones are a million")
    T.is(lab.empty(0):sum():item(), 0, "the sum of nothing is 0")
    T.is(lab.tensor({ -1, 1, -1 }):sum():item(), -1, "signs count")
end

local function allclose()
    local a = lab.tensor({ 1, 2, 3 })
    T.is(lab.allclose(a, lab.tensor({ 1, 2, 3 })), true, "equal tensors are close")
    T.is(lab.allclose(a, lab.tensor({ 1, 2, 4 })), false, "different ones are not")
    T.is(lab.allclose(a, lab.tensor({ 1, 2, 3.000001 })), true,
         "a difference below the tolerance is close")
    T.is(lab.allclose(a, lab.tensor({ 1, 2, 3.5 }), { atol = 0.6 }), true,
         "atol widens the tolerance")
    T.is(lab.allclose(a, lab.tensor({ 1, 2, 3.5 }), { rtol = 0.2 }), true,
         "rtol widens it in proportion")
    T.is(lab.allclose(a, lab.tensor({ 1.3, 2, 3 }), { rtol = 0.2 }), false,
         "to the element at hand")
    T.is(lab.allclose(lab.tensor({ 0 / 0 }), lab.tensor({ 0 / 0 })), false,
         "NaN is close to nothing")
    T.is(lab.allclose(a, a:cpu()), true, "one may be on the host")
    refuses(function() lab.allclose(lab.zeros(2, 2), lab.zeros(2, 3)) end, "SL_ESHAPE",
            "2x2 and 2x3", "shapes must agree, and are both named")
    refuses(function() lab.allclose(a, lab.zeros(3, 1)) end, "SL_ESHAPE", "3 and 3x1",
            "also in their number of dimensions")
    refuses(function() lab.allclose(a, a, { tol = 1 }) end, "SL_EINVAL", "tol",
            "a typo cannot pass")
end

local function streams_of_kernels()
    local s = lab.stream{ name = "side" }
    local a = lab.ones(2, 2)
    lab.synchronize()
    local function stream_of(f)
        return lab.profile(f):spans()[1].stream
    end
    local by_option = stream_of(function() lab.add(a, a, { stream = s }) end)
    local by_with = stream_of(function() lab.with(s, function() lab.add(a, a) end) end)
    local by_default = stream_of(function() lab.add(a, a) end)
    T.is(by_option, by_with, "stream = and lab.with name the same stream")
    T.isnt(by_option, by_default, "which is not the default one")
    T.is(stream_of(function()
        lab.with(s, function() lab.add(a, a, { stream = lab.default_stream() }) end)
    end), by_default, "stream = goes before lab.with")
end

local function spin()
    local span = lab.profile(function() lab.spin(0.5, { blocks = 3, threads = 64 }) end):spans()[1]
    T.is(span.kind, "kernel", "spin is a kernel")
    local longer_us = lab.device().simulated and 1e-3 or 1000
    T.near(span.end_us - span.start_us, 500 + longer_us / 2, longer_us / 2 + 1e-3,
           "that lasts as long as asked")
    T.lives(function() lab.spin(0) end, "no time at all is a time")
    lab.synchronize()
    local function bad(pattern, name, ...)
        local args = table.pack(...)
        refuses(function() lab.spin(table.unpack(args, 1, args.n)) end, "SL_EINVAL", pattern, name)
    end
    bad("%-1", "a negative time is refused", -1)
    bad("nan", "NaN is refused", 0 / 0)
    bad("inf", "infinity is refused", math.huge)
    bad("spin", "text is refused", "1")
    bad("spin", "no time is refused")
    bad("blocks", "negative blocks are refused", 1, { blocks = -1 })
    bad("blocks.*at least 1.*0", "no blocks are refused, with what is needed", 1, { blocks = 0 })
    bad("threads.*at least 1.*0", "so are no threads", 1, { threads = 0 })
    bad("blocks", "half a block is refused", 1, { blocks = 1.5 })
    bad("threads", "negative threads are refused", 1, { threads = -32 })
    bad("1024", "more threads a block than the device has are refused with its limit", 1,
        { threads = 2048 })
    bad(tostring(lab.device().max_shared_bytes_per_block),
        "more shared memory than a block may have is refused with the limit", 1,
        { shared_bytes = 1e6 | 0 })
    bad("block_count", "a typo cannot pass", 1, { block_count = 2 })
end

local function nothing_is_enqueued_by_an_error()
    local a, b = lab.zeros(4, 3), lab.zeros(4, 3)
    local out = lab.full(7, 4, 4)
    lab.synchronize()
    local tl = lab.profile(function()
        pcall(lab.matmul, a, b, { out = out })
        pcall(lab.add, a, out)
        pcall(lab.spin, -1)
        pcall(lab.softmax, a, { oot = out })
    end)
    T.is(#tl:spans(), 0, "a refused operation is not enqueued")
    T.is(out:get(1, 1), 7, "and its out keeps its values")
end

T.open()
for _, test in ipairs{ matmul, tf32_rounds_its_inputs, fused_matmuls, bad_matmuls, pow,
                       add_and_mul, sub_and_div,
                       neg_and_relu, names_of_kernels, softmax, sum,
                       allclose, streams_of_kernels, spin, nothing_is_enqueued_by_an_error } do
    test()
end
T.done()
