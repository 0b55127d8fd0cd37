-- 33-stream-values.t.lua - s:write_value and s:wait_value on the simulated GPU: when streams go on,
-- what a timeline says of it, and a wait that nothing can satisfy.

local T = require "tap"
local ideal = require "lua.ideal"
local lab = require "streamlab"

-- The textbook profile's times, in us. A call of a value costs the host what a wait for an event
-- does.
local submit_us <const>, gap_us <const>, launch_us <const>, value_us <const> = 2.6, 1.1, 3.8, 0.27

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end
local function near(got, want, name)
    T.ok(math.abs(got - want) < 0.01, ("%s: %.2f, expected %.2f"):format(name, got, want))
end

local a, b, c = lab.stream{ name = "a", non_blocking = true },
                lab.stream{ name = "b", non_blocking = true }, lab.stream{ non_blocking = true }
local flag = lab.zeros(2, { dtype = "int32" })
local pinned = lab.zeros(2, { dtype = "int32", device = "cpu", pinned = true })
local saved <const> = ideal.temporary(".json")

local function clear()
    flag:zero_()
    pinned:fill_(0)
    lab.synchronize()
end

-- When the kernel of stream b began, and the timeline.
local function begins(f)
    clear()
    local tl = lab.profile(f)
    for _, span in ipairs(tl:spans()) do
        if span.stream == "b" then return span.start_us, tl end
    end
end

local function cause_of(tl, options)
    for _, found in ipairs(tl:causes(options)) do
        if found.cause == "value_wait" then return found end
    end
    return {}
end

-- ---- when ------------------------------------------------------------------------------------

local function spin_in_b() lab.spin(1, { stream = b }) end

