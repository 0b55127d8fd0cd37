-- probing.lua - whether a call holds the host, or serialises streams.

local lab, core = ...

local as, new_stream, spin = core.as, lab.stream, lab.spin
local check_function, no_more = core.arguments.check_function, core.arguments.no_more
local check_options = core.arguments.check_options

local probe_options = {
    {"non_blocking", "true or false", function(value) return type(value) == "boolean" end},
    {"kernel_ms", "a number above 0, at most 1e9", function(value)
        return type(value) == "number" and value > 0 and value <= 1e9
    end},
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

-- Does f() hold the host, or serialise streams? A kernel of one block on one
-- stream, f, a kernel on another one. The kernels are longer than calls take, so
-- that a call of some length is told from one that waits. The streams are as CUDA
-- makes them, blocking, so that work of f in the NULL stream shows, unless
-- non_blocking = true is given. f gets the two streams, if it is a Lua function:
-- one of the laboratory (lab.probe(lab.synchronize)) has no use for them.
function lab.probe(f, opts, ...)
    check_function(f, 1, "probe")
    no_more(2, "probe", ...)
    opts = check_options(opts, probe_options, "probe")
    local non_blocking, kernel_ms = opts.non_blocking or false, opts.kernel_ms or 50
    local first = as("probe", new_stream, {non_blocking = non_blocking, name = "probe 1"})
    local second = as("probe", new_stream, {non_blocking = non_blocking, name = "probe 2"})
    as("probe", spin, 0, {stream = first})      -- loads the kernel, which may synchronise
    local host_us
    local tl = core.profile("probe", function()
        as("probe", spin, kernel_ms, {stream = first})
        local start_ns = core.now_ns()
        if core.is_c_function(f) then f() else f(first, second) end
        host_us = (core.now_ns() - start_ns) / 1000
        as("probe", spin, kernel_ms, {stream = second})
    end)
    local kernel_us = kernel_ms * 1000
    local total_us = probed_us(tl, first, second, kernel_us)
    return {host_us = host_us, total_us = total_us, host_blocked = host_us > kernel_us / 2,
            serialised = total_us > kernel_us * 1.5}
end
