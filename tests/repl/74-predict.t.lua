-- 74-predict.t.lua - streamlab --spread and streamlab predict.
--
-- A launch costs 10 us, from 5 to 20 in one run of ten; copies 10 GB/s, from 5 to 20. Five draws
-- are at the quantiles 0.1, 0.3, 0.5, 0.7 and 0.9, with the factors 0.5, 0.75304, 1, 1.32795 and 2
-- (0.5 and 2 to the power of 0.5244 / 1.2816). Four launches then take 20, 30.122, 40, 53.118 and
-- 80 us; the range of five goes from the lowest to the highest. A kernel of 1 us comes
-- behind them.
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
tap.like(out, "^printed\tone\n41.00 21.00 81.00\n2000.00 2000.00 2000.00\nruns\t1\t%d+\n$",
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
tap.like(out, "\nmakespan 41.0 us %(21.0 to 81.0%)", "the recording of --trace has a range as well")
out = run("--spread 3 -e 'lab.open{profile = \"" .. profile .. "\"}' " .. recorded)
tap.like(out, "\nruns\t1\t", "chunks of -e run once")
write("own.lua", ('lab.open{profile = "%s"}\n'):format(profile) .. shell.read(recorded))
out = run "--spread 5 own.lua"
tap.like(out, "\n41.00 21.00 81.00\n", "a device that the script opens is drawn, too")

write("counts.lua", "local f <close> = io.open('count', 'a')\nf:write('x')\nlab.spin(1)")
run("--profile " .. profile .. " --spread 4 counts.lua")
tap.is(shell.read(folder .. "/count"), "x",
       "of N draws, of one run before them and one behind them the last alone writes")

write("fails.lua", "lab.spin(1)\nerror('on purpose')")
out, err, code = run("--profile " .. profile .. " --spread 4 fails.lua")
tap.is(code, 1, "a script that fails")
tap.like(err, "%-%-spread: no range is known: fails.lua:2: on purpose.*streamlab: fails.lua:2: on "
    .. "purpose",
    "fails as usual, behind a line about its draws")
write("exits.lua", "lab.spin(1)\nprint('here')\nos.exit(3)")
out, err, code = run("--profile " .. profile .. " --spread 4 exits.lua")
tap.is(out .. code, "here\n3", "os.exit in a draw does not end the program")
tap.like(err, "no range is known: it ended itself with os.exit", "but means that there is no range")

for arguments, message in pairs {
    ["--spread 5"] = "--spread needs a script's file",
    ["--spread 5 -"] = "--spread needs a script's file",
    ["--spread 1 recorded.lua"] = "--spread needs a whole number from 2 to 1000, got '1'",
    ["--spread x recorded.lua"] = "--spread needs a whole number from 2 to 1000, got 'x'",
} do
    _, err, code = run(arguments)
    tap.is(code, 2, arguments .. " is wrong usage")
    tap.like(err, message:gsub("%-", "%%-"), "and says why")
end

-- ---- predict -----------------------------------------------------------------------------------

out, err, code = run("predict --profile " .. profile .. " --spread 5 launches.lua")
tap.is(out, [[
launches.lua: makespan 41.0 us (21.0 to 81.0)
    it depends most on what calls cost (60.0 us)
]], "predict says the range of the whole run, and which figures matter: 4 launches of 5 to 20 us")
tap.is(err .. code, "0", "and nothing else")
out = run("predict --profile " .. profile .. " --spread=5 'recorded.lua one' launches.lua")
tap.is(out, [[
recorded.lua one: makespan 2.04 ms (2.02 to 2.08)
    recording 1: makespan 41.0 us (21.0 to 81.0)
    recording 2: makespan 2.00 ms (2.00 to 2.00)
    it depends most on what calls cost (60.0 us)
launches.lua: makespan 41.0 us (21.0 to 81.0)
    it depends most on what calls cost (60.0 us)
]], "of several recordings each, and of several scripts one after the other")
out = run "predict --spread 5 own.lua"
tap.like(out, "recording 1: makespan 41.0 us %(21.0 to 81.0%)",
         "also of scripts that call lab.open")
out = run("predict --profile " .. profile .. " --spread 3 launches.lua")
tap.like(out, "3 draws are too few to tell on which of 2 figures it depends",
         "few draws tell little")
out = run("predict --profile " .. certain .. " launches.lua")
tap.like(out, "the profile says nothing about the uncertainty", "without uncertain figures none")
write("seeded.lua", "lab.spin(tonumber(arg[2]))")
out = run("predict --profile " .. profile .. " --spread 5 --seeds 1-2 seeded.lua")
tap.like(out, "^seeded.lua %-%-seed 1: makespan 1.00 ms %(1.00 to 1.00%)\n"
    .. "    no uncertain figure of the profile matters\nseeded.lua %-%-seed 2: makespan 2.00 ms",
    "--seeds are as for compare")

local result =
    json.read((run("predict --json --profile " .. profile .. " --spread 5 recorded.lua")))
tap.is(result.script .. result.runs, "recorded.lua5", "JSON has the script and the number of draws")
tap.near(result.makespan_us, 2041, 1e-6, "the makespan, which is the sum of the recordings'")
tap.near(result.low_us, 2021, 0.01, "and its range")
tap.near(result.recordings[1].high_us, 81, 0.01, "those of the recordings")
tap.is(result.figures[1].name, "what calls cost", "all rows, the strongest first")
tap.near(result.figures[1].effect_us, 60, 0.01, "with their effects")
tap.near(result.figures[2].effect_us, 0, 0.01, "also of those that do not matter")

local together = write("together.lua", [[
return {
    base = "textbook", submit_us = 0, stream_gap_us = 0, wake_us = 0, host_cold = {},
    host = {launch_us = 10, synchronize_us = 0},
    spread = {
        calls = {keys = {"host.launch_us"}, low = 0.5, high = 2},
        also = {keys = {"host.memset_us"}, low = 0.5, high = 2, with = "calls"},
    },
}]])
result = json.read((run("predict --json --profile " .. together .. " --spread 5 launches.lua")))
tap.is(#result.figures .. result.figures[1].name, "1calls",
       "a row that is drawn with another counts as that one")

local host = write("host.lua", [[return {host = {launch_us = 10},
    spread = {launches = {keys = {"host.launch_us"}, low = 1, high = 1}}}]])
out = run("predict --profile " .. profile .. " --host " .. host .. " --spread 5 launches.lua")
tap.like(out, "launches.lua: makespan 41.0 us %(21.0 to 81.0%)", "a host brings its own rows")

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

-- ---- what draws write ---------------------------------------------------------------------------

-- Each assertion holds in each run alone, so that a draw that found the files of another run would
-- fail.
write("files.lua", [[
local function bytes(path)
    local f = io.open(path)
    local text = f and f:read("a")
    if f then f:close() end
    return text
end
local tl = lab.profile(function() for _ = 1, 5 do lab.spin(0.001) end end)
local figure = ("%.3f"):format(tl.makespan_us)
assert(bytes("log") == "kept\n")
local log = io.open("./log", "a") log:write(figure, "\n") log:close()
assert(bytes("log") == "kept\n" .. figure .. "\n")
io.output("by_output") io.write(figure) io.close() io.output(io.stdout)
assert(not bytes("new"))
local new = io.open("new", "w+") new:write(figure) new:close()
assert(bytes("new") == figure)
local changed = io.open("changed", "r+") assert(changed:read("a") == "before") changed:seek("set") changed:write("after!")
changed:close()
for line in io.lines("changed") do assert(line == "after!") end
assert(os.rename("new", "renamed") and not bytes("new") and bytes("renamed") == figure)
assert(bytes("removed") == "x" and os.remove("removed") and not bytes("removed") and not os.remove("removed"))
assert(not io.open("missing", "r+") and not pcall(io.lines, "missing") and not io.open("no/folder", "w"))
tl:save("trace.json") tl:save("trace.json.gz")
assert(lab.load("trace.json").span_count == tl.span_count)
tl:save("chart.svg") tl:save("page.html")
local results = lab.sweep({{"n", {1, 2}}}, function(p) return {us = p.n * tl.makespan_us} end)
results:csv("table.csv") results:jsonl("table.jsonl") results:plot{x = "n", y = "us", file = "plot.svg"}
lab.thread(function(text) local f = io.open("by_thread", "a") f:write(text) f:close() end, figure):join()
local pipe = io.popen("echo ran >> commands; echo answer; exit 3")
assert(pipe:read("a") == "answer\n" and select(3, pipe:close()) == 3)
assert(select(3, os.execute("echo executed >> commands; exit 4")) == 4)
local to = io.popen("cat >> commands", "w") to:write("piped\n") assert(to:close())
local name = os.tmpname() local t = io.open(name, "w") t:write("t") t:close() assert(bytes(name) == "t" and os.remove(name))
io.stderr:write("said\n")
]])
local before = { log = "kept\n", changed = "before", removed = "x" }
for name, text in pairs(before) do
    write(name, text)
end
local temporary = folder .. "/temporary"
os.execute("mkdir " .. temporary)
out, err, code = run("predict --profile uncertain.lua --spread 5 files.lua")
tap.is(err .. code, "said\n0", "a script that writes, reads, renames, removes and runs commands is "
    .. "predicted, and says what it says once")
tap.like(out, "^files.lua: makespan 41.0 us %(21.0 to 81.0%)\n", "with a range")
local alone_folder = shell.folder()
for name, text in pairs(before) do
    shell.write(alone_folder .. "/" .. name, text)
end
sh(("cd %s && \"$P\" --profile %s/uncertain.lua %s/files.lua"):format(alone_folder, folder, folder))
for _, name in ipairs { "log", "by_output", "changed", "renamed", "by_thread", "commands",
    "trace.json", "trace.json.gz", "chart.svg", "page.html", "table.csv",
    "table.jsonl", "plot.svg" } do
    local text = shell.read(alone_folder .. "/" .. name)
    tap.ok(text and shell.read(folder .. "/" .. name) == text,
           name .. " has what the script alone writes, to the byte")
end
tap.is(shell.read(folder .. "/commands"), "ran\nexecuted\npiped\n", "each command ran once")
tap.ok(not shell.read(folder .. "/removed") and not shell.read(folder .. "/new"),
       "what the first run removes is gone")
tap.is(sh("ls " .. alone_folder .. " | wc -l"),
       sh(("cd %s && ls log by_output changed renamed by_thread commands trace.json "
    .. "trace.json.gz chart.svg page.html table.csv table.jsonl plot.svg | wc -l"):format(folder)),
    "and there is no other file")
shell.remove(alone_folder)
out = sh(("cd %s && export TMPDIR=%s && cp log log.before && for name in log changed removed; do "
    .. "printf kept > $name; done; printf before > changed; printf x > removed; printf 'kept\\n' > "
    .. "log; \"$P\" predict --profile uncertain.lua --spread 3 files.lua > /dev/null 2>&1; ls %s")
    :format(folder, temporary, temporary))
tap.is(out, "", "nothing is left in the temporary folder")

write("once.lua", "lab.spin(1)\nrun = os.time() local f = io.open('n', 'r') local n = f and "
    .. "f:read('n') or 0\nif f then f:close() end\nf = io.open('n', 'w') f:write(n + 1) "
    .. "f:close()\nif n > 0 then os.execute('echo again') end")
write("n", "0")
_, err, code = run("predict --profile textbook --spread 3 once.lua")
tap.is(err .. code .. shell.read(folder .. "/n"), "01",
       "draws find files as they were before the first run, which asks no command")
write("asks.lua", "lab.spin(1)\nruns = require('kept') runs.n = runs.n + 1\nif runs.n > 1 then "
    .. "os.execute('echo x >> asked') end")
write("kept.lua", "return {n = 0, log = io.open('kept.log', 'w')}")
_, err, code = run("predict --profile textbook --spread 3 asks.lua")
tap.like(err, "draw 1 of 3: .*os%.execute: .*starts no command.*'echo x >> asked'",
    "a command that the first run has not asked is an error in a draw")
tap.ok(not shell.read(folder .. "/asked"), "and is not run")
write("module.lua", "lab.spin(1)\nlocal kept = require('kept') kept.n = kept.n + 1\n"
    .. "kept.log:write(kept.n, '\\n') kept.log:flush()")
_, err, code = run("predict --profile textbook --spread 3 module.lua")
tap.is(err .. code .. shell.read(folder .. "/kept.log"), "01\n",
       "a file that a module keeps open gets what the first run writes")

write("late.lua", "lab.thread(function() for _ = 1, 3 do lab.host_work(1) lab.spin(1) "
    .. "lab.synchronize()\nlocal f = io.open('late', 'a') f:write('x') f:close() end end)")
out, err, code = run("predict --profile certain.lua --spread 3 late.lua")
tap.is(err .. code .. shell.read(folder .. "/late"), "0xxx",
       "a thread that nobody joins ends with its run, and draws write nothing")
tap.like(out, "^late.lua: makespan 5%.%d+ ms", "and what it enqueues counts")
write("fails_late.lua", "lab.spin(1)\nlab.thread(function() lab.host_work(1) error('in vain') end)")
_, err, code = run("predict --profile certain.lua --spread 3 fails_late.lua")
tap.like(err .. code, "^streamlab: predict: fails_late.lua: thread 1, which was started at .*:2 "
    .. "and not joined, has failed: .*in vain\n1$",
    "its error is the script's")

write("denied.lua", "lab.spin(1)\nlocal f, why = io.open('.', 'w') assert(not f and why == '.: Is "
    .. "a directory', why)\nlocal n = io.open('/dev/null', 'w') n:write('x') n:close()")
_, err, code = run("predict --profile textbook --spread 3 denied.lua")
tap.is(err .. code, "0", "folders and devices are to a draw what they are")

write("kept_values.lua", [[
local figures = debug.getregistry()["streamlab.internals"].figures_of
lab.spin(1)
assert(figures(lab.device()).current["values.kept"][1] == 1)]])
_, err, code = run("predict --profile textbook --spread 3 kept_values.lua")
tap.is(err .. code, "0", "all runs of a prediction keep the values that they compute")

-- ---- values ------------------------------------------------------------------------------------

-- n^3 is the sum of a product of two matrices of ones, each of whose elements is n. Each run, the
-- first one as the draws that copy what it has computed, has these values.
write("values.lua", [==[
local n <const> = 64
local x = lab.ones(n, n)
local y = lab.matmul(x, x)
assert(y:sum():item() == n ^ 3)
for _ = 1, 3 do lab.mul(y, 2, {out = y}) end
assert(y:get(1, 1) == 8 * n)
y:narrow(1, 1, 2):copy_(x:narrow(1, 1, 2))
assert(y:sum():item() == (n - 2) * n * 8 * n + 2 * n)
local k = lab.kernel{name = "twice", source = [[
extern "C" __global__ void twice(float *x, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}]], args = {"inout f32*", "i32", "f32"}}
for by = 2, 4 do
    local z = lab.ones(1000)
    k(4, 256, z, 1000, by)
    assert(z:sum():item() == 1000 * by)
end
assert(lab.matmul(x, x):get(1, 1) == n)
local comm = lab.comm{devices = {0, 1}}
local a, b = lab.matmul(x, x), lab.matmul(lab.ones(n, n, {device = "cuda:1"}), lab.ones(n, n, {device = "cuda:1"}))
comm:all_reduce{a, b}
lab.synchronize()
assert(a:sum():item() == 2 * n ^ 3 and b:get(2, 2) == 2 * n)
]==])
if not os.execute("command -v g++ > /dev/null") then
    tap.skip("no g++", 1)
else
    _, err, code = run("--devices 2 predict --profile textbook --spread 3 values.lua")
    tap.is(err .. code, "0", "products, parts, kernels and collectives have their values in each "
        .. "run")
end

-- ---- Ctrl-C -------------------------------------------------------------------------------------

write("endless.lua", [[
package.loaded.n = (package.loaded.n or 0) + 1
lab.spin(1)
if package.loaded.n == tonumber(arg[1]) then
    assert(io.open("fifo")):read("a")           -- to its end: the signal has come
    while true do lab.host_work(0.001) end
end]])
os.execute("mkfifo " .. folder .. "/fifo")
local function interrupted(script)
    return sh(("cd %s && (sh -c 'exec 3>fifo; kill -INT $1' sh $$ &) && exec \"$P\" predict "
        .. "--profile textbook --spread 9 '%s'")
        :format(folder, script))
end
out, err, code = interrupted "endless.lua 6"
tap.is(out, "endless.lua 6: makespan 1.00 ms (1.00 to 1.00)\n    the profile says nothing about "
    .. "the uncertainty of its figures\n",
    "Ctrl-C in draw 5 gives what the draws before it have shown")
tap.is(err .. code, "streamlab: predict: endless.lua 6: stopped after 4 of 9 draws\n130",
       "says how many there were, and ends")
out, err, code = interrupted "endless.lua 2"
tap.is(out .. err .. code, "streamlab: predict: endless.lua 2: interrupted: no draw had ended\n130",
       "in draw 1 there is nothing to print")

-- What a draw leaves is collected before the next one begins.
write("between.lua", [[
package.loaded.n = (package.loaded.n or 0) + 1
lab.spin(1)
if package.loaded.n == 4 then
    left = setmetatable({}, {__gc = function() io.open("fifo"):read("a") end})
end]])
out, err, code = interrupted "between.lua"
tap.is(out, "between.lua: makespan 1.00 ms (1.00 to 1.00)\n    the profile says nothing about the "
    .. "uncertainty of its figures\n",
    "Ctrl-C between two draws gives what the draws before it have shown")
tap.is(err .. code, "streamlab: predict: between.lua: stopped after 3 of 9 draws\n130",
       "and says how many there were")

shell.remove(folder)
tap.done()
