-- casts.t.lua - the numbers of a tensor in another dtype.

local T = require "tap"
local N = require "both.numbers"
local ideal = require "lua.ideal"

T.open()

local dtypes = { "float32", "float64", "bfloat16", "float16", "int32", "uint8" }
local least, greatest = -2147483648, 2147483647

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function whole(x, low, high)
    if x ~= x then return 0 end
    x = math.max(low, math.min(high, x))
    return x < 0 and math.ceil(x) or math.floor(x)
end

-- What a number becomes: to halves by way of float32, to whole numbers towards zero.
local function converted(x, dtype)
    if dtype == "float64" then return x end
    if dtype == "int32" then return whole(x, least, greatest) end
    if dtype == "uint8" then return whole(x, 0, 255) end
    return N.round(N.round(x, "float32"), dtype)
end

local numbers = {
    0, 1, -1, 2.5, -2.5, 0.999, -0.999, 254.7, 254.99999999, 255, 256, -3, 1e6 + 0.5, 16777217,
    greatest, least,
    1e10, -1e10, 1 / 3, 1e-10, 65504, 70000, 1e300, -1e300, math.huge, -math.huge, 0 / 0,
}

local function each_to_each()
    for _, from in ipairs(dtypes) do
        local source = lab.tensor(numbers, { dtype = from })
        local held = source:totable()
        for _, to in ipairs(dtypes) do
            local got = source:to(to)
            T.is(got.dtype, to, ("%s to %s has the dtype"):format(from, to))
            N.equal(T, got, N.map(held, function(x) return converted(x, to) end),
                    ("%s to %s has the numbers"):format(from, to))
        end
    end
end

local function methods()
    local t = lab.tensor({ { 1.5, -2 }, { 300, 4 } })
    for name, dtype in pairs{ float = "float32", double = "float64", half = "float16",
                              bfloat16 = "bfloat16", int = "int32", byte = "uint8" } do
        T.is(t[name](t).dtype, dtype, "t:" .. name .. "()")
    end
    T.is(t:float(), t, "a tensor that has the dtype is itself what comes out")
    T.is(t:to("float32"), t, "by its name as well")
    T.is_deeply(t:int():totable(), { { 1, -2 }, { 300, 4 } }, "shapes stay")
    T.is_deeply((t:int() * 2):float():totable(), { { 2, -4 }, { 600, 8 } }, "and back")
    local out = lab.empty(2, 2, { dtype = "float64" })
    T.is(t:double{ out = out }, out, "out = is what comes out")
    T.is(out:get(2, 1), 300, "and where the numbers go")
    local copy = lab.empty(2, 2)
    T.is(t:float{ out = copy }, copy, "also of the same dtype")
    T.is_deeply(copy:totable(), t:totable(), "which is a copy")
    T.is(t:to("cpu").device, "cpu", "a place is still a place")
end

local function large_and_odd()
    for _, n in ipairs{ 0, 1, 3, 4, 1023, 1025, 70001 } do
        local t = lab.tensor(N.whole(n, -1000, 1000, n))
        T.ok(lab.allclose(t:int():double():float(), t, { rtol = 0, atol = 0 }),
             n .. " whole numbers come back")
    end
    local room = lab.full(9, 1004, { dtype = "float16" })
    local t = lab.tensor(N.whole(1001, -1000, 1000, 2))
    lab.full(9, 1003):narrow(1, 2, 1001):copy_(t):half{ out = room:narrow(1, 2, 1001) }
    T.ok(lab.allclose(room:narrow(1, 2, 1001), t), "from a view into a view")
    T.ok(room:get(1) == 9 and room:get(1003) == 9, "and nothing beside")
end

local function it_is_an_operation()
    local t, s = lab.ones(4), lab.stream{ name = "side" }
    lab.synchronize()
    local tl = lab.profile(function() t:double{ stream = s } end)
    T.is(#tl:spans(), 1, "a cast is one operation")
    T.is(tl:spans()[1].name, "cast_f64", "named by the dtype that comes out")
    T.is(tl:spans()[1].stream, "side", "in the stream that it is given")
end

local function refusals()
    local t = lab.ones(2, 2)
    refuses(function() t:to("float8") end, "SL_EINVAL", "a device, or a dtype, got \"float8\"",
            "an unknown dtype is named")
    refuses(function() lab.ones(2, { device = "cpu" }):double() end, "SL_EPLACE",
            "double: a is on the cpu; t:cuda%(%) copies a tensor to the GPU", "it works on the GPU")
    refuses(function() t:double{ out = lab.empty(2, 2) } end, "SL_EDTYPE",
            "out is float32, needed float64", "out has the dtype")
    refuses(function() t:int{ out = lab.empty(4, { dtype = "int32" }) } end, "SL_ESHAPE",
            "out is 4, needed 2x2", "and the shape")
    refuses(function() t:float{ out = t } end, "SL_EINVAL",
            "out may not be a: cast reads it while it writes", "and is another tensor")
    refuses(function() t:int{ non_blocking = true } end, "SL_EINVAL", "non_blocking",
            "a kernel has no non_blocking")
end

for _, test in ipairs{ each_to_each, methods, large_and_odd, it_is_an_operation, refusals } do
    test()
end
T.done()
