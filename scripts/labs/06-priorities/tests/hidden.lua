-- Not in the student's folder: all ways of having to wait at once, and other numbers.
local common = include "common.lua"

local function requests(elements, count, first)
    local list = {}
    for i = 1, count do list[i] = common.request(elements, first + i) end
    return list
end

-- Jobs that as many pieces as a long job needs would make much slower.
local function short_jobs(count, kernel_ms)
    local list = {}
    for i = 1, count do list[i] = { elements = 1 << 18, kernel_ms = kernel_ms } end
    return list
end

-- Jobs that are too long to stay whole and too short for as many pieces as the longest need, and
-- jobs that are too short to be cut at all: no two numbers of pieces fit all jobs of a test.
local function middle_and_tiny(t, student, middle_ms, tiny_ms)
    common.judge(t, student, short_jobs(3, middle_ms), requests(1 << 20, 2, 50),
        { 0.2, middle_ms + 0.1 }, 15)
    common.judge(t, student, short_jobs(6, tiny_ms), requests(1 << 20, 2, 60), { 0.2, 0.2 }, 15)
end

test("all together: soon answered, and the background hardly slower",
    { points = 30, pace = { "1.1" },
    hint = "Late: what did its kernel wait for? tl:explain() says it. "
    .. "Background too slow: each piece costs something, so cut no finer than the target asks "
    .. "for, and a short job into fewer pieces than a long one" },
function(t, student)
    local list = { { elements = 1 << 21, kernel_ms = 6, waves = 30 },
                   { elements = 1 << 22, kernel_ms = 10 },
                   { elements = 1 << 20, kernel_ms = 5, parts = 50 },
                   { elements = 1 << 21, kernel_ms = 4 } }
    -- Each job meets a request while it runs, the last ones as well.
    common.judge(t, student, list, requests(1 << 20, 7, 3), { 0.42, 1.7, 2.35, 1.9, 5.6, 5.6, 5.4 },
        10)
    list = short_jobs(3, 0.8)
    table.insert(list, 1, { elements = 1 << 18, kernel_ms = 2, waves = 10 })
    common.judge(t, student, list, requests(1 << 20, 2, 30), { 0.9, 1.9 }, 10)
    middle_and_tiny(t, student, 2.2, 0.15)
    t:no_race()
end)

test("many requests, and neither start nor answer holds the host", { points = 25, pace = { "1.1" },
    hint = "start and answer only issue: whatever they wait for keeps the next request waiting, "
    .. "too. Very many pieces fill the launch queue, and then a launch waits. Guide: Priorities, "
    .. "Implicit synchronisation" },
function(t, student)
    local list = { { elements = 1 << 20, kernel_ms = 8, waves = 100 },
                   { elements = 3 << 20, kernel_ms = 10, parts = 36 },
                   { elements = 1 << 20, kernel_ms = 8, waves = 50 },
                   { elements = 1 << 22, kernel_ms = 14 } }
    local asked, gaps_ms = requests(1 << 20, 12, 20), {}
    for i = 1, 12 do gaps_ms[i] = 0.8 + i * 7 % 12 / 20 end
    local run, background_us = common.judge(t, student, list, asked, gaps_ms, 15)
    local factor = run.tl.simulated and 1 or 3
    t:at_most(run.started_us // 10 / 100, 0.25 * factor * background_us // 10 / 100,
        "start() returns after a quarter of the background's time at the latest (ms)")
    local held_us = {}
    for i, r in ipairs(asked) do held_us[i] = r.returned_us - r.called_us end
    table.sort(held_us)
    t:at_most(held_us[#held_us // 2] // 10 / 100, factor * common.alone_us(1 << 20) // 10 / 100,
        "answer() takes no longer than a request alone (ms, the median)")
    common.judge(t, student, short_jobs(4, 0.6), requests(1 << 20, 4, 40),
                 { 0.3, 0.6, 0.6, 0.6 }, 15)
    middle_and_tiny(t, student, 1.6, 0.2)
end)

test("other jobs and requests are right, and soon answered", { points = 15, pace = { "1.1" },
    hint = "Does it hold for one job, for one that can be cut into 3 parts only, "
    .. "and for sizes that no number divides? Each element of a job is uploaded and counted once" },
function(t, student)
    for _, list in ipairs{ { { elements = 7, kernel_ms = 0.3, parts = 3 } },
                           { { elements = 101, kernel_ms = 0.2, waves = 3 },
                             { elements = 50, kernel_ms = 0.9, parts = 7 },
                             { elements = 33, kernel_ms = 0.05, parts = 400 } } } do
        local jobs, asked = common.jobs(list), requests(5, 4, 10)
        local run = common.serve(student, jobs, asked, { 0, 0.02, 0.1, 0 })
        common.right(t, jobs)
        for i, r in ipairs(asked) do
            t:close(r.output, 3 * (10 + i), "the answer to request " .. i)
        end
        common.complete(t, run, jobs, asked)
        common.finished(t, run)
    end
    for _, list in ipairs{ { { elements = 1 << 18, kernel_ms = 7, parts = 20 } },
                           short_jobs(4, 0.6) } do
        common.judge(t, student, list, requests(1 << 20, 2, 5), { 0.3, 1.5 }, 15)
    end
    middle_and_tiny(t, student, 1.9, 0.12)
    t:no_race()
end)
