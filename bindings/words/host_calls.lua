-- host_calls.lua - calls that held the host: why they did, and what to do about it.

local _, core = ...
local sides, operand, duration = core.words.sides, core.words.operand, core.duration
local by_language, is_foreign, is_pytorch = sides.by_language, sides.is_foreign, sides.is_pytorch

local one_value_bytes <const> = 16      -- of an item() at most: a complex number of two doubles
local few_of <const> = 10               -- one call of so many is one of few

local host_calls = {}

-- ---- which call ------------------------------------------------------------------------

-- A call that is no synchronisation: of those with another GPU, or of which nothing is known,
-- only the name is left.
local function is_plain(by)
    return by and by.is_call and by.kind == "plain" and not by.name:find("Synchronize", 1, true)
end

-- "the profiler's own work (Buffer Flush)", or nil: work of the host that holds it as a call does
-- is that of another program's profiler.
function host_calls.profilers(r)
    local is_work = r.by and r.by.kind == "host_work"
    return is_work and ("the profiler's own work (%s)"):format(r.by.name) or nil
end

-- In a call that did not wait for the GPU the host was at work.
function host_calls.held(r)
    local is_busy = is_plain(r.by) and not r.by.waited_for_device
    return (is_busy or host_calls.profilers(r)) and "busy" or "blocked"
end

-- A copy has the name of its call; a kernel has not.
function host_calls.launch(r)
    return r.by and sides.is_kernel(r.by) and "the launch of " or ""
end

-- Several first launches of kernels are one finding.
local function others(r)
    return r.many_by and r.by.kind == "kernel" and " and of other kernels" or ""
end

-- What the host was in; its stream does not matter. The program wrote the copy, and not the
-- synchronisation behind it.
function host_calls.holder(r)
    if not r.by then return "a call" end
    if host_calls.profilers(r) then return host_calls.profilers(r) end
    if r.copy then
        return ("the synchronisation of %s%s"):format(sides.name(r.copy), sides.at(r.copy))
    end
    if r.by.is_call then return sides.call(r.by) end
    return host_calls.launch(r) .. sides.name(r.by) .. sides.at(r.by) .. others(r)
end

-- ---- why -------------------------------------------------------------------------------

local sync_waits_for <const> = {
    stream_sync = ", which waits for all that the stream holds",
    event_sync = ", which waits for the event",
    device_sync = ", which waits for all work of the device",
}

local function why_operation(r)
    local by = r.by
    if by.to_pageable then
        return ": a copy to pageable memory returns when the data has arrived"
    elseif by.from_pageable then
        return ": the CPU copies pageable memory into the driver's buffers itself, so the call "
               .. "returns only near its end"
    elseif by.loaded_code then
        return ": its first use loads the kernel's code, and that waits for all work of the device"
    elseif sides.is_kernel(by) then
        return is_foreign(r) and ": its call took that long, probably as the first one of its kind"
               or ": its call took that long, as the first one of its kind does that loads code"
    end
    return by.host_waited and ": the call returns when the copy has ended"
           or ": its call took that long"
end

function host_calls.why(r)
    if not r.by then return "" end
    if not r.by.is_call then return why_operation(r) end
    if r.copy then
        return ": a copy that blocks the host waits for all that its stream holds"
    end
    if sync_waits_for[r.by.kind] then return sync_waits_for[r.by.kind] end
    if r.by.uploads then
        return core.words.graphs.upload(r.by)
    end
    if not r.by.waited_for_device then return "" end
    return r.guess and ", which probably waited for all work of the device"
           or ", which waits for all work of the device"
end

-- ---- what to do ------------------------------------------------------------------------

local pin_once <const> =
    "Allocate pinned memory once, before the part that counts, and use it again"
local allocating_pinned <const> = {
    ["pinned allocation"] = true, cudaHostAlloc = true, cudaMallocHost = true,
    cudaHostRegister = true,
}

-- "Allocate pinned memory once ...", if that is what held the host; else nil
function host_calls.pin_once(r)
    return r.by and r.by.is_call and allocating_pinned[r.by.name] and pin_once or nil
end

-- "`data_on_cpu`", or `otherwise`
local function variable(r, written, otherwise)
    local name = operand(r.by.source, written)
    return name and ("`%s`"):format(name) or otherwise
end

-- t:item() and its like copy to the host what they read.
local function reads_a_value(r, copy)
    if copy.kind ~= "memcpy_d2h" then return false end
    if is_pytorch(r) then return copy.bytes > 0 and copy.bytes <= one_value_bytes end
    for _, call in ipairs{ ":item(", ":get(", ":totable(" } do
        if copy.source:find(call, 1, true) then return true end
    end
    return false
end

