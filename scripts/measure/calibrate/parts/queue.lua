-- queue.lua - the device's limits: launches in a stream's queue, hardware channels, resident
-- kernels, priority levels, blocks on an SM.
--
-- All are counts, found by kernels of known length: what starts late had to wait. Each count is
-- taken several times, and the median is used.

local context = import "scripts/measure/calibrate/context.lua"
local durations = import "scripts/measure/calibrate/durations.lua"

local part = { name = "queue", title = "queues, channels, priorities and room for blocks" }

local times <const> = 3

local function middle(f)
    local counts = {}
    for i = 1, times do
        counts[i] = f()
    end
    return math.tointeger(context.median(counts))
end

-- ---- the launch queue -------------------------------------------------------------------------

local queue_ms <const>, most_launches <const> = 80, 8192

-- Launches behind a long kernel, until a call waits; nil if none does. The long one is in the
-- queue, too.
local function launches_ahead(c)
    local lab = c.lab
    return c:with_streams(1, {}, function(streams)
        local spin = { stream = streams[1] }
        lab.spin(queue_ms, spin)
        local last_us = lab.now_us()
        for ahead = 0, most_launches do
            lab.spin(0, spin)
            local now_us = lab.now_us()
            if now_us - last_us > queue_ms * 1000 / 4 then
                return ahead + 1
            end
            last_us = now_us
        end
    end)
end

local function launch_queue(c)
    launches_ahead(c)
    local counts = {}
    for i = 1, times do
        counts[i] = launches_ahead(c)
    end
    if #counts < times then
        c:find("launch_queue_depth", ("%d launches behind a kernel of %d ms, and no call waited")
            :format(most_launches, queue_ms))
        return
    end
    c:set("launch_queue_depth", math.tointeger(context.median(counts)),
          "launches into a stream, a long kernel the first of them, before a call waits")
end

-- ---- kernels at a time ------------------------------------------------------------------------

-- Enough for the host to enqueue n operations while they run.
local function long_ms(n)
    return math.max(2, n * 0.03)
end

