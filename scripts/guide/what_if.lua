-- A loop as people write it. Words on the command line mend it: pinned, ahead, later.
local has = {}
for _, word in ipairs(arg) do has[word] = true end

local n <const>, steps <const> = 1024, 8
local weights, y, loss = lab.rand(n, n), lab.empty(n, n), lab.zeros(1)
local batch = lab.rand(n, n, { device = "cpu", pinned = has.pinned })
local two, read = { lab.empty(n, n), lab.empty(n, n) }, {}
local main, copies = lab.stream{ name = "main" }, lab.stream{ name = "copies" }

local function copy(i, stream)                      -- batch i, into one of two tensors
    if read[i - 2] then stream:wait_event(read[i - 2]) end
    two[i % 2 + 1]:copy_(batch, { non_blocking = has.pinned, stream = stream })
    return stream:record_event()
end

local function train(i)                             -- three products, and their loss
    for _ = 1, 3 do lab.matmul(two[i % 2 + 1], weights, { out = y }) end
    lab.sum(y, { out = loss })
    read[i] = main:record_event()
end

local function loop()
    local there = has.ahead and copy(1, copies)
    for i = 1, steps do
        if not has.ahead then copy(i, main) end
        if there then main:wait_event(there) end
        there = has.ahead and i < steps and copy(i + 1, copies)
        train(i)
        if not has.later or i == steps then loss:item() end
    end
end

lab.with(main, loop)                                -- warm-up
local tl = lab.profile(lab.with, main, loop)
print(("%.2f ms"):format(tl.makespan_us / 1000))
if #arg == 0 then tl:save("build/what_if.json.gz") end
