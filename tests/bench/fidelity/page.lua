-- page.lua [--print] [FOLDER] - writes FOLDER/fidelity.md: how far the simulator is from a GPU,
-- made from what run.lua wrote on one. FOLDER, docs/results if none is given, has
--   fidelity.jsonl, fidelity-probe.jsonl    as run.lua wrote them; fidelity.svg is the picture
--   fidelity-machine.lua    a table: gpu, driver, cuda, date, profile, seeds, runs
--   fidelity-notes.lua      a table: why the ten scripts that are furthest off are, by name
-- --print writes the page to stdout, and no file.
--
-- Exit status 0; 1 when a file cannot be read or written, or something is missing in it; 2 for
-- wrong usage.

local root <const> = (arg[0]:match("^.*/") or "./") .. "../../../"
package.path = root .. "tests/?.lua;" .. package.path
local json = require "both.json"
local files = require "bench.files"
local stop, whole, write = files.stop, files.whole, files.write

-- The program's own files, which find each other so.
function import(path) return dofile(root .. path) end

local entries = import "repl/compare/entries.lua"
local figures = import "repl/compare/figures.lua"
local records = import "repl/compare/records.lua"

local most_named <const> = 10

local function percent(n, all) return all > 0 and figures.percent(n / all) or "-" end

-- What the page is made of ----------------------------------------------------------------------

local function read_results(path)
    local list, line = records.read(whole(path))
    if not list then stop(1, ("%s:%d: not a line of compare --jsonl"):format(path, line)) end
    local results = {}
    for i, record in ipairs(list) do
        results[i] = { entry = entries.new(record.script, record.seed), record = record }
    end
    return results
end

