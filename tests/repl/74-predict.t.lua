-- 74-predict.t.lua - streamlab --spread and streamlab predict.
--
-- A launch costs 10 us, from 5 to 20 in one run of ten; copies 10 GB/s, from 5 to 20. Five draws are
-- at the quantiles 0.1, 0.3, 0.5, 0.7 and 0.9, with the factors 0.5, 0.75304, 1, 1.32795 and 2 (0.5 and
-- 2 to the power of 0.5244 / 1.2816). Four launches then take 20, 30.122, 40, 53.118 and 80 us; the
-- 10th percentile of the five is 24.05 us, the 90th 69.25 us. A kernel of 1 us comes behind them.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh = shell.sh

local folder = shell.folder()

local function write(name, text)
    return shell.write(folder .. "/" .. name, text)
end

local profile = write("uncertain.lua", [[
return {
    base = "textbook", submit_us = 0, stream_gap_us = 0, wake_us = 0, copy_latency_us = 0,
    h2d_gb_per_s = 10, host_cold = {},
    host = {launch_us = 10, synchronize_us = 0, memcpy_async_us = 0},
    spread = {
        ["what calls cost"] = {keys = {"host.launch_us"}, low = 0.5, high = 2},
        copies = {keys = {"h2d_gb_per_s"}, low = 0.5, high = 2},
    },
}]])
local certain = write("certain.lua", 'return {base = "textbook"}')

local launches = write("launches.lua", [[
for _ = 1, 5 do lab.spin(0.001) end
]])
local recorded = write("recorded.lua", [[
print("printed", ...)
x = (x or 0) + 1
local tl = lab.profile(function()
    for _ = 1, 5 do lab.spin(0.001) end
end)
local other = lab.record()
lab.spin(2)
other:stop()
if tl.range_us then
    print(("%.2f %.2f %.2f"):format(tl.makespan_us, table.unpack(tl.range_us)))
    print(("%.2f %.2f %.2f"):format(other.makespan_us, table.unpack(other.range_us)))
end
print("runs", x, math.random(1000000))
]])

local function run(arguments)
    return sh(("cd %s && \"$P\" %s"):format(folder, arguments))
end

-- ---- --spread ----------------------------------------------------------------------------------

local out, err, code = run("--profile " .. profile .. " --spread 5 recorded.lua one")
tap.is(code, 0, "--spread runs a script")
tap.like(out, "^printed\tone\n41.00 25.05 70.25\n2000.00 2000.00 2000.00\nruns\t1\t%d+\n$",
    "whose recordings have the ranges of the draws' recordings; it prints once")
tap.is(err, "", "and nothing else is said")
local again = run("--profile " .. profile .. " --spread 5 recorded.lua one")
tap.is(again, out, "the same each time")
out = run("--profile " .. certain .. " --spread 3 recorded.lua")
local makespan, low, high = out:match("\n([%d.]+) ([%d.]+) ([%d.]+)\n2000")
tap.ok(makespan and makespan == low and low == high,
    "a profile without uncertain figures gives no range")

run("--profile " .. profile .. " --spread 5 --trace whole.json launches.lua")
out = run "show --chart whole.json"
tap.like(out, "\nmakespan 41.0 us %(25.0 to 70.2%)", "the recording of --trace has a range as well")
out = run("--spread 3 -e 'lab.open{profile = \"" .. profile .. "\"}' " .. recorded)
tap.like(out, "\nruns\t1\t", "chunks of -e run once")
write("own.lua", ('lab.open{profile = "%s"}\n'):format(profile) .. shell.read(recorded))
out = run "--spread 5 own.lua"
tap.like(out, "\n41.00 25.05 70.25\n", "a device that the script opens is drawn, too")

write("counts.lua", "local f <close> = io.open('count', 'a')\nf:write('x')\nlab.spin(1)")
run("--profile " .. profile .. " --spread 4 counts.lua")
tap.is(shell.read(folder .. "/count"), "xxxxxx", "N draws come behind one run as it is, and before the last")

write("fails.lua", "lab.spin(1)\nerror('on purpose')")
out, err, code = run("--profile " .. profile .. " --spread 4 fails.lua")
tap.is(code, 1, "a script that fails")
tap.like(err, "%-%-spread: no range is known: fails.lua:2: on purpose.*streamlab: fails.lua:2: on purpose",
    "fails as usual, behind a line about its draws")
