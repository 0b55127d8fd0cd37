-- 39-built-in.t.lua - the figures that are built into the program are those of the profiles: a
-- device is the same whether its figures are built in or are read, as they are with overrides.

local T = require "tap"
local ideal = require "lua.ideal"

-- What a program with kernels, copies, calls and waits makes of a device, as text.
local function times(options)
    lab.open(options)
    local a, b = lab.rand(300, 200), lab.rand(200, 500)
    local pinned = lab.empty(300, 500, { device = "cpu", pinned = true })
    local pageable = lab.empty(300, 500, { device = "cpu" })
    local s, e = lab.stream(), lab.event()
    local tl = lab.profile(function()
        lab.with(s, function()
            local c = lab.matmul(a, b)
            pinned:copy_(c:pow(3), { non_blocking = true })
            e:record()
            lab.softmax(c)
        end)
        lab.current_stream():wait_event(e)
        pageable:copy_(lab.ones(300, 500))
        lab.cuda.free(lab.cuda.malloc(1 << 20))
        lab.sum(a)
        lab.synchronize()
    end)
    local list = { lab.device().name, lab.device().profile }
    for _, span in ipairs(tl:spans()) do
        list[#list + 1] = ("%s %a %a %a"):format(span.name, span.start_us, span.end_us,
            span.host_end_us)
    end
    return table.concat(list, "\n")
end

local function same_figures()
    for _, device in ipairs(lab.devices()) do
        if device.backend == "sim" then
            local profile = device.profile
            T.is(times{ profile = profile }, times{ profile = profile, overrides = {} },
                 profile .. " has the same times")
        end
    end
end

local function other_figures()
    local plain = times{ profile = "h200" }
    T.isnt(times{ profile = "h200", overrides = { host = { launch_us = 50 } } }, plain,
           "overrides are not ignored")
    T.isnt(times{ profile = "h200", host = "t4" }, plain, "nor is a host's part")
end

-- The figures are needed after the device was opened.
local function later()
    lab.open{ profile = "h200" }
    local first = lab.device()
    local tl = lab.profile(function() lab.ones(1000):sum() lab.synchronize() end, { spread = 5 })
    local range = tl.range_us
    T.ok(range and range[1] < range[2], "figures are drawn from the profile's spreads")
    local second = lab.open{ index = 1 }
    T.is(second.profile, first.profile, "the device beside it has the same profile")
end

same_figures()
other_figures()
later()
T.done()
