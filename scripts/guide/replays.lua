local x, total = lab.zeros(1024, 1024), lab.zeros(1024, 1024)
local batch = lab.zeros(1024, 1024, { device = "cpu", pinned = true })
local step = lab.graph(function()
    x:copy_(batch, { non_blocking = true })
    lab.add(total, x, { out = total })
end)
lab.synchronize()

for i = 1, 3 do
    batch:fill_(i)                              -- the next batch
    step:launch()
end
print(total:get(1, 1), "should be 6")
