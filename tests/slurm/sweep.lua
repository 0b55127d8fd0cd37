-- sweep.lua [PLAN] - as many points as $POINTS says: an upload from a simulated host, and what it
-- took. The GPU is a new one for each point, so that one process gets what many get.
local n = {}
for i = 1, (tonumber(os.getenv("POINTS")) or 10000) // 4 do
    n[i] = i
end
local r, why = lab.sweep({ { "n", n }, { "pinned", { false, true } }, { "copies", { 1, 2 } } },
    function(point)
    lab.open{ backend = "sim", profile = "h200" }
    local x = lab.empty(point.n * 64, { device = "cpu", pinned = point.pinned })
    local tl = lab.profile(function()
        for _ = 1, point.copies do
            x:to("cuda", { non_blocking = true })
        end
    end)
    return { makespan_us = tl.makespan_us, wall_us = tl.wall_us, drawn = point.n / 7 }
end, { plan = arg[1] })
if r then
    io.write(r:csv())
else
    print(why)
end
