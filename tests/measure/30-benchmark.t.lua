-- 30-benchmark.t.lua - streamlab compare --benchmark: five measurements of three programs, whose
-- scores are worked out by hand; families of programs; and what adds measurements to the benchmark.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local measured = require "measure.measured"
local shell = require "shell"
local read, quote = shell.read, shell.quote

local benchmark_files = measured.import "scripts/measure/benchmark/benchmark_files.lua"
local families = measured.import "scripts/measure/benchmark/families.lua"
local folder = shell.folder()

local function write(name, text)
    return shell.write(folder .. "/" .. name, text)
end

-- ---- the generator and the measurements ------------------------------------------------------

-- Program N takes N ms on the host's clock with the profile textbook. 8.3 us of it are the
-- launch: 3.8 its call, 2.6 from there to the GPU, 1.9 back. What is timed runs twice, so that
-- the call is warm.
local generator <const> = [[
local ms = tonumber(arg[2])     -- arg[1] is --seed
lab.profile(function() lab.spin(ms - 0.0083) end)
]]
os.execute(("mkdir -p %s/scripts/experiments %s/scripts/lib"):format(quote(folder), quote(folder)))
write("scripts/experiments/random.lua", generator)
write("scripts/lib/random_program.lua", "return 1\n")

-- The digest of a family's generator in that folder.
local function digest(family)
    return benchmark_files.digest(families[family or "mixed"],
        function(path) return read(folder .. "/" .. path) end)
end

local function measurement(seed, day, machine, us, min_us, max_us, pageable, used)
    return ('{"family": "mixed", "seed": %d, "day": "2026-01-%s", "machine": "%s", '
        .. '"gpu": "a GPU", "driver": "1", "us": %.3f, "min_us": %.3f, "max_us": %.3f, '
        .. '"runs": 5, "pageable": %s, "recorded": false, "used": "%s"}\n')
        :format(seed, day, machine, us, min_us, max_us, pageable, used)
end

local head = ('{"benchmark": 3, "mixed": "%s"}\n'):format(digest())
local lines = {
    measurement(1, "01", "a", 1000, 900, 1100, false, "adjusting"),
    measurement(2, "01", "a", 2500, 2500, 2500, false, "adjusting"),
    measurement(3, "01", "a", 2000, 1000, 4000, true, "adjusting"),
    measurement(1, "02", "b", 1250, 1000, 1500, false, "held out"),
    measurement(3, "02", "b", 4000, 3000, 5000, true, "held out"),
}
write("all.jsonl", head .. table.concat(lines))

local function run(line)
    return shell.sh(('cd %s && LC_ALL=C "$P" compare --benchmark %s'):format(quote(folder), line))
end

-- ---- a profile's scores ----------------------------------------------------------------------

-- Predicted are 1000, 2000 and 3000. The errors: 0, 2/10, 5/10 on the first day, 2/10, 1/4 on the
-- second. Nine tenths of all: 0.25 + 0.6 (0.5 - 0.25).
local out, err, code = run "all.jsonl --profile textbook"
tap.is(code, 0, "a profile is scored")
tap.like(out, "^3 programs, 5 measurements of all%.jsonl\npredicted by the profile textbook\n\n"
    .. "error +number +median +p90 +worst +ratio\n"
    .. "  pinned memory only +3 +20%.0 %% +20%.0 %% +20%.0 %% +0%.800\n"
    .. "  with pageable copies +2 +37%.5 %% +47%.5 %% +50%.0 %% +1%.125\n"
    .. "  all +5 +20%.0 %% +40%.0 %% +50%.0 %% +0%.800\n", "errors by memory, and of all")
tap.like(out, "\nerror by occasion [^\n]+\n  2026%-01%-01 a\n"
    .. "    pinned memory only +2 +10%.0 %% +18%.0 %% +20%.0 %% +0%.900\n"
    .. "    with pageable copies +1 +50%.0 %% +50%.0 %% +50%.0 %% +1%.500\n"
    .. "    all +3 +20%.0 %% +44%.0 %% +50%.0 %% +1%.000\n  2026%-01%-02 b\n", "and by occasion")
