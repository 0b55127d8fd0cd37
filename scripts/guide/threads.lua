-- How many kernels a second do several threads launch, each into a stream of its own?
local n <const> = 2000

local function launch(count)
    local s <const> = lab.stream()
    for _ = 1, count do lab.spin(0, { stream = s }) end
end

print("threads   us a launch   launches/ms")
for _, count in ipairs{ 1, 2, 4, 8 } do
    local tl <const> = lab.profile(function()
        local threads = {}
        for i = 1, count do threads[i] = lab.thread(launch, n) end
        for i = 1, count do threads[i]:join() end
    end)
    local us = 0
    for _, call in ipairs(tl:calls()) do
        us = call.name == "thread:join" and math.max(us, call.host_end_us) or us
    end
    print(("%7d   %11.2f   %11.0f"):format(count, us / n, count * n / us * 1000))
end
