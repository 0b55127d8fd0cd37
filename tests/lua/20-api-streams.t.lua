-- 20-api-streams.t.lua - streams: making them, the current one, waiting, closing.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function making()
    local s = lab.stream{}
    T.is(s.non_blocking, false,
         "a stream is blocking toward the NULL stream unless said, as CUDA's")
    T.is(s.priority, 0, "its priority is 0 unless said")
    T.is(lab.stream().non_blocking, false, "the table of options may be left out")
    T.is(lab.stream{ non_blocking = true }.non_blocking, true,
         "non_blocking = true makes it non-blocking")
    T.is(lab.stream{ name = "copies" }.name, "copies", "a stream may have a name")
    T.like(tostring(lab.stream{ name = "copies" }), "copies", "which tostring shows")
    T.isnt(lab.stream{}, lab.stream{}, "two streams are not equal")
    refuses(function() lab.stream{ nonblocking = true } end, "SL_EINVAL", "nonblocking",
            "a typo cannot pass")
    refuses(function() lab.stream{ non_blocking = 1 } end, "SL_EINVAL", "non_blocking",
            "non_blocking is true or false")
    refuses(function() lab.stream{ name = 5 } end, "SL_EINVAL", "name", "a name is a string")
    refuses(function() lab.stream{ name = "a\0b" } end, "SL_EINVAL", "name.*zero byte",
            "without a zero byte")
    refuses(function() lab.stream(3) end, "SL_EINVAL", "table", "options come in a table")
end

local function priorities()
    local range = lab.device().priority_range
    local least, greatest = range.least, range.greatest
    if lab.device().simulated then
        T.is(least, 0, "the H200's least priority is 0")
        T.is(greatest, -5, "its greatest is -5")
    end
    local between = math.max(greatest, -3)
    T.is(lab.stream{ priority = between }.priority, between, "a priority in the range is taken")
    T.is(lab.stream{ priority = "high" }.priority, greatest, "\"high\" is the greatest")
    T.is(lab.stream{ priority = "low" }.priority, least, "\"low\" is the least")
    T.is(lab.stream{ priority = -99 }.priority, greatest,
         "below the range is clamped, as CUDA does")
    T.is(lab.stream{ priority = 1 }.priority, least, "above the range as well")
    T.is(lab.stream{ priority = math.mininteger }.priority, greatest, "however far")
    T.is(lab.stream{ priority = -1.0 }.priority, -1, "a float with a whole value is a priority")
    refuses(function() lab.stream{ priority = "urgent" } end, "SL_EINVAL", "urgent",
            "another word is refused")
    refuses(function() lab.stream{ priority = -1.5 } end, "SL_EINVAL", "%-1.5",
            "a fraction is refused")
    refuses(function() lab.stream{ priority = 0 / 0 } end, "SL_EINVAL", "priority",
            "NaN is refused")
    refuses(function() lab.stream{ priority = {} } end, "SL_EINVAL", "priority",
            "a table is refused")
end

local function clamping_is_said_once()
    local _, text = ideal.run_text("for _ = 1, 5 do lab.stream{priority = 7} end\n")
    local _, times = text:gsub("priority", "")
    T.is(times, 1, "a clamped priority is reported on stderr, once")
    T.like(text, "7", "with the number given")
    _, text = ideal.run_text("lab.stream{priority = -5}\n")
    T.is(text, "", "a priority in the range is not commented")
end

