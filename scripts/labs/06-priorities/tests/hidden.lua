-- Not in the student's folder: all ways of having to wait at once, and other numbers.
local common = include "common.lua"

local function requests(elements, count, first)
    local list = {}
    for i = 1, count do list[i] = common.request(elements, first + i) end
    return list
end

test("all together: soon answered, and the background hardly slower", {points = 20,
    hint = "Late: is it the copy or the kernel that waits, and for what? tl:explain() says it. "
    .. "Background too slow: each piece costs its launches and gaps, so cut no finer than the "
    .. "target asks for"},
function(t, student)
    local list = {{elements = 1 << 24, kernel_ms = 6},
                  {elements = 1 << 25, kernel_ms = 3, waves = 30},
                  {elements = 1 << 23, kernel_ms = 2, parts = 100},
                  {elements = 1 << 24, kernel_ms = 1.5}}
    local jobs, asked = common.jobs(list), requests(1 << 18, 5, 3)
    local run = common.serve(student, jobs, asked, {0.42, 1.7, 2.35, 1.9, 2.6})
    common.latency(t, run, asked, 6)
    common.complete(t, run, jobs, asked)
    t:makespan(run.tl, {within_percent = 10, gpu_within_percent = 40,
        of_us = common.background_us(list)}, "five requests cost the background 10 % at most")
    t:no_race()
end)

test("many requests of 2 MiB, and neither start nor answer holds the host", {points = 20,
    hint = "start and answer only issue: whatever they wait for keeps the next request waiting, "
    .. "too. Too many pieces fill the launch queue, and then a launch waits. Guide: Priorities; "
    .. "docs/causes.md: launch queue full"},
function(t, student)
    local list = {{elements = 1 << 22, kernel_ms = 3, waves = 100},
                  {elements = 3 << 23, kernel_ms = 3.6, parts = 36},
                  {elements = 1 << 20, kernel_ms = 4, waves = 50},
                  {elements = 1 << 24, kernel_ms = 7}}
    local jobs, asked = common.jobs(list), requests(1 << 19, 12, 20)
    local background_us = common.background_us(list)
    local gaps_ms = {}
    for i = 1, 12 do gaps_ms[i] = 0.8 + i * 7 % 12 / 20 end
    local run = common.serve(student, jobs, asked, gaps_ms)
    common.latency(t, run, asked, 6)
    common.complete(t, run, jobs, asked)
    local factor = run.tl.simulated and 1 or 3
    t:at_most(run.started_us // 1, 0.25 * background_us * factor // 1,
        "start returns long before the background is done (us)")
    local longest_us = 0
    for _, r in ipairs(asked) do longest_us = math.max(longest_us, r.returned_us - r.called_us) end
    t:at_most(longest_us // 1, 60 * factor, "answer returns at once (us)")
    t:makespan(run.tl, {within_percent = 15, gpu_within_percent = 50, of_us = background_us},
        "twelve requests cost the background 15 % at most")
end)

test("other jobs and requests are right", {points = 10, hint = "Does it hold for one job, for one "
    .. "that can be cut into 3 parts only, and for sizes that no number divides? Each element of a "
    .. "job is uploaded and counted once"},
function(t, student)
    for _, list in ipairs{{{elements = 7, kernel_ms = 0.3, parts = 3}},
                          {{elements = 101, kernel_ms = 0.2, waves = 3},
                           {elements = 50, kernel_ms = 0.9, parts = 7},
                           {elements = 33, kernel_ms = 0.05, parts = 400}}} do
        local jobs, asked = common.jobs(list), requests(5, 4, 10)
        local run = common.serve(student, jobs, asked, {0, 0.02, 0.1, 0})
        common.right(t, jobs)
        for i, r in ipairs(asked) do
            t:close(r.output, 3 * (10 + i), "the answer to request " .. i)
        end
        common.complete(t, run, jobs, asked)
    end
    t:no_race()
end)
