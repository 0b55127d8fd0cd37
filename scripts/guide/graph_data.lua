local x, factor, y = lab.full(0, 4), 10, nil
lab.mul(x, x)                                       -- warm-up
local g = lab.graph(function() y = lab.mul(x, lab.full(factor, 4)) end)

for value = 1, 2 do
    x:copy_(lab.full(value, 4))                     -- new data, into the memory that was captured
    g:launch()
    print("x = " .. value, "y = " .. y:get(1))
end

x, factor = lab.full(3, 4), 100                     -- another tensor, another number
g:launch()
print("x = 3", "y = " .. y:get(1))
