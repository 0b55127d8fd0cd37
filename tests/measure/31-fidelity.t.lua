-- 31-fidelity.t.lua - tests/bench/fidelity: what measures how far the simulator is from a GPU, with
-- a simulated one in the GPU's place; and that docs/results/fidelity.jsonl and the page made of it
-- are what the simulator says today.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh, read, quote = shell.sh, shell.read, shell.quote

local folder = shell.folder()

local function lines_of(text)
    local list = {}
    for line in (text or ""):gmatch("[^\n]+\n") do
        list[#list + 1] = line
    end
    return list
end

-- ---- run.lua -----------------------------------------------------------------------------------

local function run(rest)
    return sh(('"$P" tests/bench/fidelity/run.lua %s'):format(rest))
end

-- Besides its speeds, this one differs from textbook in a size from which pageable copies wait.
local other <const> = folder .. "/other.lua"
local file <close> = assert(io.open(other, "w"))
file:write 'return { base = "a100", h2d_async_bytes = 65536 }'
file:flush()
local out, err, code = run(quote(folder) .. " --against " .. quote(other)
    .. " --profile textbook --seeds 9-10")
tap.is(code, 0, "all scripts are compared")
local results = lines_of(read(folder .. "/fidelity.jsonl"))
local by_script = {}
for _, line in ipairs(results) do
    local record = json.read(line)
    by_script[record.script] = record
end
tap.ok(by_script["scripts/experiments/answer.lua"], "the experiments")
for _, variant in ipairs { "nonblocking", "blocking", "pinned" } do
    tap.ok(by_script["scripts/puzzler.lua --variant " .. variant], "the puzzle, " .. variant)
end
tap.is(by_script["scripts/experiments/random.lua"].seed, 10, "random scripts by their seeds")
tap.like(results[#results - 1], '^{"script": "scripts/experiments/random.lua", "seed": 9, ',
    "each of them")
tap.is(read(folder .. "/fidelity.txt"), out:match("^(.-)\nprobe: "), "the summary is kept")
tap.like(read(folder .. "/fidelity.svg"), "^<svg .* of " .. #results .. " scripts<", "the picture")
tap.like(read(folder .. "/dump/random/0002-scripts_experiments_random.lua_--seed_10.txt"),
    "\n# part 1 gpu ", "and all operations")

local rows, same, wrong = lines_of(read(folder .. "/fidelity-probe.jsonl")), 0, {}
for i, line in ipairs(rows) do
    local row = json.read(line)
    same = same + (row.same and 1 or 0)
    if row.same ~= (row.gpu_host_blocked == row.sim_host_blocked
                    and row.gpu_serialised == row.sim_serialised) then
        wrong[#wrong + 1] = i
    end
end
tap.ok(#rows > 100 and same < #rows, "probe's rows, of which some differ")
tap.is(table.concat(wrong, " "), "", "and these are reported")
tap.like(out, ("\nprobe: %d of %d rows the same"):format(same, #rows), "probe's rows are counted")

out, err, code = run(quote(folder) .. " --speed 3")
tap.like(code .. err, "^2run.lua: usage: ", "an unknown option")
out, err, code = run("--seeds 1-2")
tap.like(code .. err, "^2run.lua: usage: ", "no folder")
out, err, code = run(quote(folder .. "/none") .. " --profile textbook")
tap.like(code .. err, "^1.*run.lua: the scripts cannot be compared\n$", "no GPU")

-- ---- page.lua ----------------------------------------------------------------------------------

local function page(rest)
    return sh(('"$P" tests/bench/fidelity/page.lua %s'):format(rest))
end

local function write(name, text)
    shell.write(folder .. "/" .. name, text)
end

local machine <const> = 'return { gpu = "an A100", driver = "1.2", cuda = "3.4", '
    .. 'date = "a day", profile = "textbook", seeds = "9-10", runs = 1 }'
write("fidelity-machine.lua", machine)
write("fidelity-notes.lua", 'return { ["a script"] = "a reason" }')
out, err, code = page(quote(folder))
tap.like(code .. err, '^1page.lua: .*fidelity%-notes%.lua has no reason for "scripts/',
    "a missing reason is an error")
tap.is(read(folder .. "/fidelity.md"), nil, "and there is no page")
local worst = err:match('for "(.-)"')
write("fidelity-notes.lua", ('return setmetatable({ [%q] = "a reason" }, '
    .. '{ __index = function() return "another one" end })'):format(worst))
out, err, code = page(quote(folder))
tap.is(code .. out .. err, "0", "with reasons it is made")
local text = read(folder .. "/fidelity.md")
tap.is(page("--print " .. quote(folder)), text, "and printed the same")
tap.like(text, ("\n| %%*%%*all%%*%%* | %d | "):format(#results), "all scripts are in it")
tap.like(text, "why |\n|[-:|]+|\n| %[" .. worst:gsub("%p", "%%%0") .. "%][^\n]+ a reason |\n",
    "the furthest off comes first, with its reason")
tap.is(select(2, text:gsub(" | another one |\n", "")), 9, "and then nine more")
tap.like(text, ("Of %d rows\n%d are the same"):format(#rows, same), "probe's rows are reported")
tap.like(text, "\nbuild/streamlab compare %-%-measured docs/results/fidelity.jsonl "
    .. "%-%-profile textbook\n",
    "and how to have it without a GPU")
write("fidelity-machine.lua", machine:gsub("driver", "diver"))
out, err, code = page(quote(folder))
tap.like(code .. err, "^1page.lua: .*fidelity%-machine%.lua has no driver\n$",
    "a machine that is not described in full")
write("fidelity-machine.lua", machine)

-- ---- what is kept ------------------------------------------------------------------------------

-- Until a GPU's figures are kept, those from above.
local kept = read("docs/results/fidelity.jsonl") and "docs/results" or folder

-- All experiments, the puzzle, and every tenth random script.
local sample = {}
for _, line in ipairs(lines_of(read(kept .. "/fidelity.jsonl"))) do
    local record = json.read(line)
    if record.seed == json.null or record.seed % 10 == 0 then
        sample[#sample + 1] = line
    end
end
tap.ok(#sample > 20, "there is something to simulate")
write("sample.jsonl", table.concat(sample))
out, err, code = sh(('"$P" compare --quiet --json --measured %s --profile %s'):format(
    quote(folder .. "/sample.jsonl"), quote(dofile(kept .. "/fidelity-machine.lua").profile)))
tap.is(code, 0, "what is kept is simulated again")
local again = lines_of(out)
for i, line in ipairs(sample) do
    tap.is(again[i], line, "to the digit: " .. json.read(line).script)
end
tap.is(page("--print " .. quote(kept)), read(kept .. "/fidelity.md"),
    kept .. "/fidelity.md is what is made now")

shell.remove(folder)
tap.done()
