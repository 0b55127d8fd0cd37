lab.open{ profile = { base = "textbook", spread = {
    ["what calls cost"] = { keys = { "host" }, low = 0.8, high = 1.5 },
    ["uploads"] = { keys = { "h2d_gb_per_s" }, low = 0.9, high = 1.05 },
} } }
local a, data = lab.rand(512, 512), lab.rand(512, 512, { device = "cpu", pinned = true })
local copies = lab.stream{ name = "copies" }
local tl = lab.profile(function()
    for _ = 1, 8 do
        data:to("cuda", { non_blocking = true, stream = copies })
        lab.add(a, a)
    end
end, { spread = 20 })
tl:show()
print("in us:", tl.makespan_us, table.unpack(tl.range_us))
