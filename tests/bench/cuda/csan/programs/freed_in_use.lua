-- Memory is given back in one stream while another one still reads it.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local consumer = lab.stream{ name = "consumer", non_blocking = true }
lab.synchronize()

x:fill_(7)
lab.synchronize()
lab.spin(10, { stream = consumer })
local y = lab.mul(x, 2, { stream = consumer })          -- A
lab.cuda.free_async(x)                                  -- B
local z = lab.full(1, n)
lab.synchronize()
print("result", y:get(1), "of 14")
