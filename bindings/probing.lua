-- probing.lua - whether a call holds the host, or serialises streams: any function (lab.probe),
-- or each of CUDA's calls (lab.probes) with the claims about it (lab.claims).

local lab, core = ...

core.need("probe_calls")

local as, refuse, type_name = core.as, core.refuse, core.type_name
local new_stream, spin, synchronize = lab.stream, lab.spin, lab.synchronize
local check_function, no_more = core.arguments.check_function, core.arguments.no_more
local check_options, is_table = core.arguments.check_options, core.arguments.is_table
local wanted_calls = core.arguments.wanted_calls

local probe_options = {
    { "non_blocking", "true or false", core.arguments.is_boolean },
    { "kernel_ms", "a number above 0, at most 1e9", function(value)
        return type(value) == "number" and value > 0 and value <= 1e9
    end },
}

-- From the first start to the last end of the two streams' kernels of that length.
local function probed_us(tl, first, second, kernel_us)
    local start_us, end_us = math.huge, -math.huge
    for _, span in ipairs(tl:spans()) do
        local ours = span.stream_id == first.id or span.stream_id == second.id
        if ours and span.kind == "kernel" and span.end_us - span.start_us >= kernel_us * 0.999 then
            start_us, end_us = math.min(start_us, span.start_us), math.max(end_us, span.end_us)
        end
    end
    return end_us - start_us
end

local function probe(op, f, non_blocking, kernel_ms)
    local first = as(op, new_stream, { non_blocking = non_blocking, name = "probe 1" })
    local second = as(op, new_stream, { non_blocking = non_blocking, name = "probe 2" })
    as(op, spin, 0, { stream = first })     -- loads the kernel, which may synchronise
    local host_us
    local tl = core.profile(op, function()
        as(op, spin, kernel_ms, { stream = first })
        local start_ns = core.now_ns()
        if core.is_c_function(f) then f() else f(first, second) end
        host_us = (core.now_ns() - start_ns) / 1000
        as(op, spin, kernel_ms, { stream = second })
    end)
    local kernel_us = kernel_ms * 1000
    local total_us = probed_us(tl, first, second, kernel_us)
    return { host_us = host_us, total_us = total_us, host_blocked = host_us > kernel_us / 2,
             serialised = total_us > kernel_us * 1.5 }
end

-- Does f() hold the host, or serialise streams? A kernel of one block on one stream, f, a kernel
-- on another one. The kernels are longer than calls take, so that a long call differs from
-- one that waits. The streams are as CUDA makes them, blocking, so that work of f in the NULL
-- stream shows, unless non_blocking = true is given. f gets the two streams, if it is a Lua
-- function: one of the laboratory (lab.probe(lab.synchronize)) gets no streams.
function lab.probe(f, opts, ...)
    check_function(f, 1, "probe")
    no_more(2, "probe", ...)
    opts = check_options(opts, probe_options, "probe")
    return probe("probe", f, opts.non_blocking or false, opts.kernel_ms or 50)
end

-- CUDA's calls ------------------------------------------------------------------------------

local probes_options = { { "calls", "a list of names", is_table } }

local function step(entry, name, x)
    if entry[name] then as("probes", entry[name], x) end
end

-- How long the call takes while the device has nothing to do: the median of three, after one
-- that loads code.
local function alone_us(entry, x)
    local samples = {}
    for i = 0, 3 do
        step(entry, "ready", x)
        step(entry, "before", x)
        as("probes", synchronize)
        local start_ns = core.now_ns()
        step(entry, "run", x)
        samples[i] = (core.now_ns() - start_ns) / 1000
        as("probes", synchronize)
        step(entry, "done", x)
    end
    table.sort(samples)
    return samples[2]
end

-- Long compared with the call, so that a slow call differs from one that waits; short enough
-- to try all calls within seconds.
local shortest_kernel_ms <const> = 10
local function kernel_for(us) return math.max(shortest_kernel_ms, 4 * us / 1000) end

local function probe_call(entry, bytes, non_blocking)
    local first <close> = as("probes", new_stream, { non_blocking = non_blocking })
    local second <close> = as("probes", new_stream, { non_blocking = non_blocking })
    local x = { bytes = bytes or nil, first = first, second = second }
    local alone, host_us = alone_us(entry, x), nil
    local kernel_ms = kernel_for(alone)
    step(entry, "ready", x)
    as("probes", synchronize)
    local result = probe("probes", function(one, other)
        x.first, x.second = one, other
        step(entry, "before", x)
        local start_ns = core.now_ns()
        step(entry, "run", x)
        host_us = (core.now_ns() - start_ns) / 1000
    end, non_blocking, kernel_ms)
    step(entry, "done", x)
    x.first:close()
    x.second:close()
    return { call = entry.call, memory = entry.memory, bytes = bytes or nil, into = entry.into,
             streams = non_blocking and "nonblocking" or "blocking", alone_us = alone,
             kernel_us = kernel_ms * 1000, host_us = host_us, total_us = result.total_us,
             host_blocked = host_us - alone > kernel_ms * 500, serialised = result.serialised }
end

-- Tries the calls, and gives a row for each size and kind of streams.
function lab.probes(opts, ...)
    no_more(1, "probes", ...)
    opts = check_options(opts, probes_options, "probes")
    local wanted, rows = wanted_calls(core.probe_calls, opts.calls, "probes"), {}
    for _, entry in ipairs(core.probe_calls) do
        for _, bytes in ipairs(wanted[entry.call] and entry.sizes or {}) do
            rows[#rows + 1] = probe_call(entry, bytes, false)
            rows[#rows + 1] = probe_call(entry, bytes, true)
        end
    end
    return rows
end

-- What is said ----------------------------------------------------------------------------

local function is_about(claim, entry, row)
    return row.call == entry.call and row.memory == entry.memory and row.into == entry.into
        and (not claim.streams or row.streams == claim.streams)
        and (not claim.most or (row.bytes or 0) <= claim.most)
end

local function agrees(claim, row)
    return (claim.host == nil or row.host_blocked == claim.host)
        and (claim.apart == nil or row.serialised == claim.apart)
end

-- The claim over the rows that it is about; nil if there are none.
local function judge(claim, entry, rows)
    local n, right = 0, 0
    for _, row in ipairs(rows) do
        if is_about(claim, entry, row) then
            n = n + 1
            right = right + (agrees(claim, row) and 1 or 0)
        end
    end
    if n == 0 then return nil end
    local holds = not claim.may and (right == n and "yes" or right == 0 and "no" or "partly") or nil
    return { call = entry.call, memory = entry.memory, into = entry.into, by = claim.by,
             says = claim.says, streams = claim.streams, holds = holds, rows = n, agree = right }
end

local function check_row(row)
    if type(row) == "table" and type(row.call) == "string" and type(row.host_blocked) == "boolean"
        and type(row.serialised) == "boolean"
        and (row.bytes == nil or type(row.bytes) == "number") then return end
    refuse("claims", "argument 1 (rows) must be a list of rows of lab.probes")
end

-- What CUDA's documents and the old lists say of the calls in `rows`, and whether it holds there.
function lab.claims(rows, ...)
    no_more(1, "claims", ...)
    if type(rows) ~= "table" then
        refuse("claims", "argument 1 (rows) must be a list of rows of lab.probes, got %s",
               type_name(rows))
    end
    for _, row in ipairs(rows) do check_row(row) end
    local list = {}
    for _, entry in ipairs(core.probe_calls) do
        for _, claim in ipairs(entry.claims) do
            list[#list + 1] = judge(claim, entry, rows)
        end
    end
    return list
end
