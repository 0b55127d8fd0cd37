-- host_fit.lua - the two ends of a calibration: programs decide what the host's figures are
-- (fit.lua). They run first, while nothing has been recorded, and are simulated last.
--
-- The parts have found how figures of a group compare with each other. All figures of a group that
-- were measured are scaled, and get a row of spread.

local fit = import "scripts/measure/calibrate/fit.lua"
local lists = import "repl/run/lists.lua"

local host_fit = {}

local seconds <const> = 8

-- The parts whose figures a group's programs depend on, by the group's id. With another GPU's from
-- a base, the factor would make up for these.
local copies_parts <const> = { "host", "gemm", "copies", "pageable" }
local parts_of <const> = { calls = { "host", "gemm" }, uploads_warm = copies_parts,
                           uploads_cold = copies_parts, downloads = copies_parts }

-- The groups whose parts are all in the set `chosen`, and whether there are any.
local function groups_of(chosen)
    local groups, any = {}, false
    for id, parts in pairs(parts_of) do
        groups[id] = lists.all(parts, function(part) return chosen[part] end) or nil
        any = any or groups[id] ~= nil
    end
    return groups, any
end

-- Scales what the parts have found of a group. What is noted of each figure stays.
local function scale(c, group, factor)
    for _, key in ipairs(fit.keys(group, c.values)) do
        c:put(key, fit.times(c.values[key], factor), c.notes[key])
    end
    c:find("programs", ("%s: what the parts found, times %.3f"):format(group.name, factor))
end

-- Runs the programs, if the set `chosen` of parts is enough for a group; tell(text) is called then.
-- Gives what they took, for host_fit.run, or nil.
function host_fit.measure(c, chosen, tell)
    local _, any = groups_of(chosen)
    if not any then
        return nil
    end
    tell("programs: what the host takes in them")
    return fit.measure(c.lab, true, seconds, c.progress)
end

-- Scales what `c` has measured to what programs took, of the groups for which the set `chosen` of
-- parts is enough. `profile` is the one so far, as a table.
function host_fit.run(c, measured, chosen, profile)
    local groups = groups_of(chosen)
    local found = fit.run(c.lab, profile, measured, c.progress, groups)
    for _, group in ipairs(fit.groups) do
        local range = found.ranges[group.id]
        if range then
            scale(c, group, range.median)
        end
    end
    c.spread_rows = fit.spread_rows(c.values, found.ranges)
    for _, texts in ipairs { found.complaints, found.details } do
        for _, text in ipairs(texts) do
            c:find("programs", text)
        end
    end
end

return host_fit
