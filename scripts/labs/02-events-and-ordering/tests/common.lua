-- What both files of tests use: a recording that also knows how long the host was held, and pieces
-- of work to hand to the student's functions.

local common = {}

-- Gives the timeline of f(...), for which percentage of its makespan the call held the host, and
-- what f returned. On a real GPU the first launch of a kernel is different: all that tests use is
-- launched before.
function common.profile(f, ...)
    local x = lab.ones(8, 8)
    lab.spin(0.01)
    lab.add(x, lab.mul(x, 2))
    x:fill_(3):cpu()
    lab.synchronize()
    local function timed(from_us, ...) return lab.now_us() - from_us, ... end
    local function keep(tl, held_us, ...) return tl, 100 * held_us / tl.makespan_us, ... end
    return keep(lab.profile(function(...) return timed(lab.now_us(), f(...)) end, ...))
end

-- Asserts that the host was free: no call waited for long, and all of them together took little.
function common.host_is_free(t, tl, held_percent, at_most_percent)
    return t:host_block(tl, {at_most_percent = at_most_percent,
                             gpu_at_most_percent = at_most_percent})
        and t:at_most(held_percent, at_most_percent,
                      "percent of the makespan in which the call held the host")
end

-- The streams of the spans of that name, numbered as they appear: {1, 2, 1} is a, b, a.
function common.streams_of(tl, name)
    local numbers, seen, count = {}, {}, 0
    for _, span in ipairs(tl:spans()) do
        if span.name == name then
            if not seen[span.stream_id] then
                count = count + 1
                seen[span.stream_id] = count
            end
            numbers[#numbers + 1] = seen[span.stream_id]
        end
    end
    return numbers
end

-- The first elements of a list of tensors, for a comparison in one go.
function common.firsts(tensors)
    local numbers = {}
    if type(tensors) ~= "table" then return tensors end
    for i, x in ipairs(tensors) do numbers[i] = type(x) == "userdata" and x:get(1, 1) or x end
    return numbers
end

-- How long each span of that name took on the GPU, in ms.
function common.durations_ms(tl, name)
    local durations = {}
    for _, span in ipairs(tl:spans()) do
        if span.name == name then
            durations[#durations + 1] = (span.end_us - span.start_us) / 1000
        end
    end
    return durations
end

-- A copy of some MiB from pinned memory, in the current stream: about 19 us each on an H200.
function common.copy(mib)
    local host = lab.empty(mib, 512, 512, {device = "cpu", pinned = true})
    local there = lab.empty(mib, 512, 512)
    return function() there:copy_(host, {non_blocking = true}) end
end

return common
