local low = lab.stream{ name = "low", priority = "low" }
local high = lab.stream{ name = "high", priority = "high" }
local large = lab.zeros(8192, 8192, { device = "cpu", pinned = true })
local small = lab.zeros(512, 512, { device = "cpu", pinned = true })
local to_large, to_small = lab.empty(8192, 8192), lab.empty(512, 512)
lab.synchronize()

lab.profile(function()
    to_large:copy_(large, { non_blocking = true, stream = low })
    to_small:copy_(small, { non_blocking = true, stream = high })
end):show()
print(lab.stream{ priority = 1 }.priority, lab.stream{ priority = -100 }.priority)
