-- 20-api-views.t.lua - making views: which sizes and parts there are, what is refused, how
-- they are shown.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function sizes_of(list)
    local sizes = {}
    for i, t in ipairs(list) do sizes[i] = t:size(1) end
    return table.concat(sizes, " ")
end

local function views()
    local t = lab.tensor{ 1, 2, 3, 4, 5, 6 }
    T.is_deeply({ t:view(-1, 3):size() }, { 2, 3 }, "-1 is what is left")
    T.is_deeply({ t:view(3, 1, 2):size() }, { 3, 1, 2 }, "any sizes that hold as many")
    T.is(t:narrow(1, 4, 1):view():item(), 4, "one element can be a scalar")
    T.is_deeply({ lab.zeros():view(1, 1):size() }, { 1, 1 }, "and a scalar a matrix")
    T.is(t:view(2.0, 3.0):size(1), 2, "a float with a whole value is a size")
    T.is(t:view(6).is_view, true, "a view is one also of the same sizes")
    T.is(t.is_view, false, "the tensor is none")
    T.is(t:view(6) == t:view(6), false, "each is a tensor of its own")
    refuses(function() t:view(4, -1) end, "SL_ESHAPE",
            "the tensor is 6 and has 6 elements: they do "
            .. "not make 4x%-1$", "6 elements in rows of 4")
    refuses(function() t:view(5) end, "SL_ESHAPE", "they do not make 5$", "or 5 of them")
    refuses(function() t:view() end, "SL_ESHAPE", "they do not make scalar$", "or one")
    refuses(function() t:view(-1, -1) end, "SL_ESHAPE", "sizes 1 and 2 are %-1", "-1 twice")
    refuses(function() t:view(-2, -3) end, "SL_ESHAPE", "size 1 is %-2", "-2 as a size")
    refuses(function() t:view(1.5, 4) end, "SL_EINVAL",
            "must be a whole number, got 1.5", "1.5 as one")
    refuses(function() t:view({ 2, 3 }) end, "SL_EINVAL", "must be a whole number, got table",
            "sizes in a table")
    refuses(function() t:view(1, 1, 1, 1, 1, 1, 1, 1, 6) end, "SL_ESHAPE",
            "at most 8 dimensions, got 9", "nine dimensions")
    refuses(function() t.view(5, 6) end, "SL_EINVAL", "view: .*must be a tensor, got ", "no tensor")
end

local function parts()
    local t = lab.tensor{ { { 1, 2 }, { 3, 4 }, { 5, 6 } }, { { 7, 8 }, { 9, 10 }, { 11, 12 } } }
    T.is_deeply(t:narrow(1, 2, 1):totable(), { { { 7, 8 }, { 9, 10 }, { 11, 12 } } },
                "a part of the first")
    T.is_deeply(t:narrow(1, 2, 1):narrow(2, 2, 2):totable(), { { { 9, 10 }, { 11, 12 } } },
                "of the second, when the first has size 1")
    T.is_deeply(t:narrow(-3, 1, 1):narrow(-2, 3, 1):narrow(-1, 2, 1):totable(), { { { 6 } } },
                "dimensions count from the end as well")
    T.is(t:narrow(2, 1, 3):numel(), 12, "all of a dimension")
    T.is(t:narrow(3, 3, 0):numel(), 0, "or nothing of it")
    T.is(t:narrow(1, 2, 1):storage_offset(), 6, "the part begins behind six elements")
    T.is(t:narrow(1, 2, 1):nbytes(), 24, "and has bytes of its own")
    refuses(function() t:narrow(2, 1, 2) end, "SL_ESHAPE",
            "a part of dimension 2 of 2x3x2 does not "
            .. "lie in one piece", "a part that does not lie in one piece")
    refuses(function() t:narrow(1, 2, 2) end, "SL_ESHAPE", "start 2 and length 2 lie outside of "
            .. "dimension 1, which has 2", "more than there is")
    refuses(function() t:narrow(1, 4, 0) end, "SL_ESHAPE", "outside", "nothing from beyond the end")
    for _, dim in ipairs{ 0, 4, -4 } do
        refuses(function() t:narrow(dim, 1, 1) end, "SL_ESHAPE",
                ("there is no dimension %d: the tensor has 3"):format(dim):gsub("-", "%%-"),
                "dimension " .. dim)
    end
    refuses(function() t:narrow(1, 0, 1) end, "SL_EINVAL",
            "%(start%) must be at least 1, got 0", "start 0")
    refuses(function() t:narrow(1, 1, -1) end, "SL_EINVAL",
            "%(length%) must be at least 0", "length -1")
    refuses(function() t:narrow(1, 1) end, "SL_EINVAL", "%(length%)", "no length")
    refuses(function() t:narrow(1, 1, 1, {}) end, "SL_EINVAL", "narrow",
            "options, of which it has none")
    refuses(function() lab.zeros():narrow(1, 1, 1) end, "SL_ESHAPE", "a scalar has no dimension",
            "a scalar")
