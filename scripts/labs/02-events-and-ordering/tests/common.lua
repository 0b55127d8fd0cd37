-- What both files of tests use: a recording that also knows how long the host was held, and pieces
-- of work to hand to the student's functions.

local common = {}

-- Gives the timeline of f(...), for which percentage of its makespan the call held the host, and
-- what f returned. On a real GPU the first launch loads the kernel: all that tests use is
-- launched before.
function common.profile(f, ...)
    local x = lab.ones(8, 8)
    lab.spin(0.01)
    lab.add(x, lab.mul(x, 2))
    x:fill_(3):cpu()
    lab.synchronize()
    local function timed(from_us, ...) return lab.now_us() - from_us, ... end
    local function keep(tl, held_us, ...) return tl, 100 * held_us / tl.makespan_us, ... end
    return keep(lab.profile(function(...) return timed(lab.now_us(), f(...)) end, ...))
end

-- Asserts that the host was free: no call waited for long, and all of them together took little.
-- A real host needs some us for each call, and is interrupted now and then; one that waits for the
-- GPU in each round is held for nearly all of the time.
function common.host_is_free(t, tl, held_percent, at_most_percent)
    local in_all_percent = tl.simulated and at_most_percent or math.max(70, at_most_percent)
    return t:host_block(tl, { at_most_percent = at_most_percent,
                              gpu_at_most_percent = math.max(40, at_most_percent) })
        and t:at_most(held_percent, in_all_percent,
                      "percent of the makespan in which the call held the host")
end

-- The kernels of that name, as tl:spans() has them, in the order of issue.
function common.kernels(tl, name)
    local list = {}
    for _, span in ipairs(tl:spans()) do
        if span.name == name then list[#list + 1] = span end
    end
    return list
end

-- Asserts of the kernels, one of each step or branch (`what`), that they are in streams apart, or
-- all in one. Fails for the first one that is not, with words.
local function assert_streams(t, kernels, what, apart, name)
    local function placed(i, k)
        return ("%s %d runs in %s"):format(what, i, k == i and "a stream of its own"
            or ("the same stream as %s %d"):format(what, k))
    end
    for i, kernel in ipairs(kernels) do
        local k = 1
        while kernels[k].stream_id ~= kernel.stream_id do k = k + 1 end
        local asked = apart and i or 1
        if k ~= asked then return t:is(placed(i, k), placed(i, asked), name) end
    end
    return t:ok(#kernels > 0, name)
end

function common.in_own_streams(t, kernels)
    return assert_streams(t, kernels, "branch", true,
        "each branch runs in a stream of its own (they are counted as they are issued)")
end

function common.in_one_stream(t, kernels)
    return assert_streams(t, kernels, "step", false, "all steps run in one stream")
end

-- The first elements of a list of tensors, for a comparison in one go.
function common.firsts(tensors)
    local numbers = {}
    if type(tensors) ~= "table" then return tensors end
    for i = 1, rawlen(tensors) do
        local x = rawget(tensors, i)
        numbers[i] = type(x) == "userdata" and x:get(1, 1) or "a " .. type(x) .. ", not a tensor"
    end
    return numbers
end

-- How long the GPU had nothing to do before each of the kernels, in ms, on a real GPU: there an
-- event in a stream that is idle happens at once, and the host launches the kernel some us later.
-- Before the first kernel the time counts from the first event.
local function idle_ms(tl, kernels)
    local idle, last_us = {}, nil
    for _, call in ipairs(tl:calls()) do
        if call.kind == "event_record" then
            last_us = call.host_start_us
            break
        end
    end
    for i, kernel in ipairs(kernels) do
        local gap_us = last_us and kernel.start_us - last_us or 0
        idle[i] = tl.simulated and 0 or math.max(0, gap_us / 1000)
        last_us = kernel.end_us
    end
    return idle
end

local function rounded(ms) return math.floor(ms * 10000 + 0.5) / 10000 end

-- Asserts that times[i] is how long the i-th kernel took, within what events can tell: on a real
-- GPU also with the idle time before it. There is one assertion, of the step that is furthest off.
function common.are_durations(t, tl, times, kernels)
    local idle, worst = idle_ms(tl, kernels), { off_ms = -1 }
    for i, kernel in ipairs(kernels) do
        local ms, got = (kernel.end_us - kernel.start_us) / 1000, rawget(times, i)
        local name = ("the milliseconds of step %d"):format(i)
        if type(got) ~= "number" or got ~= got then
            return t:near(got, rounded(ms), 0.015, name)
        end
        local want = math.max(ms, math.min(got, ms + idle[i]))
        if math.abs(got - want) > worst.off_ms then
            worst = { off_ms = math.abs(got - want), got = got, want = want, name = name }
        end
    end
    return t:near(rounded(worst.got), rounded(worst.want), tl.simulated and 0.015 or 0.03,
        worst.name .. ", which is furthest off")
end

-- Gives a list in which the places of the slots appear that produce is given, and produce itself.
function common.watch_slots(slots, produce)
    local taken = {}
    slots = table.move(slots, 1, #slots, 1, {})     -- the student has the list as well
    return taken, function(slot, i)
        local place = "another tensor"
        for k, each in ipairs(slots) do
            if rawequal(slot, each) then place = k end
        end
        taken[#taken + 1] = place
        return produce(slot, i)
    end
end

-- A copy of some MiB from pinned memory, in the current stream: about 19 us each on an H200.
function common.copy(mib)
    local host = lab.empty(mib, 512, 512, { device = "cpu", pinned = true })
    local there = lab.empty(mib, 512, 512)
    return function() there:copy_(host, { non_blocking = true }) end
end

return common
