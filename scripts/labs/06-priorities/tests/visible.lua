-- The tests that you have: first the results, then one way of having to wait at a time.
local common = include "common.lua"

local function requests(elements, count)
    local list = {}
    for i = 1, count do list[i] = common.request(elements, i) end
    return list
end

test("answers and jobs are right, and nothing races",
     { points = 5, hint = "Each part of a job runs "
    .. "once, behind the upload of its bytes, and finish waits for all. Guide: Events, Races" },
function(t, student)
    local jobs = common.jobs{ { elements = 96, kernel_ms = 0.4, parts = 16 },
                              { elements = 70, kernel_ms = 0.4, waves = 8 } }
    local list = requests(12, 3)
    local run = common.serve(student, jobs, list, { 0.05, 0.1, 0.1 })
    common.right(t, jobs)
    for i, r in ipairs(list) do t:close(r.output, 3 * i, "the answer to request " .. i) end
    common.complete(t, run, jobs, list)
    common.finished(t, run)
    common.read_at_once(t, student, { { elements = 80, kernel_ms = 0.4, parts = 4 } },
                        requests(12, 2))
    t:no_race()
end)

test("a request overtakes a grid of many short blocks", { points = 10, pace = { "1.1" },
    hint = "This kernel cannot "
    .. "be cut, and need not: its blocks are short. What decides whose blocks come next? Print "
    .. "your streams. Guide: Priorities, 'The experiment'" },
function(t, student)
    local list = { { elements = 1 << 18, kernel_ms = 12, waves = 60 },
                   { elements = 1 << 18, kernel_ms = 10, waves = 80 } }
    common.judge(t, student, list, requests(1 << 20, 3), { 2.03, 2.51, 3.27 }, 15)
end)

test("a request does not wait for a block of 12 ms", { points = 15, pace = { "1.1" },
    hint = "No running block is "
    .. "stopped, whatever the priorities are; but job.parts is more than 1 here. Guide: "
    .. "Priorities, 'long blocks'. Too slow as a whole: what does a piece cost?" },
function(t, student)
    local list = { { elements = 1 << 18, kernel_ms = 12 }, { elements = 1 << 18, kernel_ms = 10 } }
    common.judge(t, student, list, requests(1 << 20, 3), { 1.7, 2.2, 3.2 }, 15)
end)
