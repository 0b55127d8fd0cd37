-- What both files of tests share: the batches, the results, and how long a step takes by itself.
-- All durations are measured in the run, so that they are right for any GPU.

local common = {}

common.mib = 1 << 18                             -- elements of four bytes in a MiB

-- The host memory that the student's code hands out: how many tensors, and whether all are pinned.
local function watcher()
    local seen = {count = 0, pinned = true, whole = true}
    function seen.look(buffer, size)
        seen.pinned = seen.pinned and buffer.pinned and buffer.device == "cpu"
        seen.whole = seen.whole and buffer:numel() == size
        if not seen[buffer.id] then seen[buffer.id], seen.count = true, seen.count + 1 end
    end
    return seen
end

-- `load` and `work` for stage: the host needs host_ms for a batch besides writing it, the GPU
-- gpu_ms. Batch i is full of value(i).
function common.batches(size, host_ms, gpu_ms, value)
    local made = {buffers = watcher(), sums = {}, on_gpu = true}
    function made.load(i, buffer)
        made.buffers.look(buffer, size)
        if host_ms > 0 then lab.host_work(host_ms) end
        buffer:fill_(value(i))
    end
    function made.work(i, x)
        made.on_gpu = made.on_gpu and x.device == "cuda"
        if gpu_ms > 0 then lab.spin(gpu_ms) end
        made.sums[i] = lab.sum(x)
    end
    function made.found()                       -- what the GPU found in the batches
        local values = {}
        for i, sum in ipairs(made.sums) do values[i] = sum:item() / size end
        return values
    end
    return made
end

-- `make` and `use` for collect. make(i) writes the same tensor each time; use(i, host) notes what
-- is in the host's memory at that moment.
function common.results(size, host_ms, gpu_ms, value)
    local made = {buffers = watcher(), values = {}}
    local y = lab.empty(size)
    function made.make(i)
        if gpu_ms > 0 then lab.spin(gpu_ms) end
        return y:fill_(value(i))
    end
    function made.use(i, host)
        made.buffers.look(host, size)
        table.insert(made.values, {i, host:get(1), host:get(size)})
        if host_ms > 0 then lab.host_work(host_ms) end
    end
    return made
end

function common.wanted(count, value)
    local values = {}
    for i = 1, count do values[i] = value(i) + 0.0 end
    return values
end

function common.wanted_results(count, value)
    local values = {}
    for i = 1, count do values[i] = {i, value(i) + 0.0, value(i) + 0.0} end
    return values
end

-- How long one batch takes the host and the GPU, each alone, with pinned memory.
function common.step_us(batches, size)
    local buffer, x = lab.empty(size, {device = "cpu", pinned = true}), lab.empty(size)
    local host_us, gpu_us
    for _ = 1, 2 do                             -- the first launch of a kernel is different
        local before = lab.now_us()
        batches.load(1, buffer)
        host_us = lab.now_us() - before
        gpu_us = lab.profile(function()
            x:copy_(buffer, {non_blocking = true})
            batches.work(1, x)
        end).makespan_us
    end
    return host_us, gpu_us
end

-- The same of a result.
function common.result_us(results, size)
    local buffer = lab.empty(size, {device = "cpu", pinned = true})
    local host_us, gpu_us
    for _ = 1, 2 do
        gpu_us = lab.profile(function()
            buffer:copy_(results.make(1), {non_blocking = true})
        end).makespan_us
        local before = lab.now_us()
        results.use(1, buffer)
        host_us = lab.now_us() - before
    end
    return host_us, gpu_us
end

-- A source for feed, and `work` that spoils the GPU's copy of it after having looked at it.
function common.epochs(size, value)
    local made = {sums = {}}
    made.source = lab.full(value, size, {device = "cpu"})
    function made.work(i, x)
        made.sums[i] = lab.sum(x)
        lab.mul(x, -1, {out = x})
    end
    function made.found(i)                      -- what work(i, x) found in x
        return made.sums[i] and made.sums[i]:item() / size
    end
    return made
end

-- How long `times` copies of pageable memory take, each followed by the work.
function common.pageable_us(epochs, times)
    local x = lab.empty(epochs.source:numel())
    local function loop()
        for i = 1, times do
            x:copy_(epochs.source, {non_blocking = true})
            epochs.work(i, x)
        end
    end
    loop()
    local tl = lab.profile(loop)
    epochs.sums = {}
    return tl.wall_us
end

return common
