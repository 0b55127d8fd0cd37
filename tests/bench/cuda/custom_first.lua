-- custom_first.lua BUILD SIDE [TEXT] - prints how many milliseconds the process's first compilation
-- with NVRTC takes, by plain CUDA C ("raw") or by lab.kernel ("lua"), loading included. custom.lua
-- starts it. TEXT makes the source another one, which no cache has.

local lab = require "streamlab"

local build, side, text = arg[1], arg[2], arg[3] or ""
lab.open { backend = "cuda" }
local raw = assert(package.loadlib(build .. "/tests/bench/raw.so", "luaopen_raw"))()
raw.open(lab.device().index)
local source = "// " .. text .. [[

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
]]
local c <close> = setmetatable({ raw = raw.custom() }, { __close = function(c) c.raw:close() end })
local began = raw.now_ns()
if side == "raw" then
    c.raw:compile(source)
    c.raw:load()
else
    lab.kernel { source = source, name = "saxpy", args = { "f32", "in f32*", "inout f32*", "i32" } }
end
print((raw.now_ns() - began) / 1e6)
