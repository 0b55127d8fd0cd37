-- Sorts with a comparison that lies.
-- held: invalid order function for sorting
local list = {}
for i = 1, 300 do
    list[i] = i % 7
end
table.sort(list, function() return true end)
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
