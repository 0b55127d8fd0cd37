-- matmul.lua - products of two float32 matrices by size, tuned and not, beside cublasSgemm. A
-- section of bench.lua.

local sizes = { 256, 512, 768, 1024, 1536, 2048, 4096 }

-- The Lua side of raw.matmul: a function that gives the GPU's us a product, by events around
-- `launches` of them, which a kernel holds back until all are enqueued; the operands; the product.
local function open_lua(b, n)
    local lab = b.lab
    local matmul, stream = lab.matmul, lab.stream { non_blocking = true }
    local x, y, out = lab.rand(n, n), lab.rand(n, n), lab.empty(n, n)
    local start, ended, options = lab.event(), lab.event(), { out = out, stream = stream }
    lab.synchronize()
    return function(launches)
        lab.spin(0.5 + 0.02 * launches, { stream = stream })
        start:record(stream)
        for _ = 1, launches do matmul(x, y, options) end
        ended:record(stream)
        ended:synchronize()
        return start:elapsed_time(ended) * 1000 / launches
    end, x, y
end

-- Both sides by turns, after a run of each that does not count.
local function alternate(b, raw, run, launches)
    local theirs, ours = {}, {}
    for i = 0, b.size.runs do
        local left, right = raw:run(launches) / 1000, run(launches)
        if i > 0 then theirs[i], ours[i] = left, right end
    end
    return b.report.summary(theirs), b.report.summary(ours)
end

local function check_values(b, raw, n)
    local x, y = b.lab.tensor(b.pattern({ n, n }, 1)), b.lab.tensor(b.pattern({ n, n }, 2))
    b.check("the tuned product", b.lab.matmul(x, y):totable()[1], raw:values(n))
end

local function measure(b, n)
    local raw <close> = b.closing(b.raw.matmul(n))
    local run, x, y = open_lua(b, n)
    local launches = n <= 1024 and 50 or 10
    local name = ("%d x %d"):format(n, n)
    local left, right = alternate(b, raw.object, run, launches)
    b.table:ratio(name .. ", cublasLt's choice", left, right, "us", nil)
    local began = b.raw.now_ns()
    local plan = b.lab.tune(x, y, { again = true })
    local seconds = (b.raw.now_ns() - began) / 1e9
    left, right = alternate(b, raw.object, run, launches)
    b.table:ratio(name .. ", tuned", left, right, "us", 1.02)
    b.table:row(("%s, the plan"):format(name), "",
                ("algorithm %d, tile %d, split-K %d"):format(plan.algorithm, plan.tile,
                                                             plan.split_k),
                ("%.3f x"):format(plan.us / plan.first_us),
                ("%d in %.2f s"):format(plan.candidates, seconds), nil)
    if n == sizes[1] then check_values(b, raw.object, n) end
end

return function(b)
    b.table:section("Tuned matmul", ([[
Two n x n matrices of float32, multiplied %s times in a row; time of the GPU a product, by events,
without the host's. Median of %d runs (least to largest), Lua and raw by turns. lab.tune measures
between the two rows of a size; the third row has the plan that it has found, its time over that of
cublasLt's choice as lab.tune has measured them, and how many candidates it measured.]])
        :format("10 to 50", b.size.runs), "cublasSgemm", "streamlab from Lua")
    for _, n in ipairs(sizes) do
        measure(b, n)
        collectgarbage()
        b.lab.synchronize()
    end
end
