-- whatif_speed.lua [OPERATIONS] - how long lab.whatif takes for a simulated program of so many
-- operations, in seconds of processor time: steps of two copies, eight kernels and a wait.
local n <const> = tonumber(arg[1] or 10000)
local most_ranked <const> = 100000

local stream = lab.stream{ non_blocking = true }
local on_gpu = lab.zeros(1 << 16)
local on_host = lab.zeros(1 << 16, { device = "cpu", pinned = true })

local timeline = lab.profile(function()
    for _ = 1, n // 10 do
        lab.with(stream, on_gpu.copy_, on_gpu, on_host, { non_blocking = true })
        for _ = 1, 8 do
            lab.with(stream, lab.spin, 0.004)
        end
        lab.with(stream, on_host.copy_, on_host, on_gpu, { non_blocking = true })
        stream:synchronize()
    end
end)

local function time(name, f, ...)
    local from <const> = os.clock()
    local found <const> = f(...)
    print(("%-22s %6.2f s"):format(name, os.clock() - from))
    return found
end

print(("%d operations"):format(timeline.span_count))
local w <const> = time("read as a program", lab.whatif, timeline)
time("played unchanged", w.identity, w)
if timeline.span_count <= most_ranked then
    time("single changes, pairs", w.rank, w)
    time("derivative", w.derivative, w)
end
time("changed", w.scale, w, "*spin*", 0.9)
time("predicted with range", w.predict, w)
