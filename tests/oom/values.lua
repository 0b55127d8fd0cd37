-- values.lua - values that streams write and wait for, for the failing allocator. Every error ends
-- it, as it would a user's script, with streams that still wait.
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
