-- 25-wrong-kernels.t.lua - kernels that go wrong, each in its own way: a simulated GPU says which kernel, which
-- thread of which block, which line of the source, and which element of which argument. What is refused before
-- a launch on every GPU is tested by both/wrong-kernels.t.lua.

local T = require "tap"
local shell = require "repl.shell"

lab.open{profile = "textbook"}
T.open()

local has_compiler, why = pcall(lab.kernel, {source = "__global__ void k() {}", args = {}})
local probe = lab.zeros(1)
if has_compiler then
    lab.kernel{source = "__global__ void k(float *x) { *x = 1; }", args = {"out f32*"}}(1, 1, probe)
    has_compiler, why = pcall(probe.item, probe)
end
probe = nil
if not has_compiler then T.skip_all(tostring(why)) end

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
        part = part:gsub("@([%a-]+)", function(marked) return line_of((marked:gsub("%-", "%%-"))) end)
        if not text:find(part, 1, true) then
            T.ok(false, name)
            return T.diag(("  got %s\n  it lacks: %s"):format(text, part))
        end
    end
    T.ok(true, name)
end

-- Launches it and reads `out`, which must fail with a text that has all parts.
local function goes_wrong(name, opts, parts, out, ...)
    local k = lab.kernel(opts)
    k(...)
    local fine, err = pcall(out.totable, out)
    if fine then return T.ok(false, name .. ": is reported") end
    T.is(err.code, "SL_EKERNEL", name .. ": the kernel is at fault")
    has_all(tostring(err), parts, name .. ": says where")
    T.is(select(2, pcall(out.totable, out)).message, err.message, name .. ": says it again")
end

-- ---- memory ------------------------------------------------------------------------------------

do
    local x, y = lab.ones(1000), lab.zeros(1000)
    goes_wrong("out of bounds", {args = {"in f32*", "out f32*", "i32"}, source = [[
        __global__ void copies(const float *x, float *y, int n)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            y[i] = 2.0f * i;                    // out-of-bounds
            if (i < n) y[i] += x[i];
        }]]},
        {"kernel copies", "25-wrong-kernels.t.lua:@out-of-bounds:", "thread (232,0,0) of block (3,0,0)",
         "writes argument 2, element 1000 of 1000"}, y, 4, 256, x, y, 1000)
    y = lab.zeros(1000)
    goes_wrong("out of bounds, below", {args = {"in f32*", "out f32*"}, source = [[
        __global__ void differences(const float *x, float *y)
        {
            int i = threadIdx.x;
            y[i] = x[i] - x[i - 1];             // below
        }]]},
        {"kernel differences", ":@below:", "thread (0,0,0) of block (0,0,0)", "reads argument 1, element -1 of 1000"},
        y, 1, 128, x, y)
    y = lab.zeros(1000)
    goes_wrong("in, but written", {args = {"in f32*", "out f32*"}, source = [[
        __global__ void swaps(float *x, float *y)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            float kept = y[i];
            y[i] = x[i];
            x[i] = kept;                        // written
        }]]},
        {"kernel swaps", ":@written:", "thread (0,0,0) of block (0,0,0)", "writes argument 1, element 0",
         "declared as \"in\""}, y, 4, 128, x, y)
    T.is(x:sum():item(), 1000, "in, but written: it stays what it was")
    y = lab.zeros(1000)
    goes_wrong("a write that no argument declares", {args = {"out f32*", "u64"}, source = [[
        __global__ void elsewhere(float *y, unsigned long long address)
        {
            y[threadIdx.x] = 1.0f;
            if (threadIdx.x == 7) *(float *)address = 1.0f;     // undeclared
        }]]},
        {"kernel elsewhere", ":@undeclared:", "thread (7,0,0) of block (0,0,0)", "in no argument"},
        y, 1, 32, y, 0x7fff00001000)
    y = lab.zeros(1000)
    goes_wrong("a misaligned address", {args = {"in f32*", "out f32*"}, source = [[
        __global__ void quads(const float *x, float *y)
        {
            int i = 4 * threadIdx.x;
            float4 four = *(const float4 *)(x + i + 1);         // misaligned
            y[i] = four.x + four.y + four.z + four.w;
        }]]},
        {"kernel quads", ":@misaligned:", "thread (0,0,0) of block (0,0,0)", "argument 1, element 1", "multiple of 16"},
        y, 1, 32, x, y)
