local s = lab.stream()
local on_gpu = lab.empty(4096, 4096)                            -- 64 MiB
local pageable = lab.ones(4096, 4096, { device = "cpu" })
local pinned = lab.ones(4096, 4096, { device = "cpu", pinned = true })

for _, source in ipairs{ pageable, pinned } do
    local held
    local r = lab.measure(function()
        local before = lab.now_us()
        on_gpu:copy_(source, { non_blocking = true, stream = s })
        held = lab.now_us() - before
    end)
    print(string.format("%-9s %7.1f us, %5.1f GB/s, and the call holds the host for %7.1f us",
        source.pinned and "pinned" or "pageable", r.median_us,
        on_gpu:nbytes() / r.median_us / 1000, held))
end
