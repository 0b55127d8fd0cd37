-- Value wait: the consumer waits for a number in memory. When is it written?
--
-- The producer counts its steps there, but only behind both kernels, so that the copy waits for
-- both, though nothing of the second one is copied. A write comes behind all of its stream.

local lab = require "streamlab"
local producer, consumer = lab.stream{ name = "producer" }, lab.stream{ name = "consumer" }
local results = lab.rand(4096, 4096)
local steps, step = lab.zeros(1, { dtype = "int32", device = "cpu", pinned = true }), 0

local function experiment()
    step = step + 1
    lab.spin(2, { stream = producer })          -- makes the results
    lab.spin(3, { stream = producer })          -- makes something else
    producer:write_value(steps, 1, step)
    consumer:wait_value(steps, 1, step)
    results:to("cpu", { non_blocking = true, stream = consumer })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
