-- host.lua - what calls cost the host, as scripts make them: through Lua, and not recorded.
-- Frequent calls are measured in a mixed sequence (mixed.lua), others in loops.
--
-- A loop makes fewer calls than fit into a stream's queue, so that no call waits. For what is
-- created and destroyed in the loop (tensors, streams, events) the cost is that of both: the
-- simulator has no cost of destroying something.

local lists = import "repl/run/lists.lua"
local mixed = import "scripts/measure/calibrate/mixed.lua"
local owner = import "scripts/measure/calibrate/owner.lua"

local part = { name = "host", passes = 7, unrecorded = true, title = "what calls cost the host" }

local calls <const>, held_calls <const>, made <const>, rounds <const> = 400, 250, 100, 7
local holder_ms <const> = 5         -- longer than held_calls take
local trips <const>, trip_ms <const> = 20, 0.05     -- longer than the host issues for

-- Median, spread of what one `call` costs.
local function cost(c, call, n)
    return c:call_us(n or calls, rounds, call)
end

local function set(c, key, call, how, n)
    local us, spread = cost(c, call, n)
    c:set("host." .. key, us, how, spread)
end

-- The cost of a call while a kernel that `hold` launches keeps the device from going on.
local function held_cost(c, hold, call)
    return c:call_us(held_calls, rounds, call, hold)
end

-- ---- calls of all sorts -----------------------------------------------------------------------

local from_sequence <const> = {
    { "launch_us", "launch", "lab.pow, lab.add, lab.softmax and lab.spin" },
    { "matmul_us", "matmul", "lab.matmul of 64 and 128, float32, with out =" },
    { "memset_us", "memset", "tensor:zero_" },
    { "memcpy_async_us", "memcpy_async", "tensor:copy_, pinned, non_blocking, both ways" },
    { "record_us", "record", "event:record" },
    { "record_untimed_us", "record_untimed", "event:record, timing = false" },
    { "wait_us", "wait", "stream:wait_event" },
}
local least_alloc_us <const> = 0.1

local function all_sorts(c)
    local costs, n = mixed.costs(c)
    for _, row in ipairs(from_sequence) do
        local of_kind = costs[row[2]]
        c:set("host." .. row[1], of_kind.us, row[3], of_kind.spread)
    end
    c:find("host",
           ("%s and tensor_alloc_us are medians of a sequence of %d calls of all sorts in 4 "
        .. "streams"):format(
        lists.join(from_sequence, function(row) return row[1] end), n))
    local more_us = costs.matmul_new.us - costs.matmul.us
    c:set("host.tensor_alloc_us", math.max(least_alloc_us, more_us),
          "matmul_us without out = and with the free of its last result, less matmul_us",
          costs.matmul_new.spread)
end

-- ---- one call over and over -------------------------------------------------------------------

local function queries(c, stream)
    local event <close> = c.lab.event { timing = false }
    local event_us, event_spread = cost(c, function() event:query() end)
    local stream_us, stream_spread = cost(c, function() stream:query() end)
    c:set("host.query_us", (event_us + stream_us) / 2, "event:query and stream:query",
          math.max(event_spread, stream_spread))
end

local function others(c, stream)
    local lab = c.lab
    set(c, "synchronize_us", function() stream:synchronize() end,
        "stream:synchronize of an idle stream")
    local spin = { stream = stream }
    local function nothing() end
    -- Queued behind a kernel: otherwise the host functions would run in between.
    local us, spread = held_cost(c, function() lab.spin(holder_ms, spin) end, function()
        stream:launch_host_func(nothing)
    end)
    c:set("host.host_func_us", us, "stream:launch_host_func", spread)
end

-- What a host function between two kernels adds, by the whole of a row: a recorder adds to it as
-- well. Noted for the part latencies.
local function host_function_trips(c, stream)
    local lab, spin = c.lab, { stream = stream }
    local function nothing() end
    local function row_us(with)
        return (c:measure(rounds, function()
            lab.synchronize()
            return c:loop_us(1, function()
                for _ = 1, trips do
                    lab.spin(trip_ms, spin)
                    if with then
                        stream:launch_host_func(nothing)
                    end
                end
                lab.spin(0, spin)
                stream:synchronize()
            end)
        end))
    end
    c.host_func_trips = c.host_func_trips or {}
    table.insert(c.host_func_trips, (row_us(true) - row_us(false)) / trips)
