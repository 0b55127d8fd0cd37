-- host_part.lua - the host's part of a profile in groups, each of which one factor scales, and the
-- factors that the calls of a recording show.
--
-- Between machines, and between minutes of one machine, all calls become slower or faster together,
-- and so do all uploads; the shapes of the tables stay. A factor is that of a base profile's
-- figures: of a time above 1 where the host is slower, of a rate below 1.

local _, core = ...

local host_part = {}

-- `name` is that of the row of spread, `figure` finds the figures that are scaled.
host_part.groups = {
    { id = "calls", name = "what calls cost", figure = function(key)
        return key:find("^host%..*_us$") or key:find("^host_cold%..*_us$")
            or key:find("^calls%..*%.us$")
    end },
    { id = "uploads_warm", name = "cached pageable uploads", is_rate = true, figure = function(key)
        return key == "h2d_staging_gb_per_s"
    end },
    { id = "uploads_cold", name = "uncached pageable uploads", is_rate = true,
        figure = function(key)
        return key == "h2d_staging_cold_gb_per_s"
    end },
    { id = "downloads", name = "pageable downloads", is_rate = true, figure = function(key)
        return key == "d2h_staging_gb_per_s" or key == "d2h_staging_cold_gb_per_s"
    end },
}

-- Which figure of the base each kind of call shows (core/timeline/call_times.h). Of a copy of
-- pageable memory the warm and the cold table are known, and not which of them holds.
local calls_shown <const> = {
    launch = "host.launch_us", memcpy_async = "host.memcpy_async_us", memset = "host.memset_us",
    host_func = "host.host_func_us", wait = "host.wait_us",
}
local staging_shown <const> = {
    h2d_staging = { "h2d_staging_gb_per_s", "h2d_staging_cold_gb_per_s" },
    d2h_staging = { "d2h_staging_gb_per_s", "d2h_staging_cold_gb_per_s" },
}

-- Figures --------------------------------------------------------------------------------------

