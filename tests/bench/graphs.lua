-- graphs.lua NODES LAUNCHES - launches a graph of so many nodes again and again: copies in,
-- products, sums and copies out in four branches. Prints the millions of nodes that are simulated
-- in a second of processor time. A work-load for bench.lua, not a test.
local nodes, launches = tonumber(arg[1]) or 10000, tonumber(arg[2]) or 100

lab.open { backend = "sim", profile = "h200" }
local main, sides, items = lab.stream(), {}, {}
for i = 1, 4 do
    sides[i] = lab.stream()
    items[i] = {
        x = lab.empty(64, 64), y = lab.empty(64, 64), on = { stream = sides[i] },
        copy = { non_blocking = true, stream = sides[i] },
        host = lab.empty(64, 64, { device = "cpu", pinned = true }),
    }
    items[i].on.out = items[i].y
end

local g = lab.graph(function()
    local start = main:record_event()
    for i = 1, 4 do sides[i]:wait_event(start) end
    for k = 0, nodes // 5 - 1 do
        local item = items[k % 4 + 1]
        item.x:copy_(item.host, item.copy)
        lab.matmul(item.x, item.x, item.on)
        lab.add(item.x, item.y, item.on)
        lab.spin(0.001, { stream = item.on.stream })
        item.host:copy_(item.y, item.copy)
    end
    for i = 1, 4 do main:wait_event(sides[i]:record_event()) end
end, { stream = main })

local n_nodes, began = #g:nodes(), os.clock()
for _ = 1, launches do g:launch { stream = main } end
lab.synchronize()
print(("%.2f"):format(n_nodes * launches / (os.clock() - began) / 1e6))
