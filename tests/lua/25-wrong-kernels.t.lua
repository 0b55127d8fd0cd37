-- 25-wrong-kernels.t.lua - kernels that go wrong, each in its own way: a simulated GPU says which
-- kernel, which thread of which block, which line of the source, and which element of which
-- argument. What is refused before a launch on every GPU is tested by both/wrong-kernels.t.lua.

local T = require "tap"
local shell = require "repl.shell"

lab.open{ profile = "textbook" }
T.open()

-- One kernel with a number that says what goes wrong: compiling takes most of the time.
local has_compiler, wrongs = pcall(lab.kernel,
                                   { args = { "in f32*", "inout f32*", "i32", "u64", "i32" },
                                   name = "wrongs", source = [[
__device__ __noinline__ void copies(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.0f * i;                    // out-of-bounds
    if (i < n) y[i] += x[i];
}
__device__ __noinline__ void differences(const float *x, float *y)
{
    int i = threadIdx.x;
    y[i] = x[i] - x[i - 1];             // below
}
__device__ __noinline__ void swaps(float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float kept = y[i];
    y[i] = x[i];
    x[i] = kept;                        // written
}
__device__ __noinline__ void elsewhere(float *y, unsigned long long address)
{
    y[threadIdx.x] = 1.0f;
    if (threadIdx.x == 7) *(float *)address = 1.0f;     // undeclared
}
__device__ __noinline__ void quads(const float *x, float *y)
{
    int i = 4 * threadIdx.x;
    float4 four = *(const float4 *)(x + i + 1);         // misaligned
    y[i] = four.x + four.y + four.z + four.w;
}
__device__ __noinline__ void far(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i + (i == 100000 ? n : 0)] = 1.0f;
}
__device__ __noinline__ void reverses(float *y)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = y[t];                     // puts
    y[t] = part[255 - t];               // gets
}
__device__ __noinline__ void halves(float *y, int n)
{
    if (threadIdx.x >= n) return;
    y[threadIdx.x] *= 0.5f;
    __syncthreads();                    // divergent
    y[threadIdx.x] += 1.0f;
}
__device__ __noinline__ void branches(float *y)
{
    if (threadIdx.x % 2)
        __syncthreads();                // odd
    else
        __syncthreads();                // even
    y[threadIdx.x] = 0.0f;
}
__global__ void wrongs(float *x, float *y, int n, unsigned long long address, int which)
{
    switch (which) {
    case 0: return copies(x, y, n);
    case 1: return differences(x, y);
    case 2: return swaps(x, y);
    case 3: return elsewhere(y, address);
    case 4: return quads(x, y);
    case 5: return far(y, n);
    case 6: return reverses(y);
    case 7: return halves(y, n);
    case 8: return branches(y);
    }
}]] })
if not has_compiler then T.skip_all(tostring(wrongs)) end
if not wrongs.has_values then T.skip_all("there is no C++ compiler") end

