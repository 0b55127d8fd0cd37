-- Tables that hold tables, and goes on when there is no memory for them.
-- held: not enough memory
local keep = {}
local function grow(n)
    local list = {}
    for i = 1, n do
        list[i] = keep
    end
    return list
end
for i = 1, 100 do
    keep[i] = grow(1000000)
end
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
