-- pageable.lua - copies between pageable memory and the device, which the host stages: up to
-- which size the call returns early, the staging buffers, and how fast the host fills and empties
-- them while the bytes are in its caches. scripts/measure/calibrate/cold.lua measures copies of
-- bytes that are not.
--
-- The host's rates are those with which the simulated call takes as long as the measured one:
-- scripts/measure/calibrate/staging.lua has the simulator's pipeline.

local context = import "scripts/measure/calibrate/context.lua"
local cold = import "scripts/measure/calibrate/cold.lua"
local lists = import "repl/run/lists.lua"
local copies = import "scripts/measure/calibrate/parts/copies.lua"
local owner = import "scripts/measure/calibrate/owner.lua"
local staging = import "scripts/measure/calibrate/staging.lua"
local median, spread = context.median, context.spread

local pageable = { name = "pageable", passes = 15, title = "copies of pageable memory" }

local kib <const>, mib <const> = 1024, 1024 * 1024
local sizes <const> = { 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib, 2 * mib, 4 * mib, 16 * mib,
                        64 * mib, 256 * mib }
local largest <const> = sizes[#sizes]
local many_bytes <const> = 16 * mib     -- where there is no end to what is taken in
local directions <const> = { "h2d", "d2h" }

-- ---- what the model needs of other parts ----------------------------------------------------

-- What an asynchronous copy costs the host, and the time from its return to its start on the
-- device.
local function measure_pinned(c)
    local lab = c.lab
    local host = lab.zeros(4 * kib, { device = "cpu", dtype = "uint8", pinned = true })
    local device = lab.zeros(4 * kib, { dtype = "uint8" })
    local stream <close> = lab.stream { non_blocking = true }
    local function enqueue()
        lab.cuda.memcpy_async(device, host, 4 * kib, stream)
    end
    local call_us = c:call_us(200, 5, enqueue)
    local submit_us = c:measure(9, function()
        local span = c:record(enqueue):spans()[1]
        return math.max(0, span.start_us - span.host_end_us - (span.recording_us or 0))
    end)
    host:free()
    device:free()
    return call_us, submit_us
end

-- The pipeline's figures by their keys. Those that no earlier part has measured are measured
-- here.
local function figures(c)
    local found = c.values
    if not found.h2d_gb_per_s then
        copies.rates(c)
    end
    local call_us, submit_us = found["host.memcpy_async_us"], found.submit_us
    if not call_us or not submit_us then
        local own_call_us, own_submit_us = measure_pinned(c)
        call_us, submit_us = call_us or own_call_us, submit_us or own_submit_us
    end
    return { call_us = call_us, submit_us = submit_us, latency_us = found.copy_latency_us,
             h2d_gb_per_s = found.h2d_gb_per_s, d2h_gb_per_s = found.d2h_gb_per_s }
end

-- ---- calls ----------------------------------------------------------------------------------

local function copy(lab, memory, direction, bytes, stream)
    local to, from = memory.device, memory.host
    if direction == "d2h" then
        to, from = from, to
    end
    lab.cuda.memcpy_async(to, from, bytes, stream)
end

local function count_of(bytes) return bytes <= mib and 61 or bytes <= 16 * mib and 9 or 5 end

-- When each call's first span starts, from the call on.
local function starts_of(spans)
    local starts, last_us = {}, nil
    for _, span in ipairs(spans) do
        if span.host_start_us ~= last_us then
            starts[#starts + 1], last_us = span.start_us - span.host_start_us, span.host_start_us
        end
    end
    return starts
end

-- Calls on an idle device, after one to warm up: how long they take on the host, and when the
-- device begins, from the call on.
local function measure_call(c, memory, direction, bytes, stream)
    local lab = c.lab
    local us = {}
    local spans = c:record(function()
        for i = 0, count_of(bytes) do
            us[i] = c:loop_us(1, function() copy(lab, memory, direction, bytes, stream) end)
            lab.synchronize()
        end
    end):spans()
    local starts = starts_of(spans)
    table.remove(starts, 1)
    return { bytes = bytes, us = median(us), spread = spread(us), from_us = median(starts) }
end

-- ---- behind a kernel ------------------------------------------------------------------------

local kernel_ms <const> = 20

-- f(is_over) while a kernel runs in the stream; is_over() says whether that has ended.
local function behind_kernel(c, stream, f)
    local lab = c.lab
    local event <close> = lab.event { timing = false }
    lab.synchronize()
    lab.spin(kernel_ms, { stream = stream })
    event:record(stream)
    return f(function() return event:query() end)
end

-- Calls f() while a kernel runs in the stream; true if it was still running afterwards.
local function returns_early(c, stream, f)
    return behind_kernel(c, stream, function(is_over)
        f()
        return not is_over()
    end)
end

-- The same by the majority of up to three calls: a host that was interrupted must not count as a
-- call that waits.
local function mostly_early(c, stream, f)
    local first, second = returns_early(c, stream, f), returns_early(c, stream, f)
    return first == second and first or first ~= second and returns_early(c, stream, f)
end

local async_most <const> = 64 * mib

local function set_async_bytes(c, memory, stream)
    local lab = c.lab
    local function passes(bytes)
        return mostly_early(c, stream, function()
            copy(lab, memory, "h2d", bytes, stream)
        end)
    end
    local low, high = 0, 4 * kib
    while high <= async_most and passes(high) do
        low, high = high, high * 2
    end
    local limit = high > async_most and low or context.largest(low, high, passes)
    c:set("h2d_async_bytes", limit, "largest that returns while a kernel of 20 ms is ahead of it")
    return limit
end

-- ---- staging buffers ------------------------------------------------------------------------

local most_copies <const> = 128

-- How many copies of `bytes` return while the kernel runs that is ahead of them all: the most of
-- three attempts, because an interrupted host makes it fewer.
local function taken_in(c, memory, stream, bytes)
    local lab = c.lab
    local most = 0
    for _ = 1, 3 do
        most = math.max(most, behind_kernel(c, stream, function(is_over)
            local n = -1
            repeat
                n = n + 1
                copy(lab, memory, "h2d", bytes, stream)
            until n == most_copies or is_over()
            return n
        end))
    end
    return most
end

-- The largest size of one more copy, after n copies of `bytes`, that still returns early.
local function remainder(c, memory, stream, bytes, n)
    local lab = c.lab
    return context.largest(0, bytes, function(more)
        return mostly_early(c, stream, function()
            for _ = 1, n do
                copy(lab, memory, "h2d", bytes, stream)
            end
            copy(lab, memory, "h2d", more, stream)
        end)
    end)
end

-- The bytes that all staging buffers hold; nil if no limit was found.
local function staged_bytes(c, memory, stream, limit)
    local bytes = math.max(4 * kib, limit // 2)
    if bytes > limit then
        return limit
    end
    local n = taken_in(c, memory, stream, bytes)
    if n == most_copies then
        return nil
    end
    return math.max(limit, n * bytes + remainder(c, memory, stream, bytes, n))
end

-- The device starts once the first buffer is full. The host's rate is that of the whole call.
local function stage_bytes(figure, row)
    return (row.from_us - figure.call_us) * row.bytes / (row.us - figure.call_us)
end

local fewest_bytes <const> = 4096       -- of a staging buffer, and
local most_buffers <const> = 64

-- A copy that just fills all buffers shows how large one is, because the host waits for none.
local function set_stage(c, memory, stream, limit, figure)
    local ring = staged_bytes(c, memory, stream, limit)
    local row = measure_call(c, memory, "h2d", ring or many_bytes, stream)
    local one = math.max(fewest_bytes, stage_bytes(figure, row))
    local total = math.max(fewest_bytes, ring or most_buffers * one)
    local buffers = math.min(most_buffers, math.max(1, math.floor(total / one + 0.5)))
    c:set("stage_buffers", buffers, ring and ("%d bytes are taken in behind a kernel"):format(ring)
          or ("%d copies and more are taken in behind a kernel"):format(most_copies))
    c:set("stage_bytes", math.max(fewest_bytes, total // buffers),
          ("what is taken in, to the buffers; %.0f by the start on the device"):format(one))
end

-- ---- the host's rates -----------------------------------------------------------------------

-- Each size repeatedly, from a buffer of its own.
local function measure_calls(c, memory, direction, stream)
    local rows = {}
    for i, bytes in ipairs(sizes) do
        local host = c:pageable(bytes)
        rows[i] = measure_call(c, { host = host, device = memory.device }, direction, bytes, stream)
        host:free()
    end
    return rows
end

-- Pairs {bytes, GB/s} with which the simulated calls take as long as the rows, and their spread.
local function rates_of(figure, direction, rows)
    return lists.map(rows, function(row)
        return { row.bytes, staging.gb_per_s(figure, direction, row.bytes, row.us) }
    end), lists.most(rows, "spread")
end

local least_part <const> = 0.1      -- of a buffer, in the caches: less says nothing of their rate

-- The rates from the caches, computed from those of repeated copies of one buffer: part of it is
-- in the caches, the less the larger it is, and the rest is cold. No rate exceeds the fastest
-- that was measured.
local function warm_rates(rates, cold_rates, cache_bytes)
    local list, fastest = {}, 0
    for _, rate in ipairs(rates) do
        fastest = math.max(fastest, staging.is_unbound(rate[2]) and 0 or rate[2])
    end
    for i, rate in ipairs(rates) do
        local bytes, slow = rate[1], cold_rates[i][2]
        local part = 1 - bytes / cache_bytes
        local warm = slow
        if staging.is_unbound(rate[2]) then
            warm = rate[2]
        elseif part >= least_part then
            local us_a_byte = (1 / rate[2] - (1 - part) / slow) / part
            warm = us_a_byte > 1 / fastest and 1 / us_a_byte or fastest
        end
        list[i] = { bytes, warm }
    end
    return list
end

-- The host's rates with and without the caches, from the rows of repeated copies of one buffer.
local function set_rates(c, memory, stream, figure, rows)
    local lab = c.lab
    local function copy_of(host, direction, bytes)
        copy(lab, { host = host, device = memory.device }, direction, bytes, stream)
    end
    local cache_bytes = cold.set_cache(c, copy_of)
    local cold_rows
    if cache_bytes then
        c.progress("pageable memory that no cache has")
        cold_rows = cold.measure(c, sizes, directions, copy_of)
    end
    for _, direction in ipairs(directions) do
        local key, cold_key = direction .. "_staging_gb_per_s",
            direction .. "_staging_cold_gb_per_s"
        local rates, spread_ = rates_of(figure, direction, rows[direction])
        if cold_rows then
            local cold_rates, cold_spread = rates_of(figure, direction, cold_rows[direction])
            c:set(cold_key, cold_rates, "buffers that take turns through 1 GiB, so that the call "
                  .. "takes as long as measured", cold_spread)
            rates = warm_rates(rates, cold_rates, cache_bytes)
        else
            c:lack(cold_key)
        end
        c:set(key, rates, "one buffer again, so that the call takes as long as measured"
              .. (cold_rows and ", less what its part that is in no cache takes" or ""), spread_)
    end
end

-- ---- the whole ------------------------------------------------------------------------------

-- The staging buffers, which are the same at all times: in the first pass.
local function set_buffers(c, memory, stream, figure)
    c.progress("staging buffers")
    local limit = set_async_bytes(c, memory, stream)
    set_stage(c, memory, stream, limit, figure)
end

function pageable.run(c)
    local lab = c.lab
    local figure = figures(c)
    local stream <close> = lab.stream { non_blocking = true }
    local own <close> = owner.new()
    local memory = { host = own(c:pageable(largest)),
                     device = own(lab.zeros(largest, { dtype = "uint8" })) }
    local rows = {}
    for _, direction in ipairs(directions) do
        c.progress("pageable " .. direction)
        rows[direction] = measure_calls(c, memory, direction, stream)
    end
    if c.pass == 1 then
        set_buffers(c, memory, stream, figure)
    end
    figure.stage_bytes, figure.stage_buffers = c.values.stage_bytes, c.values.stage_buffers
    c.progress("the host's caches")
    set_rates(c, memory, stream, figure, rows)
end

return pageable
