-- 74-compare.t.lua - streamlab compare: two simulated GPUs whose figures make every time one that
-- can be worked out by hand.
--
-- No call costs anything and nothing has latency. The fast GPU copies 8 GB/s, the slow one 4 GB/s:
-- 8 MB take 1 ms and 2 ms. And the slow one runs one kernel at a time.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh, read = shell.sh, shell.read

local folder = shell.folder()

-- ---- the GPUs and the scripts ----------------------------------------------------------------

local function write(name, text)
    return shell.write(folder .. "/" .. name, text)
end

local textbook = read "scripts/profiles/textbook.lua"

local function profile(name, figures)
    local text = textbook
    for key, value in pairs(figures) do
        local n
        text, n = text:gsub("(%f[%w_]" .. key .. " = )[%d.]+", "%1" .. value)
        assert(n == 1, key .. " is not there once")
    end
    return write(name, text)
end

local function figures(of)
    for _, key in ipairs { "submit_us", "stream_gap_us", "cross_stream_us", "copy_latency_us",
        "launch_us", "memcpy_async_us", "wait_us", "wake_us", "synchronize_us" } do
        of[key] = of[key] or 0
    end
    of.duplex_factor = 1
    return of
end

profile("fast.lua", figures { h2d_gb_per_s = 8, d2h_gb_per_s = 8, max_grids = 128 })
profile("slow.lua", figures { h2d_gb_per_s = 4, d2h_gb_per_s = 4, max_grids = 1 })

local memory = [[
local function of(n, options) return lab.empty(2000 * n, 1000, options) end
local function host(n) return of(n, { device = "cpu", pinned = true }) end
]]

-- 1 ms and 8 MB, one after the other: 2 ms and 3 ms.
write("in_turn.lua", memory .. [[
local x, y = host(1), of(1)
print "in turn"
io.write("in turn\n")
lab.profile(function()
    lab.spin(1)
    y:copy_(x, { non_blocking = true })
end):show()
]])

-- Two kernels of 1 ms: 1 ms and 2 ms. On the slow one neither the lanes nor the kernels overlap.
write("beside.lua", [[
local a, b = lab.stream(), lab.stream()
lab.profile(function()
    lab.spin(1, { stream = a })
    lab.spin(1, { stream = b })
end)
]])

-- Part 1 is a copy and then a kernel of 1 ms in stream a, kernels of 1.5 ms and 1 ms in b. From
-- when to when, in ms:
--          copy    1.5     a's 1      b's 1
--   fast   0-1     0-1.5   1-2        1.5-2.5
--   slow   0-2     0-1.5   2.5-3.5    1.5-2.5
-- Of lanes a's copy and a's kernel overlap with b's on the fast one, on the slow one the copy does.
-- Of operations the copy and the 1.5 do so on both; on one side the copy and b's 1, the 1.5 and
-- a's 1, a's and b's. Part 2 is in_turn's.
write("swapped.lua", memory .. [[
local x, y = host(1), of(1)
local a, b = lab.stream { name = "a" }, lab.stream { name = "b" }
local tl = lab.record()
y:copy_(x, { non_blocking = true, stream = a })
lab.spin(1.5, { stream = b })
lab.spin(1, { stream = a })
lab.spin(1, { stream = b })
tl:stop()
lab.profile(function()
    lab.spin(1)
    y:copy_(x, { non_blocking = true })
end)
]])

-- Records nothing: 2 ms on both.
write("plain.lua", [[
assert(not leaked and not GLOBAL)
GLOBAL, leaked = true, true
lab.spin(2)
]])

-- N times 8 MB behind 1 ms: 1 + N ms and 1 + 2 N ms.
write("seeded.lua", memory .. [[
assert(arg[0]:find("seeded.lua", 1, true) and arg[1] == "--seed" and ... == "--seed")
local n = tonumber(arg[2])
local x, y = host(n), of(n)
lab.profile(function()
    lab.spin(1)
    y:copy_(x, { non_blocking = true })
end)
]])