-- The line of this file that has the comment "// NAME".
local lines = {}
for line in io.lines(arg[0]) do
    lines[#lines + 1] = line
end
local function line_of(name)
    for number, line in ipairs(lines) do
        if line:find("// " .. name .. "$") then return number end
    end
end

-- Whether the text has all parts, of which "@NAME" is a line of the source.
local function has_all(text, parts, name)
    for _, part in ipairs(parts) do
        part = part:gsub("@([%a-]+)",
                         function(marked) return line_of((marked:gsub("%-", "%%-"))) end)
        if not text:find(part, 1, true) then
            T.ok(false, name)
            return T.diag(("  got %s\n  it lacks: %s"):format(text, part))
        end
    end
    T.ok(true, name)
end

local x = lab.ones(1000)

-- Launches it on n new elements and reads them, which must fail with a text that has all parts:
-- what a launch that failed has left in a tensor is unknown.
local function goes_wrong(which, name, parts, n, grid, block, number, address)
    local y = lab.zeros(n)
    wrongs(grid, block, x, y, number or n, address or 0, which)
    local fine, err = pcall(y.totable, y)
    if fine then return T.ok(false, name .. ": is reported") end
    T.is(err.code, "SL_EKERNEL", name .. ": the kernel is at fault")
    table.insert(parts, "kernel wrongs")
    has_all(tostring(err), parts, name .. ": says where")
    T.is(select(2, pcall(y.totable, y)).message, err.message, name .. ": says it again")
end

-- ---- memory ------------------------------------------------------------------------------------

goes_wrong(0, "out of bounds",
           { "25-wrong-kernels.t.lua:@out-of-bounds:", "thread (232,0,0) of block (3,0,0)",
           "writes argument 2, element 1000 of 1000" }, 1000, 4, 256)
goes_wrong(1, "out of bounds, below", { ":@below:", "thread (0,0,0) of block (0,0,0)",
           "reads argument 1, element -1 of 1000" }, 1000, 1, 128)
goes_wrong(2, "in, but written", { ":@written:", "thread (0,0,0) of block (0,0,0)",
           "writes argument 1, element 0", "declared as \"in\"" }, 1000, 4, 128)
T.is(x:sum():item(), 1000, "in, but written: it stays what it was")
goes_wrong(3, "a write that no argument declares",
           { ":@undeclared:", "thread (7,0,0) of block (0,0,0)",
           "in no argument" }, 1000, 1, 32, 0, 0x7fff00001000)
goes_wrong(4, "a misaligned address",
           { ":@misaligned:", "thread (0,0,0) of block (0,0,0)", "argument 1, element 1",
           "multiple of 16" }, 1000, 1, 32)
-- Launches of more threads run another build, in which what is far outside is found.
goes_wrong(5, "out of bounds in a large launch",
           { "block (390,0,0)", "argument 2, element 231072 of 131072" },
           1 << 17, 512, 256)

-- The same source in another line, as after an edit of the script above it.
do
    local folder = shell.folder()
    local script = [[
        local y = lab.zeros(32)
        lab.kernel{args = {"out f32*"}, source = "__global__ void moved(float *y) { y[threadIdx.x] = 1; }"}(1, 33, y)
        return y]]
    for _, above in ipairs{ 0, 7 } do
        local y = dofile(shell.write(("%s/moved%d.lua"):format(folder, above),
                                     ("\n"):rep(above) .. script))
        local _, err = pcall(y.totable, y)
        has_all(tostring(err), { ("moved%d.lua:%d: thread (32,0,0)"):format(above, above + 2) },
                ("a kernel below %d lines: says where"):format(above))
    end
    shell.remove(folder)
end

-- ---- barriers ----------------------------------------------------------------------------------

goes_wrong(6, "a missing barrier",
           { "of block (0,0,0)", "without a barrier between", "@puts", "@gets" }, 256, 1, 256)
goes_wrong(7, "a barrier that not all threads reach",
           { ":@divergent:", "block (0,0,0)", "thread (100,0,0) has ended",
           "100 threads wait at __syncthreads()" }, 256, 1, 256, 100)
goes_wrong(8, "barriers in two branches", { "block (0,0,0)", "@odd", "@even" }, 256, 1, 64)

-- ---- a loop that does not end -------------------------------------------------------------------

do
    local folder = shell.folder()
    local path = shell.write(folder .. "/endless.lua", [[
io.stdout:setvbuf("no")
local y = lab.zeros(64)
local k = lab.kernel{args = {"inout f32*"}, source = "__global__ void turns(float *y) "
    .. "{ while (true) y[threadIdx.x] += 1.0f; }"}
k(tonumber(arg[1] or 1), 64, y)
print("go")
local fine, err = pcall(y.totable, y)
print(fine, err)
local next_one <close> = lab.ones(3)
]])
    for _, grid in ipairs{ "1", "4096" } do
        local began = os.time()
        local code, err, out = shell.interrupted(nil,
                                                 ("--backend sim %s %s"):format(shell.quote(path),
                                                 grid))
        T.like(out .. err, "interrupted",
               ("Ctrl-C ends a kernel that does not end, %s blocks of it"):format(grid))
        T.ok(code == 0 or code == 130, "and the program ends")
        T.ok(os.time() - began < 30, "soon")
    end
    shell.remove(folder)
end

x = nil
T.done()
