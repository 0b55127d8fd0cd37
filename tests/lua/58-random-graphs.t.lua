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

local all = ideal.random_programs(T, "random_graphs", run, T.sized(16, 40), kinds)
local forgotten = 0
for _, text in ipairs(all) do forgotten = forgotten + never_launched(text) end
T.is(forgotten, 0, "each graph is launched")
T.done()
