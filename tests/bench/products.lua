-- products.lua [N] - three products of N x N (1536) that are read, on the simulated GPU; prints the
-- seconds that one takes. A work-load for beside.lua, not a test.
lab.open { backend = "sim", profile = "textbook" }
local n = tonumber(arg[1]) or 1536
local a, b = lab.rand(n, n), lab.rand(n, n)
a:get(1, 1)
b:get(1, 1)
local began = os.clock()
for _ = 1, 3 do lab.matmul(a, b):get(1, 1) end
print(("%.3f"):format((os.clock() - began) / 3))
