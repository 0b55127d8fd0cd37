-- All elements of a tensor that is small for a GPU.
-- held: out of host memory
local list = lab.zeros(40000, 40000):totable()
error(#list)
