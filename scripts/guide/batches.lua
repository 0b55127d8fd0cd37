local copies, compute = lab.stream{ name = "copies" }, lab.stream{ name = "compute" }
local batches = {}
for i = 1, 4 do batches[i] = lab.full(i, 2048, 4096, { device = "cpu", pinned = true }) end
local x, total = lab.zeros(2048, 4096), lab.zeros()
lab.spin(0.01) lab.add(total, x:sum())              -- warm-up: the first launches load kernels
lab.synchronize()

for i = 1, 4 do
    x:copy_(batches[i], { non_blocking = true, stream = copies })
    compute:wait_stream(copies)                     -- the batch is there
    lab.with(compute, function()
        lab.spin(1)                                 -- the model
        lab.add(total, x:sum(), { out = total })    -- uses the batch
    end)
end
lab.synchronize()
print("total", total:item() / x:numel())            -- 1 + 2 + 3 + 4
