-- The second listing: a matmul in stream3 takes what one in stream2 makes.
local lab = require "streamlab"
local size = 512
local data_cpu = lab.ones(size, size, { device = "cpu" })
local weight1_cpu = lab.ones(size, size, { device = "cpu" })
local weight2_cpu = lab.ones(size, size, { device = "cpu" })
local stream1 = lab.stream{ name = "stream1", non_blocking = true }
local stream2 = lab.stream{ name = "stream2", non_blocking = true }
local stream3 = lab.stream{ name = "stream3", non_blocking = true }

local data_gpu = data_cpu:to("cuda", { stream = stream1 })
stream1:synchronize()           -- as PyTorch's copies that block end
local weight1_gpu = weight1_cpu:to("cuda", { stream = stream2 })
lab.synchronize()               -- not in the listing
lab.spin(10, { stream = stream2 })
local stage1_output = lab.matmul(data_gpu, weight1_gpu, { stream = stream2 })           -- A
local weight2_gpu = weight2_cpu:to("cuda", { stream = stream3 })
stream3:synchronize()
local stage2_output = lab.matmul(stage1_output, weight2_gpu, { stream = stream3 })      -- B
lab.synchronize()
print("result", stage2_output:get(1, 1), "of 262144")
