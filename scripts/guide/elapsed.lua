local s, other = lab.stream(), lab.stream()
local full = 2 * lab.device().sm_count

local function time(beside)
    lab.synchronize()
    if beside then lab.spin(3, { blocks = full, threads = 1024, stream = other }) end
    local from = s:record_event()
    lab.spin(1, { blocks = full, threads = 1024, stream = s })
    local to = s:record_event()
    to:synchronize()
    return from:elapsed_time(to)                    -- in ms, as in CUDA
end

time(false)                                         -- warm-up: the first launch loads the kernel
print("alone              ", time(false))
print("beside another one ", time(true))
