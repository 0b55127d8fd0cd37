-- 55-measuring.t.lua - lab.measure, with streams held and without, and lab.sweep.

local T = require "tap"
local ideal = require "lua.ideal"
local lab = require "streamlab"

local function refuses(f, code, pattern, name)
    ideal.refuses(T, f, code, pattern, name)
end

local function spread()
    ideal.open()
    local calls = 0
    -- Samples of 1, 1, 3 and 2 ms: the median is 1.5 ms, the range 2 ms.
    local result = lab.measure(function()
        calls = calls + 1
        lab.spin(({ 1, 1, 3, 2 })[calls])
    end, { warmup = 0, reps = 4 })
    T.near(result.median_us, 1500, 1e-6, "the median of four samples")
    T.near(result.spread, 2 / 1.5, 1e-9, "the spread is the range over the median")
    T.is(lab.measure(function() end, { reps = 2 }).spread, 0, "samples of no length have none")
end

-- On the ideal GPU nothing but kernels takes time.
local function held_on_the_ideal_gpu()
    ideal.open()
    local a, b = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local function both(ms)
        return function()
            lab.spin(ms, { stream = a })
            lab.spin(ms, { stream = b })
        end
    end
    T.near(lab.measure(both(1), { hold = { a, b } }).median_us, 1000, 1e-6,
           "two kernels of one block in two streams take as long as one")
    T.near(lab.measure(both(1), { hold = { b, a, b } }).median_us, 1000, 1e-6,
           "a stream that is named twice counts once")
    local one = lab.measure(function()
        lab.spin(1, { stream = a })
        lab.spin(1, { stream = a })
    end, { hold = { a, b }, reps = 3 })
    T.near(one.median_us, 2000, 1e-6, "in one stream they take twice as long")
    T.is(#one.samples_us, 3, "there is a sample for each repetition")
    T.near(lab.measure(both(1), { hold = { a } }).median_us, 1000, 1e-6,
           "a stream that is not listed is not waited for")
    lab.with(b, function()
        T.near(lab.measure(function() lab.spin(3) end, { hold = true }).median_us, 3000, 1e-6,
               "true holds the current stream")
    end)
    T.near(lab.measure(function() lab.spin(1) end, { hold = { lab.default_stream() } }).median_us,
           1000, 1e-6, "the NULL stream can be held as well")
    T.near(lab.measure(both(1), { hold = { a, b }, warmup = 0, reps = 1 }).median_us, 1000, 1e-6,
           "without a warm-up as well")
end

-- A launch costs the host of the H200 microseconds, so that one stream is fed after the other.
local function held_on_the_textbook_gpu()
    ideal.textbook()
    local streams = {}
    for i = 1, 8 do streams[i] = lab.stream{ non_blocking = true } end
    local function work()
        for _, stream in ipairs(streams) do lab.spin(0.004, { stream = stream }) end
    end
    local held, plain = lab.measure(work, { hold = streams }), lab.measure(work)
    T.ok(plain.median_us > 20, "eight short kernels take as long as launching them")
    T.ok(held.median_us < 10, "held back they take little more than one")
    T.ok(held.median_us > 4, "and not less")
end

local function what_cannot_be_held()
    ideal.textbook()
    local s = lab.stream{ non_blocking = true }
    local function fails(f, pattern, name)
        refuses(function() lab.measure(f, { hold = { s } }) end, "SL_EINVAL", pattern, name)
    end
    fails(function() lab.spin(1, { stream = s }) lab.synchronize() end, "waits for the device",
          "what synchronises cannot be held, and is reported so")
    local start_us = lab.now_us()
    fails(function() lab.spin(1, { stream = s }) s:synchronize() end, "waits for the device",
          "nor what waits for the stream")
    -- Three times 1 ms of warm-up; then held for 2.2, 8.8 and 35.2 ms, and 1 ms behind each.
    T.near(lab.now_us() - start_us, 52200, 2000, "which is found out soon")
    fails(function() for _ = 1, 1500 do lab.spin(0, { stream = s }) end end, "launch queue is full",
          "nor more than the launch queue takes")
    fails(function() lab.host_work(30e3) end, "too slowly", "nor what takes the host half a minute")
    T.lives(function() s:synchronize() end, "nothing is left held")
    -- Held for 0.2, 0.8 and 3.2 ms.
    local calls = 0
    local late = lab.measure(function()
        calls = calls + 1
        lab.host_work(1)
        lab.spin(1, { stream = s })
    end, { hold = { s }, warmup = 0, reps = 1 })
    T.is(calls, 3, "what is not done before the release is measured again, held for longer")
    T.near(late.median_us, 1000, 10, "and only that counts")
    for _, options in ipairs{ { warmup = 1 << 62 }, { reps = 1e6 + 1 }, { warmup = 0 / 0 },
                              { reps = 0 } } do
        refuses(function() lab.measure(print, options) end, "SL_EINVAL",
                "whole number from . to 1e6", "nobody measures for ever")
    end
    refuses(function() lab.measure(print, { hold = {} }) end, "SL_EINVAL", "hold.*list of streams",
            "no stream is none to hold")
    refuses(function() lab.measure(print, { hold = { s, 3 } }) end, "SL_EINVAL",
            "item 2 must be a stream, got number", "what is no stream is refused")
    refuses(function() lab.measure(print, { hold = { s, nil, s } }) end, "SL_EINVAL",
            "item 2 must be a stream, got nothing", "so is a gap in the list")
    refuses(function() lab.measure(print, { hold = 1 }) end, "SL_EINVAL", "got 1", "so is a number")
    local streams = lab.live().streams
    T.is(ideal.error_of(lab.measure, function() error("bad", 0) end, { hold = { s } }), "bad",
         "an error comes out as it is")
    T.is(lab.live().streams, streams, "the stream that held the others is closed then")
end

-- ---- sweeps --------------------------------------------------------------------------------

local function points()
    ideal.open()
    local seen = {}
    local r = lab.sweep({ { "n", { 1, 2 } }, { "on", { false, true } }, { "s", { "x" } } },
        function(point)
        seen[#seen + 1] = point.n .. tostring(point.on) .. point.s
        local n = point.n
        point.n = 100
        return n * 10
    end, { title = "all" })
    T.is(table.concat(seen, " "), "1falsex 1truex 2falsex 2truex",
         "a sweep visits all combinations, the last axes first")
    T.is_deeply(r.columns, { "n", "on", "s", "value" }, "a number is the column value")
    T.is_deeply(r.rows[3], { n = 2, on = false, s = "x", value = 20 },
                "a row has the point as it was")
    T.is(r.title, "all", "the title is the table's")
end

local function what_f_returns()
    ideal.open()
    local axes = { { "ms", { 1, 2 } } }
    local calls = 0
    local r = lab.sweep(axes, function(point)
        return function() calls = calls + 1 lab.spin(point.ms) end
    end, { warmup = 1, reps = 2 })
    T.is_deeply(r.columns, { "ms", "median_us", "min_us", "max_us", "spread" },
                "a function is measured")
    T.near(r.rows[2].median_us, 2000, 1e-6, "each for its point")
    T.is(calls, 6, "with the options of measure: twice one and two calls")
    T.is(#r.rows[1].samples_us, 2, "the samples are in the rows")
    r = lab.sweep(axes, function(point)
        return point.ms == 1 and { b = 1, a = "x", list = {} } or { b = 2, a = "y", c = true }
    end)
    T.is_deeply(r.columns, { "ms", "a", "b", "c" },
                "named values are columns, sorted, others behind")
    r = lab.sweep(axes, function(point) return { a = 1, b = point.ms == 1 and 1 or {} } end)
    T.is_deeply(r.columns, { "ms", "a" }, "what is a table in one row is no column")
    r = lab.sweep(axes, function() return { b = 1, a = 2 } end, { columns = { "b" } })
    T.is_deeply(r.columns, { "ms", "b" }, "columns says which")
    r = lab.sweep({ { "n", { 1, 2, 3 } } },
                  function(point) if point.n ~= 2 then return point.n end end)
    T.is(#r.rows, 2, "where f returns nothing the point is left out")
    r = lab.sweep(axes, function() end, { columns = { "us" } })
    T.is_deeply({ #r.rows, r.columns }, { 0, { "ms", "us" } }, "a sweep may have no rows")
    local s = lab.stream{ non_blocking = true }
    r = lab.sweep(axes, function(point)
        return function() lab.spin(point.ms, { stream = s }) end
    end, { hold = { s } })
    T.near(r.rows[1].median_us, 1000, 1e-6, "a sweep can hold streams")
end

local function sweeps_that_fail()
    ideal.open()
    local axes = { { "kib", { 64 } }, { "pinned", { true } } }
    local err = ideal.error_of(lab.sweep, axes, function() error("bad", 0) end)
    T.is(err, "bad (at kib=64 pinned=yes)", "an error has the point in its message")
    err = ideal.error_of(lab.sweep, axes, function()
        return lab.zeros(2, 3):matmul(lab.zeros(2, 3))
    end)
    T.is(err.code, "SL_ESHAPE", "one of the laboratory keeps its code")
    T.like(tostring(err), "55%-measuring.*: matmul: inner.* %(at kib=64 pinned=yes%)$",
           "and its position")
    local own = setmetatable({}, { __index = function() error("looked at") end })
    T.is(ideal.error_of(lab.sweep, axes, function() error(own) end), own, "others pass as they are")
    local function fails(pattern, name, ...)
        local arguments = table.pack(...)
        refuses(function() lab.sweep(table.unpack(arguments, 1, arguments.n)) end, "SL_EINVAL",
                pattern, name)
    end
    local function one() return 1 end
    fails("list of axes, got number", "a number is no axes", 3, one)
    fails("got a table with named values", "nor is a table by name", { kib = { 1 } }, one)
    fails("there is no axis", "no axis is none", {}, one)
    fails("axis 1: each axis must be { name", "an axis has a name", { { { 1, 2 }, "a" } }, one)
    fails("axis 1: each axis must be", "a name and values are not given side by side",
          { "kib", { 1 } }, one)
    fails("its values are a list with gaps", "an axis has no gaps", { { "a", { 1, nil, 3 } } }, one)
    fails("axis 'a': it has no values", "an axis has values", { { "a", {} } }, one)
    fails("axis 'a': value 2 is a table", "which are numbers, texts or booleans",
          { { "a", { 1, {} } } }, one)
    fails("'a' is in it twice", "no two axes have one name",
          { { "a", { 1 } }, { "a", { 2 } } }, one)
    fails("argument 2 %(f%) must be a function", "f is a function", axes, 3)
    fails("unknown option 'rep'", "a typo cannot pass", axes, one, { rep = 1 })
    fails("is for what f returns", "an axis is no result", axes, one, { columns = { "kib" } })
    fails("returned no 'valu'.*did you mean value", "columns are what f returns", axes, one,
          { columns = { "valu" } })
    fails("'t' is not in all rows", "and what fits a cell", axes, function() return { t = {} } end,
          { columns = { "t" } })
    fails("returned string.*kib=64", "f returns no text", axes, function() return "x" end)
    fails("returned a list", "nor a list", axes, function() return { 1 } end)
    fails("name of an axis", "nor a value with an axis's name", axes,
          function() return { kib = 1 } end)
end

-- A script's own variables may have names of the libraries; the files of the module that are
-- read later see neither these nor what is in the place of the module's functions.
local function whatever_a_script_names_its_own()
    local _type, _next, _sort, spin = type, next, table.sort, lab.spin
    ideal.open()
    _ENV.type, _ENV.next, table.sort, lab.spin = "pinned", 5, nil, nil
    local ok, result = pcall(lab.measure, function() end, { reps = 2, hold = true })
    local fine, probed = pcall(lab.probe, function() end, { kernel_ms = 1 })
    local swept, r = pcall(lab.sweep, { { "a", { 1 } } },
                           function(point) return { b = point.a } end)
    type, next, table.sort, lab.spin = _type, _next, _sort, spin
    T.ok(ok and #result.samples_us == 2, "measure needs no global variable")
    T.ok(fine and not probed.host_blocked, "nor does probe")
    T.ok(swept and r.rows[1].b == 1, "nor a sweep")
end

local function names_before_their_files_are_read()
    local names = {}
    for name, value in pairs(lab) do names[name] = type(value) end
    for _, name in ipairs{ "measure", "probe", "probes", "claims", "table", "sweep" } do
        T.is(names[name], "function", "lab." .. name .. " is there from the start")
    end
end

names_before_their_files_are_read()
whatever_a_script_names_its_own()
spread()
held_on_the_ideal_gpu()
held_on_the_textbook_gpu()
what_cannot_be_held()
points()
what_f_returns()
sweeps_that_fail()
T.done()
