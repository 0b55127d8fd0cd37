-- peers.lua - from one GPU to another: copies in both directions, in a stream of either end, with
-- peer access and without, where they go through the host's memory in pieces, and events that the
-- other GPU waits for.

local context = import "scripts/measure/calibrate/context.lua"
local durations = import "scripts/measure/calibrate/durations.lua"
local lists = import "repl/run/lists.lua"
local owner = import "scripts/measure/calibrate/owner.lua"
local median, spread = context.median, context.spread

local part = { name = "peers", passes = 7, needs_second = true, title = "from one GPU to another" }

local kib <const>, mib <const> = 1024, 1024 * 1024
local largest <const> = 256 * mib
local sizes <const> = { kib, 64 * kib, 256 * kib, mib, 4 * mib, 16 * mib, 64 * mib, largest }

local function count_of(bytes) return bytes <= mib and 20 or bytes <= 16 * mib and 9 or 4 end

-- ---- access ---------------------------------------------------------------------------------

-- f(peer, {device = gpu}) both ways. NCCL may have given access, or nobody may have it to take
-- away.
local function both_ways(c, f)
    for _, pair in ipairs { { c.device, c.second }, { c.second, c.device } } do
        local done, failure = pcall(f, pair[2], { device = pair[1] })
        if not done and failure.code ~= "SL_ESTATE" then
            error(failure, 0)
        end
    end
end

local function connect(c) both_ways(c, c.lab.cuda.device_enable_peer_access) end
local function disconnect(c) both_ways(c, c.lab.cuda.device_disable_peer_access) end

local function can_connect(c)
    local can = c.lab.cuda.device_can_access_peer
    return can(c.device, c.second) and can(c.second, c.device)
end

-- ---- copies ---------------------------------------------------------------------------------

-- What both ends have: memory, and a stream each.
local function with_ends(c, f)
    local lab, ends = c.lab, {}
    local own <close> = owner.new()
    for i, device in ipairs { c.device, c.second } do
        ends[i] = { device = device,
                    memory = own(lab.zeros(largest, { dtype = "uint8", device = device })),
                    stream = own(lab.stream { non_blocking = true, device = device,
                                              name = "end " .. i }, "close") }
        lab.with(ends[i].stream, lab.synchronize)
    end
    f(ends)
    for _, one in ipairs(ends) do
        one.stream:synchronize()
    end
end

local function copy(c, from, to, bytes, stream)
    c.lab.cuda.memcpy_async(to.memory, from.memory, bytes, stream)
end

local function copies_of(spans)
    return lists.select(spans, function(span) return span.kind == "memcpy_p2p" end)
end

local rows <const> = 3

-- So many copies in a stream, between two events.
local function row_us(c, from, to, bytes, stream, n)
    local first, last = c.lab.with(stream, c.lab.event), c.lab.with(stream, c.lab.event)
    c:held({ stream }, function()
        first:record(stream)
        for _ = 1, n do
            copy(c, from, to, bytes, stream)
        end
        last:record(stream)
    end)
    local us = first:elapsed_time(last) * 1000
    first:close()
    last:close()
    return us
end

-- One more copy in a row, by events: a copy through the host has several spans, and one into the
-- GPU of its stream waits outside its span.
local function one_more_us(c, from, to, bytes, stream)
    local n = count_of(bytes)
    return (row_us(c, from, to, bytes, stream, n + 1) - row_us(c, from, to, bytes, stream, 1)) / n
end

-- as the simulator does
local function gap_us(c) return c.values.copy_gap_us or c.values.stream_gap_us end

-- {bytes =, us =, spread =} of each size, copies one after the other in the stream of `at`, without
-- the gap between two.
local function rows_of(c, from, to, at)
    return lists.map(sizes, function(bytes)
        local us = {}
        for i = 1, rows do
            us[i] = math.max(0, one_more_us(c, from, to, bytes, at.stream) - gap_us(c))
        end
        return { bytes = bytes, us = median(us), spread = spread(us) }
    end)
end

-- The rate in GB/s of large copies, over the rows of both directions, and the other rows.
local function rate_of(there, back)
    local large, small = {}, {}
    for _, row in ipairs(lists.append(lists.append({}, there), back)) do
        table.insert(row.bytes >= 16 * mib and large or small, row)
    end
    local _, us_per_mib = context.line(large)
    return us_per_mib > 0 and mib / us_per_mib * 1e-3 or 1e6, small
end

-- Copies in a stream of the source, both directions: the rows of each, and their spread.
local function both_directions(c, ends)
    local there, back = rows_of(c, ends[1], ends[2], ends[1]), rows_of(c, ends[2], ends[1], ends[2])
    return there, back, math.max(lists.most(there, "spread"), lists.most(back, "spread"))
end

-- How long a copy takes beside one the other way, and the spread.
local function both_ways_us(c, ends)
    local us = {}
    for i = 1, rows do
        us[i] = median(durations.of_spans(copies_of((c:held({ ends[1].stream, ends[2].stream },
            function()
                copy(c, ends[1], ends[2], largest, ends[1].stream)
                copy(c, ends[2], ends[1], largest, ends[2].stream)
            end)))))
    end
    return median(us), spread(us)
end

