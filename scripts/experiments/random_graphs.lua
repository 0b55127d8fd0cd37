-- random_graphs.lua - a script that nobody wrote, with CUDA graphs: the same one for a seed on
-- every machine.
--
--   streamlab scripts/experiments/random_graphs.lua [--seed N] [--list]
--   streamlab compare scripts/experiments/random_graphs.lua --seeds 1-20
--
-- It is random.lua's sister: 1 to 4 graphs, each captured from 1 to 4 streams that fork and join,
-- with kernels, copies of pinned memory, fills and host functions; then 6 to 60 steps, which launch
-- the graphs, some several times, and enqueue other work before, behind and beside them. In half of
-- the programs all work is small. A graph is launched in one stream, and has memory of its own, so
-- that no two operations that nothing orders write the same. --list prints the streams, each
-- graph's steps and each step.

local lab = require "streamlab"

-- From the folder of this file, also in a script that runs this one.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local program = dofile(folder .. "../lib/random_program.lua")("random_graphs", arg or {}, {
    usage = "usage: streamlab scripts/experiments/random_graphs.lua [--seed N] [--list]",
    flags = { list = true }, numbers = { seed = { 0, 0 } },
})
local steps = dofile(folder .. "../lib/random_steps.lua")(program)
local options, add, wait_for = program.options, program.add, program.wait_for
local chance, pick, log_even, random = program.chance, program.pick, program.log_even, math.random

-- The streams ---------------------------------------------------------------------------------

local streams = {}

