-- 20-api-device-life.t.lua - how long a simulated device lives: as long as something refers to it.
-- What does not is closed when the next device is opened.

local T = require "tap"

local internals = debug.getregistry()["streamlab.internals"]

local function open(overrides)
    return lab.open{ backend = "sim", profile = "textbook", overrides = overrides }
end

-- Twice: the second turn takes what finalizers left.
local function collect()
    collectgarbage()
    collectgarbage()
end

-- How many devices are open once another one is, and is current.
local function count()
    collect()
    open()
    return #internals.devices()
end

-- ---- devices without references ----------------------------------------------------------------

local function use_one()
    open()
    local a = lab.rand(16, 16)
    lab.profile(function() lab.matmul(a, a) end)
end

use_one()
T.is(count(), 1, "a device to which nothing refers is closed when another one is opened")

do
    for _ = 1, 20 do use_one() end
    collect()
    local before_kb = collectgarbage("count")
    for _ = 1, 200 do
        use_one()
        collect()
    end
    local grown_kb = collectgarbage("count") - before_kb
    T.ok(grown_kb < 50, ("200 devices leave no Lua memory (%.0f kB)"):format(grown_kb))
    T.is(count(), 1, "and none of them is open")
end

do
    local most = 0
    for _ = 1, 1500 do
        use_one()
        most = math.max(most, #internals.devices())
    end
    local stress = os.getenv("TAP_GC")
    T.ok(stress or most < 500, -- 80 to 280, as the collector's turns fall
         ("without collectgarbage() they do not gather (%d of 1500)"):format(most))
    count()
end

-- ---- what keeps a device -----------------------------------------------------------------------

-- Whether what make() gives keeps the device that it opens.
local function keeps(make, name)
    local kept = make()
    T.is(count(), 2, name .. " keeps its device")
    T.ok(kept ~= nil, "while it is there")
    kept = nil
    T.is(kept == nil and count(), 1, "and no longer")
end

keeps(open, "the device's object")
keeps(function() open() return lab.rand(4) end, "a tensor")
keeps(function()
    open()
    local host = lab.empty(4, { device = "cpu", pinned = true })
    host:to("cuda")
    return host
end, "host memory that was used with it")
keeps(function() open() return lab.stream() end, "a stream")
keeps(function() open() return lab.default_stream() end, "its default stream")
keeps(function() open() return lab.event() end, "an event")
keeps(function() open() return lab.record() end, "a recording")
keeps(function()
    open()
    local tl = lab.profile(function() lab.spin(1) end)
    return { tl, lab.stream() }
end, "a stream in a table")

do
    open()
    local tl = lab.profile(function() lab.spin(1) end)
    T.is(count(), 1, "a timeline that is complete keeps no device")
    T.is(#tl:spans(), 1, "and has its spans without it")
end

do
    open()
    lab.use(lab.stream())
    T.is(count(), 1, "nor does a stream that is current there and that nobody else has")
end

-- ---- what was current --------------------------------------------------------------------------

do
    open{ sm_count = 40 }
    collect()
    T.is(lab.device().sm_count, 40, "the current device stays")
    do
        local _ <close> = lab.use((function() open() return lab.stream() end)())
        collect()
        open()
        T.is(#internals.devices(), 2, "the device of the stream of lab.use is kept meanwhile")
    end
    count()
end

do
    local other = lab.with(lab.default_stream(), function()
        open{ sm_count = 41 }
        return lab.stream()
    end)
    count()
    open{ sm_count = 42 }
    do
        local _ <close> = lab.use(other)
        collect()
        open()
        collect()
        open()
        T.is(lab.device().sm_count ~= 42, true, "while lab.use has made another device current")
    end
    T.is(lab.device().sm_count, 42, "the one that it replaced is kept, and is current behind it")
    other = nil
    T.is(other == nil and count(), 1, "which keeps it no longer")
end

do
    local go_on = coroutine.wrap(function()
        open{ sm_count = 43 }
        local _ <close> = lab.use(lab.stream())
        coroutine.yield()
        coroutine.yield(lab.device().sm_count)
    end)
    go_on()
    count()
    count()
    T.is(go_on(), 43, "what a coroutine has made current is kept while it does not run")
    go_on()
    go_on = nil
    T.is(go_on == nil and count(), 1, "then it is closed")
end

-- ---- what is known of a device ------------------------------------------------------------------

do
    local speed = { keys = { "host.launch_us" }, low = 0.5, high = 2 }
    lab.open{ profile = { base = "textbook", spread = { speed = speed } } }
    collect()
    local tl = lab.profile(function() for _ = 1, 50 do lab.spin(0) end end, { spread = 5 })
    T.ok(tl.range_us[1] < tl.range_us[2],
         "a device without an object keeps the figures that draws vary")
    count()
end

do
    local wrong = 0
    for i = 1, 100 do
        open()
        -- Other texts than those of the device before it, whose memory it may have.
        for k = 1, i % 7 do lab.stream{ name = "s" .. k .. "of" .. i }:close() end
        local tl = lab.profile(function() lab.spin(1) end)
        local where = tl:spans()[1].where
        if not where:find("20-api-device-life.t.lua:", 1, true) then wrong = wrong + 1 end
        collect()
    end
    T.is(wrong, 0, "a new device in the memory of an old one has its own texts")
    count()
end

do
    local keys, again = {}, 0
    for _ = 1, 100 do
        local key = internals.device_key(open())
        again = again + (keys[key] and 1 or 0)
        keys[key] = true
        collect()
    end
    T.is(again, 0, "and a key that no other had")
    count()
end

-- ---- when none is closed ------------------------------------------------------------------------

do
    lab.check("warn")
    use_one()
    T.is(count() > 1, true, "while the race checker is on, devices stay: it may name what they did")
    lab.check("off")
    T.is(count(), 1, "and no longer")
end

do
    local n
    setmetatable({}, { __gc = function()
        open()
        n = #internals.devices()
    end })
    use_one()
    open()
    collect()
    T.ok(n > 1, "a finalizer that opens a device closes none")
    T.is(count(), 1, "the next call of lab.open does")
end

T.done()
