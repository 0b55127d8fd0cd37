-- tune.t.lua - matmul after lab.tune: right, the same bits in each run, in a capture too. On a real
-- GPU it measures, unless the user's cache has these shapes; a simulated one has nothing to tune.

local T = require "tap"
local N = require "both.numbers"

T.open()

local real = not lab.device().simulated

-- Whole numbers from -4 to 4: sums of up to 2^20 products of them are exact in float32, and those
-- of the shapes below in float16, in whatever order they are added up.
local function list_of(n, seed)
    local list = {}
    for i = 1, n do
        seed = (seed * 1103515245 + 12345) % 2147483648
        list[i] = seed // 65536 % 9 - 4
    end
    return list
end

local function product(a, b, m, k, n)
    local rows = {}
    for i = 1, m do
        rows[i] = {}
        for j = 1, n do
            local sum = 0
            for l = 1, k do sum = sum + a[(i - 1) * k + l] * b[(l - 1) * n + j] end
            rows[i][j] = sum
        end
    end
    return rows
end

local function check_facts(plan, what)
    if not real then
        T.is_deeply(plan, { tuned = false, measured = false },
                    what .. ": a simulated GPU tunes nothing")
        return
    end
    T.ok(plan.tuned and plan.us > 0 and plan.first_us > 0 and plan.candidates >= 1,
         what .. ": the facts of its plan are there")
    T.diag(("%s: %.2f us, first %.2f us, algorithm %d, tile %d, split-K %d, of %d"):format(
        what, plan.us, plan.first_us, plan.algorithm, plan.tile, plan.split_k, plan.candidates))
end

local function check(dtype, m, k, n, options)
    local a, b = list_of(m * k, 1), list_of(k * n, 2)
    local x, y = lab.tensor(N.rows(a, k), { dtype = dtype }),
        lab.tensor(N.rows(b, n), { dtype = dtype })
    local what = ("%s%s %dx%dx%d"):format(dtype, options.tf32 and " in tf32" or "", m, k, n)
    check_facts(lab.tune(x, y, options), what)
    T.is(lab.tune(x, y, options).measured, false, what .. ": it is measured once")
    local want = product(a, b, m, k, n)
    T.is_deeply(lab.matmul(x, y, options):totable(), want, what .. ": the product is right")
    local out = lab.empty(m, n, { dtype = dtype })
    lab.graph(function() lab.matmul(x, y, { out = out, tf32 = options.tf32 }) end):launch()
    T.is_deeply(out:totable(), want, what .. ": also in a graph")
end

-- A product with a bias and relu has a plan of its own.
local function check_epilogue()
    local a, b, bias = list_of(64 * 96, 1), list_of(96 * 32, 2), list_of(32, 3)
    local x, y = lab.tensor(N.rows(a, 96)), lab.tensor(N.rows(b, 32))
    local options = { bias = lab.tensor(bias), activation = "relu" }
    check_facts(lab.tune(x, y, options), "with a bias and relu")
    T.is(lab.tune(x, y, options).measured, false, "with a bias and relu: it is measured once")
    local want = product(a, b, 64, 96, 32)
    for _, row in ipairs(want) do
        for j, value in ipairs(row) do row[j] = math.max(value + bias[j], 0) end
    end
    T.is_deeply(lab.matmul(x, y, options):totable(), want,
                "with a bias and relu: the product is right")
end

-- Of numbers whose sums depend on the order: the bytes of all runs are the same.
local function check_bits()
    local x, y = lab.rand(192, 1024, { seed = 1 }), lab.rand(1024, 192, { seed = 2 })
    check_facts(lab.tune(x, y, { again = true }), "float32 192x1024x192")
    local first, same = lab.matmul(x, y):totable(), true
    for _ = 1, 20 do
        for i, row in ipairs(lab.matmul(x, y):totable()) do
            for j, value in ipairs(row) do same = same and value == first[i][j] end
        end
    end
    T.ok(same, "a tuned product has the same bits in each run")
end

for _, dtype in ipairs{ "float32", "float64" } do
    check(dtype, 3, 5, 7, {})
    check(dtype, 64, 96, 32, {})
end
check("float32", 64, 96, 32, { tf32 = true })
for _, dtype in ipairs{ "bfloat16", "float16" } do check(dtype, 8, 15, 8, {}) end
check_epilogue()
check_bits()
T.done()
