-- Two threads, each with a kernel and a wait for it: in the default stream, then each in its own.
local function work(own)
    local s = own and lab.per_thread_stream() or lab.default_stream()
    for _ = 1, 3 do
        lab.spin(1, { stream = s })
        s:synchronize()
    end
end

for _, own in ipairs{ false, true } do
    local tl = lab.profile(function()
        local one, two = lab.thread(work, own), lab.thread(work, own)
        one:join()
        two:join()
    end)
    print(own and "each thread's default stream:" or "the default stream of all:")
    tl:show()
end
