local a = lab.rand(2048, 2048)
local data = lab.rand(4096, 4096)
local copies = lab.stream{ name = "copies" }
lab.synchronize()

local tl = lab.profile(function()
    for i = 1, 10 do a = lab.matmul(a, a) end
    data:to("cpu", { non_blocking = true, stream = copies })
end)
tl:explain()
