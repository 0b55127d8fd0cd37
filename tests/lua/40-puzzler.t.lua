-- 40-puzzler.t.lua - the puzzler's story on the simulated H200.
--
-- 1000 matmuls of 1024 x 1024 in one stream, 100 tensors of 4 MiB out in the
-- second, 100 in in the third. Asynchronously all three overlap; with blocking
-- copies the host is held in the copies out, so nothing goes in meanwhile; with
-- pinned memory the makespan is within 2 % of its bound.

local T = require "tap"
local ideal = require "lua.ideal"

local matmuls, copies, n = 1000, 100, 1024

-- The time in which an H2D, a D2H and a kernel run at once.
local function all_three_us(spans)
    local edges, running, total, before = {}, { compute = 0, h2d = 0, d2h = 0 }, 0, 0
    for _, span in ipairs(spans) do
        edges[#edges + 1] = { span.start_us, 1, span.engine }
        edges[#edges + 1] = { span.end_us, -1, span.engine }
    end
    table.sort(edges, function(a, b)
        if a[1] ~= b[1] then return a[1] < b[1] end
        return a[2] < b[2]
    end)
    for _, edge in ipairs(edges) do
        if running.compute > 0 and running.h2d > 0 and running.d2h > 0 then
            total = total + edge[1] - before
        end
        before = edge[1]
        running[edge[3]] = running[edge[3]] + edge[2]
    end
    return total
end

local function run(non_blocking, pinned)
    ideal.textbook()
    local s = { lab.stream{}, lab.stream{}, lab.stream{} }
    local function make(count, options)
        local list = {}
        for i = 1, count do list[i] = lab.rand(n, n, options or {}) end
        return list
    end
    local matrix_on_gpu, data_on_gpu = make(matmuls), make(copies)
    local data_on_cpu = make(copies, { device = "cpu", pinned = pinned })
    -- a warm-up's results
    for _, t in ipairs(make(copies, { device = "cpu", pinned = true })) do t:free() end
    lab.synchronize()
    local results = {}
    local tl = lab.profile(function()
        lab.with(s[1], function()
            for i = 1, matmuls do lab.matmul(matrix_on_gpu[i], matrix_on_gpu[i]) end
        end)
        lab.with(s[2], function()
            for i = 1, copies do results[i] = data_on_gpu[i]:to("cpu",
                { non_blocking = non_blocking }) end
        end)
        lab.with(s[3], function()
            for i = 1, copies do data_on_cpu[i]:to("cuda", { non_blocking = non_blocking }) end
        end)
    end)
    return tl, results
end

local function bytes(tl, kind)
    local total = 0
    for _, span in ipairs(tl:spans()) do
        if span.kind == kind then total = total + span.bytes end
    end
    return total
end

local function asynchronous()
    local tl, results = run(true)
    T.is(results[1].pinned, true, "non_blocking = true copies to pinned memory, as in PyTorch")
    -- 1000 matmuls of 56.7 us (measured, with the gap between them)
    T.near(tl:busy_us("compute"), 56700, 0.05 * 56700, "1000 matmuls keep the GPU busy for 56.7 ms")
    T.is(bytes(tl, "memcpy_d2h"), copies * n * n * 4, "400 MiB go out")
    T.is(bytes(tl, "memcpy_h2d"), copies * n * n * 4, "and 400 MiB in")
    T.ok(tl:overlap_us("compute", "d2h") > 0, "non-blocking: copies out overlap the matmuls")
    T.ok(tl:overlap_us("compute", "h2d") > 0, "non-blocking: copies in overlap the matmuls")
    T.ok(tl:overlap_us("h2d", "d2h") > 0, "non-blocking: the two directions overlap")
    T.ok(all_three_us(tl:spans()) > 1000, "non-blocking: all three run at once for milliseconds")
    return tl.makespan_us
end

local function blocking()
    local tl, results = run(false)
    T.is(results[1].pinned, false, "non_blocking = false copies to pageable memory")
    T.ok(tl:overlap_us("compute", "d2h") > 0, "blocking: copies out still overlap the matmuls")
    T.ok(tl:overlap_us("compute", "h2d") > 0, "blocking: copies in as well, or at least the first")
    T.near(tl:overlap_us("h2d", "d2h"), 0, 0, "blocking: the two directions do not overlap")
    T.is(all_three_us(tl:spans()), 0, "blocking: never do all three run at once")
    local last_out, first_in = 0, math.huge
    for _, span in ipairs(tl:spans()) do
        if span.kind == "memcpy_d2h" then last_out = math.max(last_out, span.end_us) end
        if span.kind == "memcpy_h2d" then first_in = math.min(first_in, span.start_us) end
    end
    T.ok(first_in >= last_out, "blocking: the first copy in starts after the last one out")
    return tl.makespan_us
end

local function pinned()
    local tl = run(true, true)
    local distance = tl.makespan_us / tl:bounds().lower_us
    T.ok(distance >= 1 - 1e-9, "pinned: no schedule beats the lower bound")
    T.ok(distance <= 1.02, "pinned: the makespan is within 2 % of the bound")
    T.diag(("pinned: makespan / lower bound %.4f"):format(distance))
    T.ok(all_three_us(tl:spans()) > 1000, "pinned: all three run at once")
    return tl.makespan_us
end

local function the_script()
    local script = "scripts/puzzler.lua"
    local status, text = ideal.run(script)
    T.is(status, 0, "scripts/puzzler.lua runs")
    T.like(text, "textbook GPU", "it names the GPU")
    T.like(text, "makespan", "and tells makespans")
    T.like(text, "overlap", "overlaps")
    T.like(text, "bound", "and bounds")
    local _, again = ideal.run(script)
    T.ok(again == text, "and says the same when run again")
    T.is(ideal.run(script, "--variant pinned --matmuls 20 --copies 5 --n 64"), 0,
         "arguments change sizes and variant")
    T.is(ideal.run(script, "--variant sideways"), 2, "an unknown variant is a usage error")
    T.is(ideal.run(script, "--frobnicate"), 2, "so is an unknown argument")
end

local fast, slow, best = asynchronous(), blocking(), pinned()
T.ok(best <= fast and fast < slow,
     "pinned is at least as fast as non-blocking, which is faster than blocking")
the_script()
T.done()
