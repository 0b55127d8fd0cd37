-- The tests that you have: first the results, then one way of having to wait at a time.
local common = include "common.lua"

local function requests(elements, count)
    local list = {}
    for i = 1, count do list[i] = common.request(elements, i) end
    return list
end

test("answers and jobs are right, and nothing races", {points = 5, hint = "Each part of a job runs "
    .. "once, behind the upload of its bytes, and finish waits for all. Guide: Events, Races"},
function(t, student)
    local jobs = common.jobs{{elements = 96, kernel_ms = 0.4, parts = 16},
                             {elements = 70, kernel_ms = 0.4, waves = 8}}
    local list = requests(12, 3)
    local run = common.serve(student, jobs, list, {0.05, 0.1, 0.1})
    common.right(t, jobs)
    for i, r in ipairs(list) do t:close(r.output, 3 * i, "the answer to request " .. i) end
    common.complete(t, run, jobs, list)
    t:no_race()
end)

test("a request overtakes a grid of many short blocks", {points = 15, hint = "This kernel cannot "
    .. "be cut, and need not: its blocks are short. What decides whose blocks come next? Lower "
    .. "numbers are more urgent. Guide: Priorities, 'The experiment'"},
function(t, student)
    local list = {{elements = 1 << 18, kernel_ms = 4, waves = 40},
                  {elements = 1 << 18, kernel_ms = 4, waves = 80}}
    local jobs, asked = common.jobs(list), requests(1 << 18, 3)
    local run = common.serve(student, jobs, asked, {1.03, 1.51, 2.27})
    common.latency(t, run, asked, 6)
    common.complete(t, run, jobs, asked)
    t:makespan(run.tl, {within_percent = 15, gpu_within_percent = 40,
        of_us = common.background_us(list)}, "the background is not held up for long")
end)

test("a request does not wait for a block of 5 ms", {points = 15, hint = "No running block is "
    .. "stopped, whatever the priorities are. This kernel can be cut: job.parts, job.kernel_ms. "
    .. "Guide: Priorities, 'long blocks'. But each piece costs its launches, and with very many "
    .. "`start` does not return before the queue has room"},
function(t, student)
    local list = {{elements = 1 << 18, kernel_ms = 5}, {elements = 1 << 18, kernel_ms = 3}}
    local jobs, asked = common.jobs(list), requests(1 << 18, 3)
    local run = common.serve(student, jobs, asked, {0.7, 2.2, 2.2})
    common.latency(t, run, asked, 6)
    common.complete(t, run, jobs, asked)
    t:makespan(run.tl, {within_percent = 15, gpu_within_percent = 40,
        of_us = common.background_us(list)}, "the background is not held up for long")
end)

test("a request does not wait for an upload of 256 MiB", {points = 15, hint = "A copy engine takes "
    .. "copies in the order in which they come, and knows no priorities. How much may lie in front "
    .. "of a request that comes at the worst moment? Guide: Priorities, 'copies do not care'. An "
    .. "upload can be cut without cutting the kernel: t:chunk"},
function(t, student)
    local list = {{elements = 1 << 26, kernel_ms = 0.5}, {elements = 1 << 26, kernel_ms = 0.5}}
    local jobs, asked = common.jobs(list), requests(1 << 18, 3)
    local run = common.serve(student, jobs, asked, {1.1, 3.2, 3.3})
    common.latency(t, run, asked, 6)
    common.complete(t, run, jobs, asked)
    t:makespan(run.tl, {within_percent = 15, gpu_within_percent = 40,
        of_us = common.background_us(list)}, "the background is not held up for long")
end)