-- The spreads: 0.2, 0, 1.5, 0.4, 0.5.
tap.like(out, "\nspread of the GPU's own runs [^\n]+\n"
    .. "  pinned memory only +3 +20%.0 %% +36%.0 %% +40%.0 %%\n"
    .. "  with pageable copies +2 +100%.0 %% +140%.0 %% +150%.0 %%\n"
    .. "  all +5 +40%.0 %% +110%.0 %% +150%.0 %%\n", "how far the GPU's runs spread")
-- Program 1 by the other day: 1250/1000, 1000/1250; program 3: 4000/2000, 2000/4000.
tap.like(out, "\nerror of another occasion's time [^\n]+\n"
    .. "  pinned memory only +2 +22%.5 %% +24%.5 %% +25%.0 %% +1%.025\n"
    .. "  with pageable copies +2 +75%.0 %% +95%.0 %% +100%.0 %% +1%.250\n"
    .. "  all +4 +37%.5 %% +85%.0 %% +100%.0 %% +1%.025\n", "how well one day predicts another")
tap.like(out, "\nanother occasion's runs as a range [^\n]+\n"
    .. "  pinned memory only +2 +1 %(50%.0 %%%) +30%.0 %%\n"
    .. "  with pageable copies +2 +1 %(50%.0 %%%) +100%.0 %%\n"
    .. "  all +4 +2 %(50%.0 %%%) +45%.0 %%\n", "its runs as a range")
tap.like(out, "furthest off\n +1%.500 +3%.00 ms +2%.00 ms  mixed 3 with pageable copies, "
    .. "2026%-01%-01 a\n +0%.750 ", "the worst come first")
tap.ok(not out:find("stated range", 1, true), "without --spread a profile states no range")

out = run "all.jsonl --profile textbook --host h200"
tap.like(out, "\npredicted by the profile textbook, host h200\n", "a host is another's, and named")

-- ---- restrictions ----------------------------------------------------------------------------

out = run "all.jsonl --seeds 2-3"
tap.like(out, "^2 programs, 3 measurements .*\n  all +3 +25%.0 %%", "--seeds")
out = run "all.jsonl --days 2026-01-02"
tap.like(out, "^2 programs, 2 measurements .*\n  all +2 +22%.5 %%", "--days")
tap.like(out, "\nerror of another occasion's time [^\n]+\n  pinned memory only +1 +20%.0 %%",
    "the other day is still that of the file")
out = run "all.jsonl --days 2026-01-03,'2026-01-01 a'"
tap.like(out, "^3 programs, 3 measurements ", "a day of one machine")
out = run "all.jsonl --used held-out"
tap.like(out, "^2 programs, 2 measurements .*\n  all +2 +22%.5 %%", "--used held-out")
out = run "all.jsonl --used adjusting --seeds 2-2"
tap.like(out, "\nno program was measured on two occasions\n", "a program of one day")
out, err, code = run "all.jsonl --days 2027-01-01"
tap.like(code .. err, "^1.*no measurement is left by %-%-families, %-%-seeds, %-%-days and "
    .. "%-%-used\n", "nothing left")
tap.is(out, "", "prints no table")

-- ---- the predictions of others ---------------------------------------------------------------

write("others.jsonl", '{"seed": 1, "us": 1000, "low_us": 950, "high_us": 1.05e3}\n'
    .. '{ "us":3000,"seed":3 , "low_us":2000,"high_us":4000.0,"name":"\\u00e4 \\"x\\"","n":null '
    .. '}\r\n{"seed": 99, "us": 5}\n')
out, err, code = run "all.jsonl --predictions others.jsonl"
tap.is(err .. code, "0", "predictions of others are scored")
tap.like(out, "^3 programs, 5 measurements of all%.jsonl\npredicted by others%.jsonl\n"
    .. "without a prediction: 1 programs, mixed 2\n"
    .. "predictions of other programs, which are not used: 1\n", "what is missing is counted")
