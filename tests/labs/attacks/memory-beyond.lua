-- Copies more bytes than a tensor has: what lies behind it is the test's.
-- held: SL_E
local small, large = lab.zeros(4, { device = "cpu" }), lab.zeros(4096, { device = "cpu" })
local fine, err = pcall(lab.cuda.memcpy, large, small, 4096 * 4)
assert(fine == false)
error(err.code .. " " .. err.message)
