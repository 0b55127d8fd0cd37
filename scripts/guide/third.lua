local producer = lab.stream{ name = "producer" }
local consumer = lab.stream{ name = "consumer" }
local x = lab.full(1, 4, 4)
lab.spin(0.01) lab.mul(x, x)                        -- warm-up: the first launches load kernels
lab.synchronize()

local tl, squares = lab.profile(function()
    lab.spin(1, { stream = producer })              -- works for 1 ms ...
    x:fill_(7, { stream = producer })               -- ... and then writes 7 over the 1
    local produced = producer:record_event()        -- after everything in `producer` so far
    consumer:wait_event(produced)                   -- what follows in `consumer` comes after it
    local squares = lab.mul(x, x, { stream = consumer })
    lab.spin(0.5, { stream = consumer })            -- and some more work
    return squares
end)
tl:show()
print(squares:get(1, 1))
tl:save("build/event.svg", { theme = "light", width_px = 760 })
