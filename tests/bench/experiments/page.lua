-- page.lua [--print] [SUMMARY] - writes docs/results/experiments.md: what a GPU and the simulator
-- say of each claim of claims.lua. SUMMARY is the file summary.jsonl that run.lua wrote on a GPU;
-- it is kept as docs/results/experiments-h200.jsonl, which is used if none is given. The
-- simulator's side is run again. --print writes the page to stdout, and no file.
--
-- Exit status 0; 1 when a file cannot be read or written; 2 for wrong usage.

local here <const> = arg[0]:match("^.*/") or "./"
local root <const> = here .. "../../../"
package.path = root .. "tests/?.lua;" .. package.path
local json = require "both.json"
local files = require "bench.files"
local stop, quote, whole, write = files.stop, files.quote, files.whole, files.write
local kept <const> = root .. "docs/results/experiments-h200.jsonl"
local page_path <const> = root .. "docs/results/experiments.md"
local list = dofile(here .. "claims.lua")

-- Runs ------------------------------------------------------------------------------------

local function probe_key(call, says, memory, into)
    return table.concat({ call, says, memory or "", into or "" }, "|")
end

-- A summary's lines: {device =, tables = {[name] =}, verdicts = {[key] =}}.
local function read(text)
    local run = { tables = {}, verdicts = {}, names = {} }
    for line in text:gmatch("[^\n]+") do
        local row = json.read(line)
        if row.device then run.device, run.backend = row.device, row.backend
        elseif row.experiment then
            run.names[#run.names + 1], run.tables[row.experiment] = row.experiment, row.table
            for _, verdict in ipairs(row.verdicts) do
                run.verdicts[row.experiment .. ": " .. verdict.claim] = verdict
            end
        else run.verdicts[probe_key(row.call, row.says, row.memory, row.into)] = row
        end
    end
    return run
end

local function simulate()
    local i, folder = -1, os.tmpname()
    while arg[i - 1] do i = i - 1 end
    os.remove(folder)
    if not os.execute(("%s --backend sim --profile h200 %s %s"):format(quote(arg[i]),
                      quote(here .. "run.lua"), quote(folder))) then
        stop(1, "the experiments do not run on the simulator")
    end
    local text = whole(folder .. "/summary.jsonl")
    os.execute("rm -r " .. quote(folder))
    return read(text)
end

-- The page --------------------------------------------------------------------------------

local function cell(text) return (text:gsub("|", "\\|"):gsub("\n", " ")) end

local function link(name)
    return ("[%s](../../scripts/experiments/%s.lua)"):format(name, name)
end

local function said(run, key, beyond)
    local verdict = run.verdicts[key]
    if not verdict then return "not run" end
    return ("**%s%s**: %s"):format(verdict.word, beyond and ", as far as asked" or "",
                                   verdict.figures)
end

-- The key of a claim's verdict, and where it is from as Markdown.
local function origin(claim)
    if claim.experiment then
        return claim.experiment .. ": " .. claim.verdict,
            link(claim.experiment) .. ": " .. claim.verdict
    end
    local p = claim.probe
    return probe_key(p[1], p[2], p.memory, p.into), ("probe, `%s`: %s"):format(p[1], p[2])
end

local function claims_table(gpu, sim, emit)
    emit("| claim | source | asked by | %s | simulated |", gpu.device)
    emit("|---|---|---|---|---|")
    for _, claim in ipairs(list.claims) do
        local key, where = origin(claim)
        if not sim.verdicts[key] then stop(1, "no such verdict: " .. key) end
        local more = claim.beyond or claim.note
        if more then where = where .. ". " .. more end
        emit("| \"%s\" | %s | %s | %s | %s |", cell(claim[1]), claim[2], where,
             cell(said(gpu, key, claim.beyond)), cell(said(sim, key, claim.beyond)))
    end
end

-- Claims on which the two disagree, each verdict once, with the reason if one is known.
local function differences(gpu, sim, emit)
    local seen, count = {}, 0
    for _, claim in ipairs(list.claims) do
        local key = origin(claim)
        local one, other = gpu.verdicts[key], sim.verdicts[key]
        if one and one.word ~= other.word and not seen[key] then
            seen[key], count = true, count + 1
            emit("- \"%s\": %s, simulated %s. %s", claim[1], one.word, other.word,
                 claim.why or "Why is not known yet.")
        end
    end
    if count == 0 then emit("None: each claim that both answered has the same word from both.") end
end

local function count_words(run)
    local counts, seen = {}, {}
    for _, claim in ipairs(list.claims) do
        local verdict = run.verdicts[origin(claim)]
        local word = verdict and verdict.word or "not run"
        counts[word] = (counts[word] or 0) + 1
    end
    for _, word in ipairs{ "holds", "depends", "no longer holds", "not run" } do
        if counts[word] then seen[#seen + 1] = ("%s %d"):format(word, counts[word]) end
    end
    return table.concat(seen, ", ")
end

local intro <const> = [[
# What is said of streams, asked again

Claims of four texts on streams, and of CUDA's manual where an experiment asks it: what an %s
says of each, and what the simulated H200 says. A claim *holds*, *no longer holds*, or it *depends*.
The words follow from the figures, by rules in the scripts, and hold for what was asked on that GPU;
where a claim says more, the third column says what. Claims are quoted in short.

Made by two commands, on the GPU and anywhere:

```text
build/streamlab --backend cuda tests/bench/experiments/run.lua build/experiments
build/streamlab tests/bench/experiments/page.lua build/experiments/summary.jsonl
```

The first runs [all experiments](../../scripts/experiments/README.md), each in a process of its own,
and CUDA's calls between two kernels (as `streamlab probe` does): on 23 November 2026. Those of
graphs, of kernels, and the two of values in memory ran by themselves, on other H200s, on 24, 28 and
29 November. The second keeps the GPU's figures in [experiments-h200.jsonl](experiments-h200.jsonl),
runs the same on the simulator, and writes this page. The list of claims is
[claims.lua](../../tests/bench/experiments/claims.lua).
]]

local function page(gpu, sim)
    local parts = {}
    local function emit(text, ...)
        parts[#parts + 1] = select("#", ...) > 0 and text:format(...) or text
    end
    emit(intro, gpu.device)
    emit("%d claims. On the GPU: %s. Simulated: %s.", #list.claims, count_words(gpu),
         count_words(sim))
    emit("\n## Claims\n")
    claims_table(gpu, sim, emit)
    emit("\n## Where the two differ\n")
    differences(gpu, sim, emit)
    emit("\n## Not measured\n")
    for _, other in ipairs(list.others) do emit("- \"%s\" (%s). %s", table.unpack(other)) end
    emit("\n## The tables, as printed on the %s\n", gpu.device)
    for _, name in ipairs(sim.names) do
        emit("### %s\n", name)
        emit("%s\n", gpu.tables[name] and "```text\n" .. gpu.tables[name] .. "\n```" or "Not run.")
    end
    return (table.concat(parts, "\n"):gsub("\n+$", "\n"))
end

local function main()
    local arguments, printing = { table.unpack(arg) }, false
    if arguments[1] == "--print" then printing = table.remove(arguments, 1) ~= nil end
    if #arguments > 1 or (arguments[1] or ""):find("^%-") then
        stop(2, "usage: streamlab page.lua [--print] [SUMMARY]")
    end
    local text = whole(arguments[1] or kept)
    local made = page(read(text), simulate())
    if printing then return io.write(made) end
    write(kept, text)
    write(page_path, made)
end

main()
