-- Event wait: the consumer needs the first kernel's result. What does it wait for?
--
-- The event is recorded behind both kernels, so that the copy waits for both, though nothing of
-- the second one is copied. An event stands for everything in its stream up to the record.

local lab = require "streamlab"
local producer, consumer = lab.stream{ name = "producer" }, lab.stream{ name = "consumer" }
local results = lab.rand(4096, 4096)
local produced = lab.event()

local function experiment()
    lab.spin(2, { stream = producer })          -- makes the results
    lab.spin(3, { stream = producer })          -- makes something else
    produced:record(producer)
    consumer:wait_event(produced)
    results:to("cpu", { non_blocking = true, stream = consumer })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
