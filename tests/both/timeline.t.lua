-- timeline.t.lua - what a recording holds: every operation once, at times that can be.
--
-- The clocks of a real GPU and of its host are brought together to a few microseconds,
-- and its own times of neighbours in a stream may touch: `slack_us` and `touch_us` are
-- what is allowed there, more of both if STREAMLAB_SLACK_US says so (where a tool stands
-- between, events take the times). The simulator has one clock, and neither.

local T = require "tap"
local ideal = require "lua.ideal"
local json = require "both.json"
local kineto_check = require "kineto_check"

local simulated = T.open().simulated
local more_us = tonumber(os.getenv("STREAMLAB_SLACK_US")) or 0
local slack_us = simulated and 1e-6 or 5 + more_us
local touch_us = simulated and 1e-6 or 1 + more_us

local kinds = { "kernel", "memcpy_h2d", "memcpy_d2h", "memcpy_d2d", "memcpy_p2p", "memset",
                "host_func" }

local function streams(n)
    local list = {}
    for i = 1, n do list[i] = lab.stream{ non_blocking = true, name = "s" .. i } end
    return table.unpack(list)
end

local function count(spans, field)
    local counts = {}
    for _, span in ipairs(spans) do counts[span[field]] = (counts[span[field]] or 0) + 1 end
    return counts
end

-- ---- what holds for every timeline ----------------------------------------------------

-- Of a host function the start and the end are the host's, not the GPU's.
local function slack_between(a, b)
    return (a.kind == "host_func" or b.kind == "host_func") and slack_us or touch_us
end

-- The first span that something is wrong with, as a sentence; nil if there is none.
local function wrong_span(tl, spans)
    local last, before, host_before = {}, 0, -math.huge
    for i, span in ipairs(spans) do
        local function told(what) return ("span %d (%s): %s"):format(i, span.name, what) end
        if span.correlation <= before then return told("its correlation does not ascend") end
        if span.start_us > span.end_us then return told("it ends before it starts") end
        if span.host_start_us > span.host_end_us then return told("so does its call") end
        if span.host_start_us < host_before then return told("called before the last") end
        if span.start_us < span.host_start_us - slack_us then
            return told(("it starts %.3f us before its call")
                        :format(span.host_start_us - span.start_us))
        end
        if span.host_start_us < 0 or span.end_us > tl.wall_us + slack_us then
            return told("it is not within the recording")
        end
        local left = last[span.stream_id]
        if left and span.start_us < left.end_us - slack_between(left, span) then
            return told(("it starts %.3f us before the end of the one before it in %s")
                        :format(left.end_us - span.start_us, span.stream))
        end
        last[span.stream_id], before, host_before = span, span.correlation, span.host_start_us
    end
end

