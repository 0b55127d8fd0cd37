-- Host blocked by :item(): a number is printed on the way. What does that cost?
--
-- Reading one number copies four bytes to the host, and waits for them. They come behind the
-- kernel in its stream, and the host issues the next batch only when it has them.

local lab = require "streamlab"
local work, copies = lab.stream{ name = "work" }, lab.stream{ name = "copies" }
local batch = lab.zeros(4096, 4096, { device = "cpu", pinned = true })  -- 64 MiB
local loss = lab.zeros(1)

local function experiment()
    lab.with(work, function()
        lab.spin(4)                             -- makes the loss
        local _ = loss:item()                   -- to print it, say
        batch:to("cuda", { non_blocking = true, stream = copies })
    end)
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
