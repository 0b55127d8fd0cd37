-- 64-assertions.t.lua - lab.tap: what passes, what fails and what is then said, wrong uses, and
-- the protocol. The records come from the sink that the program has (core.tap); what is
-- printed is that of another process.

local T = require "tap"
local ideal = require "lua.ideal"

lab.open{ backend = "sim" }

local core = debug.getregistry()["streamlab.internals"]

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- An object, and a function that gives its last record.
local function assertions()
    lab.tap()                   -- reads the file
    local records = {}
    local t = core.tap(function(record) records[#records + 1] = record end)
    return t, function() return records[#records] end, records
end

local t, last, records = assertions()

local function passes(result, name)
    T.ok(result == true and last().status == "passed", name)
    if last().status ~= "passed" then T.diag("  seen " .. tostring(last().seen)) end
end

-- The assertion failed, and said so.
local function fails(result, seen, asked, name)
    T.ok(result == false and last().status == "failed", name)
    T.is(last().seen, seen, name .. ": what was seen")
    T.is(last().asked, asked, name .. ": what was asked")
end

-- A table each of whose metamethods is an error of this test.
local function hostile(content)
    local meta = {}
    for _, event in ipairs{ "eq", "index", "newindex", "tostring", "len", "lt",
                            "le", "call", "name", "pairs", "concat", "add", "sub",
                            "unm", "close" } do
        meta["__" .. event] = function() error("a metamethod was called: " .. event, 0) end
    end
    return setmetatable(content or {}, meta)
end

-- ---- values -----------------------------------------------------------------------------

local function truth()
    passes(t:ok(true, "true"), "true is true")
    passes(t:ok(0, "zero"), "so is 0")
    passes(t:ok(hostile(), "a table"), "and a table, whatever its metamethods")
    fails(t:ok(false, "false"), "false", "what is true", "false is not")
    fails(t:ok(nil, "nil"), "nil", "what is true", "nor is nil")
    T.is(last().name, "nil", "a record has the name")
    refuses(function() t:ok(true) end, "SL_EINVAL", "argument 3 %(name%) must be a sentence",
            "a name must be given")
    refuses(function() t:ok(true, "") end, "SL_EINVAL", "an empty one", "and say something")
    refuses(function() t:ok(true, "a", "b") end, "SL_EINVAL", "one too many", "one name")
end

local function equal()
    passes(t:is(3, 3.0, "numbers"), "3 is 3.0")
    passes(t:is("a", "a", "texts"), "texts")
    passes(t:is(nil, nil, "nil"), "nil")
    passes(t:is({ 1, { a = { 2 } } }, { 1, { a = { 2 } } }, "deep"), "tables deeply")
    passes(t:is({ [1.0] = 1 }, { 1 }, "keys"), "a float key that is whole")
    local stream = lab.stream()
    passes(t:is({ stream }, { stream }, "an object"), "the same object")
    fails(t:is(1, "1", "types"), "1", '"1"', "a number is no text")
    fails(t:is(0 / 0, 0 / 0, "NaN"), "NaN", "NaN", "NaN is nothing")
    fails(t:is({ 0 / 0 }, { 0 / 0 }, "NaN"), "NaN at [1]", "NaN there", "nor in a table")
    fails(t:is({ 1, { a = 2 } }, { 1, { a = 3 } }, "deep"), "2 at [2].a", "3 there",
          "where they differ")
    fails(t:is({ 1, 2, 3 }, { 1, 2 }, "more"), "3 at [3]", "nil there", "one too many")
    fails(t:is({ 1 }, { 1, 2 }, "less"), "nil at [2]", "2 there", "one too few")
    fails(t:is({ ["a b"] = {} }, { ["a b"] = 5 }, "key"), 'a table at ["a b"]',
          "5 there", "odd keys")
    fails(t:is("a\27[31m\n", "b", "controls"), '"a\\x1b[31m\\n"', '"b"', "no control is shown")
    fails(t:is(("x"):rep(1e6), "b", "long"), '"' .. ("x"):rep(60) .. '..." of 1000000 bytes', '"b"',
          "long texts are cut")
    fails(t:is(lab.ones(2), 1, "tensor"), "a tensor", "1", "a tensor")
    refuses(function() t:is(1, 1) end, "SL_EINVAL", "argument 4 %(name%)", "is has a name")
end

local function untrusted()
    passes(t:is(hostile{ 1, 2 }, { 1, 2 }, "raw"), "a table is what is in it")
    fails(t:is(hostile{}, { 1 }, "raw"), "nil at [1]", "1 there", "and not what it says")
    fails(t:is(hostile(), 5, "number"), "a table", "5", "nor a number")
    fails(t:is({ a = hostile() }, { a = "x" }, "inner"), "a table at a", '"x" there', "nor within")
    local ring = {}
    ring[1] = ring
    fails(t:is(ring, ring, "ring"), "a table nested too deeply at " .. ("[1]"):rep(50),
          "a table there", "what contains itself ends")
    local many = {}
    for i = 1, 1000001 do many[i] = 1 end
    fails(t:is(many, {}, "many"), "too many items", "a table", "and what has no end")
    for _, method in ipairs{ "near", "at_most", "at_least" } do
        local result = method == "near" and t:near(hostile(), 1, 1, "n")
        if method ~= "near" then result = t[method](t, hostile(), 1, "n") end
        T.ok(result == false and last().seen == "a table", method .. " wants a number")
    end
    fails(t:raises(function() error(hostile()) end, "x", "error"), "a table", 'an error with "x"',
          "an error that is a table says nothing")
    fails(t:raises(function() error(io.stdout) end, "x", "error"), "a userdata",
          'an error with "x"', "nor does a userdata")
    local fake = hostile{ dtype = "float32", ndim = 1, freed = false }
    fails(t:close(fake, 1, "fake"), "a table", "a tensor; a table that acts like one is none",
          "a table is no tensor")
    fails(t:close(io.stdout, 1, "fake"), "a userdata", "a tensor", "nor is a file")
    fails(t:close(1, 1, "number"), "1", "a tensor", "nor a number")
    fails(t:close(nil, { { 1 } }, "nothing"), "nil", "a tensor", "nor nothing")
end

local function numbers()
    passes(t:near(1.05, 1, 0.1, "near"), "near")
    passes(t:near(math.huge, math.huge, 0, "inf"), "infinity is near itself")
    fails(t:near(1.2, 1, 0.1, "far"), "1.2", "1 within 0.1", "not so near")
    fails(t:near(0 / 0, 1, 1e9, "NaN"), "NaN", "1 within 1000000000", "NaN is near nothing")
    fails(t:near("1", 1, 1, "text"), '"1"', "1 within 1", "a text is no number")
    passes(t:at_most(5, 5, "most"), "at most")
    fails(t:at_most(6, 5, "most"), "6", "at most 5", "more")
    fails(t:at_most(0 / 0, 5, "most"), "NaN", "at most 5", "NaN is not at most anything")
    passes(t:at_least(5, 5, "least"), "at least")
    fails(t:at_least(4.5, 5, "least"), "4.5", "at least 5", "less")
    fails(t:at_least(0 / 0, 5, "least"), "NaN", "at least 5", "nor at least")
    refuses(function() t:near(1, 1, -1, "n") end, "SL_EINVAL", "tolerance", "a tolerance below 0")
    refuses(function() t:near(1, "1", 1, "n") end, "SL_EINVAL", "argument 3 %(want%)", "no number")
    refuses(function() t:near(1, 0 / 0, 1, "n") end, "SL_EINVAL", "NaN", "NaN is not asked for")
    refuses(function() t:at_most(1, nil, "n") end, "SL_EINVAL", "limit", "nothing to compare with")
    refuses(function() t:at_least(1, 0) end, "SL_EINVAL", "name", "no name")
end

-- ---- tensors ----------------------------------------------------------------------------

local function tensors()
    ideal.textbook()
    passes(t:close(lab.ones(2, 3), 1, "number"), "a number for all elements")
    passes(t:close(lab.ones(2, 3), { { 1, 1, 1 }, { 1, 1, 1 } }, "table"), "nested lists")
    passes(t:close(lab.ones(2, 3), lab.ones(2, 3, { device = "cpu" }), "tensor"),
           "tensors in different places")
    passes(t:close(lab.full(2.5, 4, { dtype = "bfloat16" }), 2.51, "bfloat16"),
           "the tolerance goes by the type")
    fails(t:close(lab.full(2.5, 4), 2.51, "float32"), "2.5 at (1); 4 of 4 elements differ",
          "2.51 there (rtol 1.3e-06, atol 1e-05)", "which float32 has little of")
    passes(t:close(lab.full(2.5, 4), 2.51, { atol = 0.1 }, "atol"), "atol")
    passes(t:close(lab.full(2.5, 4), 2.51, { rtol = 0.1 }, "rtol"), "rtol")
    passes(t:close(lab.full(2.5, 4), lab.full(2.51, 4, { dtype = "bfloat16" }), "mixed"),
           "of two types the larger tolerance")
    fails(t:close(lab.ones(2, 3), { { 1, 1, 1 }, { 1, 2, 1 } }, "one"),
          "1 at (2, 2); 1 of 6 elements "
          .. "differs", "2 there (rtol 1.3e-06, atol 1e-05)", "one element")
    fails(t:close(lab.ones(2, 3), lab.ones(3, 2), "shape"), "the shape 2x3", "3x2", "the shape")
    fails(t:close(lab.ones(2), { 1, 1, 1 }, "shape"), "the shape 2", "3", "that of a list, too")
    fails(t:close(lab.full(3, 1, { dtype = "uint8" }), 4, "uint8"), "3 at (1); 1 of 1 element "
          .. "differs", "4 there (rtol 0, atol 0)", "whole numbers are exact")
    passes(t:close(lab.tensor({ 16777217, -1 }, { dtype = "int32" }), { 16777217, -1 }, "int32"),
           "a list has every digit of int32")
    fails(t:close(lab.full(2 ^ 31 - 1, 1, { dtype = "int32" }), { 2 ^ 31 - 2 }, "int32"),
          "2147483647 at (1); 1 of 1 element differs", "2147483646 there (rtol 0, atol 0)",
          "where one more is another number")
    local wide = lab.full(0.1, 2, { dtype = "float64" })
    passes(t:close(wide, { 0.1, 0.1 }, { rtol = 0, atol = 0 }, "float64"), "and of float64")
    local nan = lab.full(0 / 0, 3)
    fails(t:close(nan, 1, { atol = 1e9 }, "NaN"), "NaN at (1); 3 of 3 elements differ",
          "1 there (rtol 1.3e-06, atol 1e+09)", "NaN is close to nothing")
    T.is(t:close(nan, nan, "NaN"), false, "not even to itself")
    local inf = lab.full(math.huge, 2)
    passes(t:close(inf, math.huge, "inf"), "infinity is infinity")
    T.is(t:close(lab.ones(2), inf, "inf"), false, "and nothing else is")
    local big = lab.zeros(300000)
    big:set(300000, 7)
    fails(t:close(big, 0, "last"), "7 at (300000); 1 of 300000 elements differs",
          "0 there (rtol 1.3e-06, atol 1e-05)", "the last of many")
    passes(t:close(lab.zeros(4, 4):narrow(1, 2, 2), 0, "view"), "a view")
end

local function tensors_refused()
    local freed = lab.ones(2)
    freed:free()
    fails(t:close(freed, 1, "freed"), "a tensor that was freed", "a tensor", "one that was freed")
    refuses(function() t:close(lab.ones(2), freed, "n") end, "SL_EINVAL", "want.*freed",
            "that one as what is wanted")
    refuses(function() t:close(lab.ones(2), "1", "n") end, "SL_EINVAL", "argument 3 %(want%)",
            "a text")
    refuses(function() t:close(lab.ones(2), { 1, { 2 } }, "n") end, "SL_EINVAL SL_ESHAPE", "close",
            "ragged lists")
    refuses(function() t:close(lab.ones(2), 1, { tol = 1 }, "n") end, "SL_EINVAL",
            "unknown option 'tol'; known: rtol, atol", "an unknown option")
    refuses(function() t:close(lab.ones(2), 1, { rtol = -1 }, "n") end, "SL_EINVAL", "rtol", "< 0")
    refuses(function() t:close(lab.ones(2), 1) end, "SL_EINVAL", "name", "no name")
    refuses(function() t:close(lab.ones(2), 1, {}) end, "SL_EINVAL", "argument 5 %(name%)",
            "nor behind options")
    refuses(function() t:close(lab.ones(2), 1, "n", 5) end, "SL_EINVAL", "one too many",
            "options stand before the name")
end

local function errors()
    passes(t:raises(function() error("out of luck", 0) end, "luck", "text"), "part of a text")
    passes(t:raises(function() lab.spin("x") end, "argument 1 (ms) must be", "ours"),
           "of an error of the laboratory, as it is written")
    passes(t:raises(function() lab.spin("x") end, "SL_EINVAL", "code"), "its code")
    fails(t:raises(function() end, "luck", "none"), "no error", 'an error with "luck"', "no error")
    fails(t:raises(function() error("a", 0) end, "b", "other"), "a", 'an error with "b"',
          "another one")
    refuses(function() t:raises(5, "a", "n") end, "SL_EINVAL", "function", "no function")
    refuses(function() t:raises(error, nil, "n") end, "SL_EINVAL", "argument 3 %(text%)", "no text")
end

-- ---- timelines --------------------------------------------------------------------------

-- In us: kernels in alpha 0 to 1000 and in beta 0 to 2000, a copy of 400 in gamma from the
-- beginning, another of 100 in alpha behind its kernel.
local function example()
    ideal.open{ h2d_gb_per_s = 10, d2h_gb_per_s = 10 }
    local streams = {}
    for i, name in ipairs{ "alpha", "beta", "gamma" } do
        streams[i] = lab.stream{ non_blocking = true, name = name }
    end
    local a, b, c = table.unpack(streams)
    local host = lab.empty(1000000, { device = "cpu", pinned = true, dtype = "uint8" })
    local dev = lab.empty(1000000, { dtype = "uint8" })
    local to = lab.empty(4000000, { device = "cpu", pinned = true, dtype = "uint8" })
    local from = lab.empty(4000000, { dtype = "uint8" })
    lab.synchronize()
    return lab.profile(function()
        lab.spin(1, { stream = a })
        lab.spin(2, { stream = b })
        dev:copy_(host, { non_blocking = true, stream = a })
        to:copy_(from, { non_blocking = true, stream = c })
    end), a, b, c
end

local function overlaps()
    local tl, a, b, c = example()
    passes(t:overlap(tl, a, b, { at_least_percent = 100 }), "all 1100 us of alpha")
    T.is(last().name, "stream alpha and stream beta overlap by at least 100 %", "its sentence")
    passes(t:overlap(tl, "kernel", "memcpy_d2h", { at_least_percent = 100 }), "kinds")
    passes(t:overlap(tl, { stream = "alpha", kind = "kernel" }, "d2h", { at_least_percent = 80,
           at_most_percent = 100 }), "400 of the 400 us of the copy")
    T.is(last().name, "kernel stream alpha and d2h overlap by at least 80 % and at most 100 %",
         "the sentence of a table")
    passes(t:overlap(tl, "h2d", "d2h", { at_most_percent = 0 }, "one by one"), "0 us of copies")
    T.is(last().name, "one by one", "a name of the test's own")
    fails(t:overlap(tl, { stream = a }, c, { at_most_percent = 50 }), "100.0 % (400 us of 400 us)",
          "at most 50.0 %", "too much")
    T.like(last().chart, "^alpha.*\n.*copy H2D", "with a chart")
    fails(t:overlap(tl, "h2d", "d2h", { at_least_percent = 10 }), "0.0 % (0 ns of 100 us)",
          "at least 10.0 %", "too little")
    fails(t:overlap(tl, "memset", "kernel", { at_most_percent = 10 }), "no memset took any time",
          "at most 10.0 %", "what did not run overlaps nothing")
    T.is(last().look, nil, "nothing is said of how long the rest took")
    fails(t:overlap(tl, { stream = "delta" }, b, { at_least_percent = 10 }),
          'the timeline has no stream named "delta"; it has "alpha", "beta", "gamma"',
          "at least 10.0 %", "a stream that the program did not make")
end

local function overlaps_refused()
    local tl, a, b = example()
    refuses(function() t:overlap(tl, a, b) end, "SL_EINVAL", "argument 5.*at_least_percent",
            "no threshold")
    refuses(function() t:overlap(tl, a, b, {}) end, "SL_EINVAL",
            "overlap: needs a threshold: at_least_percent or at_most_percent", "an empty one")
    refuses(function() t:overlap(tl, a, b, { gpu_at_least_percent = 5 }) end, "SL_EINVAL",
            "needs a threshold", "one for a real GPU alone")
    refuses(function() t:overlap(tl, a, b, { at_least = 5 }) end, "SL_EINVAL",
            "unknown option 'at_least'", "an unknown one")
    refuses(function() t:overlap(tl, a, b, { at_least_percent = 101 }) end, "SL_EINVAL",
            "from 0 to 100, got 101", "more than all")
    refuses(function() t:overlap(tl, a, "copies", { at_least_percent = 1 }) end, "SL_EINVAL",
            "copies", "no kind")
    refuses(function() t:overlap(tl, a, nil, { at_least_percent = 1 }) end, "SL_EINVAL", "overlap",
            "no selection")
    for _, other in ipairs{ {}, 5, "tl", false } do
        refuses(function() t:overlap(other, a, b, { at_least_percent = 1 }) end, "SL_EINVAL",
                "argument 2 %(tl%) must be a timeline", "no timeline but " .. type(other))
    end
    local recording <close> = lab.record()
    refuses(function() t:makespan(recording, { within_percent = 1 }) end, "SL_ESTATE",
            "still recording", "one that is not complete")
end

local function makespans()
    local tl = example()
    passes(t:makespan(tl, { within_percent = 0 }), "2 ms of kernels in 2 ms")
    T.is(last().name, "the makespan is within 0 % of what the busiest engine works", "its sentence")
    passes(t:makespan(tl, { within_percent = 25, of_us = 1600 }), "1600 us and a quarter")
    fails(t:makespan(tl, { within_percent = 24, of_us = 1600 }),
          "2.00 ms, 25.0 % more than 1.60 ms", "at most 1.98 ms, 24.0 % more", "24 % are less")
    T.ok(last().chart ~= nil, "with a chart")
    ideal.open()
    tl = lab.profile(function()
        lab.spin(1)
        lab.host_work(3)
        lab.spin(1)
    end)
    fails(t:makespan(tl, { within_percent = 10 }), "4.00 ms, 100.0 % more than 2.00 ms, the "
          .. "busy time of compute", "at most 2.20 ms, 10.0 % more", "what waits for the host")
    T.like(last().look, "^64%-assertions%.t%.lua:%d+: No kernel ran for 2%.00 ms.*\n%-> Issue",
           "the largest loss, its line and the remedy")
    fails(t:makespan(lab.profile(function() end), { within_percent = 10 }), "nothing ran",
          "work on the device", "nothing is not fast")
    refuses(function() t:makespan(tl, { of_us = 5 }) end, "SL_EINVAL", "within_percent",
            "no threshold")
    refuses(function() t:makespan(tl, { within_percent = 5, of_us = 0 }) end, "SL_EINVAL", "of_us",
            "of nothing")
    refuses(function() t:makespan(tl, { within = 5 }) end, "SL_EINVAL", "within", "unknown")
end

-- Advice fits what was asked: a row has a program, an assertion that it fails, and what may and may
-- not stand below it (nil: nothing at all does). Counts and calls are only listed, in both
-- directions.
local function directions()
    ideal.textbook()
    local one, other = lab.stream{ name = "one" }, lab.stream{ name = "other" }
    local host, there = lab.zeros(1 << 22, { device = "cpu", pinned = true }), lab.zeros(1 << 22)
    local function copy(s) there:copy_(host, { non_blocking = true, stream = s }) end
    local function kernel(s) lab.spin(1, { stream = s }) end
    copy(one) kernel(one)
    lab.synchronize()
    local function kernels_in_one()     -- each fills the GPU: between them there are small gaps
        for _ = 1, 4 do lab.spin(0.5, { blocks = 132 * 16, stream = one }) end
    end
    local function one_by_one() kernel(one) copy(one) end
    local function by_event() kernel(one) other:wait_stream(one) copy(other) end
    local function at_once() kernel(one) copy(other) end
    local function by_host() kernel(one) one:synchronize() copy(other) end
    local apart, beside = "Put the two into different streams",
        "s:wait_event%(e%), before that is issued"
    local rows = {
        { one_by_one, "overlap", { "kernel", "h2d", { at_least_percent = 50 } }, apart, beside },
        { kernels_in_one, "overlap",
          { { name = "spin" }, { name = "spin" }, { at_least_percent = 50 } },
          "both in stream \"one\", where one operation runs after the other\n.*" .. apart,
          "fewer and larger" },
        { by_event, "overlap", { "kernel", "h2d", { at_least_percent = 50 } },
          "for an event", beside },
        { by_host, "overlap", { "kernel", "h2d", { at_least_percent = 50 } },
          "cudaStreamSynchronize", beside },
        { at_once, "overlap", { "kernel", "h2d", { at_most_percent = 5 } },
          "Memcpy.* in stream \"other\" ran beside spin.* in stream \"one\" for .*" .. beside,
          "different streams" },
        { at_once, "overlap", { "memset", "h2d", { at_least_percent = 5 } }, nil },
        { one_by_one, "makespan", { { of_us = 900, within_percent = 1 } },
          "comes before it in its stream", beside },
        { kernels_in_one, "makespan", { { of_us = 900, within_percent = 1 } }, nil },
        { by_host, "host_block", { { at_most_us = 100 } }, "cudaStreamSynchronize at", "\n%-> " },
        { at_once, "stream_count", { { exactly = 1 } }, 'in "one"\n.*in "other"', "\n%-> " },
        { at_once, "stream_count", { { at_most = 1 } }, 'in "one"\n.*in "other"', "\n%-> " },
        { one_by_one, "stream_count", { { at_least = 2 } }, 'in "one"', "\n%-> " },
        { at_once, "span_count", { "kernel", { at_most = 0 } }, nil },
        { at_once, "span_count", { "kernel", { at_least = 2 } }, nil },
        { by_host, "call_count", { "cudaStreamSynchronize", { at_most = 0 } },
          "cudaStreamSynchronize at", "\n%-> " },
        { by_host, "call_count", { "cudaStreamSynchronize", { exactly = 2 } },
          "cudaStreamSynchronize at", "\n%-> " },
        { at_once, "call_count", { "cudaStreamSynchronize", { at_least = 1 } }, nil },
        { by_host, "no_call", { "cudaStreamSynchronize" }, "cudaStreamSynchronize at", "\n%-> " },
    }
    for i, row in ipairs(rows) do
        local program, op, arguments, has, has_not = table.unpack(row, 1, 5)
        local tl = lab.profile(program)
        local what = ("%s, row %d: "):format(op, i)
        T.ok(not t[op](t, tl, table.unpack(arguments)), what .. "fails")
        local look = last().look
        if not has then
            T.is(look, nil, what .. "there is no advice")
        else
            T.like(look, has, what .. "the advice fits")
            T.ok(not look:find(has_not), what .. "and none says the contrary")
        end
    end
end

local function counts()
    local tl, a = example()
    passes(t:stream_count(tl, { exactly = 3 }), "three streams")
    T.is(last().name, "exactly 3 streams with work", "its sentence")
    fails(t:stream_count(tl, { at_most = 2 }), "3 streams", "at most 2", "more than two")
    T.like(last().look, '^64%-assertions%.t%.lua:%d+: spin in "alpha"\n.*"beta"\n.*"gamma"$',
           "which")
    passes(t:span_count(tl, "kernel", { exactly = 2 }), "two kernels")
    passes(t:span_count(tl, { stream = a }, { at_least = 2, at_most = 2 }), "two in alpha")
    passes(t:span_count(tl, { name = "spin" }, { exactly = 2 }), "by name")
    passes(t:span_count(tl, {}, { exactly = 4 }), "four in all")
    passes(t:span_count(tl, "memset", { exactly = 0 }), "and no memset")
    fails(t:span_count(tl, a, { at_least = 3 }, "three"), "2 operations", "at least 3", "too few")
    fails(t:span_count(tl, { stream = "delta" }, { exactly = 1 }), "0 operations", "exactly 1",
          "of a stream that there is not")
    T.is(last().look, 'the timeline has no stream named "delta"; it has "alpha", "beta", "gamma"',
         "which is said")
    refuses(function() t:span_count(tl, nil, { exactly = 1 }) end, "SL_EINVAL", "selection",
            "of what?")
    refuses(function() t:span_count(tl, "kernels", { exactly = 1 }) end, "SL_EINVAL", "kernels",
            "a typo")
    refuses(function() t:span_count(tl, a, { exactly = 1.5 }) end, "SL_EINVAL",
            "exactly", "no count")
    refuses(function() t:stream_count(tl, {}) end, "SL_EINVAL", "exactly or at_least or at_most",
            "no threshold")
    refuses(function() t:stream_count(tl) end, "SL_EINVAL", "argument 3", "no table")
end

local function calls()
    ideal.textbook()
    local s, e = lab.stream{ name = "s" }, lab.event()
    lab.spin(0, { stream = s })
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(1, { stream = s })
        e:record(s)
        e:synchronize()
        lab.host_work(5)
    end)
    passes(t:call_count(tl, "cudaLaunchKernel", { exactly = 1 }), "a call that enqueues")
    passes(t:call_count(tl, "cudaEventRecord", { exactly = 1 }), "one that does not")
    T.is(last().name, "exactly 1 call of cudaEventRecord", "its sentence")
    passes(t:call_count(tl, "host_work", { at_least = 1 }), "the host's own work")
    passes(t:no_call(tl, "cudaGraphLaunch"), "a call that a recording need not have")
    local g = lab.graph(function() for _ = 1, 5 do lab.spin(0) end end)
    local launches = lab.profile(function() g:launch() g:launch() end)
    passes(t:call_count(launches, "cudaGraphLaunch", { exactly = 2 }),
           "a launch of five nodes is one")
    g:free()
    passes(t:no_call(tl, "cudaDeviceSynchronize"), "that of tl:stop() does not count")
    T.is(last().name, "no call of cudaDeviceSynchronize", "its sentence")
    passes(t:no_call(tl, "cudaStreamSynchronize"), "one that there was not")
    fails(t:no_call(tl, "cudaEventSynchronize"), "1 call", "none", "one that there was")
    T.like(last().look, "^64%-assertions%.t%.lua:%d+: cudaEventSynchronize at [%d.]+ us, "
           .. "for 1%.01 ms$", "and where")
    fails(t:call_count(tl, "cudaEventRecord", { at_least = 2 }), "1 call", "at least 2", "too few")
    T.like(last().look, "cudaEventRecord at", "the one there was")
    passes(t:host_block(tl, { at_most_us = 1010 }), "the wait takes a millisecond")
    fails(t:host_block(tl, { at_most_us = 500 }), "1.01 ms in cudaEventSynchronize",
          "at most 500 us", "and so more than half")
    T.like(last().look, "^64%-assertions%.t%.lua:%d+: cudaEventSynchronize", "says where")
    T.like(last().chart, "^s ", "and has the chart")
    T.is(last().name, "no call holds the host longer than 500 us", "its sentence")
    fails(t:host_block(tl, { at_most_us = 5000, at_most_percent = 10 }),
          "1.01 ms in cudaEventSynchronize", "at most 100 us, 10.0 % of the makespan",
          "the shorter limit")
    T.is(t:no_call(lab.profile(lab.synchronize), "cudaDeviceSynchronize"), false,
         "a synchronisation of the script's at the end counts")
    refuses(function() t:no_call(tl, "cudaDeviceSynchronise") end, "SL_EINVAL",
            "did you mean cudaDeviceSynchronize", "a typo does not pass")
    refuses(function() t:no_call(tl, "cudaMemcpy") end, "SL_EINVAL", "no call is recorded",
            "nor a name that is never recorded")
    refuses(function() t:no_call(tl, "a\0b") end, "SL_EINVAL", "recorded as 'a\\x00b'",
            "nor one with a zero in it")
    refuses(function() t["a\0b"]() end, "SL_EINVAL", "no field or method 'a\\x00b'",
            "as an assertion neither")
    refuses(function() t:no_call(tl) end, "SL_EINVAL", "argument 3 %(call%)", "nor none")
    refuses(function() t:call_count(tl, "cudaFree") end, "SL_EINVAL", "threshold", "no count")
    refuses(function() t:host_block(tl, {}) end, "SL_EINVAL", "at_most_us or at_most_percent",
            "no limit")
    refuses(function() t:host_block(tl, { at_most_us = "5" }) end, "SL_EINVAL", "at_most_us",
            "no number")
end

-- ---- a real GPU ---------------------------------------------------------------------------

-- The timeline as if a real GPU had run it.
local function of_real_gpu(tl)
    local path = ideal.temporary(".json")
    tl:save(path)
    local text, n = ideal.read(path):gsub('"simulated":true', '"simulated":false', 1)
    assert(n == 1)
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
    local loaded = lab.load(path)
    os.remove(path)
    return loaded
end

local function real_gpu()
    local tl = of_real_gpu((example()))
    T.is(tl.simulated, false, "a timeline of a real GPU")
    local function skips(result, name)
        T.ok(result == true and last().status == "skipped", name)
        T.is(last().why, "this threshold is for the simulated GPU", name .. ": why")
    end
    skips(t:overlap(tl, "h2d", "d2h", { at_least_percent = 100 }), "an overlap")
    T.is(last().name, "h2d and d2h overlap by at least 100 %", "with its sentence")
    skips(t:makespan(tl, { within_percent = 0, of_us = 1 }), "a makespan")
    skips(t:host_block(tl, { at_most_us = 0 }), "a call's time")
    passes(t:overlap(tl, "kernel", "d2h", { at_most_percent = 5, gpu_at_least_percent = 90 }),
           "the threshold for real ones holds")
    fails(t:overlap(tl, "h2d", "d2h", { at_most_percent = 5, gpu_at_least_percent = 90 }),
          "0.0 % (0 ns of 100 us)", "at least 90.0 %", "and nothing else does")
    passes(t:makespan(tl, { within_percent = 0, gpu_within_percent = 100, of_us = 1000 }),
           "makespan")
    T.is(t:host_block(tl, { at_most_us = 1e9, gpu_at_most_percent = 100 }), true, "calls")
    passes(t:stream_count(tl, { exactly = 3 }), "counts hold anyway")
    T.is(t:span_count(tl, "kernel", { exactly = 3 }), false, "also when they are wrong")
end

-- ---- races ----------------------------------------------------------------------------------

local function no_races()
    ideal.textbook()
    refuses(function() t:no_race() end, "SL_ESTATE", "nothing looks for races",
            "the checker is off")
    lab.check("error")
    passes(t:no_race(), "none so far")
    T.is(last().name, "no race", "its sentence")
    local a, b, x = lab.stream{ name = "a" }, lab.stream{ name = "b" }, lab.zeros(4, 4)
    lab.synchronize()
    x:fill_(7, { stream = a })
    pcall(lab.mul, x, x, { stream = b })
    fails(t:no_race("in order"), "1 race", "none", "a race")
    T.like(last().look, 'stream "b" reads at .*\n.*fix .*b:wait_stream%(a%)', "its report")
    T.is(last().name, "in order", "and the name")
    fails(t:no_race{ accidents = true }, "1 race or accident", "none", "both together")
    refuses(function() t:no_race{ accident = true } end, "SL_EINVAL", "accident", "unknown")
    refuses(function() t:no_race({}, "a", "b") end, "SL_EINVAL", "one too many", "one too many")
    lab.check("off")
    T.is(t:no_race(), false, "what was found stays")
    lab.check("warn")
    lab.check("off")
end

-- ---- the object and the protocol ----------------------------------------------------------

local function object()
    local told, own, of_own = nil, assertions()
    local spoken = {}
    told = core.tap(function() end, function(text) spoken[#spoken + 1] = text end)
    told:diag("a remark")
    T.is(spoken[1], "a remark", "remarks go their own way")
    T.is(own:skip("no time", "later"), true, "what is skipped did not fail")
    T.is(of_own().why, "no time", "and says why")
    T.is(own:done(), true, "all passed")
    refuses(function() own:done() end, "SL_ESTATE", "was called", "the end comes once")
    refuses(function() own:ok(true, "n") end, "SL_ESTATE", "was called", "and nothing behind it")
    own = assertions()
    own:ok(false, "no")
    T.is(own:done(), false, "one did not")
    refuses(function() t.okay(t) end, "SL_EINVAL", "okay", "there is no such method")
    refuses(function() t.ok(5, 1, "n") end, "SL_EINVAL", "argument 1 %(self%)", "a call without t")
    refuses(function() t.run = 5 end, "SL_EINVAL", "no fields", "nothing can be set")
    refuses(function() t:skip(nil) end, "SL_EINVAL", "why", "a skip has a reason")
    refuses(function() t:diag({}) end, "SL_EINVAL", "text", "a remark is a text")
    refuses(function() lab.tap{ plan = -1 } end, "SL_EINVAL", "plan", "a plan is a number")
    refuses(function() lab.tap{ plans = 1 } end, "SL_EINVAL", "plans", "there is but one option")
    T.like(tostring(t), "^tap: %d+ of %d+ failed$", "tostring")
end

-- Checks the form: numbers from 1 on, one plan, all else behind "#".
local function is_tap(text)
    local n, plan = 0, nil
    for line in text:gmatch("([^\n]*)\n") do
        local number = line:match("^ok (%d+) %- .") or line:match("^not ok (%d+) %- .")
        if number then
            n = n + 1
            if tonumber(number) ~= n then return false end
        elseif line:match("^1%.%.%d+$") then
            if plan then return false end
            plan = tonumber(line:match("%d+$"))
        elseif not line:find("^#") then
            return false
        end
    end
    return plan == n
end

local function protocol()
    local status, text = ideal.run_text[[
local lab = require "streamlab"
local t = lab.tap{plan = 4}
t:ok(true, "one # with a \\ in it\nand a line")
t:is(1, 2, "two")
t:skip("for # reasons", "three")
t:diag("a\n\nb")
local tl = lab.profile(function() lab.spin(1) lab.host_work(3) lab.spin(1) end)
t:makespan(tl, {within_percent = 1})
os.exit(t:done())]]
    T.is(status, 1, "the exit status is the script's to give")
    T.ok(is_tap(text), "what is printed is TAP")
    local lines = {}
    for line in text:gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
    T.is(lines[1], "ok 1 - one \\# with a \\\\ in it and a line", "a name is one line")
    T.is(lines[2], "not ok 2 - two", "a failure")
    T.is(lines[3], "#   seen   1", "what was seen")
    T.is(lines[4], "#   asked  2", "what was asked")
    T.is(lines[5], "ok 3 - three # SKIP for \\# reasons", "a directive")
    T.is(table.concat(lines, "|", 6, 8), "# a|#|# b", "remarks")
    T.like(text, "\n#   look   [^\n]*No kernel ran for", "where to look")
    T.like(text, "\n# default |#+[:.]+#+|", "the chart")
    T.like(text, "\n1%.%.4\n# 2 of 4 failed\n$", "the plan and a summary")
    local wide = false
    for _, line in ipairs(lines) do wide = wide or #line > 80 end
    T.ok(not wide, "no line is wider than a terminal")
    status, text = ideal.run_text[[
local t = require "streamlab".tap{plan = 2}
t:ok(true, "one")
os.exit(t:done())]]
    T.is(status, 1, "fewer than planned is a failure")
    T.is(text, "ok 1 - one\n1..2\n# planned 2 assertions, but there were 1\n", "and said")
end

-- A script may call its own variables as it likes, and break the libraries.
local function own_globals()
    local status, text = ideal.run_text[[
local lab = require "streamlab"
local t, x, exit = lab.tap(), lab.ones(2), os.exit
lab.races, lab.tensor, table.concat, string.format, math.min = nil, nil, nil, nil, nil
type, rawget, next, pcall, ipairs, error, tostring = nil, nil, nil, nil, nil, nil, nil
t:is({1, {2}}, {1, {2}}, "one")
t:close(x, {1, 1}, "two")
exit(t:done())]]
    T.is(status, 0, "no global of the script's is used")
    T.is(text, "ok 1 - one\nok 2 - two\n1..2\n", "and all is said")
end

for _, test in ipairs{ truth, equal, untrusted, numbers, tensors, tensors_refused, errors, overlaps,
                       overlaps_refused, makespans, directions, counts, calls, real_gpu,
                       no_races, object,
                       protocol, own_globals } do
    test()
end
T.is(#records > 100, true, "each assertion gave a record")
T.done()