local function make_stream(name, priority)
    local s = { name = name, priority = priority,
                stream = lab.stream{ name = name, priority = priority, non_blocking = true } }
    streams[#streams + 1] = s
    return s
end

-- The steps -----------------------------------------------------------------------------------

local small             -- drawn once: whether the work is shorter than the calls

local kernels = {}

function kernels.elementwise(s)
    local what = pick{ "add", 3, "mul", 2, "pow", 2, "relu", 2, "softmax", 1 }
    if small then
        steps.elementwise(s, what, 1 << random(0, 6), 1 << random(8, 10))
    else
        local n = pick{ 512, 2, 1024, 4, 2048, 3, 4096, 1 }
        steps.elementwise(s, what, n, n)
    end
end

function kernels.matmul(s)
    steps.matmul(s, small and pick{ 64, 2, 128, 3, 256, 2 }
        or pick{ 256, 1, 512, 3, 1024, 3, 2048, 1 }, pick{ "float32", 3, "tf32", 2, "bfloat16", 2 })
end

function kernels.axpy(s)
    steps.axpy(s, 1 << (small and random(8, 16) or random(16, 24)), pick{ 128, 1, 256, 3, 1024, 1 })
end

function kernels.recur(s)
    steps.recur(s, pick{ 1, 2, 8, 3, 66, 2, 132, 2, 1056, 1 }, pick{ 32, 1, 128, 2, 256, 2 },
        small and pick{ 20, 2, 100, 2, 500, 1 } or pick{ 500, 2, 2000, 3, 8000, 2 })
end

local function kernel(s)
    kernels[pick{ "elementwise", 5, "matmul", 4, "axpy", 3, "recur", 2 }](s)
end

local function draw_bytes()
    return 4 * math.floor(small and log_even(4, 16384) or log_even(16384, 2 << 20))
end

-- From and to pinned memory, which a graph can hold without waiting for the host.
local function copy(s, direction) steps.copy(s, direction, draw_bytes(), true, true) end

-- The graphs ----------------------------------------------------------------------------------

local graphs = {}
local parts = {}

function parts.chain(lanes)
    local s = lanes[random(#lanes)]
    for _ = 1, random(1, 8) do kernel(s) end
end

function parts.item(lanes)
    local s = lanes[random(#lanes)]
    copy(s, "h2d")
    for _ = 1, random(1, 3) do kernel(s) end
    copy(s, "d2h")
end

-- One lane, then all, then one.
function parts.fan(lanes)
    local first = lanes[1]
    kernel(first)
    for i = 2, #lanes do wait_for(lanes[i], first) end
    for _ = 1, random(1, 3) do
        for _, s in ipairs(lanes) do kernel(s) end
    end
    for i = 2, #lanes do wait_for(first, lanes[i]) end
    kernel(first)
end

parts["fill"] = function(lanes)
    local s = lanes[random(#lanes)]
    if chance(0.5) then steps.zero(s, draw_bytes()) else steps.within(s, draw_bytes()) end
end

parts["host function"] = function(lanes)
    steps.host_function(lanes[random(#lanes)], log_even(0.005, 0.1))
end

-- The steps from number `first` on, which the program's list has no more.
local function take_from(first)
    local taken = table.move(program.steps, first, #program.steps, 1, {})
    for i = #program.steps, first, -1 do program.steps[i] = nil end
    return taken
end

local function draw_graph(index)
    local name, lanes = "g" .. index, {}
    for i = 1, pick{ 1, 3, 2, 3, 3, 2, 4, 2 } do lanes[i] = make_stream(name .. "." .. i, 0) end
    local weights = { "chain", 5, "item", 3, "fan", 4, "fill", 1 }
    if chance(0.25) then table.move({ "host function", 2 }, 1, 2, #weights + 1, weights) end
    local first, wanted = #program.steps + 1, log_even(4, 60)
    while #program.steps - first + 1 < wanted do parts[pick(weights)](lanes) end
    graphs[index] = { name = name, lanes = lanes, steps = take_from(first), launches = 0,
                      priorities = chance(0.5) }
end

-- All lanes fork from the first one, and join it at the end.
local function capture(g)
    local first = g.lanes[1].stream
    g.graph = lab.graph(function()
        for i = 2, #g.lanes do g.lanes[i].stream:wait_stream(first) end
        for _, step in ipairs(g.steps) do step.run() end
        for i = 2, #g.lanes do first:wait_stream(g.lanes[i].stream) end
    end, { stream = first, priorities = g.priorities, name = g.name })
end

-- The phrases ---------------------------------------------------------------------------------

local on = {}           -- the streams in which something is launched

local function any_stream() return on[random(#on)] end

local phrases = {}

local function launch(g)
    g.home, g.launches = g.home or any_stream(), g.launches + 1
    local s = g.home
    add("%s: launch %s", s.name, g.name, function() g.graph:launch{ stream = s.stream } end)
end

function phrases.launch()
    local g = graphs[random(#graphs)]
    for _ = 1, pick{ 1, 5, 2, 2, 4, 1, 8, 1 } do launch(g) end
end

-- All graphs, one after the other.
function phrases.step()
    for _, g in ipairs(graphs) do launch(g) end
end

-- New input, the graph, its output.
function phrases.item()
    local g = graphs[random(#graphs)]
    copy(g.home or any_stream(), "h2d")
    launch(g)
    copy(g.home, "d2h")
end

function phrases.chain()
    local s = any_stream()
    for _ = 1, random(1, 4) do kernel(s) end
end

function phrases.join()
    local s = any_stream()
    for _, other in ipairs(on) do
        if other ~= s then wait_for(s, other) end
    end
    kernel(s)
end

function phrases.host() steps.host_works(small and log_even(0.005, 0.05) or log_even(0.02, 0.5)) end

function phrases.wait() program.host_waits(any_stream(), lab.synchronize) end

local weights <const> = {
    "launch", 5, "step", 3, "item", 2, "chain", 4, "join", 2, "host", 1, "wait", 1,
}

local function draw()
    local urgent = chance(0.3)
    small = chance(0.5)
    for i = 1, pick{ 1, 2, 2, 4, 3, 2 } do
        on[i] = make_stream("s" .. i, urgent and random(0, 5) * -1 or 0)
    end
    for i = 1, random(1, 4) do draw_graph(i) end
    local wanted = log_even(6, 60)
    while #program.steps < wanted do phrases[pick(weights)]() end
    for _, g in ipairs(graphs) do
        if g.launches == 0 then launch(g) end
    end
end

-- The run -------------------------------------------------------------------------------------

local function list()
    for _, s in ipairs(streams) do
        print(("     %s: priority %d, does not wait for the NULL stream"):format(s.name,
            s.priority))
    end
    for _, g in ipairs(graphs) do
        print(("     %s: captured from %s on%s"):format(g.name, g.lanes[1].name,
            g.priorities and ", with the priorities of its streams" or ""))
        for i, step in ipairs(g.steps) do
            print(("     %s %3d  %s"):format(g.name, i, step.text))
        end
    end
    program.list()
end

draw()
if options.list then list() end
lab.synchronize()               -- the tensors are filled on the NULL stream
for _, g in ipairs(graphs) do capture(g) end
program.run()                   -- warm-up: the first launch uploads a graph
lab.synchronize()
collectgarbage()
program.show(lab.profile(program.run), streams)
