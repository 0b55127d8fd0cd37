local streams, batches = {}, {}
for i = 1, 3 do streams[i] = lab.stream{ name = "s" .. i } end
for i = 1, 6 do batches[i] = lab.ones(1024, 1024, { device = "cpu", pinned = true }) end
local w = lab.rand(1024, 1024)

local function all()
    for i, batch in ipairs(batches) do
        lab.with(streams[i % 3 + 1], function()
            local x = batch:to("cuda", { non_blocking = true })
            for _ = 1, 2 do x = lab.matmul(x, w) end
            x:to("cpu", { non_blocking = true })
        end)
    end
end

all()                   -- warm-up, see chapter 12
lab.synchronize()
lab.profile(all)
