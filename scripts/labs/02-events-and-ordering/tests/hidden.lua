-- Lab 2, the tests that only the grader has: other work, other lengths, other numbers.

local common = include "common.lua"

-- A function that computes for about 0.34 ms each, on an H200, with the whole GPU.
local function products(count)
    local a, out = lab.empty(2048, 2048), lab.empty(2048, 2048)
    lab.matmul(a, a, { out = out })             -- warm-up
    return function()
        for _ = 1, count do lab.matmul(a, a, { out = out }) end
    end
end

test("hand_over: what is prepared takes longer than what is produced",
    { points = 15, pace = { "2.6" },
    hint = "consume() needs both: whichever is done last, it must not begin before." },
function(t, student)
    local x, w, work = lab.full(-1, 8, 8), lab.full(-1, 8, 8), products(4)
    local further = products(2)
    local function produce()
        work()
        return x:fill_(20)
    end
    local function prepare()
        lab.spin(1.6)
        return w:fill_(3)
    end
    local function consume(a, b)
        local sum = lab.add(a, b)
        further()
        return sum
    end
    local tl, held, result = common.profile(student.hand_over, produce, prepare, consume)
    t:close(result, 23, "the result of consume(x, w), with the 20 and the 3 in them")
    t:no_race("nothing races")
    t:span_count(tl, { name = "spin" }, { exactly = 1 })
    if not t:span_count(tl, { name = "matmul_f32" }, { exactly = 6 }) then return end
    local beside = t:overlap(tl, { name = "spin" }, { name = "matmul_f32" },
        { at_least_percent = 75, gpu_at_least_percent = 50 }, "produce() runs beside prepare()")
    if not beside then return end
    t:makespan(tl, { within_percent = 8, gpu_within_percent = 40,
        of_us = tl:busy_us{ name = "spin" } + tl:busy_us{ name = "matmul_f32" } / 3 },
        "as long as prepare() and consume()")
    common.host_is_free(t, tl, held, 25)
end)

test("fan: five unequal branches, and a join with work of its own", { points = 15, pace = { "2.6" },
    hint = "The join waits for all branches, not only for the last one, and no branch waits for "
        .. "another one." },
function(t, student)
    local x, branches, lengths_ms = lab.full(9, 8, 8), {}, { 0.6, 2.2, 0.4, 1.4, 0.2 }
    local function source()
        lab.spin(1)
        return x:fill_(2)
    end
    for i, ms in ipairs(lengths_ms) do
        branches[i] = function(input)
            lab.spin(ms)
            return lab.mul(input, i * i)
        end
    end
    local function join(parts)
        local sum = parts[1]
        for i = 2, #parts do sum = lab.add(sum, parts[i]) end
        lab.spin(0.8)
        return sum
    end
    local tl, held, result = common.profile(student.fan, source, branches, join)
    t:close(result, 110, "2 * (1 + 4 + 9 + 16 + 25)")
    t:no_race("nothing races")
    t:span_count(tl, { name = "spin" }, { exactly = 7 })
    if not common.in_own_streams(t, common.kernels(tl, "mul_scalar_f32")) then return end
    t:makespan(tl, { within_percent = 10, of_us = 4000, gpu_within_percent = 40 },
        "as long as the source, the longest branch and the join")
    common.host_is_free(t, tl, held, 25)
end)

