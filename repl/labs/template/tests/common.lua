-- common.lua - code that both files of tests use; students get it, too. A lab can do without it.
-- A file of tests loads it by: local common = include "common.lua"

local common = {}

-- A step's two arguments, as matrices of n x n. All elements of the product will be n.
function common.inputs(n)
    local weights = lab.ones(n, n)
    local batch = lab.rand(n, n, { device = "cpu", pinned = true, seed = 1 })
    lab.synchronize()                   -- so that creating them is not recorded
    return weights, batch
end

return common
