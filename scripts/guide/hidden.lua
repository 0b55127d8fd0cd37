local copies, compute = lab.stream{ name = "copies" }, lab.stream{ name = "compute" }
local ones = lab.ones(2048, 4096, { device = "cpu", pinned = true })
local scale = lab.full(3, 2048, 4096, { device = "cpu" })       -- pageable
local x, y = lab.zeros(2048, 4096), lab.zeros(2048, 4096)
lab.spin(0.01) lab.mul(x, y)
lab.synchronize()

x:copy_(ones, { non_blocking = true, stream = copies })
y:copy_(scale, { non_blocking = true, stream = copies })
print(lab.mul(x, 2, { stream = compute }):get(1, 1))            -- reads x in another stream
