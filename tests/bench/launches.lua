-- launches.lua N KIND - N kernels that share the chip, or are the program's own; prints the seconds
-- of processor time. A work-load, not a test. KIND is one of
--   shared       spins of 100 blocks in four streams
--   own          a kernel of one's own, in one stream
--   own-shared   the same in four streams, larger
local n <const>, kind <const> = tonumber(arg[1]) or 100000, arg[2] or "shared"

lab.open { backend = "sim", profile = "textbook" }
local spin <const> = lab.spin

local source <const> = [[
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2 * x[i] + 1;
}]]
local k <const> = lab.kernel { args = { "inout f32*", "i32" }, source = source }
local elements <const> = kind == "own" and 100000 or 1000000
local blocks <const> = (elements + 255) // 256

-- Options and memory of each of the four launches of a round.
local o <const>, x <const> = {}, {}
for i = 1, 4 do
    local is_other <const> = i == 1 or kind ~= "own"
    o[i] = is_other and { stream = lab.stream(), blocks = kind == "shared" and 100 or nil } or o[1]
    x[i] = is_other and lab.empty(elements) or x[1]
end
local o1 <const>, o2 <const>, o3 <const>, o4 <const> = table.unpack(o)
local x1 <const>, x2 <const>, x3 <const>, x4 <const> = table.unpack(x)

lab.synchronize()
local began <const> = os.clock()
if kind == "shared" then
    for _ = 1, n // 4 do
        spin(0.01, o1) spin(0.01, o2) spin(0.01, o3) spin(0.01, o4)
    end
else
    for _ = 1, n // 4 do
        k(blocks, 256, o1, x1, elements) k(blocks, 256, o2, x2, elements)
        k(blocks, 256, o3, x3, elements) k(blocks, 256, o4, x4, elements)
    end
end
lab.synchronize()
print(("%.6f"):format(os.clock() - began))
