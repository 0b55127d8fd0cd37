-- collectives.lua - collectives between two GPUs, through lab.comm: how long they take by size and
-- by the number of channels, and what a call costs the host.

local collective_fit = import "scripts/measure/calibrate/collective_fit.lua"
local context = import "scripts/measure/calibrate/context.lua"
local lists = import "repl/run/lists.lua"
local owner = import "scripts/measure/calibrate/owner.lua"
local median, spread = context.median, context.spread

local part = { name = "collectives", passes = 3, needs_second = true,
               title = "collectives between two GPUs" }

local kib <const>, mib <const> = 1024, 1024 * 1024
local sizes <const> = { kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib, 4 * mib, 16 * mib,
                        64 * mib, 256 * mib,
                        1024 * mib }
local names <const> = { "all_reduce", "all_gather", "reduce_scatter", "broadcast" }

local function count_of(bytes) return bytes <= mib and 20 or bytes <= 16 * mib and 9 or 4 end

-- ---- memory and calls -----------------------------------------------------------------------

-- A stream and memory on each GPU, for collectives of up to so many bytes; f(ends).
local function with_ends(c, largest, f)
    local lab, ends = c.lab, { streams = {}, all = {}, half = {} }
    local own <close> = owner.new()
    for i, device in ipairs { c.device, c.second } do
        ends.streams[i] = own(lab.stream { non_blocking = true, device = device,
                                           name = "rank " .. i - 1 }, "close")
        ends.all[i] = own(lab.zeros(largest // 4, { device = device }))
        ends.half[i] = own(lab.zeros(largest // 8, { device = device }))
        lab.with(ends.streams[i], lab.synchronize)
    end
    f(ends)
    for _, stream in ipairs(ends.streams) do
        stream:synchronize()
    end
end

local function first(tensors, bytes)
    return lists.map(tensors, function(t) return t:narrow(1, 1, bytes // 4) end)
end

-- A function that calls the collective of so many bytes, as NCCL counts them: of all ranks' parts.
local function caller(comm, ends, name, bytes)
    local streams, all, half = ends.streams, first(ends.all, bytes), first(ends.half, bytes // 2)
    local t = name == "all_gather" and half or all
    local out = name == "all_gather" and all or name == "reduce_scatter" and half or nil
    return function() comm[name](comm, t, { out = out, streams = streams }) end
end

-- How long one takes, one after the other in a stream: from the end of each to the end of the next
-- one; the blocks of its kernel, and the spread.
local function measure(c, comm, ends, name, bytes)
    local call = caller(comm, ends, name, bytes)
    local kernels = lists.select(c:held(ends.streams, function()
        for _ = 0, count_of(bytes) do
            call()
        end
    end), function(span)
        return span.device == c.device.index and span.name:lower():find("nccl", 1, true)
    end)
    local us = {}
    for i = 2, #kernels do
        us[i - 1] = kernels[i].end_us - kernels[i - 1].end_us
    end
    if #us == 0 then
        error("the timeline has no kernels of NCCL", 0)
    end
    return { bytes = bytes, us = median(us), spread = spread(us), blocks = kernels[1].blocks }
end

-- ---- the tables -----------------------------------------------------------------------------

-- Rows by name and size.
local function set_tables(c, comm, ends, list)
    local rows = {}
    for _, name in ipairs(names) do
        c.progress(name)
        rows[name] = {}
        local ordered = lists.map(list, function(bytes)
            rows[name][bytes] = measure(c, comm, ends, name, bytes)
            return rows[name][bytes]
        end)
        c:set("comm_us." .. name, lists.map(ordered,
                                            function(row) return { row.bytes, row.us } end),
              "one after the other in a stream, behind a hold", lists.most(ordered, "spread"))
    end
    return rows
end

-- the simulator's, where neither the timeline nor a base has a number
local usual_channels <const> = 24

local function set_channels(c, row)
    if row.blocks > 0 then
        c:set("comm.channels", row.blocks, "blocks of the largest all_reduce's kernel")
    end
end

-- ---- the model ------------------------------------------------------------------------------

local limits <const> = { 1, 2, 4, 8, 16, 32 }
local fit_bytes <const>, step_bytes <const> = 256 * mib, 4 * mib
local fast_link <const> = 100           -- GB/s; slower ones leave LL at smaller sizes
local ll_bytes <const>, slow_ll_bytes <const> = mib, 64 * kib
-- of a block of LL between two GPUs, where there are few bytes
local ll_block_bytes <const> = 512 * 16

-- All_reduces with a limit on channels, of each of the sizes: by size a list of {blocks =, us =}.
local function limited(c, ends, list)
    local rows = lists.map(list, function() return {} end)
    for _, channels in ipairs(limits) do
        c.progress(("%d channels"):format(channels))
        local comm = c.lab.comm { devices = { c.device, c.second }, channels = channels }
        for i, bytes in ipairs(list) do
            local row = measure(c, comm, ends, "all_reduce", bytes)
            table.insert(rows[i], { blocks = channels, us = row.us - c.values.stream_gap_us })
        end
        comm:free()
    end
    return rows
end

local function small_one(c, rows, name, bytes, blocks)
    return { name, bytes, rows[name][bytes].us - c.values.stream_gap_us, blocks }
end

local function set_protocol(c, prefix, found, how)
    c:set(prefix .. "channel_gb_per_s", found.channel, how)
    if found.link then
        c:set(prefix .. "link_gb_per_s", found.link, "the same")
    end
    c:set(prefix .. "base_us", found.base, "the same")
    c:set(prefix .. "step_us", found.step, "the same")
end

-- The protocols that times between two GPUs show: Simple, which takes large messages, and LL.
local function set_model(c, ends, rows)
    local slow, large, fast = table.unpack(limited(c, ends, { slow_ll_bytes, fit_bytes, ll_bytes }))
    local channels = c.values["comm.channels"] or usual_channels
    local simple = collective_fit.protocol(large, fit_bytes, {
        one = small_one(c, rows, "reduce_scatter", step_bytes, channels),
        two = small_one(c, rows, "all_reduce", step_bytes, channels),
    })
    if not simple then
        c:find("comm", "the number of channels makes no difference to an all_reduce of 256 MiB")
        return
    end
    set_protocol(c, "comm.", simple, "fitted: all_reduce of 256 MiB with 1 to 32 channels, "
        .. "all_reduce and reduce_scatter of 4 MiB")
    local is_fast = (simple.link or fast_link) >= fast_link
    local bytes, list = is_fast and ll_bytes or slow_ll_bytes, is_fast and fast or slow
    local ll = collective_fit.protocol(lists.select(list, function(row)
        return row.blocks * ll_block_bytes <= bytes
    end), bytes, { one = small_one(c, rows, "all_gather", kib, 1),
                   two = small_one(c, rows, "all_reduce", kib, 1) })
    if ll then
        set_protocol(c, "comm.ll_", ll,
                     ("fitted: all_reduce of %s with 1 to 32 channels, all_reduce and all_gather "
            .. "of 1 KiB"):format(context.size_text(bytes)))
    end
end

-- ---- the host -------------------------------------------------------------------------------

local calls <const>, rounds <const> = 20, 9

local function set_host(c, comm, ends)
    local us, most = c:call_us(calls, rounds, caller(comm, ends, "all_reduce", kib))
    c:set("comm.host_us", us / 2, "all_reduce of 1 KiB in two streams of one call, for each", most)
end

-- ---- the part -------------------------------------------------------------------------------

-- Sizes that leave the GPUs most of their memory.
local function sizes_for(c)
    local most = math.min(c.device.memory_bytes, c.second.memory_bytes) // 16
    return lists.select(sizes, function(bytes) return bytes <= most end)
end

function part.run(c)
    local made, comm = pcall(c.lab.comm, { devices = { c.device, c.second } })
    if not made then
        if comm.code ~= "SL_EUNSUPPORTED" then
            error(comm, 0)
        end
        c:find("comm", comm.message)        -- there is no NCCL
        return
    end
    local list = sizes_for(c)
    with_ends(c, list[#list], function(ends)
        set_host(c, comm, ends)
        local rows = set_tables(c, comm, ends, list)
        set_channels(c, rows.all_reduce[list[#list]])
        comm:free()
        set_model(c, ends, rows)
    end)
end

return part
