-- 32-listing.t.lua - streamlab compare --benchmark --list: what it says of programs beside what
-- these programs do on a simulated GPU, by the spans of their recordings and the edges of their
-- graphs.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local measured = require "measure.measured"
local shell = require "shell"

local families = measured.import "scripts/measure/benchmark/families.lua"
local folder = shell.folder()

local function listed(line)
    local out, err, code = shell.sh('LC_ALL=C "$P" compare --benchmark --list ' .. line)
    local programs = {}
    for text in out:gmatch "[^\n]+" do
        programs[#programs + 1] = json.read(text)
    end
    return programs, err, code
end

-- ---- beside what runs ------------------------------------------------------------------------

-- Runs a family's programs with the program itself, and prints of each a line for each kind of
-- span: its number and the bytes that it copied; and one of nodes and edges of all graphs.
local observer <const> = shell.write(folder .. "/observer.lua", [[
local lab = require "streamlab"
local script, words, first, last = arg[1], arg[2], tonumber(arg[3]), tonumber(arg[4])
local profile, graph, seen = lab.profile, lab.graph, nil
function lab.profile(f)
    local tl = profile(f)
    for _, span in ipairs(tl:spans()) do
        local kind = span.kind
        seen[kind] = (seen[kind] or 0) + 1
        if kind:find "^memcpy" then
            seen[kind .. " bytes"] = (seen[kind .. " bytes"] or 0) + span.bytes
        end
    end
    error("done", 0)
end
function lab.graph(...)
    local g = graph(...)
    seen.nodes = (seen.nodes or 0) + #g:nodes()
    seen.edges = (seen.edges or 0) + #g:edges()
    return g
end
for seed = first, last do
    seen = {}
    local arguments = { [0] = script, "--seed", tostring(seed) }
    for word in words:gmatch "%S+" do arguments[#arguments + 1] = word end
    local fine, why = pcall(loadfile(script, "t", setmetatable({ arg = arguments },
        { __index = _G })))
    assert(why == "done", why)
    local names = {}
    for name in pairs(seen) do names[#names + 1] = name end
    table.sort(names)
    for i, name in ipairs(names) do names[i] = name .. " " .. seen[name] end
    print(table.concat(names, ", "))
end
]])

local span_of <const> = { copy = "memcpy_", zeros = "memset", host_function = "host_func",
    all_reduce = "collective", all_gather = "collective", reduce_scatter = "collective",
    broadcast = "collective", matmul = "kernel", add = "kernel", mul = "kernel", pow = "kernel",
    relu = "kernel", softmax = "kernel", sum = "kernel", spin = "kernel", launch = "kernel" }

local function count(seen, name, n)
    seen[name] = (seen[name] or 0) + n
end

-- Adds the spans of steps, those of a graph at each launch.
local function add_spans(seen, program, steps)
    for _, step in ipairs(steps) do
        if step.op == "launch_graph" then
            add_spans(seen, program, program.graphs[step.graph].nodes)
        elseif step.op == "copy" then
            count(seen, "memcpy_" .. step.direction, 1)
            count(seen, "memcpy_" .. step.direction .. " bytes", step.bytes)
        elseif span_of[step.op] then
            -- A collective has a span on each GPU.
            count(seen, span_of[step.op], step.streams and #step.streams or 1)
        end
    end
end

-- What the observer prints, by the listing.
local function expected(program)
    local seen, names = {}, {}
    add_spans(seen, program, program.steps)
    for _, graph in ipairs(program.graphs) do
        count(seen, "nodes", #graph.nodes)
        count(seen, "edges", #graph.edges)
    end
    for name, n in pairs(seen) do
        names[#names + 1] = ("%s %d"):format(name, n)
    end
    table.sort(names)
    return table.concat(names, ", ")
end

for _, family in ipairs(families.list) do
    local programs, err, code = listed(("--families %s --seeds 0-14"):format(family.name))
    tap.is(err .. code .. " " .. #programs, "0 15", family.name .. ": each seed is listed")
    local out = shell.sh(('LC_ALL=C "$P" --backend sim --profile textbook %s %s %q 0 14'):format(
        shell.quote(observer), family.script, family.arguments .. " "))
    local i = 0
    for line in out:gmatch "[^\n]+" do
        i = i + 1
        tap.is(expected(programs[i]), line, ("%s %d: kinds, bytes and edges are those of a "
            .. "recording"):format(family.name, i - 1))
    end
    tap.is(i, 15, "all were recorded")
end
-- ---- one program -----------------------------------------------------------------------------

-- By the text that the script itself prints: scripts/experiments/random_graphs.lua --seed 3 --list.
local text = shell.sh '"$P" --backend sim scripts/experiments/random_graphs.lua --seed 3 --list'
local program = listed "--families graphs --seeds 3-3"[1]
local matmul, launched, copied = 0, 0, 0
for _, step in ipairs(program.steps) do
    matmul = matmul + (step.op == "matmul" and 1 or 0)
    launched = launched + (step.op == "launch_graph" and 1 or 0)
end
for _, graph in ipairs(program.graphs) do
    for _, node in ipairs(graph.nodes) do
        copied = copied + (node.op == "copy" and 1 or 0)
    end
end
local function lines(pattern) return select(2, text:gsub(pattern, "")) end
tap.is(matmul, lines "\n *%d+  s%d: matmul", "products are those of the text")
tap.is(launched, lines "\n *%d+  s%d: launch g", "launches are")
tap.is(copied, lines "\n     g%d +%d+  g%d%.%d: %a+load", "and copies in graphs are")

-- ---- the programs that were measured, and wrong use --------------------------------------------

local few, err, code = listed "--seeds 402-404"
tap.is(err .. code .. " " .. #few .. few[1].family .. few[3].seed, "0 3mixed404",
    "without families those of the file")
few = listed "--families kernels --seeds 5-5"
tap.like(few[1].kernels[1].source, "__global__ void ", "kernels have their source")
for _, option in ipairs { "--profile h200", "--json", "--predictions x", "--spread 3" } do
    few, err, code = listed(option)
    tap.like(code .. err, "^2.* goes with scores, not with %-%-list\n", option .. " is refused")
end
few, err, code = listed "--families many"
tap.like(code .. err, "^2.*there is no family 'many'", "so is another family")
few, err, code = listed "--families calls --seeds 9-8"
tap.is(code, 2, "and no seed")
local here <const> = "$OLDPWD/docs/results/benchmark.jsonl"
for _, words in ipairs { "--families calls --seeds 1-2", here } do
    local elsewhere = ("cd %s && "):format(folder)
    local _, complaint = shell.sh(elsewhere .. '"$P" compare --benchmark --list ' .. words)
    tap.like(complaint, "^streamlab: compare: cannot read scripts/experiments/random[%a_]*%.lua: "
        .. "[^\n]*: run this in the repository's root\n$", "elsewhere the generators are missing")
end
-- ---- a simulator that has nothing else ---------------------------------------------------------

local baseline <const> = "python3 scripts/measure/benchmark/baseline.py"
if shell.sh "python3 --version 2>&1" ~= "" then
    -- The call takes 6 us, so the upload runs from 6 to 6 + 2 + 5.5e6 / 55e3 = 108, and the spin
    -- behind it to 108 + 2 + 1000 = 1110, which the host sees 10 later.
    shell.write(folder .. "/one.jsonl", [[{"family": "mixed", "seed": 7, "graphs": [], "memory": [
{"where": "pinned"}, {"where": "gpu"}], "streams": [{"device": 0, "non_blocking": false}, {"device":
0, "non_blocking": true}], "steps": [{"op": "copy", "direction": "h2d", "stream": 2, "reads": [1],
"writes": [2], "bytes": 5500000, "blocking": false}, {"op": "spin", "ms": 1, "stream": 2}]}]])
    local line = shell.sh(("tr -d '\n' <%s/one.jsonl | %s"):format(folder, baseline))
    tap.is(line, '{"family": "mixed", "seed": 7, "us": 1120.0}\n', "a program in Python predicts")
    for _, family in ipairs(families.list) do
        local line_of = '"$P" compare --benchmark --list --families %s --seeds 0-9 | ' .. baseline
        local out, complaint = shell.sh(line_of:format(family.name))
        tap.is(complaint .. select(2, out:gsub("\n", "")), "10", "and each family: " .. family.name)
    end
else
    tap.skip("there is no Python", 1 + #families.list)
end
shell.remove(folder)
tap.done()
