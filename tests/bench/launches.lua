-- launches.lua N KIND - N kernels that share the chip, or are the program's own; prints the seconds
-- of processor time. A work-load, not a test. KIND is one of
--   shared       spins of 100 blocks in four streams
--   own          a kernel of one's own, in one stream
--   own-shared   the same in four streams, larger
local n <const>, kind <const> = tonumber(arg[1]) or 100000, arg[2] or "shared"

lab.open { backend = "sim", profile = "textbook" }
local launch <const> = {}

local function spin_in(stream)
    local options <const> = { blocks = 100, stream = stream }
    return function() lab.spin(0.01, options) end
end

local source <const> = [[
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2 * x[i] + 1;
}]]

local function own_in(stream, elements)
    local k <const> = lab.kernel { args = { "inout f32*", "i32" }, source = source }
    local x <const>, options <const> = lab.empty(elements), { stream = stream }
    local blocks <const> = (elements + 255) // 256
    return function() k(blocks, 256, options, x, elements) end
end

for i = 1, kind == "own" and 1 or 4 do
    local stream <const> = lab.stream()
    launch[i] = kind == "shared" and spin_in(stream)
        or own_in(stream, kind == "own" and 100000 or 1000000)
end
lab.synchronize()
local began <const> = os.clock()
for i = 1, n do launch[i % #launch + 1]() end
lab.synchronize()
print(("%.6f"):format(os.clock() - began))
