local r = lab.sweep({ { "kib", { 16, 256, 4096 } }, { "pinned", { false, true } } }, function(point)
    local source = lab.ones(point.kib * 256, { device = "cpu", pinned = point.pinned })
    local target = lab.empty(point.kib * 256)
    return function() target:copy_(source, { non_blocking = true }) end
end, { title = "copies to the GPU" })

r:show()
r:csv("build/copies.csv")
r:plot{ x = "kib", y = "median_us", by = "pinned", log = "xy", file = "build/copies.svg",
        width_px = 640 }
