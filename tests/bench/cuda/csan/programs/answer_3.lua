-- The third listing: batches are copied in stream1, used in stream2.
local lab = require "streamlab"
local size = 512
local stream1 = lab.stream{ name = "stream1", non_blocking = true }
local stream2 = lab.stream{ name = "stream2", non_blocking = true }

local output
for _ = 1, 3 do
    local data_cpu = lab.ones(32, size, { device = "cpu" })
    local data_gpu = data_cpu:to("cuda", { non_blocking = true, stream = stream1 })  -- A
    local weights = lab.ones(size, size, { stream = stream2 })
    output = lab.matmul(data_gpu, weights, { stream = stream2 })                    -- B
    lab.synchronize()
end
print("result", output:get(1, 1), "of 512")