tap.like(out, "\n  all +4 +22%.5 %% +42%.5 %% +50%.0 %% +0%.900\n", "errors of the others")
-- 1000 is inside, 1250 is not, of 0.1; 2000 and 4000 are, of 2/3.
tap.like(out, "\nstated range +number +measured inside +width\n"
    .. "  pinned memory only +2 +1 %(50%.0 %%%) +10%.0 %%\n"
    .. "  with pageable copies +2 +2 %(100%.0 %%%) +66%.7 %%\n"
    .. "  all +4 +3 %(75%.0 %%%) +38%.3 %%\n", "and of their ranges")

out = run "all.jsonl --json --predictions others.jsonl"
local rows = {}
for line in out:gmatch("[^\n]+") do
    rows[#rows + 1] = json.read(line)
end
tap.is(rows[1].measurements .. " " .. rows[1].missing[1] .. " " .. rows[1].unused, "5 mixed 2 1",
    "as JSON a line that counts")
local function row(table_name, programs, occasion, family)
    for _, object in ipairs(rows) do
        if object.table == table_name and object.programs == programs
            and object.occasion == (occasion or json.null)
            and object.family == (family or json.null) then
            return object
        end
    end
end
tap.is(row("error", "all").p90, 0.425, "errors")
tap.is(row("error", "pageable", "2026-01-02 b").ratio, 0.75, "by occasion")
tap.is(row("error", "all", nil, "mixed").p90, 0.425, "by family")
tap.is(row("range", "pageable").width, 0.666667, "ranges")
tap.is(row("spread", "all").worst, 1.5, "spreads")
tap.is(row("other occasion", "pinned").number, 2, "and other days")

out, err, code = run "all.jsonl --quiet --profile textbook --write-predictions own.jsonl"
tap.is(read(folder .. "/own.jsonl"), '{"family": "mixed", "seed": 1, "us": 1000.000}\n'
    .. '{"family": "mixed", "seed": 2, "us": 2000.000}\n'
    .. '{"family": "mixed", "seed": 3, "us": 3000.000}\n',
    "a profile's predictions are written in this form")
local again = run "all.jsonl --predictions own.jsonl"
tap.is(again:gsub("^(.-)own.jsonl", "%1the profile textbook"), out,
       "and read again, with the same scores")

-- A spin's time is given by the script, so that each draw has the same.
out = run "all.jsonl --quiet --profile textbook --spread 3 --write-predictions own.jsonl"
tap.like(out, "\nstated range [^\n]+\n  pinned memory only +3 +1 %(33%.3 %%%) +0%.0 %%\n",
    "--spread gives a profile's predictions a range")
tap.like(read(folder .. "/own.jsonl"),
    '^{"family": "mixed", "seed": 1, "us": 1000.000, "low_us": 1000.000, "high_us": 1000.000}\n',
    "which is written")

write("none.jsonl", '{"seed": 99, "us": 5}\n')
out, err, code = run "all.jsonl --predictions none.jsonl"
tap.like(out, "\nwithout a prediction: 3 programs, mixed 1, mixed 2, mixed 3\n"
    .. ".*\nspread of the GPU's own", "no prediction at all")
tap.is(err .. code, "0", "is no error")

-- ---- wrong files -----------------------------------------------------------------------------

local function wrong_prediction(text, sentence, name)
    write("wrong.jsonl", text)
    local printed, complaint, status = run "all.jsonl --predictions wrong.jsonl"
    tap.is(status .. printed, "1", name .. " is refused")
    tap.like(complaint, "compare: wrong%.jsonl: " .. sentence .. "\n$", name .. " is reported")
end

local fine <const> = '{"seed": 1, "us": 1}\n'
wrong_prediction(fine .. "seed 2, us 3\n", "line 2: it is no JSON object of plain values", "text")
wrong_prediction('{"seed": [1], "us": 1}', "line 1: it is no JSON object of plain values", "a list")
wrong_prediction('{"seed": 1, "us": 1, "us": 2}', "line 1: it is no JSON .*", "a name twice")
wrong_prediction('{"seed": 1, "us": 01}', "line 1: it is no JSON .*", "a number that is none")
wrong_prediction('{"seed": 1, "us": 1} {', "line 1: it is no JSON .*", "two objects in a line")
wrong_prediction('{"seed": 1, "us": 1, "name": "' .. ("x"):rep(5000) .. '"}',
    "line 1: it is no JSON .*", "a very long line")
wrong_prediction(fine .. fine, "line 2: the same is in line 1", "a seed twice")
wrong_prediction('{"us": 1}', "line 1: 'seed' is missing: a whole number from 0 on", "no seed")
wrong_prediction('{"seed": -1, "us": 1}', "line 1: 'seed' must be .*", "a seed below 0")
wrong_prediction('{"seed": 1.5, "us": 1}', "line 1: 'seed' must be .*", "half a seed")
wrong_prediction('{"seed": 1}', "line 1: 'us' is missing: a time above 0 in us", "no time")
wrong_prediction('{"seed": 1, "us": 0}', "line 1: 'us' must be .*", "a time of 0")
wrong_prediction('{"seed": 1, "us": 1e999}', "line 1: 'us' must be .*", "an infinite time")
wrong_prediction('{"seed": 1, "us": "2"}', "line 1: 'us' must be .*", "a time as text")
wrong_prediction(fine .. '{"family": "mixed", "seed": 1, "us": 1}',
    "line 2: the same is in line 1", "a seed twice, once with its family")
wrong_prediction('{"family": "many", "seed": 1, "us": 1}',
    "line 1: 'family' must be a family of programs, .*", "another family")
wrong_prediction('{"seed": 1, "us": 2, "low_us": 1}',
                 "line 1: 'high_us' is missing: .*", "half a range")
wrong_prediction('{"seed": 1, "us": 2, "low_us": 4, "high_us": 3}',
    "line 1: low_us must not be above high_us", "a range upside down")

local function wrong_file(text, sentence, name)
    write("wrong.jsonl", text)
    local printed, complaint, status = run "wrong.jsonl"
    tap.is(status .. printed, "1", name .. " is refused")
    tap.like(complaint, "compare: wrong%.jsonl: " .. sentence .. "\n$", name .. " is reported")
end

wrong_file("", "it is empty", "an empty file")
wrong_file(lines[1], 'line 1: "benchmark" must be 3', "one without a head")
wrong_file(head:gsub("3", "1", 1) .. lines[1], 'line 1: "benchmark" must be 3', "another version")
wrong_file(head:gsub("mixed", "many") .. lines[1], 'line 1: there is no family "many"',
    "a digest of another family")
wrong_file(head .. lines[1]:gsub("mixed", "graphs"),
    'line 2: the first line has no digest of the family "graphs"', "a family without a digest")
wrong_file(head .. lines[1] .. lines[1], "line 3: the same is in line 2", "a measurement twice")
wrong_file(head .. lines[1]:gsub("2026%-01", "January"),
           "line 2: 'day' must be a day as .*", "a day")
wrong_file(head .. lines[1]:gsub('"a"', '"a\\n"'), "line 2: 'machine' must be a text of .*",
    "a control character")
wrong_file(head .. lines[1]:gsub("1100", "950"), "line 2: min_us, us and max_us must not decrease",
    "a median above the longest run")
wrong_file(head .. lines[1]:gsub("adjusting", "x"),
    "line 2: 'used' must be \"adjusting\" or \"held out\", got \"x\"",
    "another use")
wrong_file(head .. lines[1]:gsub("false", "0", 1),
           "line 2: 'pageable' must be true or false, got 0", "a 0")
wrong_file(head .. lines[1]:gsub(', "recorded": false', ""), "line 2: 'recorded' is missing: .*",
           "one that does not say whether it was recorded")

out, err, code = run "nothing.jsonl"
tap.like(code .. err, "^1.*cannot read nothing%.jsonl: ", "a file that is not there")
out, err, code = run ""
tap.like(code .. err, "^1.*there is no docs/results/benchmark%.jsonl here: run this in the "
    .. "repository's root, or name the file", "no file named, and none here")
out, err, code = run(". --predictions others.jsonl")
tap.like(code .. err, "^1.*cannot read %.: ", "a folder")

-- ---- the generator ---------------------------------------------------------------------------

write("scripts/experiments/random.lua", "-- Another comment.\n\n" .. generator)
out, err, code = run "all.jsonl --quiet"
tap.is(err .. code, "0", "comments and blanks do not make another generator")
write("scripts/lib/random_program.lua", "return 2\n")
out, err, code = run "all.jsonl"
tap.like(code .. err, "^1.*random%.lua is not the one that drew", "another shared file does")
write("scripts/lib/random_program.lua", "return 1\n")
write("scripts/experiments/random.lua", generator:gsub("ms %- ", "2 * ms - "))
out, err, code = run "all.jsonl"
tap.like(code .. err, "^1.*random%.lua is not the one that drew the programs that were measured: "
    .. "its digest is %x+, the file's %x+\n", "other programs are refused")
out, err, code = run "all.jsonl --predictions others.jsonl"
tap.is(err .. code, "0", "unless the predictions are there")
write("scripts/experiments/random.lua", "error 'broken'")
write("broken.jsonl", ('{"benchmark": 3, "mixed": "%s"}\n'):format(digest()) .. lines[1])
out, err, code = run "broken.jsonl"
tap.like(code .. err, "^1.*random%.lua %-%-seed 1: .*broken", "a program that fails is an error")
tap.like(out, "\nwithout a prediction: 1 programs, mixed 1\n", "and counted")

write("scripts/experiments/random.lua", generator)

-- ---- families --------------------------------------------------------------------------------

-- Graph N takes 2 N ms.
write("scripts/experiments/random_graphs.lua", generator:gsub("ms %- ", "2 * ms - "))
write("scripts/lib/random_steps.lua", "return 1\n")
write("scripts/lib/random_work.lua", "return 1\n")
local function graph(line) return (line:gsub("mixed", "graphs")) end
write("families.jsonl", head:gsub("}", (', "graphs": "%s"}'):format(digest "graphs"))
    .. lines[1] .. lines[2] .. graph(lines[2]) .. graph(lines[5]))
-- Predicted are 1000 of 1000, 2000 of 2500, 4000 of 2500, 6000 of 4000.
out, err, code = run "families.jsonl --quiet --profile textbook --write-predictions own.jsonl"
tap.is(err .. code, "0", "programs of two families are scored")
tap.like(out, "^4 programs, 4 measurements .*\nerror by family [^\n]+\n  graphs\n"
    .. "    pinned memory only +1 +60%.0 %%[^\n]+\n    with pageable copies +1 +50%.0 %%[^\n]+\n"
    .. "    all +2 +55%.0 %%[^\n]+\n  mixed\n    pinned memory only +2 +10%.0 %%[^\n]+\n"
    .. "    all +2 +10%.0 %%", "each by its own generator, and has a score of its own")
tap.like(out, "\nno program was measured on two occasions\n", "a seed of another family is another")
tap.like(read(folder .. "/own.jsonl"), '\n{"family": "graphs", "seed": 2, "us": 4000.000}\n',
    "predictions name the family")
tap.is((run "families.jsonl --predictions own.jsonl"):gsub("^(.-)own.jsonl",
    "%1the profile textbook"), out, "and are read again, with the same scores")
out = run "families.jsonl --families graphs"
tap.like(out, "^2 programs, 2 measurements ", "--families")
write("scripts/lib/random_steps.lua", "return 2\n")
out, err, code = run "families.jsonl"
tap.like(code .. err, "^1.*random_graphs%.lua is not the one that drew", "another shared file")
out, err, code = run "families.jsonl --families mixed"
tap.is(err:gsub("compare: [^\n]*simulated\n", "") .. code, "0", "does not matter to other families")

-- ---- the command line ------------------------------------------------------------------------

local function refused(line, sentence, name)
    local printed, complaint, status = run(line)
    tap.is(status .. printed, "2", name .. " is wrong usage")
    tap.like(complaint, sentence, name .. " is reported")
end

refused("all.jsonl more.jsonl", "%-%-benchmark takes one file, got 'more%.jsonl' as well",
        "two files")
refused("--runs 3", "%-%-runs goes with scripts, not with %-%-benchmark", "a number of runs")
refused("-v", "%-%-verbose goes with scripts, not with %-%-benchmark", "-v")
refused("--predictions f --profile h200", "%-%-profile goes with a profile's predictions, not",
    "a profile and predictions")
refused("--predictions f --host h200", "%-%-host goes with a profile's predictions, not",
    "a host and predictions")
refused("--profile textbook --host nope all.jsonl", 'nope', "a host that is not there")
refused("--predictions f --spread 3", "%-%-spread goes with a profile's predictions, not",
    "a spread of predictions")
refused("--used twice", "%-%-used needs held%-out or adjusting, got 'twice'", "another use")
refused("--days ,", "%-%-days needs days as 2026%-11%-22", "no day")
refused("--profile nope all.jsonl", 'there is no profile "nope"', "a profile that is not there")
refused("--families ,", "%-%-families needs families of programs, with commas", "no family")
refused("--families mixed,many families.jsonl",
    "there is no family 'many': mixed, captured, graphs, ", "another family")
out, err, code = shell.sh '"$P" compare --predictions x y.lua'
tap.like(code .. err, "^2.*%-%-predictions goes with %-%-benchmark", "predictions of scripts")

-- ---- adding measurements ---------------------------------------------------------------------

local function add(line)
    return shell.sh(('"$P" tests/bench/fidelity/add.lua --file %s %s'):format(
        quote(folder .. "/added.jsonl"), line))
end

local function record(script, seed, us, more)
    return ('{"script": "%s", "seed": %s, "gpu_us": %d.5, "gpu_min_us": %d.000, "gpu_max_us": '
        .. '%d.000, "sim_us": 1.000, "sim_low_us": '
        .. '0.500%s}\n'):format(script, seed, us, us - 1, us + 1, more or "")
end

local random <const> = "scripts/experiments/random.lua"
write("records.jsonl", record(random, 401, 70, ', "lane_pairs": 0')
    .. record("scripts/puzzler.lua", "null", 80) .. record(random, 403, 90)
    .. record("/x/scripts/experiments/random_calls.lua", 5, 30)
    .. record("scripts/experiments/random_gpus.lua --apart", 6, 40))
local described <const> = quote(folder .. "/records.jsonl")
    .. " --machine e --gpu 'NVIDIA H200' --driver 1.2 --used held-out --day "
out, err, code = add(described .. "2026-01-03")
tap.is(err .. code, "0", "records of compare are added")
local text = read(folder .. "/added.jsonl")
local added = benchmark_files.measurements(text)
tap.is(#added.list, 4, "those of random programs")
tap.is(added.list[3].family .. ", " .. added.list[4].family, "calls, apart", "with their family")
local m = added.list[2]
tap.is(m.recorded, false, "timed and not recorded, as measure.lua does")
tap.is(added.list[1].recorded, true, "or recorded, as compare does, which counts what overlaps")
tap.is(table.concat({ m.seed, m.day, m.machine, m.gpu, m.driver, m.us, m.min_us, m.max_us, m.runs,
    m.used }, " "), "403 2026-01-03 e NVIDIA H200 1.2 90.5 89.0 91.0 5 held out", "with all fields")
for _, name in ipairs { "mixed", "calls", "apart" } do
    tap.is(added.digests[name], benchmark_files.digest(families[name], read),
        "and the generator's digest of " .. name)
end

local kept = benchmark_files.measurements(read "docs/results/benchmark.jsonl" or head)
for _, one in ipairs(kept.list) do
    for _, other in ipairs(added.list) do
        if one.seed == other.seed and one.family == other.family then
            tap.is(other.pageable, one.pageable, "whether its copies are pageable is found out")
        end
    end
end

out, err, code = add(described .. "2026-01-03")
tap.like(code .. err, "^1add%.lua: .* would be wrong: line 6: the same is in line 2\n$",
    "the same day twice")
out, err, code = add(described .. "today")
tap.like(code .. err, '^1add%.lua: .* would be wrong: seed %d+: \'day\' must be a day as', "no day")
tap.is(read(folder .. "/added.jsonl"), text, "leave the file as it was")
out, err, code = add("--family mixed --seeds 402-500 --used adjusting")
tap.is(err .. code, "0", "what seeds were used for is corrected")
added = benchmark_files.measurements(read(folder .. "/added.jsonl"))
tap.is(added.list[1].used .. ", " .. added.list[2].used, "held out, adjusting", "of these alone")
out, err, code = add("--family mixed --seeds 1-5 --used adjusting")
tap.like(code .. err, "^1add%.lua: there is no measurement of a random program among these\n$",
         "of none")
for _, line in ipairs { "", "--seeds 1-2", "--seeds 1-2 --used held-out",
    "--family many --seeds 1-2 --used held-out", "--used twice --seeds 1-2", "a b --used held-out",
    "a --seeds 1-2 --used held-out", "--seeds 5 --used held-out", "--what 1" } do
    out, err, code = add(line)
    tap.like(code .. err, "^2add%.lua: usage: ", "wrong usage: " .. line)
end

-- ---- measuring -------------------------------------------------------------------------------

local function measure(line)
    return shell.sh('LC_ALL=C "$P" --backend sim tests/bench/fidelity/measure.lua ' .. line)
end

for _, family in ipairs(families.list) do
    out, err, code = measure(family.name .. " 5-6 --runs 2")
    tap.is(code, 0, family.name .. " is measured")
    tap.like(out, ('^{"script": "%s", "seed": 5, "gpu_us": [%%d.]+, "gpu_min_us": [%%d.]+, '
        .. '"gpu_max_us": [%%d.]+}\n{[^\n]+"seed": 6, [^\n]+}\n$'):format(
        (family.script .. family.arguments):gsub("%p", "%%%0")), "a line a program")
    tap.like(err, "^" .. family.name .. ": 2 programs in %d+ s, 0 failed\n$", "and counted")
end
-- What a simulated GPU takes is what is predicted for it.
out = measure "calls 7-7 --runs 3"
local one_line = lines[1]:gsub('"mixed", "seed": 1', '"calls", "seed": 7')
write("one.jsonl", ('{"benchmark": 3, "calls": "%s"}\n'):format(
    benchmark_files.digest(families.calls, read)) .. one_line)
shell.sh(('"$P" compare --benchmark --quiet --write-predictions %s %s'):format(
    quote(folder .. "/seven.jsonl"), quote(folder .. "/one.jsonl")))
tap.is(out:match '"gpu_us": ([%d.]+)', read(folder .. "/seven.jsonl"):match '"us": ([%d.]+)',
    "a program that is measured on a simulated GPU takes what is predicted")
tap.is(measure "calls 1-9 --for 0", "", "--for 0 measures nothing")
for _, line in ipairs { "", "calls", "many 1-2", "calls 5", "calls 1-2 --runs",
    "calls 1-2 --runs 0", "calls 1-2 --what 1" } do
    out, err, code = measure(line)
    tap.like(code .. err, "^2measure%.lua: usage: ", "wrong usage: " .. line)
end

-- ---- what is kept ----------------------------------------------------------------------------

for _, family in ipairs(families.list) do
    local one = kept.digests[family.name]
    tap.is(one, one and benchmark_files.digest(family, read), ("docs/results/benchmark.jsonl is of "
        .. "this generator of %s: if that draws the same as before, write its digest there, else "
        .. "raise the version"):format(family.name))
end

shell.remove(folder)
tap.done()
