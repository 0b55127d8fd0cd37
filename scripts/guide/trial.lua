dofile "scripts/guide/mine.lua"
local weights = lab.ones(512, 512)
local batch = lab.rand(512, 512, { device = "cpu", pinned = true })
lab.with(lab.stream{ name = "caller" }, function()
    local product, on_gpu = step(weights, batch)
    lab.add(product, on_gpu)
end)
