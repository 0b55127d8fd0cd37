local half <const> = { dtype = "bfloat16" }
local function rand(...) return lab.randn(...):to("bfloat16") end
local x <const>, w1 <const>, w2 <const> = rand(512, 1024), rand(1024, 4096), rand(4096, 1024)
local b1 <const>, b2 <const> = lab.zeros(4096, half), lab.zeros(1024, half)

-- A bias as a matrix: there is no broadcasting.
local rows <const> = { lab.zeros(512, 4096, half), lab.zeros(512, 1024, half) }

local function apart()
    local hidden = lab.relu(lab.matmul(x, w1) + rows[1])
    return lab.matmul(hidden, w2) + rows[2]
end

local function fused()
    local hidden = lab.matmul(x, w1, { bias = b1, activation = "relu" })
    return lab.matmul(hidden, w2, { bias = b2 })
end

print(lab.allclose(apart(), fused(), { rtol = 0.02, atol = 1 }))
for _, f in ipairs{ apart, fused } do
    lab.synchronize()
    local tl = lab.profile(f)
    print(("%d kernels, %.1f us"):format(#tl:spans(), tl.makespan_us))
end
