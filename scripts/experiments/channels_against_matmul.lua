-- How many channels should an all-reduce have that runs beside matmuls?
--
-- It is often said that "NCCL knows the best number of channels", and that "a collective beside
-- matmuls costs nothing". On each GPU (arg[1] of them, or 2) ten matmuls of 8192 x 8192 run beside
-- twelve all-reduces of 256 MiB. Expected: a channel is a block that holds an SM. More channels
-- make all-reduces shorter and matmuls longer. Best is a number with which both end at about the
-- same time.
local lab = require "streamlab"
local gpus, s, c, a, b, t, out = {}, {}, {}, {}, {}, {}, {}
for k = 1, tonumber(arg[1] or 2) do
    gpus[k] = lab.open{ index = k - 1 }
    local opts = { device = gpus[k], dtype = "bfloat16" }
    s[k], a[k], b[k] = lab.stream(), lab.empty(8192, 8192, opts), lab.empty(8192, 8192, opts)
    c[k], t[k], out[k] = lab.stream(), lab.empty(1 << 27, opts), lab.empty(1 << 27, opts)
end
local function multiply()
    for i = 1, 10 * #gpus do
        local k <const> = i % #gpus + 1
        lab.matmul(a[k], a[k], { out = b[k], stream = s[k] })
    end
end
local function profile(...)
    local functions = { ... }
    local function all()
        for _, f in ipairs(functions) do f() end
    end
    all()                                       -- the first launches load the kernels
    return lab.profile(all)
end
local function is_right(comm)
    local x, right = {}, true
    for k, gpu in ipairs(gpus) do x[k] = lab.full(k, 1000, { device = gpu }) end
    comm:all_reduce(x)
    for _, y in ipairs(x) do right = right and y:get(1000) == #gpus * (#gpus + 1) / 2 end
    return right
end

local matmuls_us <const>, rows, best = profile(multiply):busy_us(s[1]), {}, nil
for i, channels in ipairs{ 1, 2, 4, 8, 16, 24, 32 } do
    local comm <const> = lab.comm{ devices = gpus, channels = channels }
    local function sum()
        for _ = 1, 12 do comm:all_reduce(t, { out = out, streams = c }) end
    end
    local sums_us <const>, tl <const> = profile(sum):busy_us(c[1]), profile(sum, multiply)
    rows[i] = { channels = channels, sums_us = sums_us, sums_x = tl:busy_us(c[1]) / sums_us,
        matmuls_x = tl:busy_us(s[1]) / matmuls_us, in_turns_us = sums_us + matmuls_us,
        makespan_us = tl.makespan_us, right = is_right(comm) }
    best = best and best.makespan_us < tl.makespan_us and best or rows[i]
    comm:free()
end
lab.table(rows, { columns = { "channels", "sums_us", "sums_x", "matmuls_x", "in_turns_us",
                              "makespan_us", "right" },
    title = ("The matmuls alone take %.0f us"):format(matmuls_us) }):show()
local nccl <const> = rows[6]
print(("Verdict: %s: NCCL knows the best number of channels: %.0f us with 24, %.0f with %d"):format(
    nccl.makespan_us < 1.02 * best.makespan_us and "holds" or "no longer holds", nccl.makespan_us,
    best.makespan_us, best.channels))
print(("Verdict: %s: a collective beside matmuls costs nothing: matmuls take %.2f times as long "
    .. "beside 24 channels, %.2f beside "
    .. "1"):format(nccl.matmuls_x < 1.02 and "holds" or rows[1].matmuls_x < 1.02
    and "depends" or "no longer holds", nccl.matmuls_x, rows[1].matmuls_x))
