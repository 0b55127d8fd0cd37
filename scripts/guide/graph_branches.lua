local main, side = lab.stream{ name = "main" }, lab.stream{ name = "side" }
local a, b = lab.rand(512, 512), lab.rand(512, 512)
lab.matmul(lab.add(a, b), b)                        -- warm-up

local g = lab.graph(function()
    local x = lab.add(a, b)
    side:wait_stream(main)                          -- the fork: from here on side is captured, too
    local y = lab.matmul(x, a, { stream = side })
    local z = lab.matmul(x, b)
    main:wait_stream(side)                          -- the join
    return lab.add(y, z)
end, { stream = main, name = "diamond" })

local nodes = g:nodes()
for _, edge in ipairs(g:edges()) do
    print(("node %d %s -> node %d %s"):format(edge[1], nodes[edge[1]].name, edge[2],
        nodes[edge[2]].name))
end
g:launch{ stream = main }
lab.synchronize()
local tl = lab.profile(function() g:launch{ stream = main } end)
tl:show()
for _, span in ipairs(tl:spans()) do
    print(("node %d of %s: %-10s in %-13s captured at %s"):format(span.node, span.graph, span.name,
        span.stream, span.where))
end
print(tl:calls()[1].name .. " at " .. tl:calls()[1].where)
