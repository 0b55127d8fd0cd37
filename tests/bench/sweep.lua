-- sweep.lua JOBS - a sweep of 32 points, each a simulation of 60,000 kernels, in so many processes;
-- prints the seconds of real time that it took. A work-load, not a test.
local jobs <const> = math.tointeger(tonumber(arg[1])) or arg[1]

local function now() return debug.getregistry()["streamlab.internals"].wall_ns() / 1e9 end

local began <const> = now()
lab.sweep({ { "blocks", { 1, 8, 64, 512 } }, { "streams", { 1, 2, 3, 4, 5, 6, 7, 8 } } },
    function(point)
    lab.open { backend = "sim", profile = "textbook" }
    local options = {}
    for i = 1, point.streams do
        options[i] = { stream = lab.stream(), blocks = point.blocks }
    end
    return lab.profile(function()
        for i = 1, 60000 do lab.spin(0.001, options[i % point.streams + 1]) end
    end, { keep = "summary" }).makespan_us
end, { jobs = jobs })
print(("%.3f"):format(now() - began))