local function check(tl, name)
    local spans = tl:spans()
    local wrong = wrong_span(tl, spans)
    if not T.ok(not wrong, "times and order of all spans: " .. name) then T.diag("  " .. wrong) end
    local first, last = math.huge, -math.huge
    for _, span in ipairs(spans) do
        first, last = math.min(first, span.start_us), math.max(last, span.end_us)
    end
    T.near(tl.makespan_us, #spans > 0 and last - first or 0, 2e-3,
           "the makespan is from the first start to the last end: " .. name)
    T.ok(tl.makespan_us <= tl.wall_us + slack_us, "and not longer than the host's time: " .. name)
    T.is(tl.span_count, #spans, "span_count counts them: " .. name)
    return spans
end

-- ---- a mix of everything --------------------------------------------------------------

local function operands()
    local host = lab.ones(5000, { device = "cpu" })
    return {
        x = lab.ones(5000), y = lab.ones(5000), z = lab.zeros(5000), one = lab.zeros(1),
        square = lab.ones(64, 64), product = lab.zeros(64, 64),
        pinned = host:pin_memory(), back = host:pin_memory(), host = host,
    }
end

-- Every kind of operation on two streams, and what they are called.
local function mix(o, a, b)
    lab.spin(1, { stream = a, blocks = 3, threads = 64 })
    lab.add(o.x, o.y, { out = o.z, stream = a })
    lab.add(o.x, 1, { out = o.z, stream = a })
    lab.mul(o.x, o.y, { out = o.z, stream = a })
    lab.mul(o.x, 2, { out = o.z, stream = a })
    lab.matmul(o.square, o.square, { out = o.product, stream = a })
    lab.pow(o.x, 3, { out = o.z, stream = a })
    lab.softmax(o.square, { out = o.product, stream = a })
    lab.sum(o.x, { out = o.one, stream = a })
    o.y:copy_(o.pinned, { non_blocking = true, stream = b })
    o.z:fill_(3, { stream = b })
    o.z:zero_({ stream = b })
    o.z:copy_(o.y, { non_blocking = true, stream = b })
    o.back:copy_(o.z, { non_blocking = true, stream = b })
    b:launch_host_func(function() end)
    lab.rand(1000, { stream = b })
    lab.randn(1000, { stream = b })
    o.y:copy_(o.host, { stream = b })
    o.host:copy_(o.y, { stream = b })
end

local expected = {
    { "spin", "kernel" }, { "add", "kernel" }, { "add", "kernel" }, { "mul", "kernel" },
    { "mul", "kernel" },
    { "matmul", "kernel" }, { "pow", "kernel" }, { "softmax", "kernel" }, { "sum", "kernel" },
    { "^Memcpy HtoD %(Pinned %-> Device%)", "memcpy_h2d" }, { "fill", "kernel" },
    { "^Memset", "memset" }, { "^Memcpy DtoD", "memcpy_d2d" },
    { "^Memcpy DtoH %(Device %-> Pinned%)", "memcpy_d2h" }, { "host_func", "host_func" },
    { "rand", "kernel" }, { "randn", "kernel" },
    { "^Memcpy HtoD %(Pageable %-> Device%)", "memcpy_h2d" },
    { "^Memcpy DtoH %(Device %-> Pageable%)", "memcpy_d2h" },
}
local engines = { kernel = "compute", memcpy_h2d = "h2d", memcpy_d2h = "d2h", host_func = "host" }

local function a_mix()
    local a, b = streams(2)
    local o = operands()
    lab.synchronize()
    mix(o, a, b)                        -- loads all of it
    local tl = lab.profile(mix, o, a, b)
    local spans = check(tl, "a mix")
    T.is(#spans, #expected, "there is a span for each operation")
    for i, want in ipairs(expected) do
        local span = spans[i] or { name = "none" }
        T.ok(span.name:find(want[1]) and span.kind == want[2],
             ("span %d is %s of kind %s"):format(i, want[1]:match("%a[%w ]*"), want[2]))
        if not (span.name:find(want[1]) and span.kind == want[2]) then
            T.diag(("  it is %q of kind %s"):format(span.name, tostring(span.kind)))
        end
    end
    local counts = count(spans, "kind")
    T.is_deeply(counts, { kernel = 12, memcpy_h2d = 2, memcpy_d2h = 2, memcpy_d2d = 1, memset = 1,
                          host_func = 1 }, "as many of each kind as there were")
    T.is_deeply(count(spans, "stream"), { s1 = 9, s2 = 10 },
                "in the streams that they were put into")
    for _, span in ipairs(spans) do
        local engine = engines[span.kind]
        if engine and span.engine ~= engine then
            T.is(span.engine, engine, "the engine of " .. span.name)
        end
    end
    T.is(spans[1].blocks, 3, "a kernel has its blocks")
    T.is(spans[1].threads, 64, "and threads")
    T.ok(spans[2].blocks >= 1 and spans[2].threads >= 1, "whoever chose them")
    for _, i in ipairs{ 10, 12, 13, 14, 18, 19 } do
        T.is(spans[i].bytes, 20000, spans[i].name .. " has its bytes")
    end
    T.is(spans[1].bytes, 0, "a kernel has none")
    T.ok(spans[1].end_us - spans[1].start_us >= 999, "a spin of 1 ms lasts as long")
end

-- ---- reading --------------------------------------------------------------------------

local function line_of_caller() return debug.getinfo(2, "l").currentline end

local function positions()
    local s, x, lines = streams(1), lab.ones(10), {}
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(0, { stream = s })                   lines[1] = line_of_caller()
        lab.add(x, 1, { out = x, stream = s })        lines[2] = line_of_caller()
        local function deeper()
            x:zero_({ stream = s })                   lines[3] = line_of_caller()
        end
        deeper()
        x:get(1)                                    lines[4] = line_of_caller()
    end)
    for i, span in ipairs(check(tl, "positions")) do
        T.is(span.where, "timeline.t.lua:" .. lines[i], "operation " .. i .. " has its line")
    end
end

local function overlap()
    local a, b = streams(2)
    lab.spin(0, { stream = a })
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(5, { stream = a })
        lab.spin(5, { stream = b })
    end)
    local spans = check(tl, "two spins in two streams")
    T.ok(T.launches_block or tl:overlap_us(a, b) > 3000,
         "spins of 5 ms in two streams run at the same time")
    T.ok(T.launches_block or tl.makespan_us < 8000, "and take less than both")
    local both = tl:overlap_us(a, b)
    T.near(tl:overlap_us("kernel", "compute"), both, 1e-9,
           "two words for the same work change nothing")
    local streams_busy = tl:concurrency("streams")
    T.near(streams_busy[2] or 0, both, 2e-3, "which is the time with two streams busy")
    T.near(tl:concurrency("kernels")[0], streams_busy[0], 1e-9, "there is nothing but kernels")
    T.near(streams_busy[0] + streams_busy[1] + (streams_busy[2] or 0), tl.makespan_us, 4e-3,
           "none, one and two of them make up the makespan")
    T.near(tl:busy_us(a), spans[1].end_us - spans[1].start_us, 2e-3,
           "busy_us of a stream is its spin's")
    T.near(tl:busy_us("kernel"), tl.makespan_us, 0.1 + touch_us, "of all kernels it is the union")
    T.is(tl:busy_us("h2d"), 0, "and 0 of what was not used")
    tl = lab.profile(function()
        lab.spin(5, { stream = a })
        lab.spin(5, { stream = a })
    end)
    spans = check(tl, "two spins in one stream")
    T.ok(spans[2].start_us >= spans[1].end_us - touch_us, "in one stream they do not")
    T.ok(tl.makespan_us >= 9990, "and take as long as both")
    T.ok(tl.makespan_us >= tl:bounds().critical_path_us - 2 * touch_us,
         "nothing is shorter than its critical path")
    T.ok(tl:bounds().critical_path_us >= 9990, "which goes through the stream")
