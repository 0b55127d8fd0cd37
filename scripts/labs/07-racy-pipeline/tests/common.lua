-- What the tests of this lab have in common: jobs for pipeline(), and how quick one can be.

local common = {}

-- Each step alone, behind a first time, which is different: only the second one counts.
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
    for _, buffer in ipairs{job.x[1], job.y[1], job.z[1]} do buffer:zero_() end
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
    local job = {input = {}, output = {}, x = {}, y = {}, z = {}}
    local known = {batches = spec.batches, slots = spec.slots, want = {}, firsts = 0, seconds = 0}
    local longer = lab.device().backend == "sim" and 1 or 4
    local elements = longer * spec.mib << 18
    for i = 1, spec.batches do
        local value = (spec.from or 0) + i
        job.input[i] = lab.full(value, elements, {device = "cpu", pinned = true})
        job.output[i] = lab.full(-1, elements, {device = "cpu", pinned = true})
        known.want[i] = value * spec.times + spec.plus
    end
    for k = 1, spec.slots do
        job.x[k], job.y[k], job.z[k] = lab.zeros(elements), lab.zeros(elements), lab.zeros(elements)
    end
    function job.first(x, y)
        known.firsts = known.firsts + 1
        lab.spin(longer * spec.first_ms)
        lab.mul(x, spec.times, {out = y})
    end
    function job.second(y, z)
        known.seconds = known.seconds + 1
        lab.spin(longer * spec.second_ms)
        lab.add(y, spec.plus, {out = z})
    end
    known.input, known.output = {table.unpack(job.input)}, {table.unpack(job.output)}
    known.shortest_us = shortest_us(steps_us(job), spec.batches)
    known.firsts, known.seconds = 0, 0
    return job, known
end

-- That pipeline() did the work, all of it and no more, and got it right.
function common.right(t, known, tl, values)
    local batches = known.batches
    t:span_count(tl, "memcpy_h2d", {exactly = batches}, "one copy up for each batch")
    t:is(known.firsts, batches, "first() is called once for each batch")
    t:is(known.seconds, batches, "second() is called once for each batch")
    t:span_count(tl, "kernel", {exactly = 4 * batches}, "kernels of the stages alone, 2 for each")
    t:span_count(tl, "memcpy_d2h", {exactly = batches}, "one copy down for each batch")
    t:is(values, known.want, "the values returned, one of each batch")
end

-- That whole outputs are right, not only their first elements.
function common.outputs(t, known)
    for i, output in ipairs(known.output) do
        t:close(output, known.want[i], "output " .. i .. " is batch " .. i .. " behind both stages")
    end
end

-- When each step of each batch was issued, began and ended, as steps.up[i] and so on. The stages
-- are told by their last kernels, which have names of their own; a spin stands before each.
local function steps_of(tl)
    local steps, before = {up = {}, first = {}, second = {}, down = {}}, nil
    local last = {memcpy_h2d = "up", memcpy_d2h = "down"}
    local by_name = {mul_scalar_f32 = "first", add_scalar_f32 = "second"}
    for _, span in ipairs(tl:spans()) do
        local step = last[span.kind] or by_name[span.name]
        if step then
            local begin = span.kind == "kernel" and before or span
            table.insert(steps[step], {issued_us = begin.host_start_us, start_us = begin.start_us,
                                       end_us = span.end_us})
        end
        before = span
    end
    return steps
end

-- What a step of a batch has to wait for: the step before of the same batch, the same step of the
-- batch before, and the step behind of the batch that had the buffer.
local order <const> = {"up", "first", "second", "down"}
local what <const> = {up = "the copy up", first = "the first stage", second = "the second stage",
                      down = "the copy down"}

local function needed_us(steps, s, i, slots)
    local function ended(step, batch)
        local entry = step and steps[step][batch]
        return entry and entry.end_us or 0
    end
    return math.max(ended(order[s - 1], i), ended(order[s], i - 1), ended(order[s + 1], i - slots))
end

-- Which step ended last before a time, in words.
local function ended_before(steps, us)
    local best_us, text = -1, "something else"
    for _, step in ipairs(order) do
        for i, entry in ipairs(steps[step]) do
            if entry.end_us <= us and entry.end_us > best_us then
                best_us, text = entry.end_us, ("%s of batch %d"):format(what[step], i)
            end
        end
    end
    return text
end

-- Says which steps began later than they could have, though they were issued: a line for each of
-- the four, with the first batch as the example.
local function say_waits(t, known, tl)
    local steps = steps_of(tl)
    for s, step in ipairs(order) do
        local count, example = 0, nil
        for i, entry in ipairs(steps[step]) do
            local ready_us = math.max(entry.issued_us, needed_us(steps, s, i, known.slots))
            if entry.start_us - ready_us > 0.2 * (entry.end_us - entry.start_us) then
                count = count + 1
                example = example or ("That of batch %d could have begun %.0f us earlier, and "
                    .. "waited for %s."):format(i, entry.start_us - ready_us,
                    ended_before(steps, entry.start_us))
            end
        end
        if example then
            t:diag(("T%s of %d batches waits for more than it needs.\n%s"):format(
                what[step]:sub(2), count, example))
        end
    end
end

-- That the makespan is near the shortest.
function common.quick(t, known, tl, name)
    if not t:makespan(tl, {of_us = known.shortest_us, within_percent = 10,
                           gpu_within_percent = 35}, name) then
        say_waits(t, known, tl)
    end
end

-- Three waits a batch for data, three for buffers but for the first batch of each slot, and one of
-- the host.
function common.at_most_the_waits(t, known, tl)
    local reused = known.batches - known.slots
    t:call_count(tl, "cudaStreamWaitEvent", {at_most = 3 * (known.batches + reused)},
        "no more waits of streams than 3 a batch and 3 a batch in a used slot")
    local waits = 0
    for _, call in ipairs(tl:calls()) do
        if call.kind:find("_sync$") and not call.of_stop then waits = waits + 1 end
    end
    t:at_most(waits, 1, "waits of the host, for a stream, an event or the device")
end

return common
