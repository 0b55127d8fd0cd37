local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
local comm = lab.comm{ devices = gpus }
local found = { lab.ones(4, { device = gpus[1] }), lab.zeros(4, { device = gpus[2] }) }
for rank, t in ipairs(found) do
    if t:get(1) > 0 then comm:all_reduce(t) end -- what differs from rank to rank decides
end
print(found[1]:get(1))
