-- large_kernel.lua [N] - N launches (40) of a kernel over 16 M elements, each of which is read, on
-- the simulated GPU; prints the seconds that they take. A work-load for beside.lua, not a test.
lab.open { backend = "sim", profile = "textbook" }
local k = lab.kernel { name = "axpy", args = { "f32", "in f32*", "inout f32*", "i32" }, source = [[
__global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}]] }
local n <const> = 16 << 20
local x, y = lab.rand(n), lab.rand(n)
local function launch()
    k(n // 256, 256, 0.5, x, y, n)
    y:get(1)
end

-- Of the system: what the launches' processes take is not in os.clock.
local function seconds()
    local file <close> = assert(io.open("/proc/uptime"))
    return file:read("n")
end

launch()
local began = seconds()
for _ = 1, tonumber(arg[1]) or 40 do launch() end
print(("%.2f"):format(seconds() - began))
