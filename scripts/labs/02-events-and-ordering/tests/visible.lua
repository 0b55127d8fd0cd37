-- Lab 2, the tests that you have. `streamlab lab check` runs them.

local common = include "common.lua"

test("hand_over: the consumer comes after both, which run at once", { points = 10, pace = true,
    hint = "Record an event behind produce(), in its stream. Where the other stream waits for it "
        .. "decides: all that is enqueued there after wait_event() comes later, prepare() too. "
        .. "Guide, chapter 4: events." },
function(t, student)
    local x, copy = lab.ones(8, 8), common.copy(80)
    local six, w = lab.full(6, 8, 8, { device = "cpu", pinned = true }), lab.ones(8, 8)
    local function produce()
        lab.spin(2)
        return x:fill_(7)
    end
    local function prepare()
        copy()
        return w:copy_(six, { non_blocking = true })
    end
    local function consume(a, b)
        local product = lab.mul(a, b)
        lab.spin(1)
        return product
    end
    local tl, held, result = common.profile(student.hand_over, produce, prepare, consume)
    t:close(result, 42, "the result of consume(x, w), with the 7 and the 6 in them")
    t:no_race("nothing races")
    t:span_count(tl, { name = "spin" }, { exactly = 2 })
    t:span_count(tl, { name = "mul_f32" }, { exactly = 1 })
    local beside = t:overlap(tl, { name = "spin" }, "memcpy_h2d",
        { at_least_percent = 90, gpu_at_least_percent = 60 }, "prepare() runs beside produce()")
    if not beside then return end
    t:makespan(tl, { within_percent = 8, of_us = 3000, gpu_within_percent = 40 },
        "as long as produce() and consume()")
    common.host_is_free(t, tl, held, 25)
end)

test("fan: three branches at once between a source and a join", { points = 5, pace = true,
    hint = "One event behind the source is enough for all branches, and each branch needs one of "
        .. "its own for the join. Guide, chapter 4: events." },
function(t, student)
    local x, branches = lab.ones(8, 8), {}
    local function source()
        lab.spin(1)
        return x:fill_(5)
    end
    for i = 1, 3 do
        branches[i] = function(input)
            lab.spin(1.6)
            return lab.mul(input, i + 1)
        end
    end
    local function join(parts) return lab.add(lab.add(parts[1], parts[2]), parts[3]) end
    local tl, held, result = common.profile(student.fan, source, branches, join)
    t:close(result, 45, "5 * 2 + 5 * 3 + 5 * 4")
    t:no_race("nothing races")
    t:span_count(tl, { name = "spin" }, { exactly = 4 })
    if not common.in_own_streams(t, common.kernels(tl, "mul_scalar_f32")) then return end
    t:makespan(tl, { within_percent = 10, of_us = 2600, gpu_within_percent = 40 },
        "as long as the source and one branch")
    common.host_is_free(t, tl, held, 25)
end)

test("time_each: twenty steps, and one wait", { points = 5, pace = true,
    hint = "n steps have n + 1 marks between and around them. Record them all, wait for the last "
        .. "one, and only then ask for the times. Guide, chapter 4: measuring with events." },
function(t, student)
    local steps = {}
    for i = 1, 20 do
        steps[i] = function() lab.spin((i % 3 + 1) * 0.04) end
    end
    local tl, _, times = common.profile(student.time_each, steps)
    if not t:is(type(times) == "table" and rawlen(times), 20, "the number of times") then return end
    local kernels = common.kernels(tl, "spin")
    if not t:is(#kernels, 20, "the number of kernels that ran") then return end
    common.in_one_stream(t, kernels)
    common.are_durations(t, tl, times, kernels)
    t:call_count(tl, "cudaEventSynchronize", { at_most = 1 })
    t:call_count(tl, "cudaStreamSynchronize", { at_most = 1 })
    t:makespan(tl, { within_percent = 8, of_us = tl:busy_us("kernel"), gpu_within_percent = 40 },
        "as long as the steps, with hardly a gap between them")
end)

test("relay: two slots, six rounds", { points = 10, pace = true,
    hint = "Two hazards: a slot is read after it has been filled (read-after-write), and filled "
        .. "again after it has been read (write-after-read). The second one is about the round "
        .. "#slots before, not about the last one: wait_stream() would wait for "
        .. "that, too. Guide, chapter 14: races." },
function(t, student)
    local slots, values, copy = { lab.ones(8, 8), lab.ones(8, 8) }, {}, common.copy(32)
    for i = 1, 6 do values[i] = lab.full(i * i, 8, 8, { device = "cpu", pinned = true }) end
    local function produce(slot, i)
        copy()
        slot:copy_(values[i], { non_blocking = true })
    end
    local function consume(slot)
        lab.spin(0.7)
        return lab.mul(slot, 10)
    end
    local taken, produce_noted = common.watch_slots(slots, produce)
    local tl, held, results = common.profile(student.relay, slots, 6, produce_noted, consume)
    t:is(taken, { 1, 2, 1, 2, 1, 2 }, "the slots that produce is given")
    t:is(common.firsts(results), { 10.0, 40.0, 90.0, 160.0, 250.0, 360.0 }, "the results, in order")
    t:no_race("nothing races")
    t:span_count(tl, { name = "spin" }, { exactly = 6 })
    if not t:span_count(tl, "memcpy_h2d", { exactly = 12 }) then return end
    local beside = t:overlap(tl, { name = "spin" }, "memcpy_h2d",
        { at_least_percent = 75, gpu_at_least_percent = 50 }, "a slot is filled while one is read")
    if not beside then return end
    t:makespan(tl, { within_percent = 6, gpu_within_percent = 40,
        of_us = tl:busy_us("kernel") + tl:busy_us("memcpy_h2d") / 6 },
        "as long as one fill and all the reading")
    common.host_is_free(t, tl, held, 25)
end)
