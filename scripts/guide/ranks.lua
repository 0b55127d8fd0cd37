local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
local comm = lab.comm{ devices = gpus }
local streams = { lab.stream{ device = gpus[1] }, lab.stream{ device = gpus[2] } }
local gradients = { lab.ones(1 << 22, { device = gpus[1] }),
                    lab.ones(1 << 22, { device = gpus[2] }) }
local tl = lab.profile(function()
    for _ = 1, 3 do
        lab.spin(5, { stream = streams[1] })
        lab.spin(7, { stream = streams[2] })        -- rank 1 has more to do
        comm:all_reduce(gradients, { streams = streams })
    end
end)
tl:save("build/two_ranks.json.gz")