local function most_at_once(spans)
    local ends, most, running = {}, 0, 0
    for _, span in ipairs(spans) do
        ends[#ends + 1] = { at = span.start_us, step = 1 }
        ends[#ends + 1] = { at = span.end_us, step = -1 }
    end
    table.sort(ends, function(a, b)
        return a.at < b.at or (a.at == b.at and a.step < b.step)
    end)
    for _, e in ipairs(ends) do
        running = running + e.step
        most = math.max(most, running)
    end
    return most
end

local function grids_of(c, n)
    return c:with_streams(n, {}, function(streams)
        return most_at_once(c:record(function()
            for _, stream in ipairs(streams) do
                c.lab.spin(long_ms(n), { stream = stream })
            end
        end):spans())
    end)
end

local most_streams <const> = 640

local function grids(c)
    local n, count = 160, 0
    while n <= most_streams do
        count = middle(function() return grids_of(c, n) end)
        if count < n then
            break
        end
        n = n * 2
    end
    c:set("max_grids", count, ("kernels of one block in %d streams that run at once"):format(
        math.min(n, most_streams)))
end

-- ---- channels ---------------------------------------------------------------------------------

-- Which streams' first operations, in order of issue, did not wait for others'. `enqueue`
-- gives a stream its operations; `is_first` tells the span of the first.
local function immediate(c, streams, ms, enqueue, is_first)
    local tl = c:record(function()
        for _, stream in ipairs(streams) do
            enqueue(stream, ms)
        end
    end)
    local free, seen, start_us = {}, {}, nil
    for _, span in ipairs(tl:spans()) do
        if is_first(span) and not seen[span.stream_id] then
            seen[span.stream_id] = true
            start_us = start_us or span.start_us
            free[#free + 1] = span.start_us - math.max(start_us, span.host_end_us) < ms * 500
        end
    end
    return free
end

local channel_streams <const> = 40

-- How many of n streams went ahead at once, which are as many as there are channels if n is a
-- good deal more; and which of the others was the first.
local function channels_of(c, n, enqueue, is_first)
    return c:with_streams(n, {}, function(streams)
        local free = immediate(c, streams, long_ms(6 * n), enqueue, is_first)
        local count, first_late = 0, nil
        for i, ahead in ipairs(free) do
            count = count + (ahead and 1 or 0)
            first_late = first_late or (not ahead and i or nil)
        end
        return { count = count, first_late = first_late, n = n }
    end)
end

-- The channels, from few streams, else from many. `first_late` is nil if no stream waited.
local function channels(c, enqueue, is_first)
    local found
    for _, n in ipairs { channel_streams, 3 * channel_streams } do
        local counts = {}
        for i = 1, times do
            counts[i] = channels_of(c, n, enqueue, is_first)
        end
        table.sort(counts, function(a, b) return a.count < b.count end)
        found = counts[times // 2 + 1]
        if found.count <= n // 2 then
            break
        end
    end
    return found
end

local function note_channels(c, key, found, how)
    if not found.first_late then
        c:find(key, ("of %d streams none held up another: as many channels, or none is shared")
            :format(found.n))
    else
        c:find(key, ("of %d streams, one after the other, the %dth was the first that waited")
            :format(found.n, found.first_late))
    end
    c:set(key, found.count, how:format(found.n))
end

local function is_kernel(span) return span.kind == "kernel" end

local function kernel_channels(c)
    local lab = c.lab
    local found = channels(c, function(stream, ms)
        lab.spin(ms, { stream = stream })
        lab.spin(ms, { stream = stream })
    end, is_kernel)
    note_channels(c, "connections", found,
        "two long kernels in each of %d streams: streams whose first did not wait")
end

-- ---- priorities -------------------------------------------------------------------------------

local wave_ms <const>, waves <const> = 0.2, 8

-- Whether a block of priority `urgent` comes before the waiting ones of a long grid of
-- priority `other`.
local function overtakes(c, urgent, other)
    local lab = c.lab
    local behind <close> = lab.stream { priority = other }
    local ahead <close> = lab.stream { priority = urgent }
    local spans = c:record(function()
        lab.spin(wave_ms, { stream = behind, threads = c.device.max_threads_per_block,
                            blocks = c.device.sm_count * 2 * waves })
        lab.spin(wave_ms, { stream = ahead, threads = c.device.max_threads_per_block })
    end):spans()
    local grid = spans[1]
    return spans[2].start_us - grid.start_us < (grid.end_us - grid.start_us) / 2
end

local function priorities(c)
    local range = c.device.priority_range
    local levels, same = 1, {}
    for priority = range.least, range.greatest + 1, -1 do
        local differ = middle(function()
            return overtakes(c, priority - 1, priority) and 1 or 0
        end)
        levels = levels + differ
        if differ == 0 then
            same[#same + 1] = ("%d and %d"):format(priority, priority - 1)
        end
    end
    c:set("priority_levels", levels,
          "neighbouring priorities of which the one overtakes the other's waiting blocks, and 1")
    if #same > 0 then
        c:find("priority_levels", "these do not differ: " .. table.concat(same, ", "))
    end
end

-- ---- room on an SM ----------------------------------------------------------------------------

-- Blocks of so many threads that an SM takes at a time, up to `most`.
local function blocks_per_sm(c, threads, most)
    local lab = c.lab
    local stream <close> = lab.stream()
    local function in_one_wave(per_sm)
        local way = { stream = stream, threads = threads, blocks = c.device.sm_count * per_sm }
        local spans = c:record(function()
            for _ = 1, times do
                lab.spin(wave_ms, way)
            end
        end):spans()
        return context.median(durations.of_spans(spans)) < wave_ms * 1500
    end
    return context.largest(0, most + 1, in_one_wave)
end

local warp <const>, small_block <const> = 32, 128

local function room(c)
    c:set("max_blocks_per_sm", blocks_per_sm(c, warp, 128),
          "blocks of a warp for each SM that a spin of one wave has")
    c:set("max_threads_per_sm", small_block * blocks_per_sm(c, small_block, 64),
          "threads for each SM that a spin of one wave has, in blocks of 128")
end

function part.run(c)
    c.progress("the launch queue")
    launch_queue(c)
    c.progress("kernels at a time")
    grids(c)
    c.progress("channels")
    kernel_channels(c)
    c.progress("priorities")
    priorities(c)
    c.progress("room on an SM")
    room(c)
end

return part
