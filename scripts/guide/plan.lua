local sizes = {}
for i = 1, 60 do sizes[i] = 16 * i end

local r, why = lab.sweep({ { "kib", sizes }, { "pinned", { false, true } } }, function(point)
    local source = lab.ones(point.kib * 256, { device = "cpu", pinned = point.pinned })
    local target = lab.empty(point.kib * 256)
    return function() target:copy_(source, { non_blocking = true }) end
end, { title = "copies to the GPU", columns = { "median_us" }, plan = "build/copies.jsonl" })

print(r or why)
