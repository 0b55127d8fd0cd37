-- host.lua - what calls cost the host, as scripts make them: through Lua, while a timeline is
-- recorded. Frequent calls are measured in a mixed sequence (mixed.lua), others in loops.
--
-- A loop makes fewer calls than fit into a stream's queue, so that no call waits. For what is
-- created and destroyed in the loop (tensors, streams, events) the cost is that of both: the
-- simulator has no cost of destroying something.

local lists = import "repl/run/lists.lua"
local mixed = import "scripts/measure/calibrate/mixed.lua"

local part = { name = "host", passes = 15, title = "what calls cost the host" }

local calls <const>, held_calls <const>, made <const>, rounds <const> = 400, 250, 100, 7
local holder_ms <const> = 5         -- longer than held_calls take

-- Median, spread of what one `call` costs.
local function cost(c, call, n)
    return c:call_us(n or calls, rounds, call)
end

local function set(c, key, call, how, n)
    local us, spread = cost(c, call, n)
    c:set("host." .. key, us, how, spread)
end

-- Findings are those of the first pass.
local function find(c, key, what, call)
    if c.pass == 1 then
        c:find("host." .. key, ("%s %.3g us"):format(what, (cost(c, call))))
    end
end

-- The cost of a call while a kernel that `hold` launches keeps the device from going on.
local function held_cost(c, hold, call)
    return c:call_us(held_calls, rounds, call, hold)
end

-- What a call costs that no timeline records.
local function unrecorded_cost(c, call)
    return (c:measure(rounds, function()
        c.lab.synchronize()
        return c:loop_us(calls, call)
    end))
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

local function find_sorts(c, details)
    c:find("host", "each in this sequence: " .. lists.join(details, function(detail)
        return ("%s %.3g us"):format(detail.name, detail.us)
    end))
end

local function all_sorts(c)
    local costs, details, n = mixed.costs(c)
    for _, row in ipairs(from_sequence) do
        local of_kind = costs[row[2]]
        c:set("host." .. row[1], of_kind.us, row[3], of_kind.spread)
    end
    c:find("host", ("%s and tensor_alloc_us are medians of a sequence of %d calls of all sorts in 4 "
        .. "streams"):format(
        lists.join(from_sequence, function(row) return row[1] end), n))
    find_sorts(c, details)
    local more_us = costs.matmul_new.us - costs.matmul.us
    c:set("host.tensor_alloc_us", math.max(least_alloc_us, more_us),
          "matmul_us without out = and with the free of its last result, less matmul_us",
          costs.matmul_new.spread)
end

-- ---- one call over and over -------------------------------------------------------------------

local function find_launches(c, stream)
    local lab = c.lab
    local spin, tensor = { stream = stream }, lab.zeros(64, 64)
    local into = { stream = stream, out = lab.zeros(64, 64) }
    local function launch() lab.spin(0, spin) end
    find(c, "launch_us", "a loop of lab.spin", launch)
    find(c, "launch_us", "a loop of lab.pow", function() lab.pow(tensor, 2, into) end)
    find(c, "launch_us", "a loop of lab.add of a tensor and a number", function()
        lab.add(tensor, 1, into)
    end)
    c:find("host.launch_us", ("a loop of lab.spin while nothing is recorded %.3g us"):format(
        unrecorded_cost(c, launch)))
    find(c, "matmul_us", "a loop of lab.matmul of 64 x 64, with out =", function()
        lab.matmul(tensor, tensor, into)
    end)
    find(c, "memset_us", "a loop of tensor:zero_ of 16 KiB", function() tensor:zero_(spin) end)
    tensor:free()
    into.out:free()
end

local function find_copies(c, stream)
    local lab = c.lab
    local way = { stream = stream, non_blocking = true }
    local device = lab.zeros(256)
    local host = lab.zeros(256, { device = "cpu", pinned = true })
    find(c, "memcpy_async_us", "a loop of 1 KiB, pinned, to the device", function()
        device:copy_(host, way)
    end)
    find(c, "memcpy_async_us", "a loop of it to the host", function() host:copy_(device, way) end)
    device:free()
    host:free()
