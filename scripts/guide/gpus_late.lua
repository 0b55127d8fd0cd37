local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
local comm = lab.comm{ devices = gpus }
local t = { lab.ones(1 << 22, { device = gpus[1] }), lab.ones(1 << 22, { device = gpus[2] }) }
local s = { lab.stream{ device = gpus[1], name = "s0" },
            lab.stream{ device = gpus[2], name = "s1" } }
comm:all_reduce(t)                              -- warm-up

local tl = lab.profile(function()
    lab.spin(0.4, { stream = s[2] })            -- rank 1 is late
    comm:all_reduce(t, { streams = s })
end)
tl:show()
for _, span in ipairs(tl:spans()) do
    if span.collective then
        print(("rank %d: %.0f us"):format(span.device, span.end_us - span.start_us))
    end
end
