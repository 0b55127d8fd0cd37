local a = lab.rand(2048, 2048)
local data = lab.rand(4096, 4096)
local math_stream = lab.stream{ name = "math" }
local copies = lab.stream{ name = "copies" }
lab.synchronize()

local tl = lab.profile(function()
    lab.with(math_stream, function()
        for i = 1, 10 do lab.matmul(a, a) end
    end)
    data:to("cpu", { non_blocking = true, stream = copies })
end)
tl:show()
tl:summary()