-- The spin in a runs from 3.8 + 2.6 on; the write comes a gap behind it, and so does b's kernel.
local function behind_a_write()
    local at_us, tl = begins(function()
        lab.spin(2, { stream = a })
        a:write_value(flag, 1, 1)
        b:wait_value(flag, 1, 1)
        spin_in_b()
    end)
    near(at_us, launch_us + submit_us + 2000 + 2 * gap_us,
        "a stream goes on when the value is written")
    local found = cause_of(tl)
    near(found.lost_us or 0, 2000, "what was lost is the time of the work before the write")
    T.like(found.sentence or "", '^spin in stream "b" at [^ ]+ waited 2.00 ms for a value that was '
        .. 'written behind spin in stream "a" at ', "and the sentence names both")
    T.is(cause_of(tl, { inferred = true }).sentence, found.sentence,
        "what is inferred from the records alone says the same")
    local calls = {}
    for _, call in ipairs(tl:calls()) do calls[#calls + 1] = call.name end
    T.is(table.concat(calls, " "):match("^cuStreamWriteValue32 cuStreamWaitValue32"),
        "cuStreamWriteValue32 cuStreamWaitValue32", "the calls have CUDA's names")
    return tl
end

-- 0.27 for the wait, 3.8 for each of two launches.
local function before_the_write()
    local at_us, tl = begins(function()
        b:wait_value(flag, 1, 1)
        spin_in_b()
        lab.spin(2, { stream = a })
        a:write_value(flag, 1, 1)
    end)
    near(at_us, value_us + 2 * launch_us + submit_us + 2000 + 2 * gap_us,
        "a wait may be enqueued before the write")
    local found = cause_of(tl)
    near(found.lost_us or 0, 2000, "what is lost is the time of the work before that write")
    T.like(found.sentence or "", '^spin in stream "b" at [^ ]+ waited 2.00 ms for a value that was '
        .. 'written behind spin in stream "a" at ', "and the sentence names both")
    local _, without = begins(function()
        spin_in_b()
        lab.spin(2, { stream = a })
        a:write_value(flag, 1, 1)
    end)
    local gain_us <const> = tl.makespan_us - without.makespan_us
    T.ok(math.abs((found.gain_us or 0) - gain_us) < 5, ("what it would gain: %.1f us, without the "
        .. "wait it is %.1f us less"):format(found.gain_us or 0, gain_us))
    return tl
end

local function before_a_copy()
    local ones = lab.full(1, 1 << 20, { dtype = "int32", device = "cpu", pinned = true })
    local words = lab.zeros(1 << 20, { dtype = "int32" })
    local _, tl = begins(function()
        b:wait_value(words, 1 << 20, 1)
        spin_in_b()
        words:copy_(ones, { non_blocking = true, stream = a })
    end)
    T.like(cause_of(tl).sentence or "", 'for a value that was written behind Memcpy HtoD .- in '
        .. 'stream "a"', "a copy that is enqueued later is named, too")
end

local function for_the_host()
    local at_us = begins(function()
        b:wait_value(pinned, 1, 1)
        spin_in_b()
        lab.host_work(3)
        pinned:set(1, 1)
    end)
    near(at_us, value_us + launch_us + 3000 + gap_us,
        "the host ends a wait with t:set of pinned memory")
    at_us = begins(function()
        b:wait_value(pinned, 2, 1)
        spin_in_b()
        local th <close> = lab.thread(function(t)
            lab.host_work(3)
            t:set(2, 1)
        end, pinned)
    end)
    T.ok(at_us > 3000 and at_us < 3300, "so does another thread")
end

-- A wait whose value is there is done at once, and its stream's next kernel begins as without it.
local function satisfied()
    clear()
    a:write_value(flag, 1, 5)
    lab.synchronize()
    local tl = lab.profile(function()
        b:wait_value(flag, 1, 4)
        spin_in_b()
    end)
    near(tl:spans()[1].start_us, value_us + launch_us + submit_us,
        "a value that is there holds nothing up")
end

-- ---- by whom ---------------------------------------------------------------------------------

local function whoever_writes()
    local four = lab.full(4, 2, { dtype = "int32" })
    local host = lab.full(4, 2, { dtype = "int32", device = "cpu", pinned = true })
    local kernel = lab.kernel{ name = "k", args = { "inout i32*" },
        source = "__global__ void k(int *f) { f[1] = 4; }" }
    local writers = {
        ["a copy within the device"] = function() flag:copy_(four, { stream = a }) end,
        ["a copy from the host"] = function()
            flag:copy_(host, { stream = a, non_blocking = true })
        end,
        ["a kernel"] = function() lab.add(four, 0, { out = flag, stream = a }) end,
    }
    local function own() lab.with(a, function() kernel({ 1 }, { 1 }, flag) end) end
    if T.computes_kernels() then
        writers["a kernel of one's own"] = own
    else
        b:wait_value(flag, 2, 4)
        own()
        refuses(function() b:synchronize() end, "SL_ESTATE", "results are unknown",
            "a value that nobody can compute says so")
        T.skip("there is no C++ compiler", 1)
        a:write_value(flag, 2, 4)
        lab.synchronize()
    end
    for name, write in pairs(writers) do
        clear()
        b:wait_value(flag, 2, 4, { compare = "eq" })
        spin_in_b()
        T.is(b:query(), false, "a stream waits before " .. name)
        write()
        b:synchronize()
        T.is(flag:get(2), 4.0, "and goes on behind it: " .. name)
    end
    clear()
    b:wait_value(flag, 2, 0x01010101, { compare = "eq" })
    flag:fill_(0x01010101, { stream = a })
    b:synchronize()
    T.is(flag:get(1), 0x01010101 + 0.0, "a memset ends a wait")
    clear()
    b:wait_value(pinned, 1, 1)
    a:launch_host_func(function() pinned:set(1, 1) end)
    b:synchronize()
    T.is(pinned:get(1), 1.0, "so does what a host function sets")
end

-- What was there for less than a wait's turn is not seen: the stream comes to its wait later.
local function too_short()
    clear()
    lab.spin(1, { stream = b })
    b:wait_value(flag, 1, 1, { compare = "eq" })
    a:write_value(flag, 1, 1)
    a:write_value(flag, 1, 2)
    refuses(function() b:synchronize() end, "SL_ESTATE", "is equal to 1, it is 2",
        "a value that has gone is missed")
    c:write_value(flag, 1, 1)
    b:synchronize()
end

-- ---- for ever --------------------------------------------------------------------------------

local function for_ever()
    clear()
    b:wait_value(flag, 2, 6, { compare = "and" })
    spin_in_b()
    refuses(function() b:synchronize() end, "SL_ESTATE",
        "nothing can go on: wait_value in 33%-stream%-values.t.lua:%d+ waits until element 2 of "
        .. "tensor %d+ %(2 int32, made in 33%-stream%-values.t.lua:%d+%) is with a bit of 6, it is "
        .. "0, and nothing is left",
        "a wait that nothing ends is an error in place of a hang")
    T.is(b:query(), false, "the stream still waits")
    c:write_value(flag, 2, 2)
    b:synchronize()
    T.is(b:query(), true, "and goes on when the value comes after all")
    clear()
    a:wait_value(flag, 1, 1)
    a:write_value(flag, 2, 1)
    b:wait_value(flag, 2, 1)
    b:write_value(flag, 1, 1)
    refuses(lab.synchronize, "SL_ESTATE",
        "waits until element 1 of tensor %d+ %(2 int32, .-%) is at least 1",
        "two streams that wait for each other")
    c:write_value(flag, 1, 1)
    lab.synchronize()
    clear()
    lab.default_stream():wait_value(flag, 1, 1)
    local blocking = lab.stream()
    blocking:write_value(flag, 1, 1)
    refuses(lab.synchronize, "SL_ESTATE", "waits until element 1 of tensor",
        "a blocking stream behind a wait of the NULL stream")
    c:write_value(flag, 1, 1)
    lab.synchronize()
end

-- ---- files and captures ------------------------------------------------------------------------

local function told(tl)
    local lines = {}
    for _, found in ipairs(tl:causes()) do
        lines[#lines + 1] = found.cause .. ": " .. found.sentence
    end
    return table.concat(lines, "\n")
end

local function in_files(tl)
    tl:save(saved)
    T.is(told(lab.load(saved)), told(tl), "a trace that is read again tells the same")
    os.remove(saved)
end

-- The value stays: the second launch finds it at once, unless the graph takes it back.
local function in_graphs()
    for _, takes_back in ipairs{ false, true } do
        clear()
        local g = lab.graph(function()
            b:wait_value(flag, 1, 1)
            spin_in_b()
            if takes_back then b:write_value(flag, 1, 0) end
        end, { stream = b })
        lab.synchronize()
        local kinds = {}
        for _, node in ipairs(g:nodes()) do kinds[#kinds + 1] = node.kind end
        T.is(table.concat(kinds, " "), "wait_value kernel" .. (takes_back and " write_value" or ""),
            "its nodes say what they are")
        g:launch(b)
        c:write_value(flag, 1, 1)
        b:synchronize()
        g:launch(b)
        T.is(pcall(b.synchronize, b), not takes_back, takes_back
            and "one that writes the old value behind its wait waits each time"
            or "a graph that waits finds the value of the launch before")
        if takes_back then
            c:write_value(flag, 1, 1)
            b:synchronize()
        end
    end
end

in_files(behind_a_write())
in_files(before_the_write())
before_a_copy()
for_the_host()
satisfied()
whoever_writes()
too_short()
for_ever()
in_graphs()
a, b, c, flag, pinned = nil, nil, nil, nil, nil
T.done()
