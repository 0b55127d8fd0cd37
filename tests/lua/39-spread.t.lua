-- 39-spread.t.lua - uncertain figures of a profile, and the range of makespans that follows.
--
-- Expected factors are worked out from the definition: a row's factor is low^(z / -1.28155) below
-- the median and high^(z / 1.28155) above it, and n draws take the quantiles (k - 0.5) / n. Five
-- draws are at 0.1, 0.3, 0.5, 0.7 and 0.9: the factors low, low^0.40919, 1, high^0.40919 and high,
-- since the normal quantile of 0.7 is 0.524401 and that of 0.9 is 1.281552.

local T = require "tap"
local ideal = require "lua.ideal"

local part <const> = 0.524400512708041 / 1.2815515655446004

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- A GPU on which only launches take time, 10 us each, and the rows of spread.
local function open(spread, figures)
    local profile = {
        base = "textbook", submit_us = 0, stream_gap_us = 0, wake_us = 0, copy_latency_us = 0,
        h2d_gb_per_s = 10, host = { launch_us = 10, synchronize_us = 0 }, host_cold = {},
        spread = spread,
    }
    for key, value in pairs(figures or {}) do profile[key] = value end
    ideal.textbook()              -- what is open has nothing in flight
    return lab.open{ profile = profile }
end

-- How long the host takes for a launch.
local function launch_us()
    local before = lab.now_us()
    lab.spin(0.001)
    return lab.now_us() - before
end

