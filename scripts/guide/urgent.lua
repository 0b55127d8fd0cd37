local wave = 2 * lab.device().sm_count                  -- as many blocks of 1024 threads as fit
local block_ms = tonumber(arg[1] or 0.25)
lab.spin(0.01)                                         -- warm-up: the first launch loads the kernel

local function run(priority)
    local long = lab.stream{ name = "long" }
    local urgent = lab.stream{ name = "urgent", priority = priority }
    local tl = lab.profile(function()
        lab.spin(block_ms, { blocks = 4 / block_ms * wave // 1, threads = 1024, stream = long })
        lab.host_work(1)                                -- 1 ms later
        lab.spin(0.25, { blocks = wave, threads = 1024, stream = urgent })
    end)
    local span = tl:spans()[2]
    print(("priority %d: done %.2f ms after the call"):format(urgent.priority,
        (span.end_us - span.host_start_us) / 1000))
    tl:show()
end

run(0)
run(-1)