end

local function chunks()
    local t = lab.ones(10, 2)
    T.is(sizes_of(t:chunk(4)), "3 3 3 1", "10 in 4 parts")
    T.is(sizes_of(t:chunk(5)), "2 2 2 2 2", "in 5")
    T.is(sizes_of(t:chunk(1)), "10", "in 1")
    refuses(function() lab.empty(1 << 40, { device = "cpu" }):chunk(1 << 30) end, "SL_ESHAPE",
            "1073741824 views are too many, at most 1000000", "nobody wants a thousand million")
    T.is(sizes_of(t:chunk(20)), "1 1 1 1 1 1 1 1 1 1", "in more than there are")
    T.is(sizes_of(lab.ones(9):chunk(4)), "3 3 3", "9 in 4 parts are three")
    T.is(sizes_of(lab.ones(0, 3):chunk(3)), "0 0 0", "nothing in 3 parts")
    T.is_deeply({ t:chunk(4)[4]:size() }, { 1, 2 }, "the other dimensions stay")
    T.is(t:chunk(4)[4]:storage_offset(), 18, "the last one begins behind nine rows")
    refuses(function() t:chunk(0) end, "SL_EINVAL", "must be from 1 to", "no part")
    refuses(function() t:chunk(1.5) end, "SL_EINVAL", "must be a whole number", "one and a half")
    refuses(function() t:chunk() end, "SL_EINVAL", "number of chunks", "no number")
    refuses(function() lab.zeros():chunk(2) end, "SL_ESHAPE",
            "a scalar has no dimension to cut", "a scalar")
end

local function wrong_use()
    local t, m = lab.ones(8), lab.ones(2, 2)
    local low, mid, high = t:narrow(1, 1, 4), t:narrow(1, 3, 4), t:narrow(1, 5, 4)
    refuses(function() lab.add(low, 1, { out = mid }) end, "SL_EINVAL",
            "out and a share some", "a half "
            .. "shared output")
    refuses(function() lab.add(high, low, { out = mid }) end, "SL_EINVAL", "out and a share some",
            "with either operand")
    refuses(function() lab.softmax(low, { out = mid }) end, "SL_EINVAL",
            "out and a share", "of softmax")
    refuses(function() lab.sum(t, { out = t:narrow(1, 2, 1) }) end, "SL_EINVAL",
            "out and a share", "of sum")
    refuses(function() lab.matmul(low:view(2, 2), m, { out = mid:view(2, 2) }) end, "SL_EINVAL",
            "out shares memory with a", "of matmul")
    refuses(function() lab.matmul(m, low:view(2, 2), { out = low:view(2, 2) }) end, "SL_EINVAL",
            "out shares memory with b", "also all of it")
    refuses(function() low:copy_(mid) end, "SL_EINVAL", "share some of their bytes",
            "a copy to itself, "
            .. "two elements further")
    T.lives(function() low:copy_(t:narrow(1, 1, 4)) end, "just to itself it does nothing")
    T.lives(function() lab.add(low, high, { out = low }) end, "in place it is added")
    T.is(lab.sum(t):item(), 12, "once")
    local h = lab.ones(4, { device = "cpu" })
    local v = h:view(2, 2)
    refuses(function() v:pin() end, "SL_EINVAL", "this is a view", "page-locking a view")
    refuses(function() lab.cuda.free(low) end, "SL_EINVAL", "this is a view", "cudaFree of a view")
    h:free()
    refuses(function() h:view(2, 2) end, "SL_ECLOSED", "freed", "a view of a freed tensor")
    T.is(v:get(2, 2), 1, "one that was made before is there")
end

local function shown()
    local h = lab.zeros(4, { device = "cpu", pinned = true })
    T.is(tostring(lab.ones(4):view(2, 2)), "tensor 2x2 float32 on cuda (view)", "a view says so")
    T.is(tostring(h:narrow(1, 1, 2)), "tensor 2 float32 on cpu (pinned view)",
         "a pinned one as well")
    local v = h:narrow(1, 1, 2)
    v:free()
    T.is(tostring(v), "tensor 2 float32 on cpu (freed)", "when it is freed that is said")
    local before = lab.empty(1).id
    local view = lab.ones(2):view(1, 2)
    T.is(view.id, before + 2, "a view has a number of its own")
    lab.current_stream():launch_host_func(function() h:narrow(1, 2, 2):set(1, 5) end)
    lab.synchronize()
    T.is(h:get(2), 5, "a host function may make views")
end

T.open()
views()
parts()
chunks()
wrong_use()
shown()
T.done()