end

-- Launches of more threads run another build, in which what is far outside is found.
do
    local n = 1 << 17
    local y = lab.zeros(n)
    goes_wrong("out of bounds in a large launch", {args = {"out f32*", "i32"}, source = [[
        __global__ void far(float *y, int n)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            y[i + (i == 100000 ? n : 0)] = 1.0f;
        }]]},
        {"kernel far", "block (390,0,0)", "argument 1, element 231072 of 131072"}, y, n // 256, 256, y, n)
end

-- The same source in another line, as after an edit of the script above it.
do
    local folder = shell.folder()
    local script = [[
        local y = lab.zeros(32)
        lab.kernel{args = {"out f32*"}, source = "__global__ void moved(float *y) { y[threadIdx.x] = 1; }"}(1, 33, y)
        return y]]
    for _, above in ipairs{0, 7} do
        local y = dofile(shell.write(("%s/moved%d.lua"):format(folder, above), ("\n"):rep(above) .. script))
        local _, err = pcall(y.totable, y)
        has_all(tostring(err), {("moved%d.lua:%d: thread (32,0,0)"):format(above, above + 2)},
                ("a kernel below %d lines: says where"):format(above))
    end
    shell.remove(folder)
end

-- ---- barriers ----------------------------------------------------------------------------------

-- Each has a tensor of its own: what a launch that failed has left in one is unknown.
do
    local y = lab.zeros(256)
    goes_wrong("a missing barrier", {args = {"inout f32*"}, source = [[
        __global__ void reverses(float *y)
        {
            __shared__ float part[256];
            int t = threadIdx.x;
            part[t] = y[t];                     // puts
            y[t] = part[255 - t];               // gets
        }]]},
        {"kernel reverses", "of block (0,0,0)", "without a barrier between", "@puts", "@gets"}, y, 1, 256, y)
    y = lab.zeros(256)
    goes_wrong("a barrier that not all threads reach", {args = {"inout f32*", "i32"}, source = [[
        __global__ void halves(float *y, int n)
        {
            if (threadIdx.x >= n) return;
            y[threadIdx.x] *= 0.5f;
            __syncthreads();                    // divergent
            y[threadIdx.x] += 1.0f;
        }]]},
        {"kernel halves", ":@divergent:", "block (0,0,0)", "thread (100,0,0) has ended",
         "100 threads wait at __syncthreads()"}, y, 1, 256, y, 100)
    y = lab.zeros(256)
    goes_wrong("barriers in two branches", {args = {"inout f32*"}, source = [[
        __global__ void branches(float *y)
        {
            if (threadIdx.x % 2)
                __syncthreads();                // odd
            else
                __syncthreads();                // even
            y[threadIdx.x] = 0.0f;
        }]]},
        {"kernel branches", "block (0,0,0)", "@odd", "@even"}, y, 1, 64, y)
end

-- ---- a loop that does not end ------------------------------------------------------------------------

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
    for _, grid in ipairs{"1", "4096"} do
        local began = os.time()
        local code, err, out = shell.interrupted(nil, ("--backend sim %s %s"):format(shell.quote(path), grid))
        T.like(out .. err, "interrupted", ("Ctrl-C ends a kernel that does not end, %s blocks of it"):format(grid))
        T.ok(code == 0 or code == 130, "and the program ends")
        T.ok(os.time() - began < 30, "soon")
    end
    shell.remove(folder)
end

T.done()
