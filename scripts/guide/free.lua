local work, copies = lab.stream{ name = "work" }, lab.stream{ name = "copies" }
local results = lab.rand(4096, 4096)                -- 64 MiB
local on_host = lab.empty(4096, 4096, { device = "cpu", pinned = true })
lab.spin(0.01)                                      -- warm-up: the first launch loads the kernel
on_host:copy_(results)
lab.synchronize()

local function run(name, get, give_back)
    local scratch = get()
    local tl = lab.profile(function()
        lab.spin(4, { stream = work })
        give_back(scratch)
        on_host:copy_(results, { non_blocking = true, stream = copies })
    end)
    print(name, tl.makespan_us .. " us")
    tl:show()
    tl:save("build/" .. name .. ".svg", { theme = "light", width_px = 760 })
end

run("cudaFree", function() return lab.cuda.malloc(2^20) end, lab.cuda.free)
run("cudaFreeAsync", function() return lab.cuda.malloc_async(2^20, { stream = work }) end,
    function(scratch) lab.cuda.free_async(scratch, { stream = work }) end)