-- The keys of flat figures that a group scales, in order.
function host_part.keys(group, flat)
    local keys = {}
    for key in next, flat do
        if group.figure(key) then keys[#keys + 1] = key end
    end
    table.sort(keys)
    return keys
end

-- What a table of {bytes, value} rows, flat, has for so many bytes: a straight line over the
-- logarithm of the bytes between two rows.
local function table_at(rows, bytes)
    local n = #rows
    if bytes <= rows[1] then return rows[2] end
    for i = 3, n, 2 do
        if bytes <= rows[i] then
            local part = math.log(bytes / rows[i - 2]) / math.log(rows[i] / rows[i - 2])
            return rows[i - 1] + part * (rows[i + 1] - rows[i - 1])
        end
    end
    return rows[n]
end

-- As profiles have them: a number, or a table of rows of two.
local function unflat(values, by)
    if #values == 1 then return values[1] * by end
    local rows = {}
    for i = 1, #values, 2 do rows[#rows + 1] = { values[i], values[i + 1] * by } end
    return rows
end

local group_seen <const> = { calls = "calls", uploads_warm = "uploads", uploads_cold = "uploads",
                             downloads = "downloads" }

-- How far the factor of a group is from what recordings showed a moment ago: that of programs of
-- another kind, or of the next minute. Estimates, from what hosts did within minutes
-- (docs/results/hosts.md).
local spread_seen <const> = {
    calls = { low = 0.83, high = 1.2 }, uploads_warm = { low = 0.8, high = 1.15 },
    uploads_cold = { low = 0.8, high = 1.15 }, downloads = { low = 0.9, high = 1.08 },
}

-- What other programs' recordings tell of a program: of each factor what lies beyond its spread.
-- A factor within that is as likely one of another kind of program, or of another minute, and the
-- base's figures stay. Nil: all of them do.
function host_part.believed(seen)
    local believed = {}
    for _, group in ipairs(host_part.groups) do
        local found, spread = seen[group_seen[group.id]], spread_seen[group.id]
        local beyond = found
            and found.factor / math.max(spread.low, math.min(found.factor, spread.high))
        if found and beyond ~= 1 then
            believed[group_seen[group.id]] = { factor = beyond, calls = found.calls }
        end
    end
    return next(believed) and believed
end

-- The keys of a group's row of spread: what launches of graphs cost is as uncertain as other calls.
local function uncertain_keys(group, flat)
    local keys = host_part.keys(group, flat)
    for key in next, group.id == "calls" and flat or {} do
        if key:find("^host_graph%..*_us$") then keys[#keys + 1] = key end
    end
    table.sort(keys)
    return keys
end

-- A profile's table with the figures of a base, {flat, ...}, times the factors that recordings show
-- (host_part.seen), and with how uncertain they are.
function host_part.profile(figures, seen)
    local t = { spread = {} }
    for _, group in ipairs(host_part.groups) do
        local found = seen[group_seen[group.id]]
        for _, key in ipairs(found and host_part.keys(group, figures.flat) or {}) do
            t[key] = unflat(figures.flat[key], found.factor)
        end
        local keys = uncertain_keys(group, figures.flat)
        if found and keys[1] then
            local spread = spread_seen[group.id]
            t.spread[group.name] = { keys = keys, low = spread.low, high = spread.high }
        end
    end
    return t
end

-- What calls show ------------------------------------------------------------------------------

local least_bytes <const> = 128 * 1024      -- of a copy whose time is that of the staging
local least_calls <const>, least_copies <const> = 10, 2
local far <const> = 3           -- a call that is so many times dearer had another reason

local function middle(list)
    table.sort(list)
    local n = #list
    return n > 0 and (list[(n + 1) // 2] + list[n // 2 + 1]) / 2 or nil
end

local function add(into, id, value)
    into[id] = into[id] or {}
    table.insert(into[id], value)
end

-- What a copy of pageable memory takes besides the staging: an upload the call, a download until
-- its first piece has come.
local function besides_us(flat, name, bytes)
    if name == "h2d_staging" then return flat["host.memcpy_async_us"][1] end
    local piece = math.min(bytes, flat.stage_bytes[1])
    return flat.copy_latency_us[1] + piece / flat.d2h_gb_per_s[1] / 1000
end

-- How much faster than the tables a copy was staged: of memory in the caches, and of other.
local function staged(flat, name, bytes, us)
    local keys, staging_us = staging_shown[name], us - besides_us(flat, name, bytes)
    if bytes < least_bytes or staging_us <= 0 then return end
    local rate = bytes / 1000 / staging_us
    local warm, cold = flat[keys[1]], flat[keys[2]] or flat[keys[1]]
    return rate / table_at(warm, bytes), rate / table_at(cold, bytes)
end

-- The factor of copies {warm, cold}, of which either may hold: of each that which is nearer to the
-- others' median, and at first to 1.
local function factor_of_copies(pairs_of)
    local factor = 1
    for _ = 1, 3 do
        local list = {}
        for i, pair in ipairs(pairs_of) do
            local warm = math.abs(math.log(pair[1] / factor))
            list[i] = warm <= math.abs(math.log(pair[2] / factor)) and pair[1] or pair[2]
        end
        factor = middle(list)
    end
    return factor
end

-- How many times as long calls of a recording take as others, besides what the recorder is known
-- to take: its code and data displace theirs in the caches. An estimate, from four H200s of 30
-- November (docs/results/hosts.md).
local recorded_calls <const> = 1.25

-- The factors of the base's figures that a recording of a real GPU shows: calls, uploads and
-- downloads {factor =, calls = of how many}, each only if enough calls show it; calls only where
-- it is known what the recorder took, which is not in the figures. `flat` has the base's figures.
function host_part.seen(tl, flat)
    local samples, is_plain = core.call_times(tl)
    local ratios, copies, found = {}, {}, {}
    local dearer = tl.simulated and 1 or recorded_calls
    for i = 1, #samples, 3 do
        local name, bytes, us = samples[i], samples[i + 1], samples[i + 2]
        local figure = calls_shown[name]
        if figure then
            local ratio = us / dearer / flat[figure][1]
            if is_plain and ratio < far then ratios[#ratios + 1] = ratio end
        else
            local warm, cold = staged(flat, name, bytes, us)
            if warm then add(copies, name, { warm, cold }) end
        end
    end
    if #ratios >= least_calls then
        found.calls = { factor = middle(ratios), calls = #ratios }
    end
    for name, id in next, { h2d_staging = "uploads", d2h_staging = "downloads" } do
        local list = copies[name]
        if list and #list >= least_copies then
            found[id] = { factor = factor_of_copies(list), calls = #list }
        end
    end
    return found
end

return host_part
