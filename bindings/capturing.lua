-- capturing.lua - lab.capture_probes: which calls a capture forbids, by making them.

local lab, core = ...

-- Calls f, which is to fail as captures make calls fail: CUDA's number and name; 0 if it succeeds;
-- nil and the code if it fails for another reason. Ctrl-C and errors of the program pass.
function core.refused(f, ...)
    local fine, err = pcall(f, ...)
    if fine then return 0 end
    if type(err) ~= "table" or err.code == "SL_EINTERRUPT" then error(err, 0) end
    local name, number = err.message:match "%(([%w]+), (%d+)%)$"
    if number then return math.tointeger(tonumber(number)), name end
    if err.code ~= "SL_EUNSUPPORTED" then error(err, 0) end
    return nil, err.code
end

core.need("capture_calls")

local as, type_name, refused = core.as, core.type_name, core.refused
local wanted_calls = core.arguments.wanted_calls
local no_more, check_options = core.arguments.no_more, core.arguments.check_options
local stream, event, spin, synchronize = lab.stream, lab.event, lab.spin, lab.synchronize
local default_stream, per_thread_stream = lab.default_stream, lab.per_thread_stream
local empty, zeros, ones, cuda = lab.empty, lab.zeros, lab.ones, lab.cuda

local options = { { "calls", "a list of names", core.arguments.is_table } }
local modes <const> = { "global", "thread_local", "relaxed" }
local bytes <const> = 1024 * 1024

-- ---- one call --------------------------------------------------------------------------

-- Memory that all calls share.
local function shared_memory()
    local function on_host(pinned)
        return zeros(bytes, { device = "cpu", dtype = "uint8", pinned = pinned })
    end
    return { device = empty(bytes, { dtype = "uint8" }), target = empty(bytes, { dtype = "uint8" }),
             pinned = on_host(true), pageable = on_host(false), one = ones(1),
             matrix = ones(16, 16) }
end

local function open_case(memory, mode, non_blocking)
    local x = { bytes = 4096, mode = mode, made = {}, handles = 0 }
    for name, tensor in next, memory do x[name] = tensor end
    x.captured = stream{ non_blocking = non_blocking, name = "captured" }
    x.blocking = stream{ non_blocking = false, name = "blocking" }
    x.loose = stream{ non_blocking = true, name = "other" }
    x.null, x.per_thread = default_stream(), per_thread_stream()
    for _, name in ipairs{ "event", "second", "outside", "never" } do x[name] = event() end
    spin(0, { stream = x.loose })
    x.outside:record(x.loose)
    synchronize()
    return x
end

-- Ends what captures the call has left; throws away what they have.
local function end_captures(x)
    for _, name in ipairs{ "captured", "loose", "blocking", "per_thread" } do
        local s = x[name]
        local is_open, status = pcall(s.capture_status, s)
        if is_open and status ~= "none" then
            local _, graph = pcall(s.end_capture, s)
            if type(graph) == "userdata" then graph:free() end
        end
    end
end

local function close_case(x)
    end_captures(x)
    synchronize()
    for _ = 1, x.handles do cuda.cublas_destroy() end
    for _, object in ipairs(x.made) do
        if type_name(object) == "stream" or type_name(object) == "event" then
            object:close()
        elseif not object.freed then
            object:free()
        end
    end
    for _, name in ipairs{ "captured", "blocking", "loose", "event", "second",
                           "outside", "never" } do
        x[name]:close()
    end
end

local closing = { __close = function(self) close_case(self.x) end }

-- How the capture ends: CUDA's number and name.
local function end_capture(x)
    return refused(function() x.made[#x.made + 1] = x.captured:end_capture() end)
end

local function is_spoiled(x) return x.captured:capture_status() == "invalidated" end

local function probe(entry, memory, mode, non_blocking)
    local x = open_case(memory, mode, non_blocking)
    local _ <close> = setmetatable({ x = x }, closing)
    if entry.ready then entry.ready(x) end
    x.captured:begin_capture(mode)
    spin(0, { stream = x.captured })
    if entry.steps then entry.steps(x) end
    local before = is_spoiled(x)
    local number, name = refused(entry.run, x)
    local spoils = is_spoiled(x) and not before
    local ends, end_name = end_capture(x)
    return { key = entry.key, group = entry.group, call = entry.call, of = entry.of, mode = mode,
             streams = non_blocking and "nonblocking" or "blocking", number = number,
             error = name, spoils = spoils, end_number = ends, end_error = end_name }
end

-- ---- all calls -------------------------------------------------------------------------

local function probe_all(wanted)
    local memory, rows = shared_memory(), {}
    for _, entry in ipairs(core.capture_calls) do
        for _, mode in ipairs(wanted[entry.call] and modes or {}) do
            rows[#rows + 1] = probe(entry, memory, mode, false)
            rows[#rows + 1] = probe(entry, memory, mode, true)
        end
    end
    for _, tensor in next, memory do tensor:free() end
    return rows
end

-- Makes the calls while a stream is captured, and gives a row for each mode and kind of stream.
function lab.capture_probes(opts, ...)
    no_more(1, "capture_probes", ...)
    opts = check_options(opts, options, "capture_probes")
    local wanted = wanted_calls(core.capture_calls, opts.calls, "capture_probes")
    return as("capture_probes", probe_all, wanted)
end