end

-- ---- calls that come after other work of the host ---------------------------------------------

local mib <const> = 2 ^ 20
local steps_mib <const> = { 0.25, 0.5, 1, 2, 4, 8, 16 }
local least_us <const> = 0.5        -- that is worth telling

-- A call's cost in us behind the host's copying `bytes` from one tensor of its own to another.
local function cost_behind(c, from, to, bytes, call)
    local n = math.tointeger(bytes // 4)
    local a, b = from:narrow(1, 1, n), to:narrow(1, 1, n)
    return c:measure(9, function()
        call()
        c.lab.synchronize()
        b:copy_(a)
        return c:loop_us(1, call)
    end)
end

-- After how many copied bytes half of the difference between the first and the last cost is
-- reached.
local function half_way(costs)
    local half = (costs[1] + costs[#costs]) / 2
    for i = 2, #costs do
        if costs[i] >= half then
            local before, after = costs[i - 1], costs[i]
            local share = after > before and math.max(0, (half - before) / (after - before)) or 1
            return math.floor(steps_mib[i - 1] * mib * (steps_mib[i] / steps_mib[i - 1]) ^ share)
        end
    end
    return math.floor(steps_mib[#steps_mib] * mib)
end

-- A call has to load from memory what the processor's caches have evicted.
local function cold_calls(c, stream)
    local lab = c.lab
    local most = math.tointeger(steps_mib[#steps_mib] * mib // 4)
    local own <close> = owner.new()
    local from = own(lab.ones(most, { device = "cpu" }))
    local to = own(lab.ones(most, { device = "cpu" }))
    local tensor, out = own(lab.zeros(64, 64)), own(lab.zeros(64, 64))
    local host = own(lab.zeros(256, { device = "cpu", pinned = true }))
    local small = own(lab.zeros(256))
    local into, way = { stream = stream, out = out }, { stream = stream, non_blocking = true }
    local calls_of <const> = {
        { "matmul_us", function() lab.matmul(tensor, tensor, into) end },
        { "launch_us", function() lab.pow(tensor, 2, into) end },
        { "memcpy_async_us", function() small:copy_(host, way) end },
    }
    for i, named in ipairs(calls_of) do
        local costs, spread = {}, nil
        for k, step in ipairs(steps_mib) do
            costs[k], spread = cost_behind(c, from, to, step * mib, named[2])
        end
        local more_us = costs[#costs] - c.values["host." .. named[1]]
        if more_us >= least_us then
            if i == 1 then
                c:set("host_cold.bytes", 2 * half_way(costs),
                      "read and written by the host before lab.matmul: half of the effect", 0)
            end
            c:set("host_cold." .. named[1], more_us,
                  ("on top of host.%s behind %g MiB that the host copies"):format(named[1],
                  steps_mib[#steps_mib]), spread)
        else
            c:lack("host_cold." .. named[1])
            if i == 1 then
                c:lack("host_cold.bytes")
                c:lack("host_cold.first")
            end
        end
    end
end

-- ---- making things ----------------------------------------------------------------------------

local function making(c)
    local lab = c.lab
    local on_host = { device = "cpu", pinned = true }
    set(c, "stream_create_us", function() lab.stream():close() end, "lab.stream and its close",
        made)
    set(c, "event_create_us", function() lab.event():close() end, "lab.event and its close")
    set(c, "pinned_alloc_us", function() lab.empty(256, on_host):free() end,
        "lab.empty of 1 KiB, pinned, and its free")
end

function part.run(c)
    local stream <close> = c.lab.stream()
    c.progress("calls of all sorts")
    all_sorts(c)
    c.progress("events, waiting, host functions")
    queries(c, stream)
    others(c, stream)
    host_function_trips(c, stream)
    c.progress("tensors, streams, events")
    making(c)
    c.progress("calls behind other work of the host")
    cold_calls(c, stream)
end

return part
