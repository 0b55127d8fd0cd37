-- What the tests of this lab have in common: jobs for pipeline(), and how quick one can be.

local common = {}

-- Each step alone, behind a warm-up: only the second time counts.
local function steps_us(job)
    local us
    for _ = 1, 2 do
        us = {
            lab.profile(function() job.x[1]:copy_(job.input[1]) end).makespan_us,
            lab.profile(job.first, job.x[1], job.y[1]).makespan_us,
            lab.profile(job.second, job.y[1], job.z[1]).makespan_us,
            lab.profile(function() job.output[1]:copy_(job.z[1]) end).makespan_us,
        }
    end
    job.output[1]:fill_(-1)
    for _, buffer in ipairs{ job.x[1], job.y[1], job.z[1] } do buffer:zero_() end
    lab.synchronize()
    return us
end

-- How long the job takes if the longest step never waits: the first batch goes through all steps,
-- and then a batch ends whenever the longest step has worked on it.
local function shortest_us(us, batches)
    local sum, longest = 0, 0
    for _, step in ipairs(us) do sum, longest = sum + step, math.max(longest, step) end
    return sum + (batches - 1) * longest
end

-- A job of spec.batches batches in spec.slots slots, and what is known of it; the second is the
-- tests' own, since a job is in the student's hands. Batch i is full of from + i; the stages last
-- first_ms and second_ms, and make times * value + plus of a value. A real host issues more slowly
-- than the simulated one, so all steps last longer there.
function common.job(spec)
    local job = { input = {}, output = {}, x = {}, y = {}, z = {} }
    local known = { batches = spec.batches, slots = spec.slots, times = spec.times, want = {},
                    firsts = 0, seconds = 0, in_slot = {} }
    local longer = lab.device().backend == "sim" and 1 or 4
    local elements = longer * spec.mib << 18
    for i = 1, spec.batches do
        local value = (spec.from or 0) + i
        job.input[i] = lab.full(value, elements, { device = "cpu", pinned = true })
        job.output[i] = lab.full(-1, elements, { device = "cpu", pinned = true })
        known.want[i] = value * spec.times + spec.plus
    end
    for k = 1, spec.slots do
        job.x[k], job.y[k], job.z[k] = lab.zeros(elements), lab.zeros(elements), lab.zeros(elements)
    end
    function job.first(x, y)
        known.firsts = known.firsts + 1
        known.in_slot[x] = (known.in_slot[x] or 0) + 1
        lab.spin(longer * spec.first_ms)
        lab.mul(x, spec.times, { out = y })
    end
    function job.second(y, z)
        known.seconds = known.seconds + 1
        lab.spin(longer * spec.second_ms)
        lab.add(y, spec.plus, { out = z })
    end
    known.input, known.output = { table.unpack(job.input) }, { table.unpack(job.output) }
    known.shortest_us = shortest_us(steps_us(job), spec.batches)
    known.x = { table.unpack(job.x) }
    common.begin(known)
    return job, known
end

-- From here on the calls of the stages count.
function common.begin(known)
    known.firsts, known.seconds, known.in_slot = 0, 0, {}
end

-- How many batches each slot has had: "3 3 2".
local function in_slots(known, count)
    local list = {}
    for k = 1, known.slots do list[k] = string.format("%d", count(k)) end
    return table.concat(list, " ")
end

-- That pipeline() did the work, all of it and no more, and got it right.
function common.right(t, known, tl, values)
    local batches = known.batches
    t:span_count(tl, "memcpy_h2d", { exactly = batches }, "one copy up for each batch")
    t:is(known.firsts, batches, "first() is called once for each batch")
    t:is(known.seconds, batches, "second() is called once for each batch")
    t:is(in_slots(known, function(k) return known.in_slot[known.x[k]] or 0 end),
        in_slots(known, function(k) return (batches - k) // known.slots + 1 end),
        "how many batches are in each slot, if they go through all of them in turn")
    t:span_count(tl, "kernel", { exactly = 4 * batches }, "kernels of the stages alone, 2 for each")
    t:span_count(tl, "memcpy_d2h", { exactly = batches }, "one copy down for each batch")
    if not t:is(type(values) == "table" and rawlen(values), batches, "how many values are returned")
    then return end
    for i = 1, batches do
        local value = rawget(values, i)
        if value ~= known.want[i] then
            local why = value == -1 and " (its value before: not copied into yet)"
                or value == 0 and " (a buffer's value before a stage wrote it)" or ""
            t:is(("value %d is %s%s"):format(i, type(value) == "number" and ("%g"):format(value)
                or "a " .. type(value), why), ("value %d is %g"):format(i, known.want[i]),
                "the values returned, one of each batch")
            return
        end
    end
    t:ok(true, "the values returned, one of each batch")
end

-- That whole outputs are right, not only their first elements.
function common.outputs(t, known)
    for i, output in ipairs(known.output) do
        t:close(output, known.want[i], "output " .. i .. " is batch " .. i .. " behind both stages")
    end
end

-- That the makespan is near the shortest.
function common.quick(t, known, tl, name)
    t:makespan(tl, { of_us = known.shortest_us, within_percent = 10, gpu_within_percent = 35 },
               name)
end

-- Three waits a batch for data, three for buffers but for the first batch of each slot, one of each
-- stream for the caller's, and one of the host.
function common.at_most_the_waits(t, known, tl)
    local reused = known.batches - known.slots
    t:call_count(tl, "cudaStreamWaitEvent", { at_most = 3 * (known.batches + reused) + 4 },
        "no more waits of streams than 3 a batch, 3 a batch in a used slot, and 4")
    local waits = 0
    for _, call in ipairs(tl:calls()) do
        if call.kind:find("_sync$") and not call.of_stop then waits = waits + 1 end
    end
    t:at_most(waits, 1, "waits of the host, for a stream, an event or the device")
end

return common
