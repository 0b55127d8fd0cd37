-- values_waited.t.lua - s:write_value and s:wait_value, on each backend alike.
local tap = require "tap"

local function main()
    local a, b = lab.stream { non_blocking = true }, lab.stream { non_blocking = true }
    local device = lab.zeros(4, { dtype = "int32" })
    local pinned = lab.zeros(4, { dtype = "int32", device = "cpu", pinned = true })
    lab.synchronize()

    -- ---- writes --------------------------------------------------------------------------------

    for name, t in pairs { ["device memory"] = device, ["pinned memory"] = pinned } do
        a:write_value(t, 2, -7)
        a:synchronize()
        tap.is(t:get(2), -7.0, "write_value writes an element of " .. name)
        tap.is(t:get(1) + t:get(3) + t:get(4), 0.0, "and no other: " .. name)
    end
    local floats = lab.zeros(2)
    lab.synchronize()
    a:write_value(floats, 1, 1.5)
    a:wait_value(floats, 1, 1.5, { compare = "eq" })
    a:synchronize()
    tap.is(floats:get(1), 1.5, "a float32 element gets a number")

    -- ---- waits ---------------------------------------------------------------------------------

    local function zero()
        device:fill_(0)
        pinned:fill_(0)
        lab.synchronize()
    end

    for _, case in ipairs {
        { "geq", 5, 5 }, { "geq", 5, 6 }, { "eq", 5, 5 }, { "and", 6, 4 },
        { "geq", 2147483647, -2147483648, "it goes round" },
    } do
        local compare, wanted, written, why = table.unpack(case)
        for name, t in pairs { ["device memory"] = device, ["pinned memory"] = pinned } do
            zero()
            if why then
                t:fill_(-2)         -- behind the largest number by more than half a round
                t:set(1, 1)
            end
            lab.synchronize()
            b:wait_value(t, 1, wanted, { compare = compare })
            lab.spin(0.01, { stream = b })
            tap.is(b:query(), false, ("a stream waits: %s %d, %s"):format(compare, wanted, name))
            a:write_value(t, 1, written)
            b:synchronize()
            tap.is(t:get(1), written + 0.0, ("until %d is there%s"):format(written, why and ": " .. why or ""))
        end
    end

    zero()
    b:wait_value(pinned, 3, 1)
    lab.spin(0.01, { stream = b })
    tap.is(b:query(), false, "a stream waits for the host")
    pinned:set(3, 1)
    b:synchronize()
    tap.ok(b:query(), "which sets the element of pinned memory")

    zero()
    b:wait_value(device, 1, 3)
    lab.with(a, function() device:fill_(3) end)
    b:synchronize()
    tap.is(device:get(4), 3.0, "a stream waits for what a kernel writes")

    -- ---- order ---------------------------------------------------------------------------------

    zero()
    local x = lab.zeros(1 << 20)
    local y = lab.zeros(1 << 20)
    lab.synchronize()
    b:wait_value(device, 1, 1)
    lab.with(b, function() y:copy_(x) end)
    lab.spin(2, { stream = a })
    lab.with(a, function() x:fill_(4) end)
    a:write_value(device, 1, 1)
    lab.synchronize()
    tap.is(y:get(1 << 20), 4.0, "what comes behind the wait sees what came before the write")

    -- ---- graphs --------------------------------------------------------------------------------

    zero()
    local g = lab.graph(function()
        a:write_value(device, 1, 8)
        lab.spin(0.01, { stream = a })
        a:wait_value(device, 2, 9)
        a:write_value(device, 3, 10)
    end, { stream = a })
    lab.synchronize()
    tap.is(device:get(1), 0.0, "a capture writes nothing")
    g:launch(a)
    lab.spin(0.01, { stream = b })
    b:write_value(device, 2, 9)
    lab.synchronize()
    tap.is(table.concat({ device:get(1), device:get(2), device:get(3) }, " "), "8.0 9.0 10.0",
        "a launch of the graph writes and waits")

    -- ---- wrong use -----------------------------------------------------------------------------

    local function refused(f, code, pattern, name)
        local ok, err = pcall(f)
        tap.ok(not ok and err.code == code and tostring(err):find(pattern), name)
    end
    local pageable = lab.zeros(4, { dtype = "int32", device = "cpu" })
    local doubles = lab.zeros(4, { dtype = "float64" })
    refused(function() a:write_value(pageable, 1, 1) end, "SL_EPLACE", "pageable", "pageable memory is refused")
    refused(function() a:wait_value(doubles, 1, 1) end, "SL_EDTYPE", "float64", "64-bit elements are refused")
    refused(function() a:wait_value(device, 5, 1) end, "SL_ESHAPE", "element 5 of a tensor that has 4", "an element outside")
    refused(function() a:write_value(device, 0, 1) end, "SL_EINVAL", "", "an element before the first")
    refused(function() a:write_value(device, 1, 1.5) end, "SL_EINVAL", "whole", "half an int32")
    refused(function() a:write_value(device, 1, 1 << 31) end, "SL_EINVAL", "2147483647", "more than an int32 has")
    refused(function() a:wait_value(device, 1, 0, { compare = "and" }) end, "SL_EINVAL", "never true", "and with 0")
    refused(function() a:wait_value(floats, 1, 1) end, "SL_EDTYPE", "eq", "float32 by bits")
    refused(function() a:wait_value(device, 1, 1, { compare = "ge" }) end, "SL_EINVAL", '"ge"', "another comparison")
    refused(function() a:wait_value(device, 1, 1, { compares = "eq" }) end, "SL_EINVAL", "compare", "another option")

end
main()

tap.done()
