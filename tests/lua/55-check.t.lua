-- 55-check.t.lua - lab.check and lab.races: modes, what is refused, races as tables.
-- What warn mode prints is in tests/repl/56-check.t.lua; here errors find the races.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function modes()
    T.is(lab.check(), "off", "the checker is off unless it is asked for")
    T.is(lab.check("off"), "off", "check gives the mode before")
    T.is(lab.check(nil), "off", "nil only asks")
    T.is(#lab.races(), 0, "no races are found")
    T.is(tostring(lab.races()), "no races found", "and the list says so")
end

local function wrong_use()
    refuses(function() lab.check("on") end, "SL_EINVAL",
            '"off", "warn" or "error", got "on"$', "an unknown mode")
    refuses(function() lab.check("") end, "SL_EINVAL", 'got ""$', "an empty mode")
    refuses(function() lab.check(true) end, "SL_EINVAL",
            'argument 1 %(mode%) must be "off", "warn" or "error", got boolean',
            "a mode that is no text")
    refuses(function() lab.check("warn\0") end, "SL_EINVAL", "zero byte", "a zero byte in it")
    refuses(function() lab.check("off", 1) end, "SL_EINVAL", "argument 2 is one too many",
            "an argument too many of check")
    refuses(function() lab.races(1) end, "SL_EINVAL", "argument 1 is one too many",
            "an argument of races")
    refuses(function() lab:check("off") end, "SL_EINVAL", "take a dot", "check with a colon")
    refuses(function() lab:races() end, "SL_EINVAL", "take a dot", "races with a colon")
    T.is(lab.check(), "off", "and the mode is what it was")
end

-- Two streams of a new device, a tensor of 16 numbers, and nothing in flight.
local function begin()
    ideal.textbook()
    local a, b = lab.stream{ name = "a" }, lab.stream{ name = "b" }
    local x = lab.zeros(4, 4)
    lab.synchronize()
    lab.check("error")
    return a, b, x
end

local function here() return "55-check.t.lua:" .. debug.getinfo(2, "l").currentline end

local function a_race_as_a_table()
    local a, b, x = begin()
    x:fill_(7, { stream = a })
    local first = here():gsub("%d+$", function(n) return n - 1 end)
    pcall(lab.mul, x, x, { stream = b })
    local second = here():gsub("%d+$", function(n) return n - 1 end)
    local races = lab.races()
    T.is(#races, 1, "one race is found")
    local race = races[1]
    T.is(race.kind, "race", "nothing orders it")
    T.is_deeply(race.first, { access = "write", what = "fill_f32", where = first, by = "stream",
        stream = "a", stream_id = a.id, correlation = race.first.correlation, first_byte = 0,
        bytes = 64 }, "its first access is the write")
    T.is_deeply(race.second, { access = "read", what = "mul_f32", where = second, by = "stream",
        stream = "b", stream_id = b.id, correlation = race.second.correlation, first_byte = 0,
        bytes = 64 }, "its second one the read")
    T.is(math.type(race.first.correlation), "integer", "with the numbers that timelines have")
    T.is(race.stale, nil, "what has not happened has read nothing")
    T.like(race.tensor, "^tensor %d+ %(4x4 float32 on the device%)$", "the memory has its tensor")
    T.like(race.made, "^55%-check.t.lua:%d+$", "and the line that made it")
    T.is(race.first_byte .. " " .. race.bytes, "0 64", "both touch all of it")
    T.is(race.remedy, "b:wait_stream(a)", "there is a remedy")
    T.is(race.remedy_where, "before " .. second, "and a place for it")
    T.is(race.accident, nil, "a race is no accident")
    T.is(race.count, 1, "it was met once")
    T.is(tostring(race), race.message, "tostring gives the report")
    T.is(tostring(races), race.message, "that of the list all of them")
    T.like(race.message, '^race: stream "b" reads at ' .. second:gsub("%p", "%%%0")
        .. ' what stream "a" may still be writing\n', "whose first line is a sentence")
    T.ok(not race.message:find("[^\n]\27"), "without colours")
    T.is(lab.check("off"), "error", "off gives the mode before")
    T.is(#lab.races(), 1, "and keeps the list")
    lab.check("error")
    T.is(#lab.races(), 0, "which a new beginning forgets")
    lab.check("off")
end

local function wide_reports()
    local a, b, x = begin()
    local long = lab.stream{ name = ("long "):rep(40) .. "\27[31m" }
    x:fill_(7, { stream = long })
    pcall(lab.mul, x, x, { stream = b })
    pcall(lab.mul, x, x, { stream = a })
    for line in (tostring(lab.races()) .. "\n"):gmatch("(.-)\n") do
        if #line > 100 then T.ok(false, "wider than 100: " .. line) end
    end
    T.is(#lab.races(), 2, "two lines that race with one are two races")
    T.ok(not tostring(lab.races()):find("\27", 1, true), "a name has no power over the terminal")
    lab.check("off")
end

local function raising()
    local a, b, x = begin()
    x:fill_(7, { stream = a })
    local err = ideal.error_of(function() lab.mul(x, x, { stream = b }) end)
    T.is(err.code, "SL_ERACE", "in error mode the second call raises")
    T.is(err.op, "mul", "under its name")
    T.like(err.message, "55%-check.t.lua:%d+", "the message names the first line")
    T.like(err.where, "^55%-check.t.lua:%d+$", "where is the second one")
    b:wait_stream(a)
    local fine = pcall(lab.mul, x, x, { stream = b })
    T.ok(fine, "with the order that was missing it goes on")
    T.is(x:get(1, 1), 7, "and reads what it should")
    lab.check("off")
end

local function host_functions()
    local a, _, x = begin()
    local p = lab.zeros(4, { device = "cpu", pinned = true })
    lab.check("error")
    p:to("cuda", { non_blocking = true, stream = a })
    local b = lab.stream()
    b:launch_host_func(function() p:set(1, 5) end)
    local err = ideal.error_of(lab.synchronize)
    T.is(err.code, "SL_EHOSTFUNC", "a host function that races raises where it runs")
    T.like(err.message, "races with Memcpy HtoD", "with what it races with")
    T.is(lab.races()[1].second.by, "host_func", "and is known as one")
    a:launch_host_func(function()
        local inner = ideal.error_of(lab.check, "off")
        T.is(inner.code, "SL_ESTATE", "it must not switch the checker")
        T.is(lab.check(), "error", "but may ask")
    end)
    lab.synchronize()
    T.is(x:get(1, 1), 0, "the device goes on")
    lab.check("off")
end

-- A finalizer that calls the core must not come between the races that are listed.
local function collecting()
    local a, b, x = begin()
    x:fill_(7, { stream = a })
    for _ = 1, 3 do pcall(lab.mul, x, x, { stream = b }) end
    T.is(lab.races()[1].count, 3, "one place that races three times is one race")
    T.like(tostring(lab.races()), "\n  %(and 2 more times%)$", "whose report says so")
    for _ = 1, 100 do
        setmetatable({}, { __gc = function() lab.check("error") end })
        lab.races()
    end
    collectgarbage()
    T.ok(true, "finalizers that forget the races do no harm to the list")
    T.ok(collectgarbage("isrunning"), "and the collector runs again")
    lab.check("off")
end

for _, f in ipairs { modes, wrong_use, a_race_as_a_table, wide_reports, raising,
    host_functions, collecting } do
    f()
end
T.done()
