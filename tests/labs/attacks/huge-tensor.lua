-- A terabyte on the GPU, and a look at it.
-- held: SL_ENOMEM
local fine, err = pcall(function() return lab.zeros(1000000, 1000000):totable() end)
assert(not fine)
error(err.code)
