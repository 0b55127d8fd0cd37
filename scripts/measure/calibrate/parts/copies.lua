-- copies.lua - copies between pinned memory and the device: durations, rates, gaps, both
-- directions at once, and how many channels an engine has.

local context = import "scripts/measure/calibrate/context.lua"
local durations = import "scripts/measure/calibrate/durations.lua"
local lists = import "repl/run/lists.lua"
local owner = import "scripts/measure/calibrate/owner.lua"
local median, spread, size_text = context.median, context.spread, context.size_text

local copies = { name = "copies", passes = 7, title = "copies between host and device" }

local kib <const>, mib <const> = 1024, 1024 * 1024
local largest <const> = 256 * mib
local sizes <const> = { 256, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib, 4 * mib, 16 * mib,
                        64 * mib, largest }

-- ---- memory ---------------------------------------------------------------------------------

local directions <const> = { "h2d", "d2h" }

-- f(memory) with the largest blocks, {host, device} a direction; none is freshly mapped when it is
-- measured.
local function with_memory(c, f)
    local lab, memory = c.lab, {}
    local own <close> = owner.new()
    for _, direction in ipairs(directions) do
        memory[direction] = {
            host = own(lab.full(1, largest, { device = "cpu", pinned = true, dtype = "uint8" })),
            device = own(lab.zeros(largest, { dtype = "uint8" })),
        }
    end
    lab.synchronize()
    return f(memory)
end

local function copy(lab, memory, direction, bytes, stream)
    local ends = memory[direction]
    if direction == "h2d" then
        lab.cuda.memcpy_async(ends.device, ends.host, bytes, stream)
    else
        lab.cuda.memcpy_async(ends.host, ends.device, bytes, stream)
    end
end

-- The spans of copies of one direction, in the order of their start.
local function copies_of(spans, direction)
    local list = lists.select(spans, function(span) return span.kind == "memcpy_" .. direction end)
    table.sort(list, function(a, b) return a.start_us < b.start_us end)
    return list
end

-- ---- durations, rates, latency, gaps --------------------------------------------------------

local function count_of(bytes) return bytes <= mib and 60 or bytes <= 16 * mib and 9 or 5 end

-- {bytes, us, spread, gaps} of each size, one copy after the other in a stream.
local function measure_sizes(c, memory, direction)
    local rows = {}
    local stream <close> = c.lab.stream { non_blocking = true }
    for i, bytes in ipairs(sizes) do
        local list = copies_of(c:held({ stream }, function()
            for _ = 0, count_of(bytes) do
                copy(c.lab, memory, direction, bytes, stream)
            end
        end), direction)
        table.remove(list, 1)
        local us = durations.of_spans(list)
        rows[i] = { bytes = bytes, us = context.middle(us), spread = spread(us),
                    gaps = durations.gaps(list) }
    end
    return rows
end

local rate_bytes <const> = 64 * mib     -- and larger

-- GB/s of the largest sizes, once what each copy takes is off.
local function rate_of(rows, fixed)
    local large = lists.select(rows, function(row) return row.bytes >= rate_bytes end)
    return median(lists.map(large, function(row) return row.bytes / (row.us - fixed) * 1e-3 end))
end

local function set_durations(c, direction, rows)
    c:set("copy_us." .. direction,
          lists.map(rows, function(row) return { row.bytes, row.us } end),
          "one after the other in a stream, behind a hold", lists.most(rows, "spread"))
end

-- The sizes whose gaps are taken for all: behind copies of 1 KiB to an H200 they are longer.
local gap_least <const>, gap_most <const> = 16 * kib, 16 * mib

local function set_gap(c, rows)
    local all = {}
    for _, direction in ipairs(directions) do
        for _, row in ipairs(rows[direction]) do
            if row.bytes >= gap_least and row.bytes <= gap_most then
                lists.append(all, row.gaps)
            end
        end
    end
    c:set("copy_gap_us", math.max(0, context.middle(all)),
          "pinned copies of 16 KiB to 16 MiB in one stream: end to start", spread(all))
end