local function compare(line)
    return sh(('cd "%s" && LC_ALL=C "$P" compare --against sim:./slow.lua --profile ./fast.lua %s')
        :format(folder, line))
end

local function objects(text)
    local list = {}
    for line in text:gmatch("[^\n]+") do
        list[#list + 1] = json.read(line)
    end
    return list
end

-- One run is always steady.
local function line_of(script, seed, gpu_us, sim_us, lanes, lanes_same, operations,
                       operations_same)
    return ('{"script": "%s", "seed": %s, "gpu_us": %.3f, "gpu_min_us": %.3f, "gpu_max_us": %.3f, '
        .. '"sim_us": %.3f, "lane_pairs": %d, "lane_pairs_same": %d, "lane_pairs_steady": %d, '
        .. '"lane_pairs_steady_same": %d, "op_pairs": %d, "op_pairs_same": %d, '
        .. '"op_pairs_steady": %d, "op_pairs_steady_same": %d}\n'):format(script, seed, gpu_us,
        gpu_us, gpu_us, sim_us, lanes, lanes_same, lanes, lanes_same, operations, operations_same,
        operations, operations_same)
end

-- ---- figures ---------------------------------------------------------------------------------

local expected = line_of("in_turn.lua", "null", 3000, 2000, 0, 0, 0, 0)
    .. line_of("beside.lua", "null", 2000, 1000, 1, 0, 1, 0)
    .. line_of("swapped.lua", "null", 6500, 4500, 2, 1, 4, 1)
    .. line_of("plain.lua", "null", 2000, 2000, 0, 0, 0, 0)

local out, err, code = compare("--quiet --json --jsonl all.jsonl --svg all.svg --dump dump "
    .. "in_turn.lua beside.lua swapped.lua plain.lua")
tap.is(out, expected, "makespans and pairs are those worked out by hand")
tap.is(err .. code, "0", "and nothing else is printed, also not by scripts")
tap.is(read(folder .. "/all.jsonl"), expected, "--jsonl writes the same")
tap.is(#objects(out), 4, "each line is a JSON object")

-- ---- by several processes ----------------------------------------------------------------------

local function plan(line)
    return sh(('cd "%s" && %s'):format(folder, line))
end

local summary = compare("--quiet in_turn.lua beside.lua swapped.lua plain.lua")
out, err, code = compare("--plan p.jsonl in_turn.lua beside.lua swapped.lua plain.lua")
tap.is(out .. err .. code, "4 scripts are in p.jsonl\n0", "--plan writes a plan")
out, err, code = plan('"$P" work --quiet p.jsonl --shard 1/2; "$P" work --quiet p.jsonl; "$P" '
    .. 'merge p.jsonl --json '
    .. "--jsonl merged.jsonl --svg merged.svg")
tap.is(out, expected, "merge gives the same records")
tap.is(err .. code, "0", "without a complaint")
tap.is(read(folder .. "/merged.jsonl") .. read(folder .. "/merged.svg"),
    expected .. read(folder .. "/all.svg"), "and the same files")
tap.is(plan '"$P" merge p.jsonl', summary, "and the same summary")
out, err, code = compare("--plan q.jsonl --json in_turn.lua")
tap.like(err .. code, "%-%-json does not go with %-%-plan.*2$", "which is for merge to give")
out, err, code = plan('echo "return {base = \'textbook\'}" > own.lua; "$P" --profile ./own.lua '
    .. 'compare --plan o.jsonl in_turn.lua; rm own.lua; mkfifo own.lua; timeout 20 "$P" work '
    .. 'o.jsonl; rm own.lua')
tap.is(err, "streamlab: work: cannot read profile ./own.lua: it is no file\n",
       "a profile that has become a pipe is not opened")
out, err, code = plan('echo "-- later" >> plain.lua; "$P" work p.jsonl; "$P" merge p.jsonl')
tap.like(err .. code, "0 done now, 3 before, 1 failed, 0 left\n.*point 4 %(plain.lua%) has a "
    .. "result that is not taken: plain.lua has changed since the plan was written\n.*1$",
    "nor is a script's earlier record taken")
out, err, code = plan('rm -r p.results; "$P" work p.jsonl')
tap.like(err .. code, "point 4 %(plain.lua%): plain.lua has changed since the plan was "
    .. "written\n.*1$",
    "a script that has changed is not run")

out, err = compare "--quiet --json --seeds 1-4 seeded.lua"
tap.is(out, line_of("seeded.lua", 1, 3000, 2000, 0, 0, 0, 0)
    .. line_of("seeded.lua", 2, 5000, 3000, 0, 0, 0, 0)
    .. line_of("seeded.lua", 3, 7000, 4000, 0, 0, 0, 0)
    .. line_of("seeded.lua", 4, 9000, 5000, 0, 0, 0, 0), "--seeds runs a script for each")
tap.is(err, "", "without a word")

out = compare "--quiet --json 'seeded.lua --seed 2'"
tap.is(out, line_of("seeded.lua --seed 2", "null", 5000, 3000, 0, 0, 0, 0),
    "a word may have arguments")
shell.write(folder .. "/a b.lua", "lab.spin(1)")
out = compare "--quiet --json 'a b.lua'"
tap.is(out, line_of("a b.lua", "null", 1000, 1000, 0, 0, 0, 0), "or be a file with a blank in it")

write("dice.lua", "lab.spin(math.random(1000) / 1000)")
local rolled = objects((compare "--quiet --json dice.lua dice.lua"))
tap.is(rolled[1].gpu_us, rolled[1].sim_us, "random numbers are the same on both sides")
tap.is(rolled[2].sim_us, rolled[1].sim_us, "and in each run")

-- ---- text ------------------------------------------------------------------------------------

-- The errors are 1/3, 2/5, 3/7 and 4/9; nine tenths: 3/7 + 0.7 (4/9 - 3/7).
out, err, code = compare "--seeds 1-4 seeded.lua"
tap.like(out, "^4 scripts compared\n", "a summary tells how many there are")
tap.like(out, "  all +4 +41%.4 %% +44%.0 %% +44%.4 %%\n", "median, p90 and worst error")
tap.like(out, "furthest off\n +0%.556 +5%.00 ms +9%.00 ms  seeded%.lua %-%-seed 4\n",
    "the worst come first")
tap.like(err, "^1 of 4  seeded%.lua %-%-seed 1  0%.667\n2 of 4 ", "progress goes to stderr")
tap.ok(not out:find("spread", 1, true), "one simulated run has no spread")

out = compare "--quiet in_turn.lua beside.lua swapped.lua plain.lua"
tap.like(out, "of lanes +3 +1 %(33%.3 %%%) +3 +1 %(33%.3 %%%) +0 of 2\n", "pairs of lanes")
tap.like(out, "of operations +5 +1 %(20%.0 %%%) +5 +1 %(20%.0 %%%) +0 of 2\n",
    "and of operations")

out, err = compare "--quiet swapped.lua"
tap.like(out, "^swapped%.lua: 4%.50 ms simulated, 6%.50 ms measured .-, ratio 0%.692\n",
    "a single script is reported in full")
tap.like(out, "== part 2 of 2: .- 0%.667\n.*== part 1 of 2: .- 0%.714\n", "the worst part first")
tap.like(out, "order of starts: 1 of 3 neighbours start in the other order\n"
    .. "  first: spin in b %(operation %d+%) starts before spin in a %(operation %d+%) on sim",
    "operations that start in another order are named")
tap.like(out, "\nA  sim:%./slow%.lua: .-\nB  the simulator: ", "the two are set side by side")
tap.like(out, "the simulator explained:\n.-Critical path", "and explained")
local _, axes = out:gsub("%-%+%-+%+? busy\n", "")
tap.is(axes, 4, "each part has two charts")
out = compare "--quiet -v in_turn.lua plain.lua"
tap.like(out, "^in_turn.lua: .*\nplain.lua: .*\n2 scripts compared\n",
    "-v tells all in full, and then the summary")

-- ---- files -----------------------------------------------------------------------------------

local dump = read(folder .. "/dump/0003-swapped.lua.txt")
tap.like(dump, "^# swapped%.lua\n# index\tkind\tname\tstream\tstart_us\tend_us\t", "a dump's head")
tap.like(dump, "\n# part 1 sim makespan_us 2500%.000 runs_us 2500%.000\n"
    .. "1\tmemcpy_h2d\tMemcpy HtoD %(Pinned %-> Device%)\ta\t0%.000\t1000%.000\t0%.000\t0%.000\t"
    .. "8000000\t0\t0\n2\tkernel\tspin\tb\t0%.000\t1500%.000\t0%.000\t0%.000\t0\t1\t32\n",
    "has an operation a line")
tap.like(dump, "\n# part 1 gpu makespan_us 3500%.000 .*\n# part 2 sim .*\n# part 2 gpu ",
    "of all parts on both sides")
local svg = read(folder .. "/all.svg")
tap.like(svg, "^<svg .*<title>beside%.lua: 0%.500</title>.*</svg>\n$", "a picture of all")
tap.like(svg, ">Predicted and measured makespans of 4 scripts</text>", "has a title")
tap.like(svg, '<path class="tenth" d="M%-10 0 H10"/><text [^>]+>10 %% off</text>',
    "and a legend of its lines")
tap.like(svg, ">others %(4%)</text>", "and of its kinds")
tap.is(select(2, svg:gsub("<title>beside%.lua: 0%.500</title>", "")), 2,
    "makespans are in it, and ratios")

-- ---- what was measured before ----------------------------------------------------------------

local function measured(line)
    return sh(('cd "%s" && "$P" compare --quiet %s'):format(folder, line))
end

out, err, code = measured "--profile ./fast.lua --measured all.jsonl --json"
tap.is(out, expected, "--measured gives the same to the digit, and knows the scripts")
tap.is(err .. code, "0", "without a GPU")
os.execute(("cd '%s' && cp plain.lua 'by\xfftes.lua'"):format(folder))
compare "--quiet --jsonl bytes.jsonl 'by\xfftes.lua'"
out, err = measured "--profile ./fast.lua --measured bytes.jsonl"
tap.like(out .. err, "^by\\xfftes%.lua: .- simulated, .- measured",
    "also those whose names are no UTF-8")
out = measured "--profile ./slow.lua --measured all.jsonl --json in_turn.lua"
tap.like(out, '^{"script": "in_turn.lua", .*"gpu_us": 3000.000, .*"sim_us": 3000.000, [^\n]*\n$',
    "with another profile, of scripts that are named")
out = measured "--profile ./fast.lua --measured all.jsonl in_turn.lua"
tap.is(out, "in_turn.lua: 2.00 ms simulated, 3.00 ms measured (3.00 ms to 3.00 ms), ratio 0.667\n",
    "as text, without what needs a timeline")
write("spread.jsonl", expected:gsub('"gpu_max_us": %d+', '"gpu_max_us": 7000'))
out = measured "--profile ./fast.lua --measured spread.jsonl"
-- (7000 - least) / median: 4000 / 3000, 5000 / 2000, 500 / 6500, 5000 / 2000; of the simulated ones
-- plain.lua's is the GPU's least.
tap.like(out, "spread of GPU's runs .-\n"
    .. "  all +4 +191%.7 %% +250%.0 %% +250%.0 %% +1 %(25%.0 %%%)\n",
    "how far the GPU's own runs spread, and how many simulated ones are within")
measured "--profile ./fast.lua --measured spread.jsonl --svg spread.svg"
-- The ratio furthest from 1 is 7000 / 2000; 5 % of room on a logarithmic scale of 160, from 592.
local factor = 3.5 ^ 1.05
tap.like(read(folder .. "/spread.svg"), ('<path class="runs" d="M[%%d.]+ 672.0 V%.1f"/>'):format(
    672 - 80 * math.log(3.5, factor)), "bars say how far they lie from their median")
write("kinds.jsonl", line_of("puzzler.lua", "null", 3000, 4000, 4, 2, 0, 0):gsub(
    '"gpu_max_us": %d+', '"gpu_max_us": 4000') .. line_of("seeded.lua", 1, 3000, 2000, 0, 0, 0, 0))
shell.write(folder .. "/puzzler.lua", "lab.spin(4)")
out = measured "--profile ./fast.lua --measured kinds.jsonl"
tap.like(out, "  puzzler +1 +33%.3 %% .*"
    .. "  puzzler +1 +33%.3 %% +33%.3 %% +33%.3 %% +1 %(100%.0 %%%)\n"
    .. "  random +1 +0%.0 %% +0%.0 %% +0%.0 %% +0 %(0%.0 %%%)\n", "both by kind")

-- Copies at half to twice the rate: in_turn.lua's copy of 1 ms takes 0.5, 0.753, 1, 1.328 and 2 ms
-- in five draws (tests/repl/74-predict.t.lua has the factors), with the kernel 1.5 to 3 ms, the
-- range; plain.lua has no copy.
write("uncertain.lua", [[return {base = "./fast.lua",
    spread = {copies = {keys = {"h2d_gb_per_s"}, low = 0.5, high = 2}}}]])
write("two.jsonl", line_of("in_turn.lua", "null", 2600, 1, 0, 0, 0, 0)
    .. line_of("puzzler.lua", "null", 3000, 1, 0, 0, 0, 0))
out = measured "--profile ./uncertain.lua --spread 5 --measured two.jsonl --json --svg range.svg"
local low_us, high_us = out:match('"sim_us": 2000.000, "sim_low_us": ([%d.]+), "sim_high_us": '
    .. '([%d.]+),')
tap.near(tonumber(low_us), 1500, 0.1,
         "--spread adds the simulated range to the record: its low end")
tap.near(tonumber(high_us), 3000, 0.1, "and its high end")
tap.like(out, '"script": "puzzler.lua".*"sim_low_us": 4000.000, "sim_high_us": 4000.000',
    "what depends on nothing uncertain has a range of no width")
tap.like(read(folder .. "/range.svg"), '<path class="range" ', "the picture has the range")
write("ranges.jsonl", out)
out = measured "--profile ./uncertain.lua --spread 5 --measured two.jsonl"
tap.like(out, "\nsimulated range +scripts +median +p90 +widest +measured within\n"
    .. ".-  all +2 +37%.5 %% +67%.5 %% +75%.0 %% +1 %(50%.0 %%%)\n",
    "the summary says how wide ranges are, and in how many the measured median lies")
out = measured "--profile ./uncertain.lua --spread 5 --measured two.jsonl in_turn.lua"
tap.like(out, "^in_turn.lua: 2.00 ms %(1.50 to 3.00%) simulated, 2.60 ms measured",
         "so does a script's line")
out = measured "--profile ./fast.lua --measured ranges.jsonl --json"
tap.ok(not out:find("sim_low_us", 1, true),
       "without --spread a range of before does not hold any more")
tap.is(select(3, measured "--spread 1 --measured two.jsonl"), 2, "one draw gives no range")

out, err, code = measured "--measured all.jsonl seeded.lua"
tap.like(err .. code, "seeded%.lua: all%.jsonl does not have it\n1$", "a script that FILE lacks")
write("broken.jsonl", expected .. "{}\n")
out, err, code = measured "--measured broken.jsonl"
tap.like(err .. code, "broken%.jsonl:5: not a line of %-%-jsonl: 'script' is missing: a text of 1 "
    .. "to 65536 bytes\n1$", "a line that is none")
out, err, code = measured "--measured none.jsonl"
tap.like(err .. code, "cannot read none%.jsonl: .*1$", "a file that is not there")

-- ---- several GPUs ----------------------------------------------------------------------------

-- 1 ms on each GPU of a machine at once, also on the slow ones: each runs one kernel.
write("two.lua", [[
local second = lab.open{index = 1}
assert(lab.open{index = 0}.index == 0 and lab.device().index == 0 and lab.open{index = 1} == second)
local s = {lab.stream{device = "cuda:0"}, lab.stream{device = "cuda:1"}}
lab.profile(function()
    lab.spin(1, {stream = s[1]})
    lab.spin(1, {stream = s[2]})
end)
]])
-- Records nothing, and waits for neither GPU: 1 ms and 2 ms.
write("two_whole.lua", [[
lab.open{index = 1}
local s = lab.stream{device = "cuda:0"}
lab.spin(1)
lab.spin(2, {stream = s})
]])
write("two_named.lua", "lab.profile(function() lab.spin(1, {stream = lab.stream{device = "
    .. "'cuda:1'}}) end)")
out, err, code = compare "--quiet --json two.lua two_whole.lua two.lua"
tap.is(out, line_of("two.lua", "null", 1000, 1000, 1, 1, 1, 1)
    .. line_of("two_whole.lua", "null", 2000, 2000, 1, 1, 1, 1)
    .. line_of("two.lua", "null", 1000, 1000, 1, 1, 1, 1),
    "a script may open further GPUs by their numbers")
tap.is(err .. code, "0", "which is no error")
out, err, code = compare "--quiet two_named.lua"
tap.like(err .. code, "there is no device 1: .*1$", "a GPU that was not opened is not there")
out, err, code =
    sh((' cd %s && "$P" --devices 2 compare --against slow.lua --profile fast.lua --quiet --json '
    .. 'two_named.lua'):format(shell.quote(folder)))
tap.is(out .. err .. code, line_of("two_named.lua", "null", 1000, 1000, 0, 0, 0, 0) .. "0",
    "with --devices 2 it is")

-- ---- scripts that do not end well ------------------------------------------------------------

write("raises.lua", "lab.spin(1)\nerror('broken on purpose')")
write("syntax.lua", "lab.spin(")
write("opens.lua", "lab.open{backend = 'sim'}")
write("opens_new.lua", "lab.open{}")
write("opens_other.lua", "lab.open{index = 1, profile = 'a100'}")
write("empty.lua", "local x = 1")
write("leaves.lua", "lab.profile(function() lab.spin(3) end)\nos.exit(0)\nerror('not reached')")
write("leaves_in.lua", "lab.spin(1)\nlab.with(lab.stream(), function() os.exit() end)")
write("fails.lua", "lab.profile(function() lab.spin(3) end)\nos.exit(false)")
out, err, code = compare("--quiet --json raises.lua syntax.lua opens.lua empty.lua missing.lua "
    .. "opens_new.lua opens_other.lua fails.lua leaves.lua leaves_in.lua in_turn.lua")
tap.is(out, line_of("leaves.lua", "null", 3000, 3000, 0, 0, 0, 0)
    .. line_of("leaves_in.lua", "null", 1000, 1000, 0, 0, 0, 0)
    .. line_of("in_turn.lua", "null", 3000, 2000, 0, 0, 0, 0),
    "os.exit ends a script and not the program; others go on behind one that fails")
tap.is(code, 1, "a script that failed is the status")
tap.like(err, "compare: raises%.lua: on the simulator: raises%.lua:2: broken on purpose\n",
    "raises")
tap.like(err, "compare: syntax%.lua: on the simulator: syntax%.lua:1: unexpected symbol",
    "syntax")
for _, name in ipairs { "opens", "opens_new", "opens_other" } do
    tap.like(err, ("compare: %s%%.lua: .* a script that calls lab%%.open cannot be, but for "
        .. "lab%%.open{ index = N }\n")
        :format(name), "lab.open of another machine: " .. name)
end
tap.like(err, "compare: empty%.lua: it enqueues nothing that could be compared\n", "no work")
tap.like(err, "compare: missing%.lua: .*cannot open missing%.lua",
    "no such file")
tap.like(err, "compare: fails%.lua: .*it ended itself with os%.exit%(1%)\n",
    "a status that is not 0")
out = compare "raises.lua syntax.lua"
tap.is(out, "0 scripts compared, 2 failed\n", "nothing but failures")

-- ---- the command line ------------------------------------------------------------------------

local function refused(line, sentence, name)
    local printed, complaint, status = measured(line)
    tap.is(status .. printed, "2", name .. " is wrong usage")
    tap.like(complaint, sentence, name .. " is reported")
end

refused("", "a script is needed", "no script")
refused("in_turn.lua", "CUDA.*%-%-against PROFILE takes a simulated one", "no GPU")
refused("--against nope in_turn.lua", 'there is no profile "nope"', "a profile that is not there")
refused("--against sim: in_turn.lua", "%-%-against needs a profile, as sim:a100, got 'sim:'",
    "an empty profile")
refused("--seeds 5-2 seeded.lua", "%-%-seeds needs two numbers as 1%-200", "seeds backwards")
refused("--seeds 5 seeded.lua", "%-%-seeds needs two numbers", "one seed")
refused("--runs 0 in_turn.lua", "%-%-runs needs a whole number from 1 to 1000", "no runs")
refused("--svg x.png in_turn.lua", "%-%-svg needs a file that ends in %.svg", "another picture")
refused("--measured all.jsonl --against a100", "%-%-against goes with runs, not",
    "two in the GPU's place")
refused("--measured all.jsonl --dump dump", "%-%-dump goes with runs", "a dump without runs")
out, err, code = compare "--dump /dev/null/x in_turn.lua"
tap.like(err .. code, "cannot make the folder /dev/null/x: .*1$", "a folder that cannot be made")
out, err, code = sh '"$P" compare --help'
tap.like(out, "^usage: streamlab compare ", "--help")
tap.is(err .. code, "0", "is no error")

-- ---- runs that differ ------------------------------------------------------------------------

-- As the program has it, of files that call nothing of the program.
function import(path)
    return dofile(path)
end

local matches = dofile "repl/compare/matches.lua"

-- Kernels {stream, from, to}, by issue, of a run of 100 us.
local function timeline(...)
    local spans = {}
    for i, kernel in ipairs { ... } do
        spans[i] = { stream_id = kernel[1], kind = "kernel", start_us = kernel[2],
                     end_us = kernel[3] }
    end
    -- A stream has one kernel, so lanes overlap as these do.
    local function overlap_us(_, a, b)
        local from, to = 0, math.huge
        for _, span in ipairs(spans) do
            if span.stream_id == a.stream or span.stream_id == b.stream then
                from, to = math.max(from, span.start_us), math.min(to, span.end_us)
            end
        end
        return math.max(0, to - from)
    end
    return { makespan_us = 100, spans = function() return spans end, overlap_us = overlap_us }
end

-- Stream 1 is busy from 0 to 60; stream 2 from `b` to 100, stream 3 to `c`.
local function run(b, c)
    return timeline({ 1, 0, 60 }, { 2, b, 100 }, { 3, 0, c })
end

local function counts_are(counts, pairs, same, steady, steady_same, name)
    tap.is(("%d %d %d %d"):format(counts.pairs, counts.same, counts.steady, counts.steady_same),
        ("%d %d %d %d"):format(pairs, same, steady, steady_same), name)
end

-- 1 and 3 overlap everywhere. 1 and 2 overlap in two runs for 20 %, in one for 0.5 %; 2 and 3
-- never.
local varying = { run(40, 30), run(59.5, 30), run(40, 30) }
local result = matches.compare(run(40, 30), varying)
counts_are(result.lanes, 2, 2, 1, 1, "a pair of lanes that overlaps in some runs is not steady")
counts_are(result.operations, 2, 2, 1, 1, "nor one of operations; the median says what it does")
result = matches.compare(run(60, 30), varying)
counts_are(result.lanes, 2, 1, 1, 1, "on the simulator apart: not as the median")
result = matches.compare(run(60, 0), { run(40, 30), run(40, 30) })
counts_are(result.operations, 2, 0, 2, 0, "two pairs that are steady, and neither the same")
-- The median is 0.5 %, which is none; of the simulator's 20 % it counts.
varying = { run(59.5, 0), run(59.5, 0), run(40, 0) }
counts_are(matches.compare(run(60, 0), varying).lanes, 0, 0, 0, 0,
    "a pair that overlaps in one run of three does not count")
counts_are(matches.compare(run(40, 0), varying).lanes, 1, 0, 0, 0,
    "unless it does on the simulator")
-- 4 % in the simulator and in the median: too little to count, though one run has 50 %.
counts_are(matches.compare(run(56, 0), { run(56, 0), run(10, 0), run(56, 0) }).lanes, 0, 0, 0, 0,
    "a median of less than 5 % does not count")
result = matches.compare(run(40, 30), { run(40, 30), timeline({ 1, 0, 60 }, { 2, 40, 100 }) })
counts_are(result.operations, 1, 1, 1, 1, "an operation that a run lacks is in no pair")
tap.is(result.matched[2].sim_alone .. " " .. result.matched[1].sim_alone, "1 0",
    "and that run is reported")

-- ---- percentiles -----------------------------------------------------------------------------

local statistics = dofile "repl/run/statistics.lua"
tap.is(statistics.percentile({ 4, 1, 3, 2 }, 0.5), 2.5, "the median of an even number")
tap.is(statistics.percentile({ 3, 1, 2 }, 0.5), 2, "of an odd one")
tap.is(statistics.percentile({ 10, 20, 30, 40, 50 }, 0.9), 46, "nine tenths")
tap.is(statistics.percentile({ 7 }, 0.9), 7, "of one value")
tap.is(statistics.median_index { 5, 9, 1, 7 }, 1, "the median run of four is the lower of two")
tap.is(statistics.median_index { 5, 9, 1 }, 1, "of three it is the middle one")

-- ---- without a recorder -------------------------------------------------------------------------

-- A launch takes the host 100 us, and then the kernel 1 ms: the recording has the kernel alone.
profile("launching.lua", figures { max_grids = 128, launch_us = 100 })
write("launched.lua", [[
local tl, more = lab.profile(function(ms) lab.spin(ms) return "more" end, { spread = 2 }, 1)
assert(#tl:spans() == 1 and tl.makespan_us == 1000 and more == "more")
]])
write("records.lua", "local tl = lab.record() lab.spin(1) tl:stop()")

local function measured_line(script, recorded)
    return ('{"script": "%s", "gpu_us": 2200, "gpu_min_us": 2000, "gpu_max_us": 2500%s}\n'):format(
        script, recorded)
end

local function simulated(text, script)
    write("one.jsonl", measured_line(script, text))
    local printed, said, status = sh(('cd "%s" && "$P" compare --quiet --json --spread 2 '
        .. "--profile ./launching.lua --measured one.jsonl"):format(folder))
    local record = printed ~= "" and json.read(printed) or {}
    return table.concat({ tostring(record.sim_us), tostring(record.sim_low_us),
        tostring(record.recorded), status }, " "), said
end

tap.is(simulated("", "launched.lua"), "1000.0 1000.0 nil 0",
    "what earlier versions measured is a recording's time")
tap.is(simulated(', "recorded": true', "launched.lua"), "1000.0 1000.0 true 0",
    "so is what says it")
tap.is(simulated(', "recorded": false', "launched.lua"), "1100.0 1100.0 false 0",
    "a time without a recorder has its launches; the script gets a recording and f's results")
tap.like(select(2, simulated(', "recorded": false', "records.lua")),
    "lab.record.-cannot be timed without recording it: use lab.profile",
    "what lab.record records is not timed")
tap.like(select(2, simulated(', "recorded": false', "plain.lua")),
    "it records nothing with lab.profile", "nor what records nothing")
tap.like(select(2, simulated(', "recorded": 1', "launched.lua")),
    "one.jsonl:1: .-recorded.-true or false", "recorded is true or false")

-- ---- files --------------------------------------------------------------------------------------

write("writes.lua", "lab.profile(lab.spin, 1)\nlocal f = io.open('" .. folder
    .. "/written', 'a') f:write('x') f:close()")
sh(("cd %s && \"$P\" compare --against slow.lua --profile fast.lua --spread 3 "
    .. "writes.lua"):format(folder))
tap.is(read(folder .. "/written"), "x",
       "of the runs on both sides and of the draws the first one alone writes files")

shell.remove(folder)
tap.done()
