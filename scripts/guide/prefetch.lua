local forget = arg[1] == "forget"
local n, batches = 1024, 6
local copies, kernels = lab.stream{ name = "copies" }, lab.stream{ name = "kernels" }
local batch, buffers = {}, { lab.empty(n, n), lab.empty(n, n) }
for i = 1, batches do batch[i] = lab.full(i, n, n, { device = "cpu", pinned = true }) end

local sums = {}
local function work()
    local emptied = {}
    for i = 1, batches do
        local k = i % 2 + 1
        if emptied[k] and not forget then
            copies:wait_event(emptied[k])               -- the buffer is no longer read
        end
        buffers[k]:copy_(batch[i], { non_blocking = true, stream = copies })
        kernels:wait_event(copies:record_event())       -- the batch is there
        lab.spin(0.2, { stream = kernels })             -- some work ...
        sums[i] = lab.sum(buffers[k], { stream = kernels })
        emptied[k] = kernels:record_event()
    end
end

work()                                                  -- warm-up
lab.synchronize()
local tl = lab.profile(work)
tl:show()
local found = {}
for i = 1, batches do found[i] = ("%g"):format(sums[i]:item() / (n * n)) end
print("batches", table.concat(found, " "), "makespan", tl.makespan_us .. " us")
if not forget then tl:save("build/prefetch.svg", { theme = "light", width_px = 760 }) end
