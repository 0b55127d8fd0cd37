-- 58-random-graphs.t.lua - random programs with graphs: a seed gives the same program and the same
-- times again, none has a race, all kinds of steps occur in graphs and beside them, and each graph
-- is launched.

local T = require "tap"
local ideal = require "lua.ideal"
local path <const> = "scripts/experiments/random_graphs.lua"

local function run(arguments)
    return ideal.run(path, arguments, { through = "env STREAMLAB_CXX=none",
        options = "--backend sim --profile textbook --check=error" })
end

local in_graph <const> = "\n     g%d +%d+  g%d%.%d: "
local kinds <const> = {
    { "products in a graph", in_graph .. "matmul" }, { "sums in a graph", in_graph .. "add" },
    { "kernels of one's own in a graph", in_graph .. "axpy" },
    { "long kernels in a graph", in_graph .. "recur" },
    { "uploads in a graph", in_graph .. "upload" },
    { "downloads in a graph", in_graph .. "download" },
    { "fills in a graph", in_graph .. "zero" },
    { "copies within the GPU in a graph", in_graph .. "copy within" },
    { "host functions in a graph", in_graph .. "a host function" },
    { "forks and joins in a graph", in_graph .. "record[^\n]*, and g%d%.%d waits for it" },
    { "launches", "\n *%d+  s%d: launch g%d" }, { "products", "\n *%d+  s%d: matmul" },
    { "uploads", "\n *%d+  s%d: upload" }, { "downloads", "\n *%d+  s%d: download" },
    { "events", "\n *%d+  s%d: record[^\n]*, and s%d waits for it" },
    { "waits of the host", "host: waits" }, { "work of the host", "host: works" },
}

-- How many graphs a list has that no step launches.
local function never_launched(text)
    local count = 0
    for name in text:gmatch("\n     (g%d+): captured") do
        count = count + (text:find("launch " .. name, 1, true) and 0 or 1)
    end
    return count
end

local all, failed, forgotten = {}, {}, 0
local last <const> = T.sized(16, 40)
for seed = 0, last do
    local status, text = run("--list --seed " .. seed)
    if status ~= 0 then failed[#failed + 1] = ("%d: %s"):format(seed, text:match("[^\n]*")) end
    forgotten = forgotten + never_launched(text)
    all[#all + 1] = text
end
T.is_deeply(failed, {}, ("of %d seeds each runs without a race"):format(last + 1))
T.is(forgotten, 0, "each graph is launched")
T.is(select(2, run("--list --seed 4")), all[5], "a seed gives the same program and chart again")
T.isnt(all[5], all[6], "and not another's")
local text = table.concat(all)
for _, kind in ipairs(kinds) do T.ok(text:find(kind[2]) ~= nil, "there are " .. kind[1]) end

local status, why = run("--seed -1")
T.is(status, 2, "a seed below 0 is wrong usage")
T.like(why, "random_graphs: %-%-seed needs a whole number", "which it says")
T.is(run("--what"), 2, "and so is an unknown argument")
T.done()
