-- values.lua - values that streams write and wait for, and those that repeated launches leave, for
-- the failing allocator. Every error ends it, as it would a user's script, with streams that still
-- wait.
lab.open { backend = "sim", profile = "textbook" }

local words = lab.zeros(4, { dtype = "int32", device = "cpu", pinned = true })
local a, b = lab.stream { name = "a" }, lab.stream { name = "b" }
for i = 1, 2 do
    b:wait_value(words, 1, i)
    a:write_value(words, 2, i)
    b:write_value(words, 3, i)
    a:wait_value(words, 3, i)
    words:set(1, i)
end
a:synchronize()
assert(words:get(2) == 2 and words:get(3) == 2)

-- Launches that repeat one another, of which memory may end the row.
local step <const> = lab.kernel { name = "step", args = { "inout f32*", "f32" },
                                  cpu = function(_, _, t, a) t[1] = 2 * t[1] + a end }
local row <const> = lab.zeros(1)
for _ = 1, 5 do step(1, 1, row, 1) end
step(1, 1, row, 2)
lab.synchronize()
step(1, 1, { stream = lab.stream() }, row, 2)
lab.synchronize()
assert(row:item() == 2 * (2 * 31 + 2) + 2)
