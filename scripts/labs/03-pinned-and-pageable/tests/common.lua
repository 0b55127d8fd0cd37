-- What both files of tests share: the batches, the results, and how long a step takes by itself.
-- All durations are measured in the run, so that they are right for any GPU.

local common = {}

common.mib = 1 << 18                             -- elements of four bytes in a MiB

-- What the student's code hands to a test's function has to be a tensor: a table could say of
-- itself whatever is asked.
local function check_tensor(value, what)
    if type(value) == "userdata" then return end
    error(("%s must be a tensor, got %s"):format(what, value == nil and "nothing"
        or "a " .. type(value)), 0)
end

local function memory_of(buffer)
    if buffer.device ~= "cpu" then return "on the GPU" end
    return buffer.pinned and "pinned" or "pageable"
end

-- The host memory that the student's code hands out: how many tensors, of how many elements, and
-- which memory, both of the first one that is not as it should be.
local function watcher(size)
    local seen, ids = { count = 0, memory = "pinned", elements = size }, {}
    function seen.look(buffer, what)
        check_tensor(buffer, what)
        if seen.memory == "pinned" then seen.memory = memory_of(buffer) end
        if seen.elements == size then seen.elements = buffer:numel() end
        if not ids[buffer.id] then ids[buffer.id], seen.count = true, seen.count + 1 end
    end
    return seen
end

-- Runs f five times and gives the median of each of its two results: the first one is a warm-up,
-- and a real host is interrupted now and then.
local function medians(f)
    local first, second = {}, {}
    for i = 1, 5 do first[i], second[i] = f() end
    table.sort(first)
    table.sort(second)
    return first[3], second[3]
end

-- Of two timelines that run() gives the one with the smallest field `key`, on a real GPU of five:
-- only the first run has to page-lock new memory.
function common.quickest(key, run)
    local best = run()
    for _ = 2, best.simulated and 2 or 5 do
        collectgarbage()                        -- the run before shall hold no memory
        local tl = run()
        if tl[key] < best[key] then best = tl end
    end
    return best
end

-- `load` and `work` for stage: the host needs host_ms for a batch besides writing it, the GPU
-- gpu_ms, or gpu_ms[2 - i % 2] for batch i. Batch i is full of value(i).
function common.batches(size, host_ms, gpu_ms, value)
    local made = { buffers = watcher(size), sums = {}, device = "cuda" }
    function made.load(i, buffer)
        made.buffers.look(buffer, "load(i, buffer): the buffer")
        if host_ms > 0 then lab.host_work(host_ms) end
        buffer:fill_(value(i))
    end
    function made.work(i, x)
        check_tensor(x, "work(i, x): x")
        if made.device == "cuda" then made.device = x.device end
        local ms = type(gpu_ms) == "table" and gpu_ms[2 - i % 2] or gpu_ms
        if ms > 0 then lab.spin(ms) end
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
    local made = { buffers = watcher(size), values = {} }
    local y = lab.empty(size)
    function made.make(i)
        if gpu_ms > 0 then lab.spin(gpu_ms) end
        return y:fill_(value(i))
    end
    function made.use(i, host)
        made.buffers.look(host, "use(i, buffer): the buffer")
        table.insert(made.values, { i, host:get(1), host:get(size) })
        if host_ms > 0 then lab.host_work(host_ms) end
    end
    return made
end

function common.wanted(count, value)
    local values = {}
    for i = 1, count do values[i] = value(i) + 0.0 end
    return values
end

-- Asserts that use was called for each result in order, with the values that had arrived by then.
function common.check_results(t, results, count, value, name)
    local numbers, wanted = {}, {}
    for k, each in ipairs(results.values) do numbers[k], wanted[k] = each[1], k end
    for k = #numbers + 1, count do wanted[k] = k end
    if not t:is(numbers, wanted, "use(i, buffer) is called once for each i, in order") then
        return
    end
    for i, each in ipairs(results.values) do
        for k, place in ipairs{ "first", "last" } do
            local text = ("use(%d, buffer): the %s element is %%g"):format(i, place)
            if each[k + 1] ~= value(i) then
                return t:is(text:format(each[k + 1]), text:format(value(i)), name)
            end
        end
    end
    return t:ok(true, name)
end

-- How long batch i takes the host and the GPU, each alone, with pinned memory.
function common.step_us(batches, size, i)
    local buffer, x = lab.empty(size, { device = "cpu", pinned = true }), lab.empty(size)
    return medians(function()
        local before = lab.now_us()
        batches.load(i, buffer)
        local host_us = lab.now_us() - before
        return host_us, lab.profile(function()
            x:copy_(buffer, { non_blocking = true })
            batches.work(i, x)
        end).makespan_us
    end)
end

-- The same of a result.
function common.result_us(results, size)
    local buffer = lab.empty(size, { device = "cpu", pinned = true })
    return medians(function()
        local gpu_us = lab.profile(function()
            buffer:copy_(results.make(1), { non_blocking = true })
        end).makespan_us
        local before = lab.now_us()
        results.use(1, buffer)
        return lab.now_us() - before, gpu_us
    end)
end

-- A source for feed, and `work` that spoils the GPU's copy of it after having looked at it.
function common.epochs(size, value)
    local made = { sums = {} }
    made.source = lab.full(value, size, { device = "cpu" })
    function made.work(i, x)
        check_tensor(x, "work(i, x): x")
        made.sums[i] = lab.sum(x)
        lab.mul(x, -1, { out = x })
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
            x:copy_(epochs.source, { non_blocking = true })
            epochs.work(i, x)
        end
    end
    loop()
    local pageable_us = medians(function() return lab.profile(loop).wall_us end)
    epochs.sums = {}
    return pageable_us
end

return common
