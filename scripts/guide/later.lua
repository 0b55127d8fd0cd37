local s = lab.stream()
local pinned = lab.full(1, 4, { device = "cpu", pinned = true })
local pageable = lab.full(1, 4, { device = "cpu" })
local a, b = lab.zeros(4), lab.zeros(4)
lab.synchronize()

lab.spin(1, { stream = s })                                 -- the copies wait for this kernel
a:copy_(pinned, { non_blocking = true, stream = s })
b:copy_(pageable, { non_blocking = true, stream = s })
pinned:fill_(2)                                             -- the host writes into both tensors
pageable:fill_(2)
s:synchronize()
print("from pinned:", a:get(1), "from pageable:", b:get(1))

local back = a:to("cpu", { non_blocking = true })           -- and in the other direction
local at_once = back:get(1)
lab.synchronize()
print("read at once:", at_once, "read after waiting:", back:get(1))
