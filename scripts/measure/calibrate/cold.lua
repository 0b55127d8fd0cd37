-- cold.lua - how the host's caches affect copies of pageable memory: how much memory the host may
-- touch between two copies of a buffer before its bytes are evicted, and how long a copy takes
-- then.
--
-- copy_of(host, direction, bytes) enqueues a copy between a host tensor and the device.

local context = import "scripts/measure/calibrate/context.lua"
local lists = import "repl/run/lists.lua"
local median, spread = context.median, context.spread

local cold = {}

local mib <const> = 1024 * 1024

local function free_all(list)
    for _, t in ipairs(list) do
        t:free()
    end
end

-- The host's time in a copy, on an idle device.
local function call_us(c, copy_of, host, direction, bytes)
    local us = c:loop_us(1, function() copy_of(host, direction, bytes) end)
    c.lab.synchronize()
    return us
end

-- ---- how much stays in the caches -----------------------------------------------------------

local part_bytes <const> = 4 * mib              -- one of the buffers that take turns
local least_set <const>, largest_set <const> = 8 * mib, 512 * mib
local differs <const> = 0.1
local least_calls <const> = 24

-- A call's time when so many of the buffers are copied round-robin, after one warm-up round.
local function in_turn_us(c, copy_of, hosts, set_bytes)
    local n, us = set_bytes // part_bytes, {}
    local turns = math.max(2, (least_calls + n - 1) // n)
    c:record(function()
        for i = 0, (turns + 1) * n - 1 do
            local of_call = call_us(c, copy_of, hosts[i % n + 1], "h2d", part_bytes)
            if i >= n then
                us[#us + 1] = of_call
            end
        end
    end)
    return median(us)
end

-- In the simulator, caches hold the share 1 - set / host_cache_bytes of a buffer. This finds the
-- host_cache_bytes for which that line, from the smallest set on, has the same area below it as
-- the measured shares. Real caches evict by other rules; the area takes all sets into account, so
-- that no single one decides.
local function cache_bytes_of(rows)
    local warm_us, cold_us = rows[1].us, rows[#rows].us
    local function part(row)
        return math.max(0, math.min(1, (cold_us - row.us) / (cold_us - warm_us)))
    end
    local area = 0
    for i = 2, #rows do
        local width = rows[i].bytes - rows[i - 1].bytes
        area = area + width * (part(rows[i - 1]) + part(rows[i])) / 2
    end
    return math.floor(rows[1].bytes + 2 * area)
end

local function sets_text(rows)
    return lists.join(rows, function(row)
        return ("%d MiB %.0f us"):format(row.bytes // mib, row.us)
    end)
end

-- Sets host_cache_bytes and gives it; nothing where the caches make no difference.
function cold.set_cache(c, copy_of)
    local hosts = {}
    for i = 1, largest_set // part_bytes do
        hosts[i] = c:pageable(part_bytes)
    end
    local rows, bytes = {}, least_set
    while bytes <= largest_set do
        for _, set in ipairs { bytes, bytes * 3 // 2 } do
            if set <= largest_set then
                rows[#rows + 1] = { bytes = set,
                                    us = in_turn_us(c, copy_of, hosts, set) }
            end
        end
        bytes = bytes * 2
    end
    local cache_bytes
    if rows[#rows].us > rows[1].us * (1 + differs) then
        cache_bytes = cache_bytes_of(rows)
        c:set("host_cache_bytes", cache_bytes, "from how much longer an h2d copy takes the more "
              .. "buffers of 4 MiB take turns", 0)
    else
        c:lack("host_cache_bytes")
    end
    c:find("host_cache_bytes", ("a pageable h2d copy of 4 MiB, buffers in turn that are together "
        .. "%s%s"):format(sets_text(rows), cache_bytes and "" or
        "; the host's caches make less than 10 % of a difference: no value for them"))
    free_all(hosts)
    return cache_bytes
end

-- ---- copies that the caches have nothing of -------------------------------------------------

local turn_bytes <const> = 1024 * mib
local small_most <const>, small_count <const> = 16 * mib, 8
local fewest_rounds <const> = 3     -- in all passes

-- Buffers {bytes, host} of 1 GiB and more together: some of each size, the last one as often as
-- it takes.
local function open_turn(c, sizes)
    local turn, total = {}, 0
    for i, bytes in ipairs(sizes) do
        local n = i < #sizes and small_count or math.max(small_count // 2,
            (turn_bytes - total + bytes - 1) // bytes)
        for _ = 1, n do
            turn[#turn + 1] = { bytes = bytes, host = c:pageable(bytes) }
            total = total + bytes
        end
    end
    return turn
end

-- Adds the times of some rounds in each direction to samples[direction][bytes]. Each buffer was
-- last used a whole round before, at first when it was filled.
local function take_turns(c, copy_of, turn, directions, samples)
    c:record(function()
        for _ = 1, math.ceil(fewest_rounds / c.passes) do
            for _, direction in ipairs(directions) do
                local of_direction = samples[direction]
                for _, item in ipairs(turn) do
                    local list = of_direction[item.bytes] or {}
                    of_direction[item.bytes] = list
                    list[#list + 1] = call_us(c, copy_of, item.host, direction, item.bytes)
                end
            end
        end
    end)
end

-- By direction the rows {bytes, us, spread} of all sizes, ascending. Small sizes share a round,
-- filled up with the next larger size; each of the others has its own.
function cold.measure(c, sizes, directions, copy_of)
    local small, turns, samples = {}, {}, {}
    for _, bytes in ipairs(sizes) do
        if bytes <= small_most then
            small[#small + 1] = bytes
        else
            turns[#turns + 1] = { bytes }
        end
    end
    turns[1] = table.move(turns[1], 1, 1, #small + 1, small)
    for _, direction in ipairs(directions) do
        samples[direction] = {}
    end
    for _, of_turn in ipairs(turns) do
        local turn = open_turn(c, of_turn)
        take_turns(c, copy_of, turn, directions, samples)
        free_all(lists.map(turn, function(item) return item.host end))
    end
    local rows = {}
    for _, direction in ipairs(directions) do
        rows[direction] = lists.map(sizes, function(bytes)
            local us = samples[direction][bytes]
            return { bytes = bytes, us = median(us), spread = spread(us) }
        end)
    end
    return rows
end

return cold
