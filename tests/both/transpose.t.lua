-- transpose.t.lua - two dimensions that change places, by a kernel that copies.

local T = require "tap"
local ideal = require "lua.ideal"

T.open()

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- A tensor whose elements, in reading order, are 0, 1, 2, ... modulo 251, which every dtype holds.
local function counted(shape, dtype)
    local n, list = 1, {}
    for _, size in ipairs(shape) do n = n * size end
    for i = 1, n do list[i] = (i - 1) % 251 end
    return lab.tensor(list, { dtype = dtype }):view(table.unpack(shape))
end

-- Where the element at `flat` of a tensor of `shape` was before d1 and d2 changed places.
local function source(flat, shape, d1, d2)
    local index = {}
    for d = #shape, 1, -1 do
        index[d] = flat % shape[d]
        flat = flat // shape[d]
    end
    index[d1], index[d2] = index[d2], index[d1]
    local before = table.move(shape, 1, #shape, 1, {})
    before[d1], before[d2] = shape[d2], shape[d1]
    local at = 0
    for d = 1, #before do at = at * before[d] + index[d] end
    return at
end

local function is_transposed(got, shape, d1, d2)
    local want = { table.unpack(shape) }
    want[d1], want[d2] = shape[d2], shape[d1]
    for d, size in ipairs(want) do
        if got:size(d) ~= size then return false end
    end
    local list = got:view(-1):totable()
    for i = 1, #list do
        if list[i] ~= source(i - 1, want, d1, d2) % 251 then return false end
    end
    return true
end

local cases = {     -- sizes, and the two dimensions
    { { 2, 3 }, 1, 2 }, { { 1, 7 }, 1, 2 }, { { 33, 65 }, 1, 2 }, { { 100, 31 }, 2, 1 },
    { { 64, 64 }, 1, 2 },
    { { 3, 4, 5 }, 1, 2 }, { { 3, 4, 5 }, 1, 3 }, { { 3, 4, 5 }, 2, 3 }, { { 3, 4, 5 }, 2, 2 },
    { { 2, 33, 3, 34 }, 2, 4 }, { { 2, 33, 3, 34 }, 1, 3 }, { { 2, 3, 2, 3, 2 }, 2, 4 },
    { { 5 }, 1, 1 },
}

local function values()
    for _, dtype in ipairs{ "float32", "float64", "bfloat16", "int32", "uint8" } do
        for _, case in ipairs(cases) do
            local shape, d1, d2 = table.unpack(case)
            local got = lab.transpose(counted(shape, dtype), d1, d2)
            T.ok(is_transposed(got, shape, d1, d2), ("transpose(%d, %d) of %s %s"):format(d1, d2,
                 table.concat(shape, "x"), dtype))
        end
    end
    T.is_deeply({ lab.transpose(lab.empty(3, 0), 1, 2):size() }, { 0, 3 }, "nothing is transposed")
    T.is_deeply({ lab.transpose(lab.empty(2, 0, 3), 2, 3):size() }, { 2, 3, 0 }, "in any shape")
    local huge = 1 << 40
    T.is_deeply({ lab.transpose(lab.empty(0, huge, huge, 3), 2, 4):size() }, { 0, 3, huge, huge },
                "and of any size")
end

local function by_hand()
    local a = lab.tensor({ { 1, 2, 3 }, { 4, 5, 6 } })
    local want = { { 1, 4 }, { 2, 5 }, { 3, 6 } }
    T.is_deeply(a:t():totable(), want, "t() transposes a matrix")
    T.is_deeply(a:transpose(1, 2):totable(), want, "so does transpose(1, 2)")
    T.is_deeply(a:transpose(-1, -2):totable(), want, "-1 is the last dimension")
    T.is_deeply(a:t():t():totable(), a:totable(), "twice is what it was")
    T.is_deeply(lab.matmul(a, a:t()):totable(), { { 14, 32 }, { 32, 77 } },
                "products take what comes out")
    local out = lab.empty(3, 2)
    T.is(a:t{ out = out }, out, "out = is what t then gives")
    T.is_deeply(out:totable(), want, "and where the elements go")
    local part = lab.tensor({ { 9, 9, 9 }, { 1, 2, 3 }, { 4, 5, 6 } }):narrow(1, 2, 2)
    local room = lab.zeros(8)
    part:t{ out = room:narrow(1, 2, 6):view(3, 2) }
    T.is_deeply(room:totable(), { 0, 1, 4, 2, 5, 3, 6, 0 }, "from a view into a view")
end

-- Other than in PyTorch it is a copy, which the timeline has.
local function it_is_an_operation()
    local a = lab.tensor({ { 1, 2 }, { 3, 4 } })
    local b
    lab.synchronize()
    local tl = lab.profile(function() b = a:t() end)
    T.is(#tl:spans(), 1, "t() is one operation")
    T.is(tl:spans()[1].name, "transpose_f32", "of its own name")
    T.is(b.is_view, false, "what it gives is no view")
    a:fill_(0)
    T.is(b:get(1, 2), 3, "and does not see what is written to the tensor later")
end

local function refusals()
    local a = lab.ones(2, 3)
    refuses(function() a:transpose(1, 3) end, "SL_ESHAPE",
            "transpose: there is no dimension 3: the tensor has 2", "a dimension is named")
    refuses(function() a:transpose(0, 1) end, "SL_ESHAPE", "no dimension 0", "they begin at 1")
    refuses(function() a:transpose(1) end, "SL_EINVAL", "dimension", "there are two of them")
    refuses(function() lab.ones(3):t() end, "SL_ESHAPE",
            "t: needs a matrix; the tensor has 1 dimension %(3%)", "t() is for matrices")
    refuses(function() lab.ones(2, 2, 2):t() end, "SL_ESHAPE", "3 dimensions %(2x2x2%)",
            "of two dimensions")
    refuses(function() a:t{ out = lab.empty(2, 3) } end, "SL_ESHAPE", "out is 2x3, needed 3x2",
            "out has the sizes of the result")
    refuses(function() a:t{ out = lab.empty(3, 2, { dtype = "int32" }) } end, "SL_EDTYPE", "int32",
            "and the dtype")
    local s = lab.ones(2, 2)
    refuses(function() s:t{ out = s } end, "SL_EINVAL",
            "out may not be a: transpose reads it while it writes", "it is not in place")
    refuses(function() s:t{ out = s:view(2, 2) } end, "SL_EINVAL", "shares memory with a",
            "not by way of a view either")
    refuses(function() lab.ones(2, 2, { device = "cpu" }):t() end, "SL_EPLACE",
            "a is on the cpu; t:cuda%(%) copies a tensor to the GPU", "it works on the GPU")
    refuses(function() a:t(1) end, "SL_EINVAL", "options", "options come in a table")
end

for _, test in ipairs{ values, by_hand, it_is_an_operation, refusals } do test() end
T.done()