-- With access. Gives the rate.
local function set_line(c, ends)
    local there, back, most = both_directions(c, ends)
    local rate, small = rate_of(there, back)
    local latencies = lists.map(small, function(row) return row.us - row.bytes / rate * 1e-3 end)
    local how <const> = "copies with peer access "
    c:set("peer.gb_per_s", rate, how .. "of 16 to 256 MiB, both directions", most)
    c:set("peer.latency_us", math.max(0, median(latencies)), how .. "of 1 KiB to 4 MiB, the bytes "
        .. "off", spread(latencies))
    c:find("peer.gb_per_s", ("256 MiB both ways at the same time take %.3g times as long as one "
        .. "way"):format(both_ways_us(c, ends) / there[#there].us))
    return rate
end

-- ---- through the host's memory --------------------------------------------------------------

-- One piece goes on one engine, and then on the other: a copy of one takes twice its time, and one
-- of several a piece more than its bytes. The rate is that of large ones, which vary by more than a
-- piece takes: so the piece is that of smaller ones.
local function set_pieces(c, ends)
    local there, back, most = both_directions(c, ends)
    local rate, small = rate_of(there, back)
    local latency_us = math.max(0, (there[1].us + back[1].us) / 2 - 2 * kib / rate * 1e-3)
    local how <const> = "copies without peer access"
    c:set("peer.host_gb_per_s", rate, how .. " of 16 to 256 MiB, both directions", most)
    c:set("peer.host_latency_us", latency_us, "of 1 KiB, the bytes off twice", most)
    local pieces = {}
    for _, row in ipairs(small) do
        if row.bytes >= mib then
            table.insert(pieces, (row.us - latency_us) * rate * 1e3 - row.bytes)
        end
    end
    c:set("peer.host_piece_bytes", math.max(4 * kib, math.floor(median(pieces) + 0.5)),
          "what those of 1 and 4 MiB take beyond both", spread(pieces))
    return latency_us, there[#there].us
end

-- One copy each way at the same time, of which nothing but the latency is undisturbed.
local function set_both_ways(c, ends, latency_us, alone_us)
    local both_us, off = both_ways_us(c, ends)
    local factor = (alone_us - latency_us) / (both_us - latency_us)
    c:set("peer.host_duplex_factor", math.max(0.01, math.min(1, factor)),
          "256 MiB without peer access both ways, to one way", off)
end

-- A call holds the host longer the more pieces it has, while the first ones move.
local function set_call(c, ends)
    local function call_us(bytes)
        local us = {}
        for i = 1, 9 do
            ends[1].stream:synchronize()
            local start_us = c.lab.now_us()
            copy(c, ends[1], ends[2], bytes, ends[1].stream)
            us[i] = c.lab.now_us() - start_us
        end
        return median(us), spread(us)
    end
    local small_us <const> = call_us(mib)
    local large_us <const>, off <const> = call_us(64 * mib)
    c:set("peer.host_call_us_per_mib", math.max(0, (large_us - small_us) / 63),
          "calls of 64 MiB without peer access, to those of 1 MiB", off)
end

local function through_host(c, ends)
    local latency_us, alone_us = set_pieces(c, ends)
    set_both_ways(c, ends, latency_us, alone_us)
    set_call(c, ends)
end

local pull_from <const>, pull_to <const> = 4 * mib, 16 * mib      -- where the latency shows

local function set_pulled(c, ends, rate)
    local there, back = rows_of(c, ends[1], ends[2], ends[2]), rows_of(c, ends[2], ends[1], ends[1])
    local latencies = {}
    for _, row in ipairs(lists.append(lists.append({}, there), back)) do
        if row.bytes >= pull_from and row.bytes <= pull_to then
            table.insert(latencies, row.us - row.bytes / rate * 1e-3)
        end
    end
    c:set("peer.pull_us", (there[1].us + back[1].us) / 2, "1 KiB in a stream of the destination",
          math.max(there[1].spread, back[1].spread))
    c:set("peer.pull_latency_us", math.max(0, median(latencies)),
          "4 and 16 MiB in a stream of the destination, their bytes off", spread(latencies))
end

-- ---- events ---------------------------------------------------------------------------------

local turns <const> = 100

-- Kernels by turns on both GPUs, each behind the event of the one before.
local function set_event(c, ends)
    local lab, events = c.lab, {}
    for i, one in ipairs(ends) do
        events[i] = lab.with(one.stream, lab.event, { timing = false })
    end
    local function row()
        return durations.gaps((c:held({ ends[1].stream, ends[2].stream }, function()
            for i = 1, turns do
                local me, other = i % 2 + 1, (i + 1) % 2 + 1
                if i > 1 then
                    ends[me].stream:wait_event(events[other])
                end
                lab.spin(0.01, { stream = ends[me].stream })
                events[me]:record(ends[me].stream)
            end
        end)))
    end
    row()
    local gaps = row()
    c:set("peer.event_us", math.max(0, context.middle(gaps) - c.values.cross_stream_us),
          "kernel, event, kernel on the other GPU: end to start, less cross_stream_us",
          spread(gaps))
    for _, event in ipairs(events) do
        event:close()
    end
end

-- ---- the part -------------------------------------------------------------------------------

function part.run(c)
    with_ends(c, function(ends)
        disconnect(c)
        c.progress("copies through the host")
        through_host(c, ends)
        if can_connect(c) then
            connect(c)
            c.progress("copies with peer access")
            set_pulled(c, ends, set_line(c, ends))
            disconnect(c)
        else
            c:set("peer.gb_per_s", 0, "neither GPU can have access to the other's memory")
        end
        c.progress("events")
        set_event(c, ends)
    end)
end

return part
