-- 22-api-graph-kernels.t.lua - kernels of one's own in graphs: nodes, updates, times.
require "lua.quiet" ()
local T = require "tap"
lab.open { backend = "sim", profile = "textbook" }

local function add_to(_, _, n, x) for i = 1, #x do x[i] = x[i] + n end end
local function times(_, _, n, x) for i = 1, #x do x[i] = x[i] * n end end

local function kernel(name, cpu, us)
    return lab.kernel { name = name, args = { "f32", "inout f32*" },
                        cost = us and { us = us }, cpu = cpu }
end

do
    local plus, scale = kernel("plus", add_to, 20), kernel("scale", times, 30)
    local x, y = lab.zeros(4), lab.zeros(4)
    lab.synchronize()

    local function both(first, second, of)
        return function()
            first(4, 64, 3, of)
            second({ 2, 3 }, { 32, 4 }, 5, of)
        end
    end

-- ---- what it is ---------------------------------------------------------------------------

    local g = lab.graph(both(plus, scale, x))
    local nodes = g:nodes()
    T.is(#nodes, 2, "each launch is a node")
    T.is(nodes[1].name .. " " .. nodes[2].name, "plus scale", "with the kernel's name")
    T.is(nodes[1].kind, "kernel", "of a kernel")
    T.like(nodes[2].where, "22%-api%-graph%-kernels", "and the line of the launch")
    T.is(#g:edges(), 1, "one comes before the other")
    T.like(g:dot(), "plus.*scale", "a drawing has their names")

-- ---- launches -----------------------------------------------------------------------------

    local tl = lab.profile(function() g:launch() end)
    local spans = tl:spans()
    T.is(#spans, 2, "a timeline has what the graph ran")
    T.near(spans[1].end_us - spans[1].start_us, 20, 1e-6, "for as long as the first one takes")
    T.near(spans[2].end_us - spans[2].start_us, 30, 1e-6, "and the second one")
    T.is(spans[1].blocks .. " " .. spans[1].threads, "4 64", "with its grid and block")
    T.is(spans[2].blocks .. " " .. spans[2].threads, "6 128", "each its own")

-- ---- updates ------------------------------------------------------------------------------

    T.is(g:update(both(scale, plus, y)), true, "other kernels and tensors can take their places")
    T.is(g:nodes()[1].name, "scale", "the nodes are those")

    local done, why = g:update(function()
        plus(1, 32, 1, x)
        y:copy_(x)
    end)
    T.is(done, false, "a copy is no kernel")
    T.like(why, "node 2 of the graph is a kernel and of the new one a copy",
           "so it cannot take a kernel's place")

-- ---- guesses, and how long kernels live ---------------------------------------------------------

    local guessed = kernel("guessed", add_to)
    local h = lab.graph(function() guessed(1, 32, 1, x) end)
    T.is(lab.profile(function() h:launch() end):spans()[1].guessed, true,
         "a node's time can be a guess")
    guessed = nil
    collectgarbage()
    collectgarbage()
    T.is(lab.profile(function() h:launch() end):spans()[1].name, "guessed",
         "a graph keeps its kernels")
end

T.done()