local function read_later(r)
    return ("Reading a value%s waits for all work before it in its stream: read it after the other "
            .. "work has been issued, and not in every round")
        :format(is_pytorch(r) and " (t.item(), or an if, a print or a float() of it)" or "")
end

-- What copy_ writes to is there already; what to and cpu give is made by them.
local function pin_target(r)
    local target = variable(r, true)
    if is_foreign(r) then
        return "Copy into pinned memory: " .. by_language(r, {
            pytorch = 't.to("cpu", non_blocking=True)', cuda = "cudaMallocHost and cudaMemcpyAsync",
        })
    elseif target then
        return ("Pin %s (pinned = true, or t:pin()) and copy with non_blocking = true")
            :format(target)
    end
    return ('Copy %s into pinned memory: t:to("cpu", { non_blocking = true }) does, or copy_ into '
            .. 'a pinned tensor'):format(variable(r, false, "the tensor"))
end

local function copy_to_pinned(r)
    return ("%s, and wait for the copy before you read it; D2H to pageable memory blocks the host "
            .. "%s"):format(pin_target(r), duration(r.by_host_ns))
end

local function pin_source(r)
    return ("Pin %s (%s): H2D from pageable memory blocks the host %s"):format(
        variable(r, false, r.trace.language == "cuda" and "the memory on the host"
                           or "the tensor on the CPU"),
        by_language(r, {
            lua = "t:pin_memory(), or pinned = true",
            pytorch = "t.pin_memory(), DataLoader(pin_memory=True)",
            cuda = "cudaMallocHost, or cudaHostRegister",
        }), duration(r.by_host_ns))
end

-- What comes behind a copy to the GPU is there, and waits by itself.
local function copy_without_waiting(r, copy)
    return by_language(r, {
        lua = "Give the copy non_blocking = true", pytorch = "Give the copy non_blocking=True",
        cuda = "Use cudaMemcpyAsync",
    }) .. (copy.kind == "memcpy_h2d" and ": what its stream runs behind it waits for it anyway; "
           .. "change the memory on the host only when it has ended"
           or " and wait for it where its result is needed")
end

local function remedy_of_operation(r)
    local by = r.by
    if by.to_pageable then
        return reads_a_value(r, by) and read_later(r) or copy_to_pinned(r)
    elseif by.from_pageable then
        return pin_source(r)
    elseif sides.is_kernel(by) or by.loaded_code then
        return "Run each kernel once before the part that counts"
    end
    return by.host_waited and copy_without_waiting(r, by)
        or "Run it once before the part that counts"
end

-- Of a synchronisation that belongs to a copy.
local function remedy_of_copy(r, copy)
    if reads_a_value(r, copy) then return read_later(r) end
    if copy.to_pageable then return copy_to_pinned(r) end
    if copy.from_pageable then return pin_source(r) .. "; then copy without blocking" end
    return copy_without_waiting(r, copy)
end

local memory_calls <const> = { cudaMalloc = true, cudaFree = true }

-- A few long calls among many are not mended by making fewer.
local function call_it_before(r)
    if r.by_calls and r.by_calls >= few_of * r.count then
        return ("Only %d of its %d calls took long, as first ones do: make these before the part "
                .. "that counts"):format(r.count, r.by_calls)
    end
    return r.count > 1 and "Call it less often, or before the part that counts"
           or "Call it before the part that counts"
end

-- Of a call that is no synchronisation.
local function remedy_of_call(r)
    local is_of_memory = r.by.waited_for_device or is_foreign(r) and memory_calls[r.by.name]
    if host_calls.pin_once(r) then
        return pin_once
    elseif r.by.uploads then
        return core.words.graphs.upload_before(r)
    elseif not is_of_memory then
        return call_it_before(r)
    end
    return by_language(r, {
        lua = "Allocate before and free after the part that counts, or use the stream-ordered "
              .. "malloc_async and free_async",
        pytorch = "Run a round before the part that counts, so that PyTorch has its memory, and "
                  .. "do not empty its cache in between",
        cuda = "Allocate before and free after the part that counts, or use the stream-ordered "
               .. "cudaMallocAsync and cudaFreeAsync",
    })
end

function host_calls.remedy(r)
    if r.by and not r.by.is_call then return remedy_of_operation(r) end
    if host_calls.profilers(r) then
        return "That is no part of the program: without the profiler it is not there"
    end
    if r.copy then return remedy_of_copy(r, r.copy) end
    if is_plain(r.by) then return remedy_of_call(r) end
    return ("Issue what is to run next before the host waits; for order on the device %s does not "
            .. "hold the host"):format(by_language(r, {
        lua = "s:wait_event(e)", pytorch = "stream.wait_event(e)", cuda = "cudaStreamWaitEvent",
    }))
end

return host_calls
