-- 20-api-profile.t.lua - lab.profile and what a timeline tells.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- 1 ms of kernel in a, 2 ms in b from the same moment, then a copy of 1e6 bytes
-- at 10 GB/s (100 us) in a behind its kernel.
local function example()
    ideal.open{ h2d_gb_per_s = 10 }
    local a = lab.stream{ non_blocking = true, name = "alpha" }
    local b = lab.stream{ non_blocking = true, name = "beta" }
    local host = lab.empty(250000, { device = "cpu", pinned = true })
    local dev = lab.empty(250000)
    lab.synchronize()
    local line
    local tl = lab.profile(function()
        lab.spin(1, { stream = a })
        line = debug.getinfo(1, "l").currentline + 1
        lab.spin(2, { stream = b, blocks = 5, threads = 64 })
        dev:copy_(host, { non_blocking = true, stream = a })
    end)
    return tl, a, b, line
end

local function spans()
    local tl, _, _, line = example()
    local list = tl:spans()
    T.is(#list, 3, "a span for each operation")
    local first, second, copy = list[1], list[2], list[3]
    T.is(first.kind, "kernel", "kind of a kernel")
    T.is(copy.kind, "memcpy_h2d", "kind of a copy")
    T.is(first.engine, "compute", "engine of a kernel")
    T.is(copy.engine, "h2d", "engine of a copy")
    T.like(first.name, "spin", "name of a kernel")
    T.like(copy.name, "^Memcpy HtoD", "name of a copy, as tools know it")
    T.is(copy.bytes, 1000000, "bytes of a copy")
    T.is(first.bytes, 0, "a kernel moves none")
    T.near(second.end_us - second.start_us, 2000, 1e-6, "start_us and end_us are device times")
    T.near(copy.start_us - first.start_us, 1000, 1e-6, "on one clock")
    T.near(copy.end_us - copy.start_us, 100, 1e-3, "of every engine")
    T.ok(first.host_start_us <= first.host_end_us, "host_start_us and host_end_us frame the call")
    T.ok(first.correlation >= 1 and second.correlation > first.correlation
         and copy.correlation > second.correlation, "correlation ascends in issue order")
    T.is(second.where, "20-api-profile.t.lua:" .. line, "where is the script's line")
    T.isnt(first.stream, second.stream, "stream tells the streams apart")
    T.is(first.stream, copy.stream, "and is the same for the same stream")
end

local function sums()
    local tl, a, b = example()
    T.near(tl.makespan_us, 2000, 1e-6, "makespan is from the first start to the last end")
    T.ok(tl.wall_us >= tl.makespan_us - 1e-6, "wall time contains it, with the final synchronise")
    T.near(tl:busy_us(a), 1100, 1e-3, "busy_us of a stream")
    T.near(tl:busy_us("kernel"), 2000, 1e-6, "busy_us of a kind is the union")
    T.near(tl:busy_us("compute"), 2000, 1e-6, "busy_us of an engine")
    T.near(tl:busy_us("h2d"), 100, 1e-3, "and of a copy engine")
    T.near(tl:busy_us("memcpy_h2d"), 100, 1e-3, "by kind as well")
    T.near(tl:busy_us("d2h"), 0, 0, "an engine without work has none")
    T.near(tl:busy_us{ stream = a, kind = "kernel" }, 1000, 1e-6,
           "a table selects by several fields")
    T.near(tl:busy_us{ stream = a, kind = "memcpy_d2h" }, 0, 0, "all of which must match")
    T.near(tl:busy_us{ name = tl:spans()[1].name }, 2000, 1e-6, "name = selects by name")
    T.near(tl:overlap_us(a, b), 1100, 1e-3, "overlap_us is the time in which both are busy")
    T.near(tl:overlap_us("kernel", "h2d"), 100, 1e-3, "of kinds and engines as well")
    T.near(tl:overlap_us({ stream = a, kind = "kernel" }, b), 1000, 1e-6, "or of tables")
    T.near(tl:overlap_us(a, a), 0, 1e-9, "a stream does not overlap itself")
    local bounds = tl:bounds()
    T.near(bounds.serial_us, 3100, 1e-3, "bounds: serial_us is the sum of all spans")
    T.near(bounds.busiest_engine_us, 2000, 1e-6, "bounds: the busiest engine's time")
    T.near(bounds.critical_path_us, 2000, 1e-3, "bounds: the longest chain")
    T.near(bounds.lower_us, 2000, 1e-3, "bounds: lower_us is the larger of the two")
    T.near(bounds.unblocked_us, 2000, 1e-3, "bounds: unblocked_us is the same if nobody waited")
end

local function selections_are_checked()
    local tl, a = example()
    refuses(function() tl:busy_us("kernels") end, "SL_EINVAL", "kernels",
            "an unknown kind or engine is named")
    refuses(function() tl:busy_us("alpha") end, "SL_EINVAL",
            "; for a stream: { stream = \"alpha\" }$", "and the message says how to name a stream")
    refuses(function() tl:busy_us{ strem = a } end, "SL_EINVAL", "strem",
            "an unknown field as well")
    refuses(function() tl:busy_us(3.5) end, "SL_EINVAL", "number", "a number selects nothing")
    T.near(tl:busy_us{}, 2000, 1e-6, "a table without fields selects everything")
    refuses(function() tl:overlap_us(a) end, "SL_EINVAL", "overlap_us",
            "overlap_us needs two selections")
    refuses(function() tl:busy_us{ kind = "stuff" } end, "SL_EINVAL", "stuff",
            "a field's value is checked")
end

local function streams_in_selections()
    ideal.open()
    local tl = lab.record()
    local gone
    for ms = 1, 2 do
        local s <close> = lab.stream{ non_blocking = true, name = "twin" }
        lab.spin(ms, { stream = s })
        if ms == 2 then gone = s end
    end
    local only <close> = lab.stream{ non_blocking = true, name = "only" }
    lab.spin(3, { stream = only })
    tl:stop()
    T.near(tl:busy_us(gone), 2000, 1e-6, "a stream that was closed since still selects its spans")
    T.near(tl:busy_us{ stream = gone }, 2000, 1e-6, "in a table as well")
    T.near(tl:overlap_us(gone, { stream = "only" }), 2000, 1e-6, "and in overlap_us")
    T.near(tl:busy_us{ stream = "only" }, 3000, 1e-6, "a stream may be given by its name")
    refuses(function() tl:busy_us{ stream = "twin" } end, "SL_EINVAL", "2 streams named \"twin\"",
            "unless two have it")
    refuses(function() tl:busy_us{ stream = "none" } end, "SL_ENOTFOUND", "none", "or none has")
end

local function recording_takes_no_time()
    ideal.textbook()
    lab.spin(1)
    lab.host_work(2)                    -- the kernel is done, though nobody has looked
    local before = lab.now_us()
    local tl = lab.record()
    T.is(lab.now_us(), before, "recording an idle device takes no time of the host")
    local inner = lab.record()
    T.is(lab.now_us(), before, "however often")
    lab.spin(1)
    inner:stop()
    T.is(tl:stop().span_count, 1, "and nothing of before is recorded")
    lab.spin(1)
    before = lab.now_us()
    lab.record()
    T.ok(lab.now_us() - before > 900, "a busy one is waited for")
end

local function critical_paths()
    ideal.open()
    local a, b = table.unpack(ideal.streams(2))
    local e = lab.event{}
    local tl = lab.profile(function()
        lab.spin(1, { stream = a })
        e:record(a)
        b:wait_event(e)
        lab.spin(2, { stream = b })
    end)
    T.near(tl:bounds().critical_path_us, 3000, 1e-3, "the critical path goes through events")
    tl = lab.profile(function()
        lab.spin(1, { stream = a })
        lab.spin(2, { stream = a })
        lab.spin(2, { stream = b })
    end)
    T.near(tl:bounds().critical_path_us, 3000, 1e-3, "and through the order of a stream")
    tl = lab.profile(function()
        lab.spin(1, { stream = a })
        a:synchronize()
        lab.spin(2, { stream = b })
    end)
    T.near(tl:bounds().critical_path_us, 3000, 1e-3, "and through a host that waited")
    local host = lab.empty(1e6, { device = "cpu", pinned = true, dtype = "uint8" })
    local device = lab.empty(1e6, { dtype = "uint8" })
    tl = lab.profile(function()
        lab.spin(1, { stream = a })
        a:synchronize()
        device:copy_(host, { stream = b, non_blocking = true })
    end)
    local copy_us = tl:busy_us("h2d")
    T.ok(copy_us > 1, "a copy after a wait")
    T.near(tl:bounds().lower_us, 1000 + copy_us, 1e-3, "is behind the kernel in lower_us")
    T.near(tl:bounds().unblocked_us, 1000, 1e-3, "and beside it in unblocked_us")
    local blocking = lab.stream{}
    tl = lab.profile(function()
        lab.spin(1, { stream = blocking })
        lab.spin(2, { stream = lab.default_stream() })
        lab.spin(3, { stream = blocking })
    end)
    T.near(tl:bounds().critical_path_us, 6000, 1e-3, "and through the NULL stream's rules")
end

local function an_empty_timeline()
    ideal.textbook()
    local tl = lab.profile(function() end)
    T.is(#tl:spans(), 0, "nothing recorded: no spans")
    T.is(tl.makespan_us, 0, "no makespan")
    T.is(tl:busy_us("kernel"), 0, "no busy time")
    T.is(tl:bounds().lower_us, 0, "no bound")
end

local function recording_is_bounded_by_the_calls()
    ideal.open()
    local s = ideal.streams(1)[1]
    lab.spin(5, { stream = s })         -- before: synchronised away, not recorded
    local tl = lab.profile(function() lab.spin(1, { stream = s }) end)
    lab.spin(1, { stream = s })
    T.is(#tl:spans(), 1, "what came before and after is not recorded")
    T.near(tl.makespan_us, 1000, 1e-6, "and does not show in the makespan")
    lab.synchronize()
    local inner
    local outer = lab.profile(function()
        lab.spin(1, { stream = s })
        inner = lab.profile(function() lab.spin(1, { stream = s }) end)
        lab.spin(1, { stream = s })
    end)
    T.is(#inner:spans(), 1, "recordings may nest: the inner one has its own")
    T.is(#outer:spans(), 3, "the outer one has all")
end

local function recording_by_hand()
    ideal.open()
    local s = ideal.streams(1)[1]
    local tl = lab.record()
    lab.spin(1, { stream = s })
    T.is(tl.recording, true, "lab.record begins a recording")
    refuses(function() tl:spans() end, "SL_ESTATE", "recording",
            "that cannot be read before it is stopped")
    T.is(tl:stop(), tl, "tl:stop gives the timeline")
    T.is(tl.recording, false, "which is then complete")
    T.is(#tl:spans(), 1, "and has what was enqueued between")
    T.is(tl.span_count, 1, "span_count counts it")
    T.lives(function() tl:stop() end, "stopping twice is no error")
    lab.spin(1, { stream = s })
    lab.synchronize()
    T.is(#tl:spans(), 1, "what comes after is not in it")
    do
        local lost <close> = lab.record()
        lab.spin(1, { stream = s })
    end
    lab.record()                        -- forgotten at once
    collectgarbage()
    T.is(#lab.profile(function() lab.spin(1, { stream = s }) end):spans(), 1,
         "recordings that were never stopped do no harm")
end

local function charts()
    local tl = example()
    local text = tl:text()
    T.like(text, "alpha", "text gives the chart as a string")
    T.is(text, tl:text(), "the same every time")
    T.ok(not text:find("[\128-\255\27]"), "in plain ASCII without colour")
    for line in text:gmatch("[^\n]+") do
        if #line > 80 then T.ok(false, "no line is longer than 80 columns: " .. line) end
    end
    T.ok(tl:text{ unicode = true }:find("[\128-\255]"), "unicode = true uses Unicode")
    T.ok(tl:text{ colour = true }:find("\27", 1, true), "colour = true uses colour")
    T.ok(#tl:text{ columns = 40 } < #tl:text{ columns = 120 }, "columns = sets the width")
    T.like(tl:text{ rows = "engines" }, "^compute |", "rows = \"engines\" draws engines")
    T.is(tl:text{ rows = "streams" }, text, "and streams are what is drawn without it")
    refuses(function() tl:text{ rows = "kernels" } end, "SL_EINVAL", "kernels",
            "there are no other rows")
    T.like(tl:text{ from_us = 0, to_us = tl.makespan_us / 2 }, "showing 0 to ",
           "a part of the time says which")
    refuses(function() tl:text{ colums = 3 } end, "SL_EINVAL", "colums", "a typo cannot pass")
    refuses(function() tl:show{ columns = 0 / 0 } end, "SL_EINVAL", "columns",
            "NaN columns are refused")
end

local function two_timelines()
    local tl = example()
    T.is(tl.stream_count, 2, "stream_count counts the streams that have spans")
    T.is(tl.device_name, lab.device().name, "device_name is the GPU's")
    T.is(tl.simulated, true, "and simulated says what it is")
    refuses(function() tl:diff() end, "SL_EINVAL", "a timeline", "diff needs another timeline")
    refuses(function() tl:diff(5) end, "SL_EINVAL", "a timeline", "and no number")
    refuses(function() tl:diff(tl, { names = { "a" } }) end, "SL_EINVAL", "two strings",
            "its names are two")
    refuses(function() tl:diff(tl, { names = { "a", 5 } }) end, "SL_EINVAL", "two strings",
            "both of them strings")
    refuses(function() tl:diff(tl, { name = "a" }) end, "SL_EINVAL", "name", "a typo cannot pass")
    local short = lab.profile(function() lab.spin(0.5) end)
    T.like(short:text{ beside = tl }, "^default |####%#*:?%.%.%.",
           "beside = puts a chart on another one's scale")
    refuses(function() tl:text{ beside = 5 } end, "SL_EINVAL", "beside", "which is a timeline's")
    local running <close> = lab.record()
    refuses(function() tl:text{ beside = running } end, "SL_EINVAL", "complete",
            "of one that is complete")
    refuses(function() tl:diff(running) end, "SL_ESTATE", "still recording",
            "the other one must not be recording")
end

local function results_and_arguments()
    ideal.textbook()
    local tl, value = lab.profile(function() return 42 end)
    T.ok(tl.makespan_us == 0, "the timeline is the first result")
    T.ok(value == nil or value == 42, "what the function gives follows or is dropped")
    refuses(function() lab.profile() end, "SL_EINVAL", "function", "profile needs a function")
    refuses(function() lab.profile(5) end, "SL_EINVAL", "function", "that is one")
end

local function an_error_closes_the_recorder()
    ideal.open()
    local s = ideal.streams(1)[1]
    local err = ideal.error_of(lab.profile, function()
        lab.spin(1, { stream = s })
        error("halfway", 0)
    end)
    T.is(err, "halfway", "an error inside lab.profile comes out as it is")
    local tl = lab.profile(function() lab.spin(2, { stream = s }) end)
    T.is(#tl:spans(), 1, "the recorder was closed, and the next recording is clean")
    T.near(tl.makespan_us, 2000, 1e-6, "with its own times")
    err = ideal.error_of(lab.profile, function()
        lab.with(s, function() lab.matmul(1, 2) end)
    end)
    T.is(type(err) == "table" and err.op, "matmul", "an error of the laboratory keeps its object")
    T.is(lab.current_stream(), lab.default_stream(), "and the current stream is restored")
    err = ideal.error_of(lab.profile, function()
        s:launch_host_func(function() error("late") end)
    end)
    T.like(tostring(err), "late", "a host function's error in the final synchronise is raised")
    T.is(#lab.profile(function() end):spans(), 0, "and the recorder closed as well")
end

local function where_goes_to_the_users_line()
    ideal.open()
    local line
    local function helper()
        line = debug.getinfo(1, "l").currentline + 1
        lab.spin(1)
    end
    local span = lab.profile(helper):spans()[1]
    T.is(span.where, "20-api-profile.t.lua:" .. line, "where is the innermost script line")
end

local function pictures()
    local tl = example()
    local status, text = ideal.run_text([[
        local a = lab.stream{non_blocking = true, name = "alpha"}
        local b = lab.stream{non_blocking = true, name = "beta"}
        local tl = lab.profile(function()
            lab.spin(1, {stream = a})
            lab.spin(2, {stream = b})
        end)
        tl:show()
        print("----")
        tl:summary()
    ]])
    T.is(status, 0, "show and summary run")
    local chart, table_ = text:match("^(.*)%-%-%-%-\n(.*)$")
    T.like(chart, "alpha", "show has a row for each stream, by its name")
    T.like(chart, "beta", "the second one as well")
    T.ok(not text:find("\27", 1, true), "no colour where the output is no terminal")
    T.ok(not text:find("[\128-\255]"), "plain ASCII where the locale is C")
    T.like(table_, "compute", "summary names the engines")
    T.like(table_, "at best, in the same streams", "and the bounds")
    T.like(table_, "^Little to gain: ", "and opens with whether there is anything to gain")
    T.like(tostring(tl), "timeline", "a timeline prints")
end

-- The longest line that a chart has in a terminal of `columns`.
local function shown_columns(columns)
    local _, text = ideal.run_text("lab.profile(function() lab.spin(1) end):show()",
                                   { through = "env COLUMNS=" .. columns })
    local longest = 0
    for line in text:gmatch("[^\n]+") do longest = math.max(longest, #line) end
    return longest
end

local function strange_terminals()
    local least, most = shown_columns("20"), shown_columns("4096")
    T.ok(least > 0 and least < most and most <= 4096, "a chart has the terminal's width")
    for _, columns in ipairs{ "1", "5" } do
        T.is(shown_columns(columns), least, columns .. " columns are taken for 20")
    end
    for _, columns in ipairs{ "4097", "100000", "99999999999999999999" } do
        T.is(shown_columns(columns), most, columns .. " columns are taken for 4096")
    end
    T.is(shown_columns("wide"), shown_columns("80"), "a width that is no number for 80")
    local tl = lab.profile(function() lab.spin(1) end)
    refuses(function() tl:text{ columns = 5 } end, "SL_EINVAL", "5",
            "a width that is asked for is not bent")
end

local function saving()
    local tl = example()
    local one, two = ideal.temporary(".json"), ideal.temporary(".json")
    T.is(tl:save(one), tl, "save gives the timeline")
    tl:save(two)
    T.ok(ideal.read(one) == ideal.read(two), "saving twice gives the same bytes")
    local text = ideal.read(one)
    T.like(text, '"traceEvents"', "the file is a trace")
    T.like(text, '"rank": 0', "with what HTA looks for")
    T.like(text, "20%-api%-profile%.t%.lua:%d+", "and the script positions")
    T.ok(not text:find("nan") and not text:find("inf[^o]"), "and no number that JSON does not know")
    os.remove(one)
    os.remove(two)
    local missing = ideal.temporary("") .. "/nowhere/x.json"
    refuses(function() tl:save(missing) end, "SL_EIO", "nowhere",
            "an unwritable path is refused by name")
    local folder = ideal.temporary(".json")
    os.execute(("mkdir '%s'"):format(folder))
    refuses(function() tl:save(folder) end, "SL_EIO", "json", "so is a path that is a folder")
    os.remove(folder)
    refuses(function() tl:save("x.png") end, "SL_EINVAL", "png", "an unknown suffix is refused")
    refuses(function() tl:save() end, "SL_EINVAL", "save", "a path is needed")
    refuses(function() tl:save(5) end, "SL_EINVAL", "save", "that is a string")
end

local function saving_a_page()
    local tl, path = example(), ideal.temporary(".html")
    T.is(tl:save(path), tl, "a report is saved by the name's end")
    local page = ideal.read(path)
    os.remove(path)
    T.like(page, "^<!DOCTYPE html>", "it is a page")
    T.like(page, "20%-api%-profile%.t%.lua:%d+", "with the script positions")
    T.like(page, '"sources":{%s*"%d+":"', "and the script's lines")
    T.ok(not page:find("https?://"), "that needs nothing of the network")
end

local function a_timeline_outlives_its_objects()
    local tl
    do
        ideal.open()
        local s = ideal.streams(1)[1]
        tl = lab.profile(function() lab.spin(1, { stream = s }) end)
    end
    collectgarbage()
    collectgarbage()
    T.near(tl.makespan_us, 1000, 1e-6, "a timeline stays when its streams are gone")
    T.is(#tl:spans(), 1, "with its spans")
end

for _, test in ipairs{ spans, sums, selections_are_checked, streams_in_selections,
                       recording_takes_no_time, critical_paths, an_empty_timeline,
                       recording_is_bounded_by_the_calls, recording_by_hand, charts, two_timelines,
                       results_and_arguments,
                       an_error_closes_the_recorder, where_goes_to_the_users_line, pictures,
                       strange_terminals, saving, saving_a_page,
                       a_timeline_outlives_its_objects } do
    test()
end
T.done()