-- Runs of `what` in n draws: the median run's value first, then those of the draws.
local function values_of(n, what)
    local list = {}
    local tl = lab.profile(function() list[#list + 1] = what() end, { spread = n })
    return list, tl
end

local function near_all(list, wanted, name)
    local same = #list == #wanted
    for i, value in ipairs(list) do same = same and math.abs(value - wanted[i]) < 1e-3 end
    T.ok(same, name, table.concat(list, " ") .. " is not " .. table.concat(wanted, " "))
end

local function sorted(list, from)
    local copy = table.move(list, from, #list, 1, {})
    table.sort(copy)
    return copy
end

local calls = { keys = { "host.launch_us" }, low = 0.25, high = 4 }
local five = { 2.5, 10 * 0.25 ^ part, 10, 10 * 4 ^ part, 40 }

local function factors()
    open{ calls = calls }
    local list = values_of(5, launch_us)
    T.is(#list, 6, "n draws are n more runs")
    T.near(list[1], 10, 1e-9, "the first run has the median figures")
    near_all(sorted(list, 2), five, "each fifth of the distribution comes once")
    local again = values_of(5, launch_us)
    near_all(again, list, "in the same order each time")
    open{ others = calls }
    T.ok(table.concat(values_of(5, launch_us), " ") ~= table.concat(list, " "),
         "which depends on the row's name")
    open{ calls = calls, more = { keys = calls.keys, low = 0.25, high = 4, with = "calls" } }
    near_all(sorted(values_of(5, launch_us), 2),
             { 0.625, five[2] ^ 2 / 10, 10, five[4] ^ 2 / 10, 160 },
             "a row that is drawn with another is low and high when that one is")
    open{ calls = { keys = { "host.launch_us" }, low = 1, high = 1 } }
    near_all(values_of(3, launch_us), { 10, 10, 10, 10 }, "a certain figure stays")
end

-- Four launches after the first, and 1 us: the makespan is 4 launches and 1 us long.
local function five_launches()
    for _ = 1, 5 do lab.spin(0.001) end
end

local function ranges()
    open{ calls = calls }
    local tl = lab.profile(five_launches, { spread = 5 })
    T.near(tl.makespan_us, 41, 1e-9, "the timeline is that of the median figures")
    local low_us, high_us = table.unpack(tl.range_us)
    T.near(low_us, 1 + 4 * five[1], 2e-3, "the range of five draws begins at the lowest")
    T.near(high_us, 1 + 4 * five[5], 2e-3, "and ends at the highest")
    T.is(tl.range_us.runs, 5, "it says of how many draws")
    T.is(lab.profile(five_launches).range_us, nil, "without spread there is none")
    T.near(lab.profile(five_launches).makespan_us, 41, 1e-9, "and the median figures are back")
    open{ calls = calls, rest = { keys = { "makespan" }, low = 0.5, high = 3 } }
    low_us, high_us = table.unpack(lab.profile(five_launches, { spread = 5 }).range_us)
    T.near(low_us, 0.5 * (1 + 4 * five[1]), 2e-3, "what no figure varies makes it wider below")
    T.near(high_us, 3 * (1 + 4 * five[5]), 4e-3, "and above")
    open{ calls = calls }
    local all = {}
    for k = 1, 39 do all[k] = 40 - k end
    local low, high = debug.getregistry()["streamlab.internals"].need("draws").range(all)
    T.ok(low == 2 and high == 38, "of 39 draws the second and the last but one are its ends")
    lab.open{ profile = "textbook", overrides = { spread = {} } }
    tl = lab.profile(five_launches, { spread = 2 })
    T.near(tl.range_us[2] - tl.range_us[1], 0, 0.02, "certain figures give no range")
end

local function copy_us()
    local host, there = lab.empty(250000, { device = "cpu", pinned = true }), lab.empty(250000)
    local us = lab.profile(function() there:copy_(host, { non_blocking = true }) end).makespan_us
    host:free()
    there:free()
    return us
end

-- What f prints.
local function printed(f)
    local path = os.tmpname()
    local program = ("%s -e %q > %s"):format(os.getenv("STREAMLAB"), f, path)
    assert(os.execute(program))
    local file <close> = assert(io.open(path))
    os.remove(path)
    return file:read("a")
end

-- Five launches lose 46 us, host work between them 29 us. With the factors 0.25 and 0.567 of five
-- draws the launches lose 4 (2.5 - 1) + 2.5 = 8.5 us and 24.4 us: less than the host work.
local function words()
    open{ calls = calls }
    local function f()
        five_launches()
        lab.host_work(0.03)
        lab.spin(0.001)
    end
    local tl = lab.profile(f, { spread = 5 })
    T.like(tl:json(), '"makespan_range_us": {"low": %d+%.%d+, "high": %d+%.%d+, "runs": 5}',
           "JSON has the range")
    local text = printed([[
        local function f()
            for _ = 1, 5 do lab.spin(0.001) end
            lab.host_work(0.03)
            lab.spin(0.001)
        end
        lab.open{profile = {base = "textbook", submit_us = 0, stream_gap_us = 0, wake_us = 0, host_cold = {},
            host = {launch_us = 10, synchronize_us = 0},
            spread = {calls = {keys = {"host.launch_us"}, low = 0.25, high = 4}}}}
        local tl = lab.profile(f, {spread = 5})
        tl:show()
        tl:summary()
        tl:explain{columns = 220}]])
    T.like(text, "\nmakespan 81.0 us %(43.5 to 231%)\n", "the line below the chart")
    T.like(text, "\nmakespan +81.0 us %(43.5 to 231%)\n", "the summary has the range as well")
    T.like(text, "Makespan 81.0 us %(43.5 to 231%): where nine in ten are expected, by 5 draws "
           .. "from the profile's uncertain figures.", "and so does the explanation")
    T.like(text, 'In 2 of 5 draws "host busy otherwise" loses more time than "host issuing", and '
        .. 'comes '
           .. "before it.", "which says when causes change their order")
end

local function tables()
    open({ rows = { keys = { "copy_us" }, low = 0.25, high = 4 } },
         { copy_us = { h2d = { { 1e6, 100 }, { 2e6, 200 } } } })
    near_all(sorted(values_of(5, copy_us), 2), { 25, 100 * 0.25 ^ part, 100, 100 * 4 ^ part, 400 },
             "of rows the last number is multiplied, and a table stands for all in it")
    open({ rows = { keys = { "host" }, low = 0.25, high = 4 },
         copies = { keys = { "h2d_gb_per_s" }, low = 0.25,
         high = 4 } })
    local launches, copies = {}, {}
    values_of(5, function()
        launches[#launches + 1], copies[#copies + 1] = launch_us(), copy_us()
    end)
    near_all(sorted(launches, 2), five, "of two rows each covers its distribution")
    near_all(sorted(copies, 2), { 25, 100 / 4 ^ part, 100, 100 / 0.25 ^ part, 400 },
             "the other too")
    local orders_differ = false
    for i = 2, 6 do
        orders_differ = orders_differ or math.abs(launches[i] * copies[i] - 1000) > 1
    end
    T.ok(orders_differ, "they are independent of each other")
    open({ rows = { keys = { "host_cold" }, low = 0.25, high = 4 } },
         { host_cold = { bytes = 1e6, launch_us = 8 } })
    T.ok(pcall(lab.profile, five_launches, { spread = 2 }), "a number of bytes in a table stays")
end

local function arguments()
    open{ calls = calls }
    local tl, a, b = lab.profile(function(...) return select("#", ...), (...) end,
                                 { spread = 2 }, 7, 8)
    T.is(a .. " " .. b, "2 7", "what stands behind the options is for f, what f returns comes back")
    T.is(tl.range_us.runs, 2, "with the range")
    local _, got = lab.profile(function(t) return t.spread and #t end, { 1, 2, spread = 3 })
    T.is(got, 2, "a table with more than `spread` is an argument of f")
    for _, n in ipairs{ 1, 1001, 2.5, "3" } do
        refuses(function() lab.profile(five_launches, { spread = n }) end, "SL_EINVAL",
                "'spread' must be a whole number from 2 to 1000, got ", "spread = " .. n)
    end
end

local function failures()
    open{ calls = calls }
    local n = 0
    local function fails_later()
        n = n + 1
        lab.spin(1)
        if n == 3 then error("the third time", 0) end
    end
    local fine, message = pcall(lab.profile, fails_later, { spread = 5 })
    T.ok(not fine and message == "the third time", "an error in a draw comes back")
    lab.synchronize()
    T.near(launch_us(), 10, 1e-9, "and the median figures are back")
    open({ sms = { keys = { "sm_count" }, low = 0.25, high = 4 } })
    refuses(function() lab.profile(five_launches, { spread = 2 }) end, "SL_EINVAL",
            "'sm_count' of an open device cannot change", "what a device has cannot be uncertain")
    T.near(launch_us(), 10, 1e-9, "the device is as it was")
    math.randomseed(3)
    local random = math.random()
    math.randomseed(3)
    open{ calls = calls }
    lab.profile(five_launches, { spread = 2 })
    T.is(math.random(), random, "draws leave the script's random numbers alone")
end

local function rows_merge()
    local base = { base = "textbook", host = { launch_us = 10 }, spread = {
        ["calls, 1.5"] = calls, gone = calls,
        ["the GPU"] = { keys = { "h2d_gb_per_s" }, low = 0.5, high = 2 } } }
    local unique = os.tmpname()
    local path = unique .. ".lua"
    local file <close> = assert(io.open(path, "w"))
    file:write([[return {base = "textbook", host = {launch_us = 10}, spread = {
        ["calls, 1.5"] = {keys = {"host.launch_us"}, low = 0.25, high = 4},
        gone = {keys = {"host.launch_us"}, low = 0.5, high = 2}}}]])
    file:close()
    lab.open{ profile = { base = path, spread = { gone = {}, ["calls, 1.5"] = { high = 1 } } } }
    near_all(sorted(values_of(5, launch_us), 2), { 2.5, five[2], 10, 10, 10 },
             "a row's fields replace those of the base's row of that name, an empty one removes it")
    os.remove(path)
    os.remove(unique)
    lab.open{ profile = { base = "textbook" }, host = base, overrides = { spread = { gone = {} } } }
    near_all(sorted(values_of(5, launch_us), 2), five, "the host's rows come with the host")
    local copies = values_of(2, copy_us)
    near_all(copies, { copies[1], copies[1], copies[1] }, "and not those of its GPU")
    lab.open{ profile = base, overrides = { spread = {} } }
    near_all(values_of(2, launch_us), { 10, 10, 10 }, "an empty table removes all rows")
end

local function row_errors()
    local function wrong(row, pattern, name)
        refuses(function() open{ ["a row"] = row } end, "SL_EINVAL",
                "profile table: spread 'a row' " .. pattern, name)
    end
    wrong({ keys = { "host.lunch_us" }, low = 0.5, high = 2 },
          "has the key 'host.lunch_us', which the profile does not have; did you mean "
          .. "'host.launch_us'?", "an unknown figure")
    wrong({ keys = { "hosts" }, low = 0.5, high = 2 }, "has the key 'hosts'.*did you mean 'host'?",
          "an unknown table")
    wrong({ keys = { "name" }, low = 0.5, high = 2 }, "has the key 'name', which is no number",
          "a figure that is a text")
    wrong({ keys = { "host" }, low = 1.1, high = 2 },
          "needs 'low', a number from 0.001 to 1, got 1.1", "a low factor above 1")
    wrong({ keys = { "host" }, low = 0.5, high = 0.9 },
          "needs 'high', a number from 1 to 1000, got 0.9", "a high factor below 1")
    wrong({ keys = { "host" }, low = "x", high = 2 }, "needs 'low', .* got \"x\"", "no number")
    wrong({ keys = { "host" }, low = 0.5 }, "needs 'high', .* got nothing",
          "a factor that is missing")
    wrong({ keys = {}, low = 0.5, high = 2 }, "needs 'keys'", "no keys")
    wrong({ keys = { 3 }, low = 0.5, high = 2 }, "has a key that is a number",
          "a key that is no text")
    wrong({ keys = { "host" }, low = 0.5, high = 2, with = 1 }, "needs in 'with' the name of a row",
          "a row to be drawn with that is no name")
    wrong({ keys = { "host" }, low = 0.5, high = 2, mean = 1 }, "has an unknown field 'mean'",
          "an unknown field")
    wrong(3, "must be a table, is a number", "a row that is no table")
    refuses(function() open(3) end, "SL_EINVAL", "'spread' is a number", "rows that are no table")
    refuses(function() open{ { keys = { "host" }, low = 1, high = 1 } } end, "SL_EINVAL",
            "spread '1' must be named", "a row without a name")
end

local function files()
    local path, seen, open_file <const> = os.tmpname(), {}, io.open
    local function text()
        local f <close> = io.open(path)
        return f and f:read("a")
    end
    open{ launches = { keys = { "host.launch_us" }, low = 0.5, high = 2 } }
    local tl = lab.profile(function()
        seen[#seen + 1] = text()
        local f <close> = io.open(path, "a")
        f:write(#seen)
        f:flush()
        seen[#seen + 1] = text()
        lab.spin(0.01)
    end, { spread = 2 })
    T.is_deeply(seen, { "", "1", "", "3", "", "5" },
                "each run finds a file as it was before, and what it writes")
    T.is(text(), "1", "which only the first run has changed")
    T.ok(tl.range_us and io.open == open_file, "Lua's own functions are back")
    pcall(lab.profile, function() error("on purpose") end, { spread = 2 })
    T.ok(io.open == open_file, "also after an error")
    os.remove(path)
end

factors()
files()
ranges()
words()
tables()
arguments()
failures()
rows_merge()
row_errors()
T.done()
