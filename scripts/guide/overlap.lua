local math_stream = lab.stream{ name = "math" }
local copy_stream = lab.stream{ name = "copies" }
local a = lab.rand(2048, 2048)                       -- on the GPU
local data = lab.rand(4096, 4096)                    -- 64 MiB, on the GPU
local tl = lab.profile(function()
    for i = 1, 8 do lab.matmul(a, a, { stream = math_stream }) end
    data:to("cpu", { non_blocking = true, stream = copy_stream })
end)
tl:show()
print("overlap in us:", tl:overlap_us("compute", "d2h"))