end

local function between_streams()
    local a, b = streams(2)
    local x, back = lab.zeros(1 << 18), lab.zeros(1 << 18, { device = "cpu", pinned = true })
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(2, { stream = a })
        local e = a:record_event()
        b:wait_event(e)
        back:copy_(x, { non_blocking = true, stream = b })
    end)
    local spans = check(tl, "two streams and an event")
    T.is(#spans, 2, "events are no spans")
    T.ok(spans[2].start_us >= spans[1].end_us - touch_us, "what waits for an event starts after it")
    T.ok(tl:bounds().critical_path_us >= 2000, "and the critical path knows")
    local s = lab.stream{}
    tl = lab.profile(function()
        lab.spin(1, { stream = s })
        lab.spin(1)
        lab.spin(1, { stream = s })
    end)
    spans = check(tl, "the NULL stream")
    T.ok(spans[2].start_us >= spans[1].end_us - touch_us
         and spans[3].start_us >= spans[2].end_us - touch_us,
         "kernels of a blocking stream and the NULL stream take turns")
    T.is(spans[2].stream_id, 0, "the NULL stream is number 0")
    tl = lab.profile(function()
        lab.spin(1, { stream = a })
        a:synchronize()
        lab.host_work(2)
        lab.spin(1, { stream = a })
    end)
    spans = check(tl, "a host that is busy between two spins")
    local gaps = tl:gaps()
    T.is(#gaps, 1, "the GPU stood still once")
    T.near(gaps[1] and gaps[1].start_us, spans[1].end_us, 2e-3, "from the end of the first")
    T.near(gaps[1] and gaps[1].end_us, spans[2].start_us, 2e-3, "to the start of the second")
    T.ok(tl:concurrency()[0] >= 1990, "for as long as the host was busy")
end

-- ---- several recordings ---------------------------------------------------------------

local function one_after_the_other()
    local s, x = streams(1), lab.zeros(100)
    lab.add(x, 1, { out = x, stream = s })
    for round = 1, 5 do
        lab.spin(1, { stream = s })     -- before: not in it, though it still runs
        local tl = lab.profile(function()
            for _ = 1, round do lab.add(x, 1, { out = x, stream = s }) end
        end)
        local spans = check(tl, "recording " .. round)
        T.is(#spans, round, "recording " .. round .. " has its own operations alone")
        T.ok(spans[1].start_us >= -slack_us and spans[1].start_us < 1e6,
             "its times count from its own beginning")
        lab.add(x, 1, { out = x, stream = s })
    end
    local empty = lab.profile(function() end)
    T.is(#check(empty, "nothing"), 0, "a recording of nothing has no spans")
    T.is(empty:bounds().lower_us, 0, "and no bound")
end

local function nested()
    local a, b = streams(2)
    local inner, most_inner
    local outer = lab.profile(function()
        lab.spin(1, { stream = a })
        inner = lab.profile(function()
            lab.spin(1, { stream = a })
            lab.spin(1, { stream = b })
            most_inner = lab.profile(function() lab.spin(0.1, { stream = b }) end)
        end)
        lab.spin(1, { stream = a })
    end)
    T.is(#check(outer, "the outer one"), 5, "the outer of three recordings has all")
    T.is(#check(inner, "the inner one"), 3, "the next one what was within it")
    T.is(#check(most_inner, "the innermost one"), 1, "and the innermost its one")
    T.is(inner:spans()[1].correlation, outer:spans()[2].correlation, "they name an operation alike")
    local by_hand, second = lab.record(), lab.record()
    lab.spin(0.1, { stream = a })
    by_hand:stop()                      -- the one that began first ends first
    lab.spin(0.1, { stream = a })
    second:stop()
    T.is(by_hand.span_count, 1, "recordings may end in any order")
    T.is(second.span_count, 2, "and each has its own")
    local ok = pcall(lab.profile, function()
        lab.spin(0.1, { stream = a })
        error("out")
    end)
    T.is(ok, false, "an error leaves a recording")
    T.is(#lab.profile(function() lab.spin(0, { stream = b }) end):spans(), 1,
         "and the next one is clean")
end

-- ---- sizes ----------------------------------------------------------------------------

-- Operations on no elements keep their places and disturb nothing.
local function nothing_to_do()
    local s = streams(1)
    local none, host = lab.empty(0), lab.empty(0, { device = "cpu", pinned = true })
    local rows = lab.empty(0, 5)
    lab.spin(0, { stream = s })
    lab.synchronize()
    local tl = lab.profile(function()
        lab.add(none, none, { out = none, stream = s })
        lab.mul(none, 2, { out = none, stream = s })
        lab.pow(none, 2, { out = none, stream = s })
        lab.softmax(rows, { out = rows, stream = s })
        lab.matmul(rows, lab.empty(5, 0), { out = lab.empty(0, 0), stream = s })
        none:fill_(3, { stream = s })
        none:zero_({ stream = s })
        lab.rand(0, { stream = s })
        none:copy_(host, { non_blocking = true, stream = s })
        host:copy_(none, { non_blocking = true, stream = s })
        lab.empty(0):copy_(none, { non_blocking = true, stream = s })
        lab.spin(1, { stream = s })
    end)
    local spans = check(tl, "operations on nothing")
    T.is(#spans, 12, "operations on no elements are recorded as well")
    local last = spans[#spans]
    T.ok(last.name:find("spin") and last.end_us - last.start_us >= 999,
         "and what follows is as ever")
    local moved = 0
    for _, span in ipairs(spans) do moved = moved + span.bytes end
    T.is(moved, 0, "they move no bytes")
end

local function very_many()
    local n, list, tensors = T.launches_block and 2000 or 20000, {}, {}
    for i = 1, 4 do list[i], tensors[i] = lab.stream{ non_blocking = true }, lab.zeros(16) end
    lab.add(tensors[1], 1)
    lab.synchronize()
    local tl = lab.profile(function()
        for i = 1, n do
            local t = tensors[i % 4 + 1]
            lab.add(t, 1, { out = t, stream = list[i % 4 + 1] })
        end
    end)
    local spans = check(tl, n .. " operations")
    T.is(#spans, n, "a recording of many operations has them all")
    local named, where = 0, spans[1].where
    for _, span in ipairs(spans) do
        if span.name == spans[1].name and span.kind == "kernel" and span.where == where then
            named = named + 1
        end
    end
    T.is(named, n, "with their names and positions")
    for i, t in ipairs(tensors) do T.is(t:get(16), n // 4, "and tensor " .. i .. " is right") end
    return tl
end

-- ---- the trace ------------------------------------------------------------------------

local categories = { kernel = "kernel", gpu_memcpy = "memcpy", gpu_memset = "memset",
                     cpu_op = "host_func" }

local function saved(tl)
    local path = ideal.temporary(".json")
    tl:save(path)
    local text = ideal.read(path)
    os.remove(path)
    return text
end

local function a_trace()
    local a, b = streams(2)
    local o = operands()
    lab.synchronize()
    local tl = lab.profile(mix, o, a, b)
    local text = saved(tl)
    T.is_deeply(kineto_check.complaints(text), {}, "a trace keeps to what its readers need")
    local fine, trace = pcall(json.read, text)
    T.ok(fine, "a trace is JSON")
    if not fine then return T.diag("  " .. tostring(trace)) end
    local device, calls = {}, {}
    for _, event in ipairs(trace.traceEvents) do
        local number = event.args and event.args["External id"]
        if event.ph == "X" and categories[event.cat] then
            device[number] = event
        elseif event.ph == "X" and event.cat == "cuda_runtime" then
            calls[number] = event
        end
    end
    local right, placed, called, n, offset_us = true, true, true, 0, nil
    for _, span in ipairs(tl:spans()) do
        local event, call = device[span.correlation], calls[span.correlation]
        n = n + 1
        right = right and event and event.name == span.name
            and span.kind:find(categories[event.cat], 1, true) == 1
        -- From the first one on; a slice that would overlap its neighbour is moved behind it.
        offset_us = offset_us or event and event.ts - span.start_us
        placed = placed and event
            and math.abs(event.ts - span.start_us - offset_us) <= slack_us + 2e-3
        called = called and call and call.args.where == span.where
            and math.abs(call.ts - span.host_start_us - offset_us) <= slack_us + 2e-3
    end
    local in_trace = 0
    for _ in pairs(device) do in_trace = in_trace + 1 end
    T.is(in_trace, n, "the trace holds every span")
    T.ok(right, "under its name and kind")
    T.ok(placed, "at its time")
    T.ok(called, "with its call and the call's position")
    T.is(trace.streamlab.backend, lab.device().backend, "and says which backend it is from")
    T.is(trace.deviceProperties[1].name, lab.device().name, "and which GPU")
end

-- Every way of waiting: what each asks of the trace is for the validator to know.
local function a_trace_of_waits()
    local a, b = streams(2)
    local e, before = lab.event(), a:record_event()
    local tl = lab.profile(function()
        b:wait_event(before)            -- a record that is not in the recording
        for _ = 1, 3 do
            lab.spin(0.1, { stream = a })
            e:record(a)
            b:wait_event(e)
            lab.spin(0.1, { stream = b })
            e:synchronize()
            a:synchronize()
            before:synchronize()
            lab.host_work(0.01)
            lab.cuda.free(lab.cuda.malloc(1024))
            lab.spin(0)
        end
        lab.synchronize()
    end)
    local text = saved(tl)
    T.is_deeply(kineto_check.complaints(text), {}, "also with waits of all kinds")
    for _, name in ipairs{ "Stream Wait Event", "Event Sync", "Stream Sync", "Context Sync" } do
        T.like(text, '"cuda_sync","name":"' .. name, "the trace has a " .. name)
    end
end

local function a_large_trace(tl)
    local text, kernels = saved(tl), 0
    for _ in text:gmatch('"cat":"kernel"') do kernels = kernels + 1 end
    T.is(kernels, tl.span_count, "a trace of many operations holds them all")
    T.like(text:sub(-40), "}%s*$", "to the end")
end

local function pictures()
    local a, b = streams(2)
    local tl = lab.profile(function()
        lab.spin(1, { stream = a })
        lab.spin(2, { stream = b })
    end)
    local figures = json.read(tl:json())
    T.near(figures.makespan_us, tl.makespan_us, 1e-3, "the figures as JSON have the makespan")
    T.is(figures.count.kernel, 2, "and the count of kernels")
    T.is(figures.device, lab.device().name, "and the GPU's name")
    T.like(tl:text(), "s1", "a chart has a row for a stream")
    T.like(tl:text(), "s2", "and for the other")
    T.like(tostring(tl), "2 spans", "a timeline prints")
    for _, kind in ipairs(kinds) do
        T.ok(tl:busy_us(kind) >= 0, "it can be asked for " .. kind)
    end
end

for _, test in ipairs{ a_mix, positions, overlap, between_streams, one_after_the_other, nested,
                       nothing_to_do, a_trace, a_trace_of_waits, pictures } do
    test()
end
a_large_trace(very_many())
T.done()
