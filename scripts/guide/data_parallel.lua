local one, two = lab.device(), lab.open{ index = 1 }
one:make_current()
local comm = lab.comm{ devices = { one.index, two.index } }
local x, gradient = {}, {}
for i = 1, 2 do
    x[i] = lab.rand(2048, 2048, { device = "cuda:" .. i - 1 })
    gradient[i] = lab.empty(2048, 2048, { device = "cuda:" .. i - 1 })
end

local tl = lab.profile(function()
    for i = 1, 2 do lab.matmul(x[i], x[i], { out = gradient[i] }) end
    comm:all_reduce(gradient)
    for i = 1, 2 do lab.mul(gradient[i], 0.5, { out = x[i] }) end
end)
tl:save("build/step.et")       -- build/step.0.et, build/step.1.et
tl:save("build/step.goal")
