local first, second = lab.stream{ name = "first" }, lab.stream{ name = "second" }
local full = 2 * lab.device().sm_count          -- two blocks of 1024 threads fit on an SM

local function both(blocks)
    lab.spin(1, { blocks = blocks, threads = 1024, stream = first })
    lab.spin(1, { blocks = blocks, threads = 1024, stream = second })
end

both(1)                                         -- warm-up: the first launch loads the kernel
for _, blocks in ipairs{ full // 2, full } do
    local tl = lab.profile(both, blocks)
    print(blocks .. " blocks each: " .. tl.makespan_us .. " us")
    tl:show()
end
