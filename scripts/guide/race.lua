local producer, consumer = lab.stream(), lab.stream()
local x = lab.full(1, 4, 4)
lab.spin(0.01) lab.mul(x, x)                        -- warm-up: the first launches load kernels
lab.synchronize()

lab.spin(1, { stream = producer })
x:fill_(7, { stream = producer })
print(lab.mul(x, x, { stream = consumer }):get(1, 1))
