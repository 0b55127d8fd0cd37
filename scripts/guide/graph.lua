local s = lab.stream{ name = "s" }
local x, scale, shift = lab.full(2, 4096), lab.full(0.5, 4096), lab.ones(4096)
local y

local function step()                               -- twelve small kernels
    y = x
    for _ = 1, 4 do y = lab.relu(lab.add(lab.mul(y, scale), shift)) end
end

lab.with(s, function()
    step()                                          -- warm-up: kernels are loaded now
    local g = lab.graph(step)                       -- nothing runs: the calls become a graph
    g:launch()                                      -- the first launch takes longer
    lab.synchronize()
    print(g)
    lab.profile(step):show()
    lab.profile(function() g:launch() end):show()
    print("y[1] = " .. y:get(1))
end)
