-- What the tests of this lab have in common: jobs for pipeline(), and how quick one can be.

local common = {}

-- A job of `batches` batches in `slots` slots. Batch i is full of from + i; the stages last
-- first_ms and second_ms, and make times * value + plus of a value.
function common.job(spec)
    local job = {input = {}, output = {}, x = {}, y = {}, z = {}, want = {}}
    local elements = spec.mib << 18
    for i = 1, spec.batches do
        local value = (spec.from or 0) + i
        job.input[i] = lab.full(value, elements, {device = "cpu", pinned = true})
        job.output[i] = lab.full(-1, elements, {device = "cpu", pinned = true})
        job.want[i] = value * spec.times + spec.plus
    end
    for k = 1, spec.slots do
        job.x[k], job.y[k], job.z[k] = lab.zeros(elements), lab.zeros(elements), lab.zeros(elements)
    end
    function job.first(x, y)
        lab.spin(spec.first_ms)
        lab.mul(x, spec.times, {out = y})
    end
    function job.second(y, z)
        lab.spin(spec.second_ms)
        lab.add(y, spec.plus, {out = z})
    end
    -- Each step alone, behind a first time, which is different: only the second one counts.
    for _ = 1, 2 do
        job.steps_us = {
            lab.profile(function() job.x[1]:copy_(job.input[1]) end).makespan_us,
            lab.profile(job.first, job.x[1], job.y[1]).makespan_us,
            lab.profile(job.second, job.y[1], job.z[1]).makespan_us,
            lab.profile(function() job.output[1]:copy_(job.z[1]) end).makespan_us,
        }
    end
    job.output[1]:fill_(-1)
    for _, list in ipairs{job.x, job.y, job.z} do
        for _, buffer in ipairs(list) do buffer:zero_() end
    end
    lab.synchronize()
    return job
end

-- How long the job takes if the longest step never waits: the first batch goes through all steps,
-- and then a batch ends whenever the longest step has worked on it.
function common.shortest_us(job)
    local sum, longest = 0, 0
    for _, us in ipairs(job.steps_us) do sum, longest = sum + us, math.max(longest, us) end
    return sum + (#job.input - 1) * longest
end

-- That pipeline() did the work, all of it and no more, and got it right.
function common.right(t, job, tl, values)
    local batches = #job.input
    t:span_count(tl, "memcpy_h2d", {exactly = batches}, "one copy up for each batch")
    t:span_count(tl, "memcpy_d2h", {exactly = batches}, "one copy down for each batch")
    t:span_count(tl, "kernel", {exactly = 4 * batches},
        "each batch goes through both stages once (2 kernels each)")
    t:is(values, job.want, "the values returned, one of each batch")
end

-- That whole outputs are right, not only their first elements.
function common.outputs(t, job)
    for i, output in ipairs(job.output) do
        t:close(output, job.want[i], "output " .. i .. " is batch " .. i .. " behind both stages")
    end
end

-- Three waits a batch for data, three for buffers but for the first batch of each slot, and one of
-- the host.
function common.at_most_the_waits(t, job, tl)
    local batches, reused = #job.input, #job.input - #job.x
    t:call_count(tl, "cudaStreamWaitEvent", {at_most = 3 * (batches + reused)},
        "no more waits of streams than 3 a batch and 3 a batch in a used slot")
    local waits = 0
    for _, call in ipairs(tl:calls()) do
        local waits_for_work = call.kind:find("sync")
        if waits_for_work and not call.of_stop then waits = waits + 1 end
    end
    t:at_most(waits, 1, "waits of the host, for a stream, an event or the device")
end

return common
