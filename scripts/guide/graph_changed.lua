local a, b, sum = lab.ones(1024), lab.full(2, 1024), lab.zeros(1024)
local function adds(input, times)
    return function() for _ = 1, times do lab.add(sum, input, { out = sum }) end end
end

lab.add(a, b)                                       -- warm-up
local g = lab.graph(adds(a, 3))
g:launch()
print("sum", sum:get(1))
print("another input", g:update(adds(b, 3)))
g:launch()
print("sum", sum:get(1))
print("one kernel more", g:update(adds(b, 4)))
