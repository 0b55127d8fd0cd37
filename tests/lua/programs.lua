-- programs.lua - random programs for the simulator: any calls in any streams.

local M = {}

local calls <const> = 80

local function generator(seed)
    local state = seed
    return function(n)      -- 1..n
        state = (state * 1103515245 + 12345) % 2147483648
        return (state >> 8) % n + 1
    end
end

local function objects(random)
    local o = { streams = { lab.default_stream() }, events = {}, device = {}, host = {} }
    for i = 1, random(5) do
        o.streams[#o.streams + 1] = lab.stream{
            priority = 1 - random(4), non_blocking = random(3) == 1, name = "s" .. i }
    end
    for i = 1, 3 do
        o.events[i] = lab.event{ timing = random(2) == 1 }
        local n = 64 << random(5)
        o.device[i] = lab.rand(n, n)
        o.host[i] = lab.empty(n, n, { device = "cpu", pinned = random(2) == 1 })
    end
    return o
end

local function one_call(random, o)
    local s = o.streams[random(#o.streams)]
    local i, kind = random(3), random(12)
    local device, host, event = o.device[i], o.host[i], o.events[random(3)]
    if kind <= 2 then lab.matmul(device, device, { stream = s })
    elseif kind == 3 then lab.pow(device, random(2) == 1 and 3 or 2.5, { out = device, stream = s })
    elseif kind <= 5 then
        lab.spin(random(40) / 100, { blocks = random(600), threads = 256, stream = s })
    elseif kind == 6 then host:copy_(device, { non_blocking = random(2) == 1, stream = s })
    elseif kind == 7 then device:copy_(host, { non_blocking = random(2) == 1, stream = s })
    elseif kind == 8 then event:record(s)
    elseif kind == 9 then s:wait_event(event)
    elseif kind == 10 then lab.host_work(random(20) / 100)
    elseif kind == 11 then s:launch_host_func(function() lab.host_work(0.01) end)
    elseif random(3) == 1 then s:synchronize()
    else device:zero_() end
end

-- Runs the program of that number and gives its timeline. `garbage`: makes much of it
-- between the calls. `overrides`: of the profile.
function M.run(seed, garbage, overrides)
    lab.open{ backend = "sim", profile = seed % 2 == 0 and "textbook" or "rtx4060_laptop",
        overrides = overrides }
    local random = generator(seed)
    local o = objects(random)
    lab.synchronize()
    return lab.profile(function()
        for _ = 1, calls do
            one_call(random, o)
            if garbage then
                for _ = 1, 20 do local _ = { lab.empty(3), {} } end
                collectgarbage("step")
            end
        end
    end)
end

return M
