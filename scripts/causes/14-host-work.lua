-- Host work: the GPU stands still in the middle. Is it too slow?
--
-- It waits for the host, which prepares the next batch between the two launches. Kernels that
-- are not yet issued cannot run.

local lab = require "streamlab"
local work = lab.stream{ name = "work" }
local function launch() lab.spin(2, { stream = work }) end
local function prepare() lab.host_work(5) end

local function experiment()
    launch()
    prepare()
    launch()
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
