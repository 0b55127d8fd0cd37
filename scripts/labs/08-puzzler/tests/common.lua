-- What the tests of this lab have in common: work for run(), and how quickly it can be done.

local format = string.format
local common = {}

-- Gives matrix i the value i + more, and to_cpu[i] the value 100 + i + more.
local function fill(tensors, more)
    for i, matrix in ipairs(tensors.matrices) do matrix:fill_(i + more) end
    for i, tensor in ipairs(tensors.to_cpu) do tensor:fill_(100 + i + more) end
    lab.synchronize()
end

-- Work of so many matmuls and copies, of n x n each. to_gpu[i] is full of 200 + i, the others of
-- fill()'s values. It is in the student's hands; what the tests ask for is in the spec. The second
-- result is the lists that fill() needs, which the student does not have.
local function make_work(n, spec)
    local work = { matrices = {}, wanted = spec.wanted, to_cpu = {}, to_gpu = {} }
    for i = 1, spec.matmuls do work.matrices[i] = lab.empty(n, n) end
    for i = 1, spec.to_cpu do work.to_cpu[i] = lab.empty(n, n) end
    for i = 1, spec.to_gpu do work.to_gpu[i] = lab.full(200 + i, n, n, { device = "cpu" }) end
    local tensors = { matrices = { table.unpack(work.matrices) },
                      to_cpu = { table.unpack(work.to_cpu) } }
    fill(tensors, 2)
    return work, tensors
end

local function simulated() return lab.device().backend == "sim" end

-- Lets the student prepare and run the work, and gives the timeline of the second run, since the
-- first one is the warm-up; and what it returned. Garbage is collected between the two, so
-- that a run which makes its tensors finds the memory of the first one. Before each run the tensors
-- on the GPU get other values: what prepare() made of them is out of date. A real host is not
-- always as quick as it can be: there it is the quickest of three.
function common.profile(student, n, spec)
    local work, tensors = make_work(n, spec)
    local plan = student.prepare(work)
    lab.synchronize()
    fill(tensors, 1)
    student.run(plan)
    local best, best_done
    for _ = 1, simulated() and 1 or 3 do
        lab.synchronize()
        collectgarbage()
        fill(tensors, 0)
        local tl, done = lab.profile(student.run, plan)
        if not best or tl.makespan_us < best.makespan_us then best, best_done = tl, done end
    end
    return best, best_done
end

-- How long one of each keeps its engine busy, among others of its kind: copies by pinned memory.
-- On a real GPU many tensors are copied, pinned in place, since not all memory is equally quick.
local function alone_us(n)
    local a, b, up, down = lab.ones(n, n), lab.empty(n, n), {}, {}
    local count = simulated() and 1 or 40
    for i = 1, count do
        up[i] = lab.ones(n, n, { device = "cpu" })
        up[i]:pin()
        down[i] = lab.empty(n, n, { device = "cpu", pinned = true })
    end
    local function time(f)
        local function all() for i = 1, 40 do f((i - 1) % count + 1) end end
        if simulated() then f(1) else all() end
        lab.synchronize()
        return lab.profile(all):busy_us() / 40
    end
    return {
        matmul = time(function() lab.matmul(a, a, { out = b }) end),
        down = time(function(i) down[i]:copy_(b, { non_blocking = true }) end),
        up = time(function(i) b:copy_(up[i], { non_blocking = true }) end),
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
    if tl.makespan_us == 0 then
        error("run() gave the GPU no work. prepare() makes streams and memory, and its time does "
            .. "not count; the matmuls and copies are run()'s, each time that it is called.", 0)
    end
    local down, up, each = spec.to_cpu + spec.wanted, spec.to_gpu, 4 * n * n
    t:span_count(tl, "kernel", { exactly = spec.matmuls }, "one matmul for each matrix")
    t:span_count(tl, "memcpy_d2h", { exactly = down },
        "one copy to the CPU for each tensor of to_cpu and each wanted square")
    t:span_count(tl, "memcpy_h2d", { exactly = up },
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

local pinning <const> = { cudaHostRegister = true, cudaHostAlloc = true }

-- Says where the host was when it called neither for work nor for a wait, if that is much: it
-- page-locked memory then, or copied it.
function common.say_host(t, tl)
    local entries, by_line, sum_us, last_us = {}, {}, 0, nil
    for _, span in ipairs(tl:spans()) do entries[#entries + 1] = span end
    for _, call in ipairs(tl:calls()) do entries[#entries + 1] = call end
    table.sort(entries, function(a, b) return a.correlation < b.correlation end)
    for _, entry in ipairs(entries) do
        local us = entry.host_start_us - (last_us or entry.host_start_us)
        if pinning[entry.name] then us = us + entry.host_end_us - entry.host_start_us end
        if not entry.of_stop and entry.where ~= "" then
            by_line[entry.where] = (by_line[entry.where] or 0) + us
            sum_us = sum_us + us
        end
        last_us = entry.host_end_us
    end
    if sum_us < 0.2 * tl.makespan_us then return end
    local worst = next(by_line)
    for line, us in pairs(by_line) do if us > by_line[worst] then worst = line end end
    t:diag(format("The host spent %.1f ms outside of its calls for work, %.1f ms of them in or "
        .. "before %s.\npin_memory(), pin() and new pinned tensors take that long: get pinned "
        .. "memory in prepare().", sum_us / 1000, by_line[worst] / 1000, worst))
end

-- That the makespan is near the bound.
function common.quick(t, n, spec, tl, within_percent)
    if not t:makespan(tl, { of_us = bound_us(n, spec), within_percent = within_percent,
        gpu_within_percent = 40 }, "the busiest engine hardly ever waits") then
        common.say_host(t, tl)
    end
end

return common