local function the_current_stream()
    local null, s, other = lab.default_stream(), lab.stream{}, lab.stream{}
    T.is(lab.current_stream(), null, "the default stream is current at first")
    local inside, value, second
    value, second = lab.with(s, function(a, b)
        inside = lab.current_stream()
        return a + b, "two"
    end, 3, 4)
    T.is(inside, s, "lab.with makes its stream current")
    T.is(value, 7, "passes arguments and gives results")
    T.is(second, "two", "all of them")
    T.is(lab.current_stream(), null, "and restores the one before")
    lab.with(s, function()
        lab.with(other, function() inside = lab.current_stream() end)
        value = lab.current_stream()
    end)
    T.is(inside, other, "lab.with may be nested")
    T.is(value, s, "and restores one by one")
    local err = ideal.error_of(lab.with, s, function() error("oops", 0) end)
    T.is(err, "oops", "an error inside lab.with comes out as it is")
    T.is(lab.current_stream(), null, "and the stream before is restored")
    err = ideal.error_of(lab.with, s, function() lab.matmul(1, 2) end)
    T.is(type(err) == "table" and err.op, "matmul", "so does one of the laboratory")
    T.is(lab.current_stream(), null, "with the stream restored")
    do
        local guard <close> = lab.use(s)
        T.is(lab.current_stream(), s, "lab.use makes its stream current")
    end
    T.is(lab.current_stream(), null, "until the end of the block")
    pcall(function()
        local guard <close> = lab.use(s)
        error("out")
    end)
    T.is(lab.current_stream(), null, "also when an error leaves it")
    refuses(function() lab.with(5, print) end, "SL_EINVAL", "stream", "lab.with needs a stream")
    T.ok(ideal.error_of(lab.with, s), "and a function")
    T.ok(ideal.error_of(lab.with, s, 5), "that can be called")
    T.is(lab.current_stream(), null, "a refused lab.with changes nothing")
    refuses(function() lab.use() end, "SL_EINVAL", "stream", "lab.use needs a stream")
end

local function name() return lab.current_stream().name end

local function a_coroutine_may_yield_inside_with()
    local s = lab.stream{ name = "inside" }
    local co = coroutine.wrap(function()
        lab.with(s, function()
            coroutine.yield(name())
            coroutine.yield(name())
        end)
        return name()
    end)
    T.is(co(), "inside", "a coroutine may yield inside lab.with")
    T.is(name(), "default", "its stream is not current outside")
    T.is(co(), "inside", "but is when the coroutine goes on")
    T.is(name(), "default", "each time")
    T.is(co(), "default", "lab.with puts the old one back")
    T.is(name(), "default", "which is the current one at the end")
end

