-- The first listing: two copies that block, a matmul in the second one's stream.
local lab = require "streamlab"
local size = 512
local input_cpu = lab.ones(size, size, { device = "cpu" })
local matrix_cpu = lab.ones(size, size, { device = "cpu" })
local stream1 = lab.stream{ name = "stream1", non_blocking = true }
local stream2 = lab.stream{ name = "stream2", non_blocking = true }

local input_gpu = input_cpu:to("cuda", { stream = stream1 })           -- A
stream1:synchronize()           -- as PyTorch's copies that block end
local matrix_gpu = matrix_cpu:to("cuda", { stream = stream2 })
stream2:synchronize()
local output_gpu = lab.matmul(input_gpu, matrix_gpu, { stream = stream2 })  -- B
lab.synchronize()
print("result", output_gpu:get(1, 1), "of 512")
