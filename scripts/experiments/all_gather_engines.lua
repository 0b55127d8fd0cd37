-- Should an all-gather be a kernel, or copies by the copy engines?
--
-- It is often said that "copy engines leave the SMs to the matmuls", and that "an all-gather by
-- copy engines is slower". Each GPU (arg[1] of them, or 2) gets 64 MiB of each other one, alone and
-- beside ten matmuls of 4096 x 4096: by a collective, by one that asks NCCL for copy engines, and
-- by copies.
-- Expected: copies hold no SM, and are many calls. Asking changes nothing: the memory is not
-- NCCL's.
local lab = require "streamlab"
local gpus, s, c, a, b, mine, all = {}, {}, {}, {}, {}, {}, {}
for k = 1, tonumber(arg[1] or 2) do gpus[k] = lab.open{ index = k - 1 } end
for k, gpu in ipairs(gpus) do
    for _, other in ipairs(gpus) do
        pcall(lab.cuda.device_enable_peer_access, other, { device = gpu })
    end
    s[k], c[k] = lab.stream{ device = gpu }, lab.stream{ device = gpu }
    a[k] = lab.ones(4096, 4096, { device = gpu, dtype = "bfloat16" })
    b[k] = lab.empty(4096, 4096, { device = gpu, dtype = "bfloat16" })
end
local function multiply()
    for i = 1, 10 * #gpus do
        local k <const> = i % #gpus + 1
        lab.matmul(a[k], a[k], { out = b[k], stream = s[k] })
    end
end
local function copies()
    local n <const> = mine[1]:numel()
    for i = 0, #gpus * #gpus - 1 do             -- each to itself, each to the next one, and so on
        local from <const>, to <const> = i % #gpus + 1, (i + i // #gpus) % #gpus + 1
        all[to]:narrow(1, (from - 1) * n + 1, n):copy_(mine[from],
            { stream = c[from], non_blocking = true })
    end
end
local function gather(copy_engines)
    local comm <const> = lab.comm{ devices = gpus, copy_engines = copy_engines }
    return function() comm:all_gather(mine, { out = all, streams = c }) end
end
local function profile(first, second)
    local function both() first() if second then second() end end
    lab.profile(both)                           -- the first launches load the kernels
    return lab.profile(both)
end
local matmuls_us <const> = profile(multiply):busy_us(s[1])
local function row(how, f)
    local right, result = true, nil
    for _, n in ipairs{ 100, 1 << 24 } do
        for k, gpu in ipairs(gpus) do
            mine[k], all[k] = lab.full(k, n, { device = gpu }),
                lab.zeros(#gpus * n, { device = gpu })
        end
        local alone <const>, tl <const> = profile(f), profile(f, multiply)
        for j = 1, n < 1000 and #gpus * n or 0 do
            right = right and all[1]:get(j) == (j - 1) // n + 1
        end
        result = { how = how, alone_us = alone.makespan_us,
            matmuls_x = tl:busy_us(s[1]) / matmuls_us,
            beside_us = tl:busy_us(c[1]), makespan_us = tl.makespan_us, right = right }
    end
    return result
end
local one <const>, copied <const> = row("collective", gather(false)), row("copies", copies)
lab.table({ one, row("copy_engines = true", gather(true)), copied },
    { columns = { "how", "alone_us",
    "beside_us", "matmuls_x", "makespan_us", "right" } }):show()
print(("Verdict: %s: copy engines leave the SMs to the matmuls: these take %.2f times as long, "
    .. "beside the collective "
    .. "%.2f"):format(copied.matmuls_x < 1.01 and "holds" or copied.matmuls_x < one.matmuls_x
    and "depends" or "no longer holds", copied.matmuls_x, one.matmuls_x))
print(("Verdict: %s: an all-gather by copy engines is slower: alone %.0f us, the collective "
    .. "%.0f"):format(
    copied.alone_us > one.alone_us and "holds" or "no longer holds", copied.alone_us, one.alone_us))
