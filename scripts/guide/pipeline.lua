local n, batches = 2048, 8
local weights, pinned = lab.rand(n, n), (arg[1] or "pinned") == "pinned"
local inputs, outputs = {}, {}
for i = 1, batches do
    inputs[i] = lab.rand(n, n, { device = "cpu", pinned = pinned })
    outputs[i] = lab.empty(n, n, { device = "cpu", pinned = pinned })
end

local function run(count)
    local streams, most = {}, 0
    for i = 1, count do streams[i] = lab.stream{ name = "stream " .. i } end
    local function work(looking)
        for i = 1, batches do
            lab.with(streams[(i - 1) % count + 1], function()
                local x = inputs[i]:to("cuda", { non_blocking = true })
                local y = lab.matmul(x, weights)
                outputs[i]:copy_(y, { non_blocking = true })
                if looking then most = math.max(most, lab.live().device_bytes) end
                x:free()                            -- the next batch of this stream uses it again
                y:free()
            end)
        end
    end
    work(true)                                      -- warm-up: the next run uses
    lab.synchronize()                               -- this one's memory again
    return lab.profile(work), most
end

print("streams   makespan   of the busiest engine   memory")
for _, count in ipairs{ 1, 2, 3, 4, 8 } do
    local tl, most = run(count)
    print(string.format("%7d %7.2f ms %10.2f times %11d MiB", count, tl.makespan_us / 1000,
        tl.makespan_us / tl:bounds().busiest_engine_us, most >> 20))
end
if pinned then
    run(1):show()
    local tl = run(3)
    tl:show()
    tl:save("build/pipeline.svg", { theme = "light", width_px = 760 })
end
