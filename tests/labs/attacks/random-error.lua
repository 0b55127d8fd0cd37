-- Raises what should be different each time, so that two gradings are.
-- held: error: random
math.randomseed()
local texts = { "random", math.random(1000000000), (tostring({}):gsub("%d", "a%0")),
    (("%s"):format(print):gsub("%d", "a%0")),
    (tostring(coroutine.create(print)):gsub("%d", "a%0")) }
for name in next, { a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8 } do
    texts[#texts + 1] = name
end
for name, value in pairs { x = 1, y = 2, z = 3, [print] = 4, [1.5] = 5 } do
    texts[#texts + 1] = tostring(name) .. tostring(value)
end
texts[#texts + 1] = lab.now_us()
error(table.concat(texts, " "), 0)