local function read_probe(path)
    local rows = {}
    for line in whole(path):gmatch("[^\n]+") do rows[#rows + 1] = json.read(line) end
    return rows
end

local function read_machine(path)
    local machine = dofile(path)
    for _, key in ipairs{ "gpu", "driver", "cuda", "date", "profile", "seeds", "runs" } do
        if not machine[key] then stop(1, ("%s has no %s"):format(path, key)) end
    end
    return machine
end

-- Tables ----------------------------------------------------------------------------------------

local function cell(text) return (text:gsub("|", "\\|"):gsub("\n", " ")) end

-- Calls add(name, results) with each kind, and with all.
local function each_kind(results, add)
    for _, kind in ipairs(figures.kinds) do
        local list = figures.of_kind(results, kind)
        if #list > 0 then add(kind, list) end
    end
    add("**all**", results)
end

local function makespans(results, emit)
    emit("| scripts | number | error: median | p90 | worst | GPU's spread: median | p90 | worst "
        .. "| simulated within |")
    emit("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    each_kind(results, function(name, list)
        local e = figures.shares(list, figures.error_of)
        local s = figures.shares(list, figures.spread_of)
        local within = figures.count_within(list)
        emit("| %s | %d | %s | %s | %s | %s | %s | %s | %d (%s) |", name, #list,
             figures.percent(e.median), figures.percent(e.p90), figures.percent(e.worst),
             figures.percent(s.median), figures.percent(s.p90), figures.percent(s.worst), within,
             percent(within, #list))
    end)
end

local function pair_table(results, emit)
    emit("| scripts | pairs of | number | same on both | steady | of these the same "
        .. "| scripts with all of these |")
    emit("|---|---|--:|--:|--:|--:|--:|")
    each_kind(results, function(name, list)
        for _, of in ipairs{ { "lanes", "lane_pairs" }, { "operations", "op_pairs" } } do
            local p = figures.pairs(list, of[2])
            emit("| %s | %s | %d | %d (%s) | %d | %d (%s) | %d of %d |", name, of[1], p.pairs,
                 p.same, percent(p.same, p.pairs), p.steady, p.steady_same,
                 percent(p.steady_same, p.steady), p.agreeing, p.scripts)
        end
    end)
end

local function worst(results, notes, notes_path, emit)
    emit("| script | simulated | measured | GPU's runs | ratio | why |")
    emit("|---|--:|--:|---|--:|---|")
    for i, result in ipairs(figures.worst_first(results)) do
        if i > most_named then break end
        local r, name = result.record, result.entry.name
        local reason = notes[name]
        if not reason then stop(1, ('%s has no reason for "%s"'):format(notes_path, name)) end
        emit("| [%s](../../%s) | %s | %s | %s to %s | %.3f | %s |", cell(name), result.entry.path,
             figures.time(r.sim_us), figures.time(r.gpu_us), figures.time(r.gpu_min_us),
             figures.time(r.gpu_max_us), r.sim_us / r.gpu_us, cell(reason))
    end
end

-- "waits", "does not wait, kernels apart"
local function behaviour(row, side)
    return (row[side .. "_host_blocked"] and "waits" or "does not wait") .. ", kernels "
        .. (row[side .. "_serialised"] and "apart" or "together")
end

local function row_name(row)
    local words = { ("`%s`"):format(row.call) }
    if row.memory ~= json.null then words[#words + 1] = row.memory end
    if row.bytes ~= json.null then words[#words + 1] = ("%d bytes"):format(row.bytes) end
    if row.into ~= json.null then words[#words + 1] = "into " .. row.into end
    return table.concat(words, ", ")
end

local function calls(rows, emit)
    local others = {}
    for _, row in ipairs(rows) do
        if not row.same then others[#others + 1] = row end
    end
    emit("`streamlab probe` calls CUDA's functions between two kernels in two streams. Of %d rows\n"
        .. "%d are the same on both sides in whether the host waits and whether the kernels run "
        .. "together%s", #rows, #rows - #others, #others > 0 and "; those that are not:\n" or ".")
    if #others == 0 then return end
    emit("| call | streams | GPU | simulated |")
    emit("|---|---|---|---|")
    for _, row in ipairs(others) do
        emit("| %s | %s | %s | %s |", row_name(row), row.streams, behaviour(row, "gpu"),
             behaviour(row, "sim"))
    end
end

-- The page --------------------------------------------------------------------------------------

local intro <const> = [[
# How far the simulator is from a GPU

%d scripts, each on an %s and on the simulated one: all
[experiments](../../scripts/experiments/README.md), the three variants of
[the puzzle](../../scripts/puzzler.lua), and scripts that nobody wrote, drawn by
[random.lua](../../scripts/experiments/random.lua) from seeds %s. What counts is the *makespan* of
what a script records. On the GPU each ran once to warm up and then %d times. Half of the simulated
makespans are within **%s** of the median measured one, nine tenths within **%s**; the
furthest is off by %s.

| | |
|---|---|
| GPU | %s |
| driver | %s |
| CUDA | %s |
| measured | %s |
| simulated with | `--profile %s` |

![Predicted makespans against measured ones](fidelity.svg)

*Above: predicted makespans against measured ones. Below: the ratio of the two, and as bars how far
the GPU's own runs lie from their median. Dashed lines are 10 %% off.*]]

local makespan_words <const> = [[

## Makespans

*Error*: |simulated / measured - 1|, of the median run. *Spread*: (longest - shortest) / median of
the GPU's own runs; what differs from run to run cannot be foretold. *Simulated within*: the
simulated makespan lies between the GPU's shortest and longest.
]]

local pair_words <const> = [[

## What overlaps

A *lane* is what one stream has of one kind of operation. A pair of lanes, or of operations, counts
if it overlaps for more than 5 % of the makespan on the simulator, or as the median of the GPU's
runs. On either side it overlaps if that is more than 1 %; *same on both* are pairs of which both
sides say the same. The GPU is not deterministic: engines that find several commands ready take them
in an order of their own. A pair is *steady* if it overlaps in all of the GPU's runs, or in none.
The last column is of scripts that have steady pairs.
]]

local others <const> = [[

## Other machines

The figures of the profile were last changed after these programs had been seen.
[hosts.md](hosts.md) has programs of which that is not so, on two more machines, predicted by the
profile as it comes and with the host's part that was measured there in ten seconds; how far ranges
are to be believed; and how far the older default profile was. [benchmark.md](../benchmark.md) has
the measurements of all machines.]]

local made <const> = [[

## How this was made

On the GPU, in the repository's root, and then what it wrote copied to docs/results:

```text
build/streamlab tests/bench/fidelity/run.lua build/fidelity --profile %s --seeds %s --runs %d
build/streamlab tests/bench/fidelity/page.lua
```

The simulator's side needs no GPU: [fidelity.jsonl](fidelity.jsonl) has each script's measured
makespans. This simulates all of them again, and prints the same figures:

```text
build/streamlab compare --measured docs/results/fidelity.jsonl --profile %s
```

The calls are in [fidelity-probe.jsonl](fidelity-probe.jsonl), from `streamlab probe --json`.]]

local function page(folder)
    local results = read_results(folder .. "/fidelity.jsonl")
    local m, notes_path = read_machine(folder .. "/fidelity-machine.lua"),
        folder .. "/fidelity-notes.lua"
    local parts = {}
    local function emit(text, ...)
        parts[#parts + 1] = select("#", ...) > 0 and text:format(...) or text
    end
    local e = figures.shares(results, figures.error_of)
    emit(intro, #results, m.gpu, m.seeds, m.runs, figures.percent(e.median), figures.percent(e.p90),
         figures.percent(e.worst), m.gpu, m.driver, m.cuda, m.date, m.profile)
    emit(makespan_words)
    makespans(results, emit)
    emit(pair_words)
    pair_table(results, emit)
    emit("\n## The ten that are furthest off\n")
    worst(results, dofile(notes_path), notes_path, emit)
    emit(others)
    emit("\n## CUDA's calls\n")
    calls(read_probe(folder .. "/fidelity-probe.jsonl"), emit)
    emit(made, m.profile, m.seeds, m.runs, m.profile)
    return table.concat(parts, "\n") .. "\n"
end

local function main()
    local arguments, printing = { table.unpack(arg) }, false
    if arguments[1] == "--print" then printing = table.remove(arguments, 1) ~= nil end
    if #arguments > 1 or (arguments[1] or ""):find("^%-") then
        stop(2, "usage: streamlab page.lua [--print] [FOLDER]")
    end
    local folder = arguments[1] or root .. "docs/results"
    local text = page(folder)
    if printing then return io.write(text) end
    write(folder .. "/fidelity.md", text)
end

main()
