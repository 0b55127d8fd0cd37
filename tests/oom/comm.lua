-- comm.lua - communicators, collectives, groups and copies between GPUs, for the failing allocator.
-- Every error ends it, as it would a user's script.
lab.open { backend = "sim", profile = "textbook" }
lab.open { backend = "sim", profile = "textbook", index = 1 }

local comm = lab.comm { devices = { 0, 1 } }
local a, b = lab.ones(4, { device = "cuda:0" }), lab.ones(4, { device = "cuda:1" })
local tl = lab.profile(function()
    comm:all_reduce { a, b }
    comm:group(function()
        comm:broadcast({ a, b }, { root = 0 })
        comm:all_reduce({ a, b }, { op = "max" })
    end)
    b:copy_(a)
end)
assert(#tl:spans() > 0 and #tl:json() > 0)
assert(a:get(1) == 2 and b:get(1) == 2)
comm:free()
