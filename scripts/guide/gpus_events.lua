local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
local s, t = lab.stream{ device = gpus[1], name = "s" }, lab.stream{ device = gpus[2], name = "t" }
local x, y = lab.ones(1024, 1024, { device = gpus[1] }), lab.zeros(1024, 1024, { device = gpus[2] })
lab.synchronize()                               -- of GPU 1: y is there

y:copy_(x, { stream = s, non_blocking = true })  -- in a stream of GPU 0
if arg[1] == "wait" then t:wait_event(s:record_event()) end
local z = lab.mul(y, 10, { stream = t })        -- in one of GPU 1
print("z[1] = " .. z:get(1, 1))
