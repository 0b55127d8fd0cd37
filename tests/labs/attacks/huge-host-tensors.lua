-- Memory of the host that the laboratory takes for it, outside of Lua's.
-- held: memory
-- memory
local list, keep = {}, {}
for i = 1, 100000 do
    list[i] = i
end
for i = 1, 1000 do
    keep[i] = lab.tensor(list, { device = "cpu" })
end
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
