-- graphs.lua - captures, launches and updates of graphs, for the failing allocator. Every error
-- ends it, as it would a user's script.
lab.open { backend = "sim", profile = "textbook" }

local side = lab.stream { name = "side" }
local x = lab.ones(8, 8)

local function work()
    local origin = lab.current_stream()
    local y = lab.matmul(x, x)
    side:wait_stream(origin)
    local z = lab.add(x, 1, { stream = side })
    origin:launch_host_func(function() end)
    origin:wait_stream(side)
    return y + z
end

local g, y = lab.graph(work, { name = "step", priorities = true })
local tl = lab.profile(function()
    g:launch()
    g:launch(side)
end)
assert(#tl:spans() > 0)
assert(#g:nodes() == 4 and #g:edges() == 4 and #g:dot() > 0)
assert(g:update(work))
g:launch()
assert(y:get(1, 1) == 8 + 2)

side:begin_capture("relaxed")
lab.spin(0.01, { stream = side })
local plain = side:end_capture()
lab.cuda.graph_instantiate(plain)
assert(not plain:update(work))
plain:launch()
plain:free()
assert(#lab.graphs() == 1)
