local producer, consumer = lab.stream{ name = "producer" }, lab.stream{ name = "consumer" }
local x = lab.full(1, 4, 4)
local ready = lab.zeros(1, { dtype = "int32", device = "cpu", pinned = true })
lab.spin(0.01) lab.mul(x, x)                -- warm-up: the first launches load kernels
lab.synchronize()

consumer:wait_value(ready, 1, 1)            -- nothing has been written: the stream waits
local squares = lab.mul(x, x, { stream = consumer })
lab.spin(1, { stream = producer })
x:fill_(7, { stream = producer })
producer:write_value(ready, 1, 1)           -- after everything in `producer` so far
lab.synchronize()
print(squares:get(1, 1))