-- Each has its own, whatever the order in which they take turns and end.
local function coroutines_have_streams_of_their_own()
    local function worker(label)
        local s = lab.stream{ name = label }
        return coroutine.wrap(function()
            local scope <close> = lab.use(s)
            for _ = 1, 2 do
                local inner <close> = lab.use(lab.stream{ name = label .. " inner" })
                lab.zeros(2)
                coroutine.yield(name())
            end
            coroutine.yield(name())
        end)
    end
    local a, b = worker("a"), worker("b")
    local seen = {}
    local function note(text) seen[#seen + 1] = text end
    note(a()) note(b()) note(name())
    lab.with(lab.stream{ name = "main" }, function() note(a()) note(name()) note(b()) end)
    note(a()) note(name()) note(b()) a() note(name()) b() note(name())
    T.is(table.concat(seen, ", "), "a inner, b inner, default, a inner, main, b inner, " ..
         "a, default, b, default, default", "coroutines that take turns keep their streams")
    local tl = lab.profile(function()
        local c = worker("c")
        c()
        lab.zeros(3)
    end)
    local spans = tl:spans()
    T.is(spans[1].stream .. ", " .. spans[2].stream, "c inner, default",
         "and work goes where it was called")
end

local function coroutines_that_do_not_go_on()
    local s = lab.stream{ name = "left" }
    local co = coroutine.create(function()
        local scope <close> = lab.use(s)
        coroutine.yield()
    end)
    coroutine.resume(co)
    T.is(name(), "default", "one that never goes on takes nothing with it")
    T.ok(coroutine.close(co), "it can be closed")
    T.is(name(), "default", "after which all is as before")
    co = coroutine.create(function() lab.use(s) coroutine.yield() end)
    coroutine.resume(co)
    co = nil
    collectgarbage() collectgarbage()
    T.is(name(), "default", "also when it is collected")
    co = coroutine.create(function()
        local scope <close> = lab.use(s)
        error("x")
    end)
    coroutine.resume(co)
    T.is(name(), "default", "or has failed")
    coroutine.close(co)
    T.is(name(), "default", "and is closed then")
    coroutine.wrap(function() lab.use(s) end)()
    T.is(name(), "left", "lab.use without a scope stays, as in the main program")
    lab.use(lab.default_stream())
end

local function coroutines_have_devices_of_their_own()
    local first = lab.device()
    local second = lab.open{ backend = "sim", profile = "t4" }
    local s = lab.stream{}
    first:make_current()
    local co = coroutine.wrap(function()
        local scope <close> = lab.use(s)
        coroutine.yield(lab.device())
        return lab.device()
    end)
    T.is(co(), second, "lab.use makes its device current in the coroutine")
    T.is(lab.device(), first, "and only there")
    T.is(co(), second, "also when that goes on")
    T.is(lab.device(), first, "and ends")
end

local function waiting()
    local s, other = lab.stream{}, lab.stream{}
    T.is(s:query(), true, "a stream without work is done")
    lab.spin(20, { stream = s })
    T.ok(T.launches_block or not s:query(), "one with work is not")
    T.is(other:query(), true, "which says nothing of others")
    s:synchronize()
    T.is(s:query(), true, "after synchronize it is done")
    lab.spin(20, { stream = s })
    other:wait_stream(s)
    lab.spin(0, { stream = other })
    T.ok(T.launches_block or not other:query(), "wait_stream makes a stream wait for another")
    other:synchronize()
    T.is(s:query(), true, "so waiting for it means both")
    lab.spin(1, { stream = s })
    lab.spin(1, { stream = other })
    lab.synchronize()
    T.ok(s:query() and other:query(), "lab.synchronize waits for all streams")
    T.lives(function() s:wait_stream(s) end, "a stream may wait for itself")
    T.lives(function() s:synchronize() end, "waiting for nothing is no error")
    refuses(function() s:wait_stream(lab.event{}) end, "SL_EINVAL", "stream",
            "wait_stream needs a stream")
    refuses(function() s:wait_event(other) end, "SL_EINVAL", "event", "wait_event needs an event")
    refuses(function() s:wait_event() end, "SL_EINVAL", "event", "and not nothing")
    refuses(function() s.query(3) end, "SL_EINVAL", "stream", "a method needs its stream")
end

local function recording_events()
    local s = lab.stream{}
    local e = s:record_event()
    T.is(e.recorded, true, "record_event without an event makes one")
    local mine = lab.event{ timing = true }
    T.is(s:record_event(mine), mine, "with one it gives it back")
    T.is(mine.recorded, true, "recorded")
    s:synchronize()
    T.is(e:query(), true, "it completes with the stream")
end

local function default_streams()
    T.is(lab.default_stream(), lab.default_stream(), "there is one default stream")
    T.is(lab.per_thread_stream(), lab.per_thread_stream(), "and one per-thread stream")
    T.isnt(lab.per_thread_stream(), lab.default_stream(), "which are different")
    T.is(lab.default_stream().non_blocking, false, "the default stream is blocking")
    T.is(lab.per_thread_stream().non_blocking, false, "the per-thread stream as well")
    T.lives(function() lab.with(lab.per_thread_stream(), function() lab.spin(0) end) end,
            "it can be used")
    lab.synchronize()
end

local function one_value_a_stream()
    local s = lab.stream{}
    local notes = { [s] = "mine", [lab.default_stream()] = "default" }
    T.is(notes[lab.current_stream()], "default", "a stream is a key in a table")
    T.is(lab.with(s, function() return notes[lab.current_stream()] end), "mine",
         "the same one, wherever it comes from")
    T.ok(rawequal(lab.per_thread_stream(), lab.per_thread_stream()), "so is the per-thread stream")
    T.ok(rawequal(lab.device(), s.device), "and a device")
    notes = nil
    lab.with(s, function()
        s:close()
        local again = lab.current_stream()
        T.ok(not rawequal(again, s), "a closed one is not given again")
        T.is(again:query(), true, "what is given instead is open")
        T.ok(rawequal(again, lab.current_stream()), "and stays the same")
    end)
    local open = 0
    for _ = 1, 50 do
        local fresh = lab.stream{}
        if lab.with(fresh, function() return rawequal(lab.current_stream(), fresh) end) then
            open = open + 1
        end
        fresh:close()
    end
    T.is(open, 50, "nor is it taken for a new stream at the same address")
end

local function closing()
    local s = lab.stream{}
    local out = lab.zeros(2)
    lab.synchronize()
    lab.spin(1, { stream = s })
    lab.add(out, 5, { out = out, stream = s })
    s:close()
    refuses(function() s:query() end, "SL_ECLOSED", "closed", "a closed stream cannot be queried")
    refuses(function() s:synchronize() end, "SL_ECLOSED", "closed", "nor waited for")
    refuses(function() lab.spin(1, { stream = s }) end, "SL_ECLOSED", "closed", "nor used")
    refuses(function() lab.with(s, print) end, "SL_ECLOSED", "closed", "nor made current")
    T.lives(function() s:close() end, "closing twice is no error")
    T.like(tostring(s), "closed", "tostring says that it is closed")
    lab.synchronize()
    T.is(out:get(1), 5, "a stream closed with work in flight drains")
    local held = lab.stream{}
    lab.with(held, function()
        held:close()
        T.lives(function() lab.spin(0) end,
                "a stream that is closed while current still takes work")
    end)
    lab.synchronize()
end

local function default_streams_stay()
    refuses(function() lab.default_stream():close() end, "SL_EINVAL",
            "close: the default stream cannot be closed", "the default stream cannot be closed")
    refuses(function() lab.per_thread_stream():close() end, "SL_EINVAL",
            "close: the per%-thread default stream cannot be closed", "nor the per-thread one")
    lab.with(lab.per_thread_stream(), function()
        refuses(function() lab.current_stream():close() end, "SL_EINVAL", "per%-thread",
                "also where it is the current one")
    end)
    T.lives(function()
        local s <close> = lab.current_stream()
        local p <close> = lab.per_thread_stream()
    end, "the end of a scope does nothing to them")
    local s = lab.default_stream()
    do
        local again <close> = lab.current_stream()
    end
    T.is(s:query(), true, "they are still open")
    T.ok(rawequal(s, lab.default_stream()), "and the same values")
    local mine = lab.stream{}
    do
        local closed <close> = mine
    end
    refuses(function() mine:query() end, "SL_ECLOSED", "closed", "other streams are closed by it")
    local device = lab.device()
    ideal.textbook()
    refuses(function() s:close() end, "SL_EINVAL", "default stream",
            "another device's default stream is one as well")
    device:make_current()
end

local function many_streams()
    for _ = 1, 200 do
        local s = lab.stream{}
        lab.spin(0.001, { stream = s })
    end
    lab.synchronize()
    collectgarbage()
    collectgarbage()
    T.is(lab.live().streams, 0, "streams that Lua has forgotten are gone once they have drained")
end

T.open()
for _, test in ipairs{ making, priorities, clamping_is_said_once, the_current_stream,
                       a_coroutine_may_yield_inside_with,
                       coroutines_have_streams_of_their_own, coroutines_that_do_not_go_on,
                       coroutines_have_devices_of_their_own, waiting, recording_events,
                       default_streams,
                       one_value_a_stream, closing, default_streams_stay, many_streams } do
    test()
end
T.done()
