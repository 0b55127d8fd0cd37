local a = lab.rand(1024, 1024)              -- on the current GPU
local b = a:to("cuda:1")                    -- a copy on the second one
local c = lab.matmul(b, b)                  -- runs there, on its current stream
print(c:get(1, 1))
