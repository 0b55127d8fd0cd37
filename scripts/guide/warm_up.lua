local a, data = lab.rand(2048, 2048), lab.rand(4096, 4096)
local math_stream, copies = lab.stream{ name = "math" }, lab.stream{ name = "copies" }
local function work()
    for i = 1, 10 do lab.matmul(a, a, { stream = math_stream }) end
    data:to("cpu", { non_blocking = true, stream = copies })
end
work()
lab.synchronize()
collectgarbage()
lab.profile(work):show()
