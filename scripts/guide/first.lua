local a = lab.rand(2048, 2048)               -- on the GPU, the default device
local data = lab.rand(4096, 4096)            -- 64 MiB
local copies = lab.stream{ name = "copies" }
lab.synchronize()

local tl = lab.profile(function()
    for i = 1, 10 do a = lab.matmul(a, a) end            -- on the current stream
    data:to("cpu", { non_blocking = true, stream = copies })
end)
tl:show()
print("overlap: ", tl:overlap_us("compute", "d2h"), "us")