-- Sets the durations, and the rates and the latency that both directions share.
local function set_rates(c, memory)
    local rows, fixed = {}, {}
    for _, direction in ipairs(directions) do
        rows[direction] = measure_sizes(c, memory, direction)
        fixed[direction] = context.line(rows[direction])
        set_durations(c, direction, rows[direction])
    end
    local latency_us = (fixed.h2d + fixed.d2h) / 2
    c:set("copy_latency_us", latency_us,
          ("fit over 256 B to 256 MiB; h2d %.2f, d2h %.2f"):format(fixed.h2d, fixed.d2h),
          latency_us > 0 and math.abs(fixed.h2d - fixed.d2h) / latency_us or nil)
    for _, direction in ipairs(directions) do
        c:set(direction .. "_gb_per_s", rate_of(rows[direction], fixed[direction]),
              "64 and 256 MiB, the latency off", rows[direction][#sizes].spread)
    end
    return rows
end

-- ---- both directions at once ----------------------------------------------------------------

-- How long those copies took that had some of `others` beside them from start to end: those
-- between the others' first and last. All, if there are none: the two directions alternated.
local function beside(list, others)
    local from, to = others[1].start_us, others[#others].end_us
    local between = lists.select(list, function(span)
        return span.start_us >= from and span.end_us <= to
    end)
    return durations.of_spans(between[1] and between or list)
end

-- As many bytes in one direction as in the other. Adds what copies took to us.h2d and us.d2h.
local function add_duplex(c, memory, bytes, n, us)
    local lab = c.lab
    local up <close> = lab.stream { non_blocking = true }
    local down <close> = lab.stream { non_blocking = true }
    local spans = c:held({ up, down }, function()
        for _ = 1, n do
            copy(lab, memory, "h2d", bytes, up)
            copy(lab, memory, "d2h", bytes, down)
        end
    end)
    local h2d, d2h = copies_of(spans, "h2d"), copies_of(spans, "d2h")
    lists.append(us.h2d, beside(h2d, d2h))
    lists.append(us.d2h, beside(d2h, h2d))
end

-- Beside smaller ones there are gaps in which the other direction runs alone.
local duplex_sizes <const> = { { bytes = 16 * mib, n = 24 }, { bytes = 64 * mib, n = 8 } }
local duplex_repetitions <const> = 3

local function set_duplex(c, memory, rows)
    local sum, words, most = 0, {}, 0
    for i, size in ipairs(duplex_sizes) do
        local us = { h2d = {}, d2h = {} }
        for _ = 1, duplex_repetitions do
            add_duplex(c, memory, size.bytes, size.n, us)
        end
        local factor = {}
        for _, direction in ipairs(directions) do
            local alone = lists.select(rows[direction], function(row)
                return row.bytes == size.bytes
            end)
            factor[direction] = alone[1].us / median(us[direction])
            sum = sum + factor[direction]
            most = math.max(most, spread(us[direction]))
        end
        words[i] = ("%s h2d %.3f d2h %.3f"):format(size_text(size.bytes), factor.h2d, factor.d2h)
    end
    c:set("duplex_factor", math.min(1, sum / (2 * #duplex_sizes)),
          "16 and 64 MiB beside as many the other way, to alone; the mean of both ways", most)
    c:find("duplex", "rate of each direction while both run, to alone: "
        .. table.concat(words, "; "))
end

-- ---- channels -------------------------------------------------------------------------------

-- An engine serves one channel until it is empty, and streams get channels in turn as they are
-- made. So of one copy in each stream, all at once, those of a channel come in a row.

local channel_bytes <const> = 4 * mib
local channel_rounds <const> = 3

-- The numbers of n streams, from 0 and as they were made, in the order in which the engine took
-- their copies; those were issued in the order of the streams. Also the gaps before all but the
-- first one: {list, gaps}.
local function served(c, memory, direction, n)
    return c:with_streams(n, { non_blocking = true }, function(streams)
        local number = {}
        for i, stream in ipairs(streams) do
            number[stream.id] = i - 1
        end
        local spans = copies_of(c:held(streams, function()
            for _, stream in ipairs(streams) do
                copy(c.lab, memory, direction, channel_bytes, stream)
            end
        end), direction)
        return { list = lists.map(spans, function(span) return number[span.stream_id] end),
                 gaps = durations.gaps(spans) }
    end)
end

-- The usual difference between consecutive numbers, except where a channel ends and for a few
-- that came out of order; 0 if there is none.
local function period(list)
    local count, best = {}, nil
    for i = 2, #list do
        local step = list[i] - list[i - 1]
        count[step] = (count[step] or 0) + 1
        if not best or count[step] > count[best] then
            best = step
        end
    end
    return best > 0 and count[best] >= (#list - best) * 3 / 4 and best or 0
end

-- Rounds {list, gaps} and the period of most of them. More streams if the first ones may all
-- have had a channel of their own.
local function channels(c, memory, direction)
    local found, rounds
    for _, n in ipairs { 20, 80 } do
        local periods = {}
        rounds = {}
        for i = 1, channel_rounds do
            rounds[i] = served(c, memory, direction, n)
            periods[i] = period(rounds[i].list)
        end
        found = math.tointeger(median(periods))
        if found > 1 then
            break
        end
    end
    return found, rounds
end

-- The gaps between copies of streams that do not share a channel.
local function gaps_of_turns(rounds, found)
    local turn = {}
    for _, round in ipairs(rounds) do
        for i, us in ipairs(round.gaps) do
            if (round.list[i + 1] - round.list[i]) % found ~= 0 then
                turn[#turn + 1] = us
            end
        end
    end
    return turn
end

-- The simulator has one number for both engines.
local function set_channels(c, memory)
    local found, rounds = channels(c, memory, "h2d")
    if found > 1 then
        local turn = gaps_of_turns(rounds, found)
        c:set("copy_connections", found, ("of a copy in each of %d streams, each %d. comes in a "
            .. "row"):format(#rounds[1].list, found))
        c:set("engine_turn_us", math.max(0, context.middle(turn)),
              "from a channel's last copy to another channel's: end to start", spread(turn))
    end
end

-- ---- the whole ------------------------------------------------------------------------------

-- Sets durations, rates and latency alone, for a part that needs them.
function copies.rates(c)
    return with_memory(c, function(memory) set_rates(c, memory) end)
end

function copies.run(c)
    with_memory(c, function(memory)
        c.progress("durations and rates")
        local rows = set_rates(c, memory)
        set_gap(c, rows)
        c.progress("both directions at once")
        set_duplex(c, memory, rows)
        c.progress("the channels of an engine")
        set_channels(c, memory)
    end)
end

return copies