end

local function find_events(c, stream, timed, event, hold)
    find(c, "record_us", "a loop of event:record", function() timed:record(stream) end)
    find(c, "record_untimed_us", "a loop of event:record, timing = false", function()
        event:record(stream)
    end)
    c:find("host.wait_us", ("a loop of stream:wait_event of an event that is not done %.3g us")
        :format((held_cost(c, hold, function() stream:wait_event(event) end))))
    find(c, "wait_us", "a loop of it, the event done", function() stream:wait_event(event) end)
end

local function events(c, stream, other)
    local lab = c.lab
    local timed <close> = lab.event()
    local event <close> = lab.event { timing = false }
    local spin = { stream = other }
    local function hold()
        lab.spin(holder_ms, spin)
        event:record(other)
    end
    if c.pass == 1 then
        find_events(c, stream, timed, event, hold)
    end
    local event_us, event_spread = cost(c, function() event:query() end)
    local stream_us, stream_spread = cost(c, function() stream:query() end)
    c:set("host.query_us", (event_us + stream_us) / 2, "event:query and stream:query",
          math.max(event_spread, stream_spread))
    local pending_us = held_cost(c, hold, function() event:query() end)
    c:find("host.query_us", ("of an event %.3g us, of one that is not done %.3g us, of a stream "
        .. "%.3g us"):format(event_us, pending_us, stream_us))
end

local function others(c, stream)
    local lab = c.lab
    set(c, "synchronize_us", function() stream:synchronize() end,
        "stream:synchronize of an idle stream")
    find(c, "synchronize_us", "lab.synchronize of an idle device", lab.synchronize)
    local spin = { stream = stream }
    local function nothing() end
    -- Queued behind a kernel: otherwise the host functions would run in between.
    local us, spread = held_cost(c, function() lab.spin(holder_ms, spin) end, function()
        stream:launch_host_func(nothing)
    end)
    c:set("host.host_func_us", us, "stream:launch_host_func", spread)
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
        local us
        c:record(function()
            call()
            c.lab.synchronize()
            b:copy_(a)
            us = c:loop_us(1, call)
        end)
        return us
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
    local from, to = lab.ones(most, { device = "cpu" }), lab.ones(most, { device = "cpu" })
    local tensor, out = lab.zeros(64, 64), lab.zeros(64, 64)
    local host = lab.zeros(256, { device = "cpu", pinned = true })
    local small = lab.zeros(256)
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
        c:find("host_cold." .. named[1], ("behind %g to %g MiB that the host copies %.3g to %.3g "
            .. "us"):format(steps_mib[1], steps_mib[#steps_mib], costs[1], costs[#costs]))
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
    for _, t in ipairs { from, to, tensor, out, host, small } do
        t:free()
    end
end

-- ---- making things ----------------------------------------------------------------------------

local function making(c)
    local lab = c.lab
    local on_host = { device = "cpu", pinned = true }
    set(c, "stream_create_us", function() lab.stream():close() end, "lab.stream and its close",
        made)
    set(c, "event_create_us", function() lab.event():close() end, "lab.event and its close")
    find(c, "tensor_alloc_us", "a loop of lab.empty of 1 KiB and its free", function()
        lab.empty(256):free()
    end)
    set(c, "pinned_alloc_us", function() lab.empty(256, on_host):free() end,
        "lab.empty of 1 KiB, pinned, and its free")
end

function part.run(c)
    local stream <close> = c.lab.stream()
    local other <close> = c.lab.stream()
    c.progress("calls of all sorts")
    all_sorts(c)
    if c.pass == 1 then
        c.progress("launches and copies")
        find_launches(c, stream)
        find_copies(c, stream)
    end
    c.progress("events, waiting, host functions")
    events(c, stream, other)
    others(c, stream)
    c.progress("tensors, streams, events")
    making(c)
    c.progress("calls behind other work of the host")
    cold_calls(c, stream)
end

return part
