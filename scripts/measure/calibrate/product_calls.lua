-- product_calls.lua - what the call of a product costs the host by its size and mode, relative to
-- that of a small float32 product: a library takes longer to start some kernels than others.

local statistics = import "repl/run/statistics.lua"

local product_calls = {}

local sizes <const> = { 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096 }
local calls <const>, least <const> = 15, 0.01
local reference <const> = "float32"     -- the mode whose smallest size is 1

-- The median of what the same call costs in a row, in us, without the launches of kernels that the
-- library adds behind the first.
local function call_us(c, run)
    local stream <close> = c.lab.stream()
    local options, asking_us, us = { stream = stream }, c:clock_us(), {}
    local tl = c:record(function()
        for i = 1, calls do
            us[i] = c:loop_us(1, function() run(i, options) end) - asking_us
        end
    end)
    local launches = tl:spans()[1].kernels_after or 0
    return statistics.median(us) - launches * c.values["host.launch_us"]
end

-- Sets gemm_host of a mode, up to the size `most`; product(n) gives a function that enqueues the
-- product of n x n x n. The reference is the first mode.
function product_calls.set(c, mode, most, product)
    local rows, least_us = {}, nil
    for _, n in ipairs(sizes) do
        if n <= most then
            local us = call_us(c, product(n))
            least_us = least_us or us
            rows[#rows + 1] = { n, us }
        end
    end
    if mode == reference then
        c.product_call_us = least_us
    end
    for _, row in ipairs(rows) do
        row[2] = tonumber(("%.3f"):format(math.max(least, row[2] / c.product_call_us)))
    end
    c:set("gemm_host." .. mode, rows, ("%d calls in a row, without launches behind the first, over "
          .. "those of %s at n = %d"):format(calls, reference, sizes[1]))
end

return product_calls
