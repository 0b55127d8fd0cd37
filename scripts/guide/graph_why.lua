local s, x, scale = lab.stream{ name = "s" }, lab.ones(4096), lab.full(0.5, 4096)
lab.mul(x, scale, { out = x, stream = s })              -- warm-up
lab.synchronize()
lab.profile(function()
    for _ = 1, 500 do lab.mul(x, scale, { out = x, stream = s }) end
end):explain()
