-- values_waited.t.lua - s:write_value and s:wait_value, on each backend alike.
local tap = require "tap"

local function refused(f, code, pattern, name)
    local ok, err = pcall(f)
    tap.ok(not ok and err.code == code and tostring(err):find(pattern), name)
end

local function pinned(n, dtype)
    return lab.zeros(n, { dtype = dtype or "int32", device = "cpu", pinned = true })
end

-- What the GPU has at a word of memory without a type.
local function word(t, i)
    local bytes = { t:get(4 * i - 3), t:get(4 * i - 2), t:get(4 * i - 1), t:get(4 * i) }
    for k, byte in ipairs(bytes) do
        bytes[k] = string.char(math.tointeger(byte))
    end
    return (string.unpack("<i4", table.concat(bytes)))
end

local function main()
    local a, b = lab.stream { non_blocking = true }, lab.stream { non_blocking = true }
    local device, host, step = lab.cuda.malloc(16), pinned(4), pinned(1)

    -- ---- writes --------------------------------------------------------------------------------

    lab.cuda.memset(device, 0, 16)
    lab.synchronize()
    a:write_value(device, 2, -7)
    a:write_value(host, 2, -7)
    a:synchronize()
    tap.is(host:get(2), -7.0, "write_value writes an element of pinned memory")
    tap.is(host:get(1) + host:get(3) + host:get(4), 0.0, "and no other")
    tap.is(word(device, 2), -7, "and a word of device memory")
    tap.is(word(device, 1) + word(device, 3) + word(device, 4), 0, "and no other")
    local floats = pinned(2, "float32")
    a:write_value(floats, 1, 1.5)
    a:wait_value(floats, 1, 1.5, { compare = "eq" })
    a:synchronize()
    tap.is(floats:get(1), 1.5, "a float32 element gets a number")

    -- ---- waits ---------------------------------------------------------------------------------

    -- A stream waits for `wanted`, from `before`, until another one writes `written`.
    local function waits(t, compare, before, wanted, written, name)
        a:write_value(t, 1, before)
        a:synchronize()
        b:wait_value(t, 1, wanted, { compare = compare })
        lab.spin(0.01, { stream = b })
        tap.is(b:query(), false, ("a stream waits: %s %d, %s"):format(compare, wanted, name))
        a:write_value(t, 1, written)
        b:synchronize()
        tap.ok(b:query(), ("until there is %d"):format(written))
    end
    for name, t in pairs { ["device memory"] = device, ["pinned memory"] = host } do
        waits(t, "geq", 0, 5, 5, name)
        waits(t, "geq", 0, 5, 6, name)
        waits(t, "eq", 7, 5, 5, name)
        waits(t, "and", 1, 6, 4, name)
        waits(t, "geq", 2147483646, 2147483647, -2147483648, "which goes round, " .. name)
    end

    b:wait_value(step, 1, 1)
    lab.spin(0.01, { stream = b })
    tap.is(b:query(), false, "a stream waits for the host")
    step:set(1, 1)
    b:synchronize()
    tap.ok(b:query(), "which sets the element of pinned memory")

    b:wait_value(device, 1, 3 + 3 * 256 + 3 * 65536 + 3 * 16777216, { compare = "eq" })
    lab.cuda.memset_async(device, 3, 16, a)
    b:synchronize()
    tap.is(word(device, 4), 50529027, "a stream waits for what a memset writes")

    -- ---- order ---------------------------------------------------------------------------------

    -- A kernel's first launch may wait for the device (lazy loading), and so for a wait in it.
    local x, y = lab.zeros(1 << 20), lab.zeros(1 << 20)
    x:fill_(1)
    y:copy_(x)
    step:set(1, 0)
    lab.synchronize()
    b:wait_value(step, 1, 1)
    lab.with(b, function() y:copy_(x) end)
    lab.spin(2, { stream = a })
    lab.with(a, function() x:fill_(4) end)
    a:write_value(step, 1, 1)
    lab.synchronize()
    tap.is(y:get(1 << 20), 4.0, "what comes behind the wait sees what came before the write")

    -- ---- graphs --------------------------------------------------------------------------------

    local values = pinned(3)
    local g = lab.graph(function()
        a:write_value(values, 1, 8)
        lab.spin(0.01, { stream = a })
        a:wait_value(values, 2, 9)
        a:write_value(values, 3, 10)
    end, { stream = a })
    lab.synchronize()
    tap.is(values:get(1), 0.0, "a capture writes nothing")
    g:launch(a)
    lab.spin(0.01, { stream = b })
    b:write_value(values, 2, 9)
    lab.synchronize()
    tap.is(table.concat({ values:get(1), values:get(2), values:get(3) }, " "), "8.0 9.0 10.0",
        "a launch of the graph writes and waits")

    -- ---- for ever ------------------------------------------------------------------------------

    -- Nothing in flight can write what a stream waits for, and the host waits as well: an error,
    -- in place of a hang. What it waits for may still be written then.
    for name, t in pairs { ["device memory"] = device, ["pinned memory"] = host } do
        a:write_value(t, 3, 4)
        a:synchronize()
        b:wait_value(t, 3, 7, { compare = "eq" })
        lab.spin(0.01, { stream = b })
        refused(function() b:synchronize() end, "SL_ESTATE",
            "nothing can go on: wait_value in values_waited.t.lua:%d+ waits until element 3 of "
                .. "tensor %d+ %(.- made in values_waited.t.lua:%d+%) is equal to 7, it is 4, and "
                .. "nothing",
            "a wait that nothing ends is an error, " .. name)
        tap.is(b:query(), false, "the stream still waits")
        lab.spin(5, { stream = a })
        a:write_value(t, 3, 7)
        b:synchronize()
        tap.ok(b:query(), "until the value is written, by work that takes its time")
    end
    b:wait_value(host, 3, 9)
    local behind = b:record_event()
    a:wait_event(behind)
    a:write_value(host, 3, 9)
    refused(function() behind:synchronize() end, "SL_ESTATE", "nothing can go on",
        "a write that is behind the wait itself does not count")
    host:set(3, 9)
    lab.synchronize()
    tap.is(host:get(3), 9.0, "and the host ends it")

    -- ---- wrong use -----------------------------------------------------------------------------

    local pageable = lab.zeros(4, { dtype = "int32", device = "cpu" })
    local pool = lab.zeros(4, { dtype = "int32" })
    local doubles = pinned(4, "float64")
    local odd = pinned(16, "uint8"):narrow(1, 2, 8)
    refused(function() a:write_value(pageable, 1, 1) end, "SL_EPLACE", "pageable",
        "pageable memory is refused")
    if lab.device().simulated then
        tap.skip("the simulator takes device tensors", 3)
    else
        refused(function() a:write_value(pool, 1, 1) end, "SL_EPLACE", "lab.cuda.malloc",
            "memory of a pool, as the driver does")
        refused(function() a:wait_value(pool, 1, 1) end, "SL_EPLACE", "lab.cuda.malloc",
            "also for a wait")
        refused(function() lab.graph(function() a:write_value(pool, 1, 1) end, { stream = a }) end,
            "SL_EPLACE", "lab.cuda.malloc", "and in a capture")
    end
    refused(function() a:wait_value(doubles, 1, 1) end, "SL_EDTYPE", "float64", "64-bit elements")
    refused(function() a:wait_value(odd, 1, 1) end, "SL_EINVAL", "multiples of 4",
        "words at odd bytes")
    refused(function() a:wait_value(host, 5, 1) end, "SL_ESHAPE",
        "element 5 of a tensor that has 4", "an element outside")
    refused(function() a:wait_value(device, 5, 1) end, "SL_ESHAPE", "that has 4", "also of words")
    refused(function() a:write_value(host, 0, 1) end, "SL_EINVAL", "", "one before the first")
    refused(function() a:write_value(host, 1, 1.5) end, "SL_EINVAL", "whole", "half an int32")
    refused(function() a:write_value(host, 1, 1 << 31) end, "SL_EINVAL", "2147483647",
        "more than an int32 has")
    refused(function() a:wait_value(host, 1, 0, { compare = "and" }) end, "SL_EINVAL", "never true",
        "and with 0")
    refused(function() a:wait_value(floats, 1, 1) end, "SL_EDTYPE", "eq", "float32 by bits")
    refused(function() a:wait_value(host, 1, 1, { compare = "ge" }) end, "SL_EINVAL", '"ge"',
        "another comparison")
    refused(function() a:wait_value(host, 1, 1, { compares = "eq" }) end, "SL_EINVAL", "compare",
        "another option")
end
main()

tap.done()
