-- 60-races-modes.t.lua - the race checker: off, warn and error, and the list of races.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local function line() return debug.getinfo(2, "l").currentline end
local function at(n) return "60-races-modes.t.lua:" .. n end
local function stream(name) return lab.stream { name = name, non_blocking = true } end

local function one_race(a, b)
    local x = lab.empty(4, 4)
    lab.spin(1, { stream = a })
    x:fill_(7, a)
    lab.add(x, 1, { stream = b })
end

-- ---- switching --------------------------------------------------------------------------

local function modes_are_given_back()
    T.is(lab.check(), "off", "the checker is off at first")
    T.is(lab.check("warn"), "off", "a change gives the mode before")
    T.is(lab.check("error"), "warn", "and so does the next one")
    T.is(lab.check(), "error", "asking changes nothing")
    T.is(lab.check("off"), "error", "and off again")
    local ok, err = pcall(lab.check, "loud")
    T.is(not ok and err.code, "SL_EINVAL", "there is no other mode")
end

local function the_list_is_emptied()
    local a, b = stream "a", stream "b"
    lab.check("warn")
    one_race(a, b)
    lab.synchronize()
    T.is(#lab.races(), 1, "a race is listed")
    T.is(#lab.races(), 1, "also when asked again")
    lab.check("off")
    T.is(#lab.races(), 1, "and when the checker has been switched off")
    lab.check("warn")
    T.is(#lab.races(), 0, "switching it on forgets the races")
    one_race(a, b)
    lab.synchronize()
    T.is(#lab.races(), 1, "and new ones are found")
    lab.check("warn")
    T.is(#lab.races(), 0, "the same mode again forgets them, too")
    lab.check("off")
end

local function off_looks_at_nothing()
    local a, b = stream "a", stream "b"
    one_race(a, b)
    lab.synchronize()
    T.is(#lab.races(), 0, "switched off it finds nothing")
    lab.check("warn")
    local x = lab.empty(4, 4)
    lab.check("off")
    x:fill_(7, a)
    lab.check("warn")
    lab.add(x, 1, { stream = b })
    lab.synchronize()
    T.is(#lab.races(), 0, "what was enqueued meanwhile counts as ordered")
    lab.check("off")
end

local function what_came_before_counts_as_ordered()
    local a, b = stream "a", stream "b"
    local x = lab.empty(4, 4)
    lab.spin(1, { stream = a })
    x:fill_(7, a)
    lab.check("warn")
    lab.add(x, 1, { stream = b })
    x:fill_(8, a)
    lab.synchronize()
    local races = lab.races()
    T.is(#races, 1, "of three operations the one before the checker was on is left out")
    T.is(races[1] and races[1].first.stream, "b", "the other two race")
    lab.check("off")
end

-- ---- many times -------------------------------------------------------------------------

C.wrong("the same two lines meet five times", [[
local x = lab.empty(4, 4)                   --X
for i = 1, 5 do
    lab.spin(1, {stream = producer})
    x:fill_(i, producer)                    --A
    lab.add(x, 1, {stream = consumer})      --B
    lab.synchronize()
end
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, count = 5,
})

C.wrong("tensors of one line are one, too", [[
for i = 1, 4 do
    local x = lab.empty(4, 4)               --X
    lab.spin(1, {stream = producer})
    x:fill_(i, producer)                    --A
    lab.add(x, 1, {stream = consumer})      --B
    lab.synchronize()
end
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, count = 4,
})

C.wrong("tensors of two lines are two", [[
local x = lab.empty(4, 4)                   --X
local y = lab.empty(4, 4)                   --Y
for _, t in ipairs{x, y} do
    t:fill_(7, producer)                    --A
    lab.add(t, 1, {stream = consumer})      --B
end
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
}, {
    first = { "A", "write", "fill_f32", "producer" }, made = "Y",
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

-- ---- error mode -------------------------------------------------------------------------

-- Switched off in any case.
local function strictly(f)
    lab.check("error")
    local ok, err = pcall(f)
    pcall(lab.synchronize)
    lab.check("off")
    if not ok then error(err, 0) end
end

local function an_operation_is_refused()
    local a, b = stream "a", stream "b"
    local x, y = lab.full(1, 4, 4), lab.full(2, 4, 4)
    lab.synchronize()
    local err, n, ok
    local tl = lab.profile(function()
        strictly(function()
            x:fill_(7, a)
            ok, err = pcall(function() lab.add(x, 1, { out = y, stream = b }) end)
            n = line() - 1
            T.is(lab.races()[1] and lab.races()[1].second.where, at(n), "it is listed")
        end)
    end)
    T.is(ok, false, "the second of two that race raises")
    T.is(err.code, "SL_ERACE", "SL_ERACE")
    T.is(err.where, at(n), "where it is")
    T.is(err.op, "add", "and what")
    T.like(err.message, at(n - 1):gsub("%W", "%%%0"), "the message names the first of the two")
    T.is(#tl:spans(), 1, "it was not enqueued")
    T.is(y:get(1, 1), 2, "and has changed nothing")
    T.is(x:get(1, 1), 7, "the first one ran")
end

local function a_script_goes_on_after_it()
    local a, b = stream "a", stream "b"
    local x, y = lab.full(1, 4, 4), lab.full(2, 4, 4)
    lab.synchronize()
    strictly(function()
        x:fill_(7, a)
        T.is(pcall(lab.add, x, 1, { out = y, stream = b }), false, "a race is refused")
        T.is(pcall(lab.add, x, 1, { out = y, stream = b }), false, "and again")
        y:fill_(3, a)                       -- the refused ones did not touch it
        b:wait_stream(a)
        lab.add(x, 1, { out = y, stream = b })
        b:synchronize()
    end)
    T.is(y:get(4, 4), 8, "with the wait it is done")
end

local function the_host_is_refused()
    local a = stream "a"
    local p = lab.full(1, 4, 4, { device = "cpu", pinned = true })
    local x = lab.empty(4, 4)
    local ok, err
    strictly(function()
        lab.spin(1, { stream = a })
        x:copy_(p, { non_blocking = true, stream = a })
        ok, err = pcall(p.set, p, 1, 1, 7)
        T.is(pcall(p.fill_, p, 7), false, "fill_ of what is being copied is refused")
        T.is(p:get(1, 1), 1, "nothing was written")
        a:synchronize()
        p:set(1, 1, 8)
    end)
    T.is(not ok and err.code, "SL_ERACE", "set of what is being copied is refused")
    T.is(p:get(1, 1), 8, "after the wait it is not")
    lab.synchronize()
    T.is(lab.with(a, x.get, x, 1, 1), 1, "and the copy has what was there")
end

local function reading_is_refused()
    local a = stream "a"
    local x = lab.full(5, 4, 4)
    lab.synchronize()
    strictly(function()
        lab.spin(1, { stream = a })
        local p = x:cpu { non_blocking = true, stream = a }
        T.is(pcall(p.get, p, 1, 1), false, "get of what is being filled is refused")
        a:synchronize()
        T.is(p:get(1, 1), 5, "after the wait it is not")
    end)
end

local function a_free_is_refused()
    local a, b = stream "a", stream "b"
    local m = lab.cuda.malloc_async(64, { stream = a })
    strictly(function()
        lab.spin(1, { stream = a })
        lab.cuda.memset_async(m, 1, { stream = a })
        T.is(pcall(lab.cuda.free_async, m, b), false, "cudaFreeAsync in another stream is refused")
        T.is(m.freed, false, "the memory is still there")
        lab.cuda.free_async(m, a)
        T.is(m.freed, true, "and can be freed where it is used")
    end)
end

local function an_accident_passes()
    local a = stream "a"
    local m = lab.cuda.malloc(64)
    strictly(function()
        lab.spin(1, { stream = a })
        lab.cuda.memset_async(m, 1, { stream = a })
        lab.cuda.free(m)
        T.is(#lab.races(), 1, "an accident is listed")
        T.is(lab.races()[1] and lab.races()[1].kind, "accident", "as one")
    end)
    T.is(m.freed, true, "and does not fail, in error mode either")
end

local function a_right_script_passes()
    local a, b = stream "a", stream "b"
    local sum
    strictly(function()
        local x = lab.full(2, 4, 4, { stream = a })
        b:wait_stream(a)
        sum = lab.with(b, function() return lab.sum(x):item() end)
        T.is(#lab.races(), 0, "a script in order has no races in error mode")
    end)
    T.is(sum, 32, "and its values")
end

-- Streams of simulated devices cannot wait for one another.
local function two_devices_meet_on_the_host()
    local before = lab.device()
    lab.open { backend = "sim" }
    local there, up = lab.ones(16), stream "up"
    lab.open { backend = "sim", profile = "t4" }
    local here, down = lab.zeros(16), stream "down"
    local host = lab.zeros(16, { device = "cpu", pinned = true })
    strictly(function()
        host:copy_(there, { non_blocking = true, stream = up })
        local ok, err = pcall(here.copy_, here, host, { non_blocking = true, stream = down })
        T.like(not ok and err.message, "nothing orders them; synchronize up$",
               "the host is to wait")
        T.is(lab.races()[1].remedy, "up:synchronize()", "for the other device's stream")
        up:synchronize()
        here:copy_(host, { non_blocking = true, stream = down })
        T.is(#lab.races(), 1, "which orders the two")
    end)
    before:make_current()
end

modes_are_given_back()
the_list_is_emptied()
off_looks_at_nothing()
what_came_before_counts_as_ordered()
an_operation_is_refused()
a_script_goes_on_after_it()
the_host_is_refused()
reading_is_refused()
a_free_is_refused()
an_accident_passes()
a_right_script_passes()
two_devices_meet_on_the_host()
T.done()
