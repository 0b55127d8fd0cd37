-- 20-api-tensors.t.lua - making tensors, looking at them, copying, pinning, freeing.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function shape(t) return table.pack(t:size()) end

-- ---- making ------------------------------------------------------------------

local function constructors()
    local t = lab.tensor({ { 1, 2, 3 }, { 4, 5, 6 } })
    T.is_deeply(t:totable(), { { 1, 2, 3 }, { 4, 5, 6 } },
                "lab.tensor takes nested tables, rows first")
    T.is(t.dtype, "float32", "the dtype is float32 unless said")
    T.is(t.device, "cuda", "the device is the GPU unless said")
    T.is(t.pinned, false, "a tensor on the GPU is not pinned")
    T.is(t:numel(), 6, "numel counts the elements")
    T.is(t:nbytes(), 24, "nbytes counts 4 bytes for each float32")
    T.is_deeply(lab.zeros(2, 2):totable(), { { 0, 0 }, { 0, 0 } }, "lab.zeros gives zeros")
    local none = lab.empty(1 << 40, 1 << 40, 0)
    T.is(tostring(none:transpose(2, 3)), "tensor 1099511627776x0x1099511627776 float32 on cuda",
         "no elements can be transposed, whatever the sizes")
    lab.synchronize()
    refuses(function() none:get(1 << 40, 1 << 40, 1) end, "SL_ESHAPE", "index 3 is 1, outside 1..0",
            "and none of them is there")
    T.is_deeply(lab.zeros(2, 0, 1 << 40):totable(), { {}, {} }, "without elements lists are empty")
    for _, sizes in ipairs{ { 1 << 40, 0 }, { 2000, 2000, 0 }, { 1 << 62, 1 << 62, 0 } } do
        refuses(function() lab.empty(table.unpack(sizes)):totable() end, "SL_ESHAPE",
                "has no element, and more than 1000000 lists", "and there are not too many of them")
    end
    T.is_deeply(lab.ones(3):totable(), { 1, 1, 1 }, "lab.ones gives ones")
    T.is_deeply(lab.full(7, 1, 2):totable(), { { 7, 7 } }, "lab.full takes the value first")
    T.is(lab.empty(5, 4):numel(), 20, "lab.empty gives a tensor of the size")
    T.is_deeply(lab.tensor({ 1, 2, 3 }):totable(), { 1, 2, 3 }, "a flat table makes one dimension")
    T.is_deeply(lab.tensor({ { { 1 }, { 2 } }, { { 3 }, { 4 } } }):totable(),
                { { { 1 }, { 2 } }, { { 3 }, { 4 } } },
                "three levels make three dimensions")
    T.is(lab.tensor({ 1.5 }, { device = "cpu" }):get(1), 1.5,
         "fractions survive where float32 has them")
    T.is(lab.full(0.1, 1):get(1), 0.10000000149011612, "values are rounded to float32")
    T.is(lab.empty(0, 3):numel(), 0, "a dimension may be zero")
    T.is_deeply(lab.empty(0):totable(), {}, "a tensor without elements is an empty table")
    local d = lab.empty(1, 2, 1, 3)
    T.is(d:numel(), 6, "any number of dimensions")
end

