-- 25-large-kernels.t.lua - kernels on tensors of megabytes, whose launches hand memory on from one
-- to the next: each tensor still has its own values, whoever else held them.

local T = require "tap"

lab.open{ profile = "textbook" }
T.open()
if not T.computes_kernels() then T.skip_all("there is no C++ compiler") end
if os.getenv("TAP_GC") then
    T.skip_all("loops over a million numbers, with a collection every few instructions")
end

local n <const>, threads <const> = 1 << 20, 256
local k = lab.kernel{ name = "adds", args = { "in i32*", "inout i32*", "i32", "i32" }, source = [[
__global__ void adds(const int *x, int *y, int n, int stray) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
    if (stray && i == 0) y[n + stray] = 1;
}]] }

local function launch(x, y, stray) k(y:numel() // threads, threads, x, y, y:numel(), stray or 0) end

-- Element i is i * factor + added, for all i.
local function holds(t, factor, added, name)
    local values, wrong = t:totable(), nil
    for i = 1, #values do
        if values[i] ~= i * factor + added then wrong = wrong or i end
    end
    T.ok(not wrong, name)
    if wrong then T.diag(("  element %d is %s"):format(wrong, values[wrong])) end
end

local numbers = {}
for i = 1, n do numbers[i] = i end
local function new() return lab.tensor(numbers, { dtype = "int32" }) end
local function test()
    local x, y = new(), new()

    launch(x, y)
    holds(y, 2, 0, "a launch adds")
    launch(x, y)
    launch(x, y)
    holds(y, 4, 0, "so do two more, of which nobody has read the first")
    holds(x, 1, 0, "what is only read stays")

    local before = lab.empty(n, { dtype = "int32" })
    before:copy_(y)
    launch(x, y)
    holds(before, 4, 0, "a copy keeps what the tensor had")
    holds(y, 5, 0, "which goes on")

    lab.mul(y, 3, { out = y })
    launch(x, y)
    holds(y, 16, 0, "an elementwise kernel changes what a launch has left, and is found by another")

    y:copy_(x)
    launch(y, before)
    launch(x, y)
    holds(before, 5, 0, "a tensor that is written can be read by another launch before")
    holds(y, 2, 0, "and be changed behind that")

    local both = lab.zeros(2 * n, { dtype = "int32" })
    local half = both:narrow(1, n + 1, n)
    half:copy_(x)
    launch(x, half)
    T.is(both:get(n), 0, "a launch on a part of a tensor leaves the other part")
    holds(half, 2, 0, "and changes its own")

    launch(x, y, 10000000)
    T.throws_like(function() y:get(1) end, "argument 2, element 11048576 of 1048576",
        "a launch that goes wrong is reported")
    holds(x, 1, 0, "and loses nothing but what it writes")
    T.throws_like(function() y:get(1) end, "argument 2, element 11048576 of 1048576",
        "what that was, it says again")

    y:copy_(x)
    launch(x, y)
    holds(y, 2, 0, "the tensor can be used again")
end

test()
k = nil
T.done()
