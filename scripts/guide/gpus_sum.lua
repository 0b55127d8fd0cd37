local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
local comm = lab.comm{ devices = gpus }
local grads = { lab.full(1, 4, { device = gpus[1] }), lab.full(2, 4, { device = gpus[2] }) }
comm:all_reduce(grads)                          -- one kernel in a stream of each GPU
print(grads[1]:get(1), grads[2]:get(1))

local parts = { lab.full(1, 2, { device = gpus[1] }), lab.full(2, 2, { device = gpus[2] }) }
local all = comm:all_gather(parts)
print(table.concat(all[2]:totable(), " "))