local function sizes()
    local t = lab.empty(2, 3, 4)
    local size = t:size()
    local first, second = size, nil
    if type(size) == "table" then
        first, second = size[1], size[2]
        T.is(#size, 3, "size lists the dimensions")
    else
        local dims = shape(t)
        first, second = dims[1], dims[2]
        T.is(dims.n, 3, "size lists the dimensions")
    end
    T.is(first, 2, "the first dimension first")
    T.is(second, 3, "then the second")
    T.is(math.type(first), "integer", "dimensions are integers")
    T.is(t:size(2), 3, "size(d) gives one dimension")
    T.is(t:size(-1), 4, "size(-1) gives the last one, as in PyTorch")
    T.is(t:size(-3), 2, "and so on to the first")
    for _, d in ipairs{ 4, 0, -4 } do
        refuses(function() t:size(d) end, "SL_ESHAPE", ("dimension %d:"):format(d):gsub("-", "%%-"),
                "there is no dimension " .. d)
    end
    T.is(t.ndim, 3, "ndim counts them")
    T.lives(function() lab.empty(2, 3, nil) end, "the options may be nil, as in other functions")
    T.is(lab.empty(2.0, 3.0):numel(), 6, "a float with a whole value is a size")
end

local function dtypes()
    local bytes = { float32 = 4, bfloat16 = 2, float16 = 2, uint8 = 1, float64 = 8, int32 = 4 }
    for _, dtype in ipairs{ "float32", "bfloat16", "float16", "uint8", "float64", "int32" } do
        local t = lab.full(3, 2, 2, { dtype = dtype })
        T.is(t.dtype, dtype, dtype .. " is a dtype")
        T.is(t:nbytes(), 4 * bytes[dtype], dtype .. " has its size in bytes")
        T.is(t:get(2, 2), 3, dtype .. " holds a small integer")
    end
    local function stored(value, dtype) return lab.tensor({ value }, { dtype = dtype }):get(1) end
    -- bfloat16 has 8 significant bits: between 256 and 512 only even numbers; ties to even.
    T.is(stored(257, "bfloat16"), 256, "bfloat16 rounds a tie to even: 257 down to 256")
    T.is(stored(259, "bfloat16"), 260, "bfloat16 rounds a tie to even: 259 up to 260")
    T.is(stored(1 / 3, "bfloat16"), 0.333984375, "bfloat16 of 1/3 is 171/512")
    -- float16 has 11 significant bits: between 2048 and 4096 only even numbers.
    T.is(stored(2049, "float16"), 2048, "float16 rounds a tie to even: 2049 down to 2048")
    T.is(stored(2051, "float16"), 2052, "float16 rounds a tie to even: 2051 up to 2052")
    T.is(stored(65504, "float16"), 65504, "float16 reaches 65504")
    T.is(stored(2 ^ -24, "float16"), 2 ^ -24, "float16 has subnormal numbers")
    T.is(stored(255, "uint8"), 255, "uint8 reaches 255")
    T.is(stored(math.huge, "float32"), math.huge, "infinity is a value")
    local nan = stored(0 / 0, "float32")
    T.ok(nan ~= nan, "NaN is a value")
    refuses(function() lab.empty(2, { dtype = "int64" }) end, "SL_EDTYPE SL_EINVAL", "int64",
            "an unknown dtype is named")
end

local function places()
    local cpu = lab.ones(2, { device = "cpu" })
    T.is(cpu.device, "cpu", "device = \"cpu\" makes a host tensor")
    T.is(cpu.pinned, false, "which is pageable")
    local pinned = lab.ones(2, { device = "cpu", pinned = true })
    T.is(pinned.pinned, true, "unless pinned = true")
    T.is(pinned.device, "cpu", "a pinned tensor is on the host")
    T.is(lab.ones(2, { device = "cuda" }).device, "cuda", "device = \"cuda\" makes one on the GPU")
    refuses(function() lab.empty(2, { device = "gpu" }) end, "SL_EINVAL", "gpu",
            "an unknown device is named")
    T.ok(ideal.error_of(lab.empty, 2, { device = "cuda", pinned = true }),
         "device memory cannot be pinned")
    local stream = lab.stream{}
    T.lives(function() lab.ones(2, { stream = stream }) end,
            "stream = is an option of the constructors")
    refuses(function() lab.ones(2, { stream = 3 }) end, "SL_EINVAL", "stream",
            "which must be a stream")
end

local function bad_sizes()
    local function bad(code, pattern, name, ...)
        local sizes = table.pack(...)
        refuses(function() lab.empty(table.unpack(sizes, 1, sizes.n)) end, code, pattern, name)
    end
    -- A number that is no size may be called a bad argument or a bad shape.
    local function either(name, ...)
        local err = ideal.error_of(lab.empty, ...)
        local right = type(err) == "table" and (err.code == "SL_ESHAPE" or err.code == "SL_EINVAL")
            and (err.message:find("%d") or err.message:find("nan") or err.message:find("inf"))
        if not T.ok(right, name) then T.diag("  raised " .. tostring(err)) end
    end
    either("a negative size is refused with the number", -3)
    either("also as the second dimension", 2, -1)
    either("a size of 1.5 is refused with the number", 1.5)
    either("a size of NaN is refused", 0 / 0)
    either("an infinite size is refused", math.huge)
    bad("SL_EINVAL", "string", "a size that is a string is refused", "12")
    bad("SL_EINVAL", "boolean", "a size that is a boolean is refused", true)
    either("rows * columns that overflow are refused", 2 ^ 40 | 0, 2 ^ 40 | 0)
    either("bytes that overflow are refused", 2 ^ 62 | 0)
    either("the largest integer is refused", math.maxinteger)
    either("2^63 as a float is refused", 2.0 ^ 63)
    either("more than 8 dimensions are refused", 1, 1, 1, 1, 1, 1, 1, 1, 1)
    T.is(lab.empty(0, math.maxinteger):numel(), 0, "nothing times anything is nothing")
end

local function ragged_tables()
    refuses(function() lab.tensor({ { 1, 2 }, { 3 } }) end, "SL_ESHAPE", "2",
            "a ragged table is refused")
    refuses(function() lab.tensor({ { 1, 2 }, 3 }) end, "SL_ESHAPE", "tensor",
            "so is a number among rows")
    refuses(function() lab.tensor{ { 1, 2 }, { 3 } } end, "SL_ESHAPE",
            "tensor: row 2 has 1 element, row 1 has 2$", "rows of two lengths are named")
    refuses(function() lab.tensor{ { { 1 }, { 2 } }, { { 3 }, { 4, 5 } } } end, "SL_ESHAPE",
            "tensor: row 2, 2 has 2 elements, row 1, 1 has 1$", "on any level")
    refuses(function() lab.tensor({ 1, { 2 } }) end, "SL_ESHAPE", "tensor",
            "and a row among numbers")
    T.ok(ideal.error_of(lab.tensor, { 1, "2" }), "text is no element")
    T.ok(ideal.error_of(lab.tensor, { 1, nil, 3 }), "a hole is refused")
    T.ok(ideal.error_of(lab.tensor, "1 2 3"), "a string is no table")
    T.ok(ideal.error_of(lab.tensor), "nothing is no table")
    refuses(function() lab.tensor{ x = 1 } end, "SL_EINVAL", "the table has the key 'x'",
            "a table with a name in it is refused by that name")
    refuses(function() lab.tensor{ 1, 2, y = 1, x = 1, [true] = 2 } end, "SL_EINVAL",
            "%[true%] besides its list of 2", "of several, always the same one is reported")
    refuses(function() lab.tensor{ 1, 2, y = 1, x = 1 } end, "SL_EINVAL",
            "'x' besides its list of 2", "the first by alphabet")
    refuses(function() lab.tensor{ [2] = 5 } end, "SL_EINVAL", "%[2%] besides its list of 0",
            "a position behind a hole is refused by number")
    refuses(function() lab.tensor{ { 1, 2 }, { 3, 4, dtype = "float16" } } end, "SL_EINVAL",
            "row 2 has the key 'dtype'", "in a row as well")
    local loop = {}
    loop[1] = loop
    T.ok(ideal.error_of(lab.tensor, loop), "a table inside itself is refused")
end

local function unknown_options()
    for _, make in ipairs{ "empty", "zeros", "ones", "rand", "randn" } do
        refuses(function() lab[make](2, { devise = "cpu" }) end, "SL_EINVAL", "devise",
                "lab." .. make .. " names an unknown option")
    end
    refuses(function() lab.full(1, 2, { foo = 1 }) end, "SL_EINVAL", "foo", "so does lab.full")
    refuses(function() lab.tensor({ 1 }, { foo = 1 }) end, "SL_EINVAL", "foo", "so does lab.tensor")
    refuses(function() lab.empty(2, { pinned = 1, device = "cpu" }) end, "SL_EINVAL", "pinned",
            "an option of the wrong type is named")
end

-- ---- elements ------------------------------------------------------------------

local function get_and_set()
    for _, device in ipairs{ "cuda", "cpu" } do
        local t = lab.zeros(2, 3, { device = device })
        t:set(2, 1, 42)
        t:set(1, 3, -1.5)
        T.is_deeply(t:totable(), { { 0, 0, -1.5 }, { 42, 0, 0 } },
                    "set writes one element on " .. device)
        T.is(t:get(2, 1), 42, "get reads one element on " .. device)
    end
    local t = lab.zeros(2, 3)
    refuses(function() t:get(3, 1) end, "SL_ESHAPE SL_EINVAL", "3",
            "an index beyond the size is refused")
    refuses(function() t:get(0, 1) end, "SL_ESHAPE SL_EINVAL", "0",
            "index 0 is refused: indices are from 1")
    refuses(function() t:get(-1, 1) end, "SL_ESHAPE SL_EINVAL", "%-1",
            "a negative index is refused")
    T.ok(ideal.error_of(t.get, t, 1), "too few indices are refused")
    T.ok(ideal.error_of(t.get, t, 1, 1, 1), "too many indices are refused")
    T.ok(ideal.error_of(t.get, t, 1.5, 1), "a fraction is no index")
    T.ok(ideal.error_of(t.set, t, 1, 1), "set without a value is refused")
    T.ok(ideal.error_of(t.set, t, 1, 1, "x"), "set of a string is refused")
    T.is_deeply(t:totable(), { { 0, 0, 0 }, { 0, 0, 0 } }, "a refused set changes nothing")
end

local function items()
    T.is(lab.tensor({ 5 }):item(), 5, "item gives the number of a tensor with one element")
    T.is(lab.full(6, 1, 1):item(), 6, "whatever its number of dimensions")
    refuses(function() lab.zeros(2):item() end, "SL_ESHAPE", "2",
            "item of more elements is refused")
    T.ok(ideal.error_of(function() lab.empty(0):item() end), "item of no elements is refused")
end

-- ---- copies ----------------------------------------------------------------------

local function copies_carry_values()
    local want = { { 1, 2 }, { 3, 4 } }
    local host = lab.tensor(want, { device = "cpu" })
    local dev = host:to("cuda")
    T.is(dev.device, "cuda", "to(\"cuda\") gives a tensor on the GPU")
    T.is_deeply(dev:totable(), want, "with the values")
    local back = dev:to("cpu")
    T.is(back.device, "cpu", "to(\"cpu\") gives one on the host")
    T.is_deeply(back:totable(), want, "with the values")
    T.is(back.pinned, false, "pageable, when it blocks")
    T.is(dev:to("cpu", { non_blocking = true }).pinned, true,
         "pinned, when it does not block, as in PyTorch")
    T.is(dev:to("cpu", { pinned = true }).pinned, true, "pinned, when asked")
    T.is(dev:to("cpu", { non_blocking = true, pinned = false }).pinned, false,
         "pageable, when asked")
    T.is_deeply(host:cuda():totable(), want, "cuda() is to(\"cuda\")")
    T.is_deeply(dev:cpu():totable(), want, "cpu() is to(\"cpu\")")
    host:set(1, 1, 9)
    T.is(dev:get(1, 1), 1, "a copy does not share its source's memory")
    local target = lab.zeros(2, 2)
    T.ok(rawequal(target:copy_(dev), target) or target:copy_(dev) == target,
         "copy_ gives its target")
    T.is_deeply(target:totable(), want, "copy_ within the GPU carries values")
    local host2 = lab.zeros(2, 2, { device = "cpu" })
    host2:copy_(dev)
    T.is_deeply(host2:totable(), want, "copy_ to the host carries values")
    local host3 = lab.zeros(2, 2, { device = "cpu" })
    host3:copy_(host2)
    T.is_deeply(host3:totable(), want, "copy_ on the host carries values")
    host3:fill_(5)
    target:copy_(host3)
    T.is_deeply(target:totable(), { { 5, 5 }, { 5, 5 } }, "copy_ to the GPU carries values")
    for _, dtype in ipairs{ "bfloat16", "float16", "uint8" } do
        local t = lab.tensor({ 1, 2, 3 }, { dtype = dtype })
        T.is(t:cpu().dtype, dtype, "a copy keeps " .. dtype)
        T.is_deeply(t:cpu():cuda():totable(), { 1, 2, 3 }, "and its values")
    end
    local s = lab.stream{}
    local there = host2:to("cuda", { stream = s, non_blocking = true })
    s:synchronize()
    T.is_deeply(there:totable(), want, "stream = says where the copy runs")
    T.is_deeply(lab.empty(0):cpu():totable(), {}, "an empty tensor can be copied")
end

local function to_the_same_place()
    local host, dev = lab.ones(2, { device = "cpu" }), lab.ones(2)
    T.is(host:to("cpu"), host, "to the place where it is gives the tensor itself, as in PyTorch")
    T.is(dev:cuda(), dev, "on the GPU as well")
end

local function bad_copies()
    local a = lab.zeros(2, 3)
    refuses(function() a:copy_(lab.zeros(3, 2)) end, "SL_ESHAPE", "2x3.*3x2",
            "copy_ names both shapes")
    refuses(function() a:copy_(lab.zeros(2, 3, { dtype = "float16" })) end, "SL_EDTYPE", "float16",
            "copy_ names the dtypes")
    refuses(function() a:to("gpu") end, "SL_EINVAL", "gpu", "to names an unknown device")
    refuses(function() a:to("cpu", { nonblocking = true }) end, "SL_EINVAL", "nonblocking",
            "a typo cannot pass")
    refuses(function() a:copy_(a, { non_blocking = "yes" }) end, "SL_EINVAL", "non_blocking",
            "options have types")
    T.ok(ideal.error_of(a.copy_, a, 3), "a number is no tensor")
    T.ok(ideal.error_of(a.copy_, a), "nothing is no tensor")
    T.ok(ideal.error_of(a.to, a), "to needs a place")
end

local function pinning()
    local host = lab.tensor({ 1, 2 }, { device = "cpu" })
    local copy = host:pin_memory()
    T.is(copy.pinned, true, "pin_memory gives a pinned tensor")
    T.is(host.pinned, false, "and leaves its own as it was")
    T.is_deeply(copy:totable(), { 1, 2 }, "with the values")
    host:set(1, 9)
    T.is(copy:get(1), 1, "in memory of its own")
    host:pin()
    T.is(host.pinned, true, "pin locks a tensor where it is")
    T.is_deeply(host:totable(), { 9, 2 }, "and keeps its values")
    refuses(function() host:pin() end, "SL_ESTATE", "pin", "pinning twice is refused")
    host:unpin()
    T.is(host.pinned, false, "unpin takes the lock away")
    refuses(function() host:unpin() end, "SL_ESTATE", "unpin",
            "unpinning pageable memory is refused")
    local dev = lab.ones(2)
    refuses(function() dev:pin() end, "SL_EPLACE", "pin", "device memory cannot be pinned in place")
    refuses(function() dev:unpin() end, "SL_EPLACE", "unpin", "nor unpinned")
    refuses(function() dev:pin_memory() end, "SL_EPLACE", "pin_memory",
            "nor copied to pinned memory that way")
end

local function filling()
    for _, device in ipairs{ "cuda", "cpu" } do
        local t = lab.ones(2, { device = device })
        T.is(t:fill_(3), t, "fill_ gives its tensor on " .. device)
        T.is_deeply(t:totable(), { 3, 3 }, "fill_ sets every element on " .. device)
        T.is(t:zero_(), t, "zero_ gives its tensor on " .. device)
        T.is_deeply(t:totable(), { 0, 0 }, "zero_ sets zeros on " .. device)
    end
    T.ok(ideal.error_of(function() lab.ones(2):fill_() end), "fill_ needs a value")
    T.ok(ideal.error_of(function() lab.ones(2):fill_("3") end), "which is a number")
end

-- ---- the end -----------------------------------------------------------------------

local function freeing()
    local t, other = lab.ones(2, 2), lab.ones(2, 2)
    t:free()
    local uses = {
        get = function() t:get(1, 1) end, set = function() t:set(1, 1, 2) end,
        totable = function() t:totable() end, fill_ = function() t:fill_(1) end,
        zero_ = function() t:zero_() end, sum = function() t:sum() end,
        to = function() t:to("cpu") end, copy_ = function() other:copy_(t) end,
        ["copy_ into it"] = function() t:copy_(other) end, add = function() lab.add(t, other) end,
        ["add beside it"] = function() lab.add(other, t) end,
        ["out = it"] = function() lab.add(other, other, { out = t }) end,
        matmul = function() lab.matmul(t, other) end, ["free again"] = function() t:free() end,
    }
    local names = {}
    for name in pairs(uses) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
        refuses(uses[name], "SL_ECLOSED", "freed", "after free: " .. name .. " is refused")
    end
    T.like(tostring(t), "%w", "a freed tensor still prints")
end

local function freeing_in_flight()
    local s = lab.stream{}
    local a = lab.full(2, 4)
    local out = lab.zeros(4)
    lab.synchronize()
    lab.spin(1, { stream = s })
    lab.mul(a, 3, { out = out, stream = s })
    a:free()
    lab.synchronize()
    T.is(out:get(1), 6, "a tensor freed behind a queued kernel is there until the kernel has run")
end

local function forgetting_in_flight()
    local s = lab.stream{}
    local out = lab.zeros(4)
    lab.synchronize()
    lab.spin(1, { stream = s })
    lab.mul(lab.full(2, 4, { stream = s }), 3, { out = out, stream = s })
    collectgarbage()
    collectgarbage()
    lab.synchronize()
    T.is(out:get(1), 6, "a tensor that Lua collects in flight is there until the kernel has run")
end

local function printing()
    local t = lab.ones(2, 3)
    T.like(tostring(t), "2", "tostring of a tensor tells its size")
    T.like(tostring(t), "float32", "and its dtype")
end

local function huge_tensors()
    ideal.textbook{ memory_bytes = "unlimited" }
    local t = lab.empty(2 ^ 20 | 0, 2 ^ 20 | 0)
    T.is(t:nbytes(), 2 ^ 42 | 0, "a tensor of 4 TiB can be made where memory is unlimited")
    T.lives(function() lab.add(t, t, { out = t }) end, "and computed with, as long as nobody looks")
    lab.synchronize()
    t:free()
end

T.open()
for _, test in ipairs{ constructors, sizes, dtypes, places, bad_sizes, ragged_tables,
    unknown_options,
                       get_and_set, items, copies_carry_values, to_the_same_place, bad_copies,
                       pinning, filling, freeing, freeing_in_flight, forgetting_in_flight, printing,
                       huge_tensors } do
    test()
end
T.done()