test("time_each: others work meanwhile", { points = 15, pace = { "2.6" },
    hint = "The times are those of the GPU, between two events of one stream. Wait for your own "
        .. "last event, not for the device: somebody else may be using it. And the default stream "
        .. "waits for everybody's streams, and so do events that you record there." },
function(t, student)
    local steps = {}
    for i, ms in ipairs{ 0.6, 0.15, 0.35 } do steps[i] = function() lab.spin(ms) end end
    local busy, held_us = lab.stream()          -- which the default stream waits for
    local tl, _, times = common.profile(function()
        lab.spin(6, { stream = busy })
        local from_us = lab.now_us()
        local times = student.time_each(steps)
        held_us = lab.now_us() - from_us
        return times
    end)
    if not t:is(type(times) == "table" and rawlen(times), 3, "the number of times") then return end
    local kernels = common.kernels(tl, "spin")
    table.remove(kernels, 1)                    -- the others'
    if not t:is(#kernels, 3, "the number of kernels that ran") then return end
    common.in_one_stream(t, kernels)
    common.are_durations(t, tl, times, kernels)
    t:call_count(tl, "cudaEventSynchronize", { at_most = 1 })
    common.host_is_free(t, tl, 100 * held_us / tl.makespan_us, 50)
end)

test("relay: three slots, seven rounds", { points = 15, pace = { "2.6" },
    hint = "Slot k is free when the consumer has read it, in the round #slots before. Keep an "
        .. "event for each slot." },
function(t, student)
    local slots, work = { lab.ones(8, 8), lab.ones(8, 8), lab.ones(8, 8) }, products(1)
    local function produce(slot, i)
        work()
        slot:fill_(50 - i * i)
    end
    local function consume(slot, i)
        lab.spin(0.6)
        return lab.add(slot, 100 * i)
    end
    local taken, produce_noted = common.watch_slots(slots, produce)
    local tl, held, results = common.profile(student.relay, slots, 7, produce_noted, consume)
    t:is(taken, { 1, 2, 3, 1, 2, 3, 1 }, "the slots that produce is given")
    t:is(common.firsts(results), { 149.0, 246.0, 341.0, 434.0, 525.0, 614.0, 701.0 },
        "the results, in order")
    t:no_race("nothing races")
    t:span_count(tl, { name = "spin" }, { exactly = 7 })
    if not t:span_count(tl, { name = "matmul_f32" }, { exactly = 7 }) then return end
    local beside = t:overlap(tl, { name = "spin" }, { name = "matmul_f32" },
        { at_least_percent = 75, gpu_at_least_percent = 50 }, "a slot is filled while one is read")
    if not beside then return end
    t:makespan(tl, { within_percent = 6, gpu_within_percent = 40,
        of_us = tl:busy_us{ name = "spin" } + tl:busy_us{ name = "matmul_f32" } / 7 },
        "as long as one fill and all the reading")
    common.host_is_free(t, tl, held, 25)
end)

test("relay: one slot, and more slots than rounds", { points = 10, pace = { "2.6" },
    hint = "With one slot the producer waits for the reading of the round before, with more slots "
        .. "than rounds for nothing. The host waits in neither case: it issues all at once." },
function(t, student)
    local slots, copy = {}, common.copy(64)
    for k = 1, 4 do slots[k] = lab.zeros(8, 8) end
    local function produce(slot, i)
        copy()
        slot:fill_(2 ^ i)
    end
    local function consume(slot)
        lab.spin(0.8)
        return lab.mul(slot, 1)
    end
    local taken, produce_noted = common.watch_slots(slots, produce)
    local tl, held, results = common.profile(student.relay, { slots[1] }, 5, produce_noted, consume)
    t:is(taken, { 1, 1, 1, 1, 1 }, "the slots that produce is given, of one slot")
    t:is(common.firsts(results), { 2.0, 4.0, 8.0, 16.0, 32.0 }, "the results of one slot, in order")
    t:span_count(tl, { name = "spin" }, { exactly = 5 })
    t:overlap(tl, { name = "spin" }, "memcpy_h2d",
        { at_most_percent = 5, gpu_at_most_percent = 5 }, "nothing is filled while it is read")
    common.host_is_free(t, tl, held, 25)

    tl, held, results = common.profile(student.relay, slots, 3, produce, consume)
    t:is(common.firsts(results), { 2.0, 4.0, 8.0 }, "the results of four slots, in order")
    t:no_race("nothing races")
    t:overlap(tl, { name = "spin" }, "memcpy_h2d",
        { at_least_percent = 60, gpu_at_least_percent = 40 }, "a slot is filled while one is read")
    common.host_is_free(t, tl, held, 25)
end)

-- Without points of its own: those of the others are for functions that take more than what the
-- visible tests give them.
test("the four functions are right for other numbers", { points = 0,
    hint = "The lists are longer or shorter than in the tests that you have: #branches, #steps, "
        .. "#slots and count say how long." },
function(t, student)
    for n = 1, 6 do
        local x, branches, steps, slots = lab.zeros(4, 4), {}, {}, {}
        for i = 1, n do
            branches[i] = function(input) return lab.mul(input, i) end
            steps[i] = function() lab.spin(0.02) end
            slots[i] = lab.zeros(4, 4)
        end
        lab.synchronize()
        local sum = student.fan(function() return x:fill_(n) end, branches, function(parts)
            local total = parts[1]
            for i = 2, #parts do total = lab.add(total, parts[i]) end
            return total
        end)
        lab.synchronize()
        t:close(sum, n * n * (n + 1) / 2, ("fan: the sum of %d branches"):format(n))
        local times = student.time_each(steps)
        t:is(type(times) == "table" and rawlen(times), n, "time_each: the number of times")
        local results, want = student.relay(slots, 7 - n, function(slot, i) slot:fill_(10 * i) end,
            function(slot) return lab.add(slot, 1) end), {}
        lab.synchronize()
        for i = 1, 7 - n do want[i] = 10.0 * i + 1 end
        t:is(common.firsts(results), want, "relay: the results, in order")
    end
    t:no_race("nothing races")
end)
