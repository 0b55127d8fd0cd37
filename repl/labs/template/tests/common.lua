-- common.lua - what both files of tests use; students get it, too. There may be none.
-- A test's file has what it returns by: local common = include "common.lua"

local common = {}

-- A step's two arguments, as matrices of n x n. All elements of the product will be n.
function common.inputs(n)
    local weights = lab.ones(n, n)
    local batch = lab.rand(n, n, {device = "cpu", pinned = true, seed = 1})
    lab.synchronize()                   -- so that making them is no part of what is recorded
    return weights, batch
end

return common
