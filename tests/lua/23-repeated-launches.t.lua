-- 23-repeated-launches.t.lua - launches that repeat the one before them on what that leaves: the
-- simulated GPU keeps them as one, and each of them still does what it would do by itself.

local T = require "tap"

lab.open{ profile = "textbook" }
T.open()

local runs, fails_at = 0, nil
local function kernel(args, f)
    return lab.kernel { name = "k", args = args, cpu = function(_, _, ...)
        runs = runs + 1
        if runs == fails_at then error("no more", 0) end
        f(...)
    end }
end
-- x = 2 x + a
local step <const> = kernel({ "inout f32*", "f32" }, function(x, a)
    for i = 1, #x do x[i] = 2 * x[i] + a end
end)
local add <const> = kernel({ "in f32*", "inout f32*" }, function(x, y)
    for i = 1, #y do y[i] = y[i] + x[i] end
end)

do
    -- n times x -> 2 x + 1 from 0: 2^n - 1.
    local x = lab.zeros(3)
    for _ = 1, 10 do step(1, 1, x, 1) end
    lab.synchronize()
    T.is(runs, 0, "ten launches do not run before somebody reads")
    T.is_deeply(x:totable(), { 1023, 1023, 1023 }, "then each of them does its part")
    T.is(runs, 10, "and runs once")
    T.is_deeply(x:totable(), { 1023, 1023, 1023 }, "what they left stays")
    step(1, 1, x, 1)
    step(1, 1, x, 1)
    T.is_deeply(x:totable(), { 4095, 4095, 4095 }, "further ones go on from there")

    -- From 0: three with 1 give 7, two with 5 give 2 (2 * 7 + 5) + 5 = 43, one with 1 gives 87.
    x = lab.zeros(1)
    for _, a in ipairs { 1, 1, 1, 5, 5, 1 } do step(1, 1, x, a) end
    T.is(x:item(), 87, "another number in between is another launch")

    x = lab.zeros(1)
    step(1, 1, x, 1) step(1, 1, x, 1)
    local copy <const> = lab.empty(1):copy_(x)
    step(1, 1, x, 1) step(1, 1, x, 1)
    T.is(copy:item(), 3, "a copy in between has what was there then")
    T.is(x:item(), 15, "and the launches behind it go on")

    x = lab.full(1, 2)
    local y = lab.zeros(2)
    add(1, 1, x, y) add(1, 1, x, y)
    x:fill_(10)
    add(1, 1, x, y) add(1, 1, x, y)
    T.is_deeply(y:totable(), { 22, 22 }, "an input that has changed in between counts")

    -- Two tensors in turns: x = y = 1, then x += y and y += x: 2, 3, 5, 8.
    x, y = lab.ones(1), lab.ones(1)
    for _ = 1, 2 do
        add(1, 1, y, x)
        add(1, 1, x, y)
    end
    T.is_deeply({ x:item(), y:item() }, { 5, 8 }, "two tensors in turns")

    local m <const> = lab.zeros(4)
    local part <const> = m:narrow(1, 2, 2)
    for _ = 1, 3 do step(1, 1, part, 1) end
    T.is_deeply(m:totable(), { 0, 7, 7, 0 }, "launches on a part of a tensor leave the rest")

    local four <const> = lab.zeros(4)
    step(1, 1, four, 1)
    step(2, 1, four, 1)
    step(1, 2, four, 1)
    step(1, 1, four, 1)
    T.is_deeply(four:totable(), { 15, 15, 15, 15 }, "another grid or block is another launch")

    -- Side by side: what the one captures at its start the other has not left yet.
    local a <const>, b <const> = lab.stream(), lab.stream()
    do
        local k <const> = lab.kernel { name = "k", args = { "inout f32*", "f32" },
                                       cost = function() return { us = 50 } end,
                                       cpu = function(_, _, t) t[1] = t[1] + 1 end }
        local t <const> = lab.zeros(1)
        k(1, 1, t, 0)
        lab.synchronize()
        k(1, 1, { stream = a }, t, 0)
        k(1, 1, { stream = b }, t, 0)
        lab.synchronize()
        T.is(t:item(), 2, "of two that run beside each other the later one's result stays")
    end

    local word <const> = lab.zeros(1 << 20, { dtype = "int32" })
    local count <const> = lab.kernel { name = "count", args = { "inout i32*" },
                                       cpu = function(_, _, t) t[1] = t[1] + 1 end }
    a:wait_value(word, 1, 3)
    for _ = 1, 4 do count(1, 1, { stream = b }, word) end
    lab.synchronize()
    T.is(word:get(1), 4, "a stream that waits for a value sees it between two of them")

    x = lab.zeros(1)
    runs, fails_at = 0, 3
    step(1, 1, x, 1) step(1, 1, x, 1)
    local line <const> = debug.getinfo(1, "l").currentline + 1
    step(1, 1, x, 1) step(1, 1, x, 1)
    T.throws_like(function() x:item() end,
                  "launched at [^:]*repeated.launches.t.lua:" .. line .. ":.*no more",
                  "the one that fails is named")
    T.throws_like(function() x:item() end, "no more", "and again")
    T.is(runs, 3, "those behind it do not run")
end
T.done()
