-- What the tests of this lab have in common: work for run(), and how quickly it can be done.

local format = string.format
local common = {}

-- Work of so many matmuls and copies, of n x n each. Matrix i is full of i, to_cpu[i] of 100 + i
-- and to_gpu[i] of 200 + i. It is in the student's hands; what the tests ask for is in the spec.
local function make_work(n, spec)
    local work = {matrices = {}, wanted = spec.wanted, to_cpu = {}, to_gpu = {}}
    for i = 1, spec.matmuls do work.matrices[i] = lab.full(i, n, n) end
    for i = 1, spec.to_cpu do work.to_cpu[i] = lab.full(100 + i, n, n) end
    for i = 1, spec.to_gpu do work.to_gpu[i] = lab.full(200 + i, n, n, {device = "cpu"}) end
    lab.synchronize()
    return work
end

-- Lets the student prepare and run the work, and gives the timeline of the second run, for the
-- first one is different on a GPU; and what it returned. Garbage is collected between the two, so
-- that a run which makes its tensors finds the memory of the first one.
function common.profile(student, n, spec)
    local plan = student.prepare(make_work(n, spec))
    lab.synchronize()
    student.run(plan)
    lab.synchronize()
    collectgarbage()
    return lab.profile(student.run, plan)
end

-- How long one of each keeps its engine busy, among others of its kind: copies by pinned memory.
local function alone_us(n)
    local a, b = lab.ones(n, n), lab.empty(n, n)
    local host = lab.ones(n, n, {device = "cpu", pinned = true})
    local function time(f)
        f()
        lab.synchronize()
        return lab.profile(function() for _ = 1, 10 do f() end end):busy_us() / 10
    end
    return {
        matmul = time(function() lab.matmul(a, a, {out = b}) end),
        down = time(function() host:copy_(b, {non_blocking = true}) end),
        up = time(function() b:copy_(host, {non_blocking = true}) end),
    }
end

-- The bound: what the busiest engine has to do at least. It is no figure of the timeline that it
-- is compared with, for there slow copies would make slow work look well.
local function bound_us(n, spec)
    local us = alone_us(n)
    return math.max(spec.matmuls * us.matmul, (spec.to_cpu + spec.wanted) * us.down,
                    spec.to_gpu * us.up)
end

local function bytes(tl, kind)
    local sum = 0
    for _, span in ipairs(tl:spans()) do
        if span.kind == kind then sum = sum + span.bytes end
    end
    return sum
end

-- That the recorded run did the work, all of it and no more, and not smaller work in its place.
function common.all_of_it(t, n, spec, tl)
    local down, up, each = spec.to_cpu + spec.wanted, spec.to_gpu, 4 * n * n
    t:span_count(tl, "kernel", {exactly = spec.matmuls}, "one matmul for each matrix")
    t:span_count(tl, "memcpy_d2h", {exactly = down},
        "one copy to the CPU for each tensor of to_cpu and each wanted square")
    t:span_count(tl, "memcpy_h2d", {exactly = up},
        "one copy to the GPU for each tensor of to_gpu")
    t:is(bytes(tl, "memcpy_d2h"), down * each, "bytes copied to the CPU")
    t:is(bytes(tl, "memcpy_h2d"), up * each, "bytes copied to the GPU")
    t:at_least(tl:busy_us("kernel"), 0.6 * spec.matmuls * alone_us(n).matmul,
        "us of matmuls: of whole matrices, and without tf32")
end

local function list(t, done, name, count, device, value)
    local got = type(done) == "table" and done[name]
    if not t:is(type(got), "table", "run() returns a list " .. name) then return end
    t:is(#got, count, "how many there are in " .. name)
    for i = 1, count do
        local item = format("%s[%d]", name, i)
        if t:close(got[i], value(i), item .. " has the right values") then
            t:is(got[i].device, device, item .. " is on the right side")
        end
    end
end

-- That all results are there, and right.
function common.right(t, n, spec, done)
    local function square(i) return n * i * i end
    list(t, done, "squares", spec.matmuls, "cuda", square)
    list(t, done, "wanted", spec.wanted, "cpu", square)
    list(t, done, "on_cpu", spec.to_cpu, "cpu", function(i) return 100 + i end)
    list(t, done, "on_gpu", spec.to_gpu, "cuda", function(i) return 200 + i end)
end

-- That the makespan is near the bound.
function common.quick(t, n, spec, tl, within_percent)
    t:makespan(tl, {of_us = bound_us(n, spec), within_percent = within_percent,
        gpu_within_percent = 35}, "the busiest engine hardly ever waits")
end

return common