write("exits.lua", "lab.spin(1)\nprint('here')\nos.exit(3)")
out, err, code = run("--profile " .. profile .. " --spread 4 exits.lua")
tap.is(out .. code, "here\n3", "os.exit in a draw does not end the program")
tap.like(err, "no range is known: it ended itself with os.exit", "but means that there is no range")

for arguments, message in pairs {
    ["--spread 5"] = "--spread needs a script's file",
    ["--spread 5 -"] = "--spread needs a script's file",
    ["--spread 1 recorded.lua"] = "--spread needs a whole number from 2 to 1000, got 1",
    ["--spread x recorded.lua"] = "--spread needs a whole number from 0, got 'x'",
} do
    _, err, code = run(arguments)
    tap.is(code, 2, arguments .. " is wrong usage")
    tap.like(err, message:gsub("%-", "%%-"), "and says why")
end

-- ---- predict -----------------------------------------------------------------------------------

out, err, code = run("predict --profile " .. profile .. " --spread 5 launches.lua")
tap.is(out, [[
launches.lua: makespan 41.0 us (25.0 to 70.2)
    it depends most on what calls cost (60.0 us)
]], "predict says the range of the whole run, and which figures matter: 4 launches of 5 to 20 us")
tap.is(err .. code, "0", "and nothing else")
out = run("predict --profile " .. profile .. " --spread=5 'recorded.lua one' launches.lua")
tap.is(out, [[
recorded.lua one: makespan 2.04 ms (2.03 to 2.07)
    recording 1: makespan 41.0 us (25.0 to 70.2)
    recording 2: makespan 2.00 ms (2.00 to 2.00)
    it depends most on what calls cost (60.0 us)
launches.lua: makespan 41.0 us (25.0 to 70.2)
    it depends most on what calls cost (60.0 us)
]], "of several recordings each, and of several scripts one after the other")
out = run "predict --spread 5 own.lua"
tap.like(out, "recording 1: makespan 41.0 us %(25.0 to 70.2%)", "also of scripts that call lab.open")
out = run("predict --profile " .. profile .. " --spread 3 launches.lua")
tap.like(out, "3 draws are too few to tell on which of 2 figures it depends", "few draws tell little")
out = run("predict --profile " .. certain .. " launches.lua")
tap.like(out, "the profile says nothing about the uncertainty", "without uncertain figures none")
write("seeded.lua", "lab.spin(tonumber(arg[2]))")
out = run("predict --profile " .. profile .. " --spread 5 --seeds 1-2 seeded.lua")
tap.like(out, "^seeded.lua %-%-seed 1: makespan 1.00 ms %(1.00 to 1.00%)\n"
    .. "    no uncertain figure of the profile matters\nseeded.lua %-%-seed 2: makespan 2.00 ms",
    "--seeds are as for compare")

local result = json.read((run("predict --json --profile " .. profile .. " --spread 5 recorded.lua")))
tap.is(result.script .. result.runs, "recorded.lua5", "JSON has the script and the number of draws")
tap.near(result.makespan_us, 2041, 1e-6, "the makespan, which is the sum of the recordings'")
tap.near(result.low_us, 2025.05, 0.01, "and its range")
tap.near(result.recordings[1].high_us, 70.25, 0.01, "those of the recordings")
tap.is(result.figures[1].name, "what calls cost", "all rows, the strongest first")
tap.near(result.figures[1].effect_us, 60, 0.01, "with their effects")
tap.near(result.figures[2].effect_us, 0, 0.01, "also of those that do not matter")

local host = write("host.lua", [[return {host = {launch_us = 10},
    spread = {launches = {keys = {"host.launch_us"}, low = 1, high = 1}}}]])
out = run("predict --profile " .. profile .. " --host " .. host .. " --spread 5 launches.lua")
tap.like(out, "launches.lua: makespan 41.0 us %(25.0 to 70.2%)", "a host brings its own rows")

out, err, code = run("predict --profile " .. profile .. " fails.lua launches.lua")
tap.is(code, 1, "a script that fails")
tap.like(err, "predict: fails.lua: fails.lua:2: on purpose", "is named")
tap.like(out, "^launches.lua: makespan", "and the others are predicted")
write("nothing.lua", "print(1)")
_, err = run("predict --profile " .. profile .. " nothing.lua")
tap.like(err, "nothing.lua: it enqueues nothing", "a script without work has no makespan")
_, err, code = run "predict"
tap.is(code, 2, "without scripts it is wrong usage")
_, err, code = run "predict --profile nothing launches.lua"
tap.is(code, 2, "and with a profile that is not there")
tap.like(err, "there is no profile \"nothing\"", "which it says at once")

shell.remove(folder)
tap.done()
