local a = lab.rand(4096, 4096)
local r = lab.measure(function() lab.matmul(a, a) end, { warmup = 3, reps = 9 })
print(r.median_us, r.min_us, r.max_us)
