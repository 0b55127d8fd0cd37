-- Priority: three kernels, each fills the GPU. In which order do they run?
--
-- They are issued in the order first, patient, urgent. The stream "urgent" has the higher
-- priority, so that its kernel goes before the patient one, which had come earlier.

local lab = require "streamlab"
local first, patient = lab.stream{ name = "first" },
    lab.stream{ name = "patient", priority = "low" }
local urgent = lab.stream{ name = "urgent", priority = "high" }
local full = 2 * lab.device().sm_count          -- two blocks of 1024 threads fit on an SM

local function experiment()
    lab.spin(2, { blocks = full, threads = 1024, stream = first })
    lab.spin(1, { blocks = full, threads = 1024, stream = patient })
    lab.spin(3, { blocks = full, threads = 1024, stream = urgent })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
