-- 20-cost.t.lua - what recording took is printed with each recording, and kept with its file. The
-- times are those of played_program.c; what a record costs is trace_profiler.c's.
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played, sh = require "played" "played_program"

-- What trace_profiler.c takes off (sl__recorder_costs): a call, what it gives the device, and a
-- record or a wait.
local call_us <const>, work_us <const>, order_us <const> = 0.35, 0.85, 0.05

-- Two copies, two launches and a launch of a graph; 3 records of events and 4 waits.
local host_us <const> = 4 * (call_us + work_us) + call_us + 7 * (call_us + order_us)
local stated <const> = ("Recording took the host about %.3g us"):format(host_us)
local out = sh(('"$P" record --spools spools -o t.json -- %s/played_program streams')
    :format(played))
tap.like(out:gsub("\n", " "), stated .. " in 12 calls, 662 ns each: "
    .. "without it the makespan would be about %d+ us in place of 370 us%.",
    "the output begins with what it cost")
local verdict = lab.load(folder .. "/spools"):verdict()
tap.is(("%.2f %d"):format(verdict.recording_host_us, verdict.recorded_calls),
    ("%.2f 12"):format(host_us), "which is the sum over its calls")
tap.ok(verdict.recording_us > 0 and verdict.recording_us < 4 * host_us,
    "and the makespan is longer by a part of it and of what it takes between them",
    verdict.recording_us)
tap.ok(verdict.sentence:find(("of %.0f us"):format(370 - verdict.recording_us), 1, true),
    "gains are of a makespan without recording", verdict.sentence)
tap.is(lab.load(folder .. "/t.json"):verdict().recording, verdict.recording,
    "the written file says the same")
sh('"$P" -e \'lab.load("t.json"):save("t.html")\'')
for what, command in pairs { explain = '"$P" show --explain t.json', page = "cat t.html",
                             summary = '"$P" show --summary t.json',
                             diff = '"$P" diff t.json t.json' } do
    tap.like(sh(command):gsub("\n", " "), stated, what .. ": so does what is made of it")
end
tap.like(shell.read(folder .. "/t.html"), '"sentence":"To gain.-","doubts":"[^"]*Recording took',
    "on a page in a line of its own, above the verdict")

-- Launches of 1 us: what recording is said to take is no more than that.
out = sh(('"$P" record -- %s/played_program kernels 100'):format(played))
local capped <const> = ("Recording took the host about %.3g us in 100 calls, 1%%.00 us each, "
    .. "and does not make the makespan longer%%."):format(100 * math.min(call_us + work_us, 1))
tap.like(out:gsub("\n", " "), capped, "where the makespan is the GPU's it says so")
tap.is(lab.profile(lab.spin, 1):verdict().recording, nil, "a recording of our own costs nothing")

-- ---- what costs can be measured with -----------------------------------------------------------

-- The names of the calls that a recording has, with some kinds left out.
local function calls_with(name, setting)
    sh(('%s "$P" record --quiet --spools %s -- %s/played_program streams'):format(setting, name,
        played))
    local names = {}
    for i, call in ipairs(lab.load(folder .. "/" .. name):calls()) do
        names[i] = call.name
    end
    return table.concat(names, " ")
end
tap.is(calls_with("none", "STREAMLAB_RECORD_WITHOUT=runtime,event"), "",
    "a kind can be left out, to measure what it costs")

shell.remove(folder)
tap.done()
