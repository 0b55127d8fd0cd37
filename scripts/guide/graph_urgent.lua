local wave = 2 * lab.device().sm_count              -- as many blocks of 1024 threads as fit
local long, main = lab.stream{ name = "long" }, lab.stream{ name = "main" }
local urgent = lab.stream{ name = "urgent", priority = -5 }
lab.spin(0.01)                                      -- warm-up

local function work()                               -- of which one kernel is urgent
    urgent:wait_stream(main)
    lab.spin(0.25, { blocks = wave, threads = 1024, stream = urgent })
    main:wait_stream(urgent)
end

for _, priorities in ipairs{ false, true } do
    local g = lab.graph(work, { stream = main, priorities = priorities })
    g:launch{ stream = main }
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(0.25, { blocks = 16 * wave, threads = 1024, stream = long })
        lab.host_work(1)
        g:launch{ stream = main }
    end)
    print("priorities = " .. tostring(priorities))
    tl:show()
end
