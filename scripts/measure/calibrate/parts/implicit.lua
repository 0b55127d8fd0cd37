-- implicit.lua - implicit synchronisation: which calls wait for the device, and which serialise
-- streams, by the rules of `streamlab probe --save`.

local profile = import "scripts/measure/probe/profile.lua"

local implicit = { name = "implicit", title = "what calls wait for" }

local internals = internals

-- The profile so far: what was measured, merged into the base profile.
local function so_far(c)
    return profile.over(internals.load_profile(c.base_profile or "h200"), c.values)
end

local function find_rows(c, rows, key, field, words)
    local list, seen = {}, {}
    for _, row in ipairs(rows) do
        local name = row.call .. (row.memory and " (" .. row.memory .. ")" or "")
            .. (row.into and " in the " .. row.into .. " stream" or "")
        if row[field] and not seen[name] then
            seen[name], list[#list + 1] = true, name
        end
    end
    c:find(key, words .. ": " .. (list[1] and table.concat(list, ", ") or "none"))
end

function implicit.run(c)
    c.progress("each of CUDA's calls, between two kernels")
    local rows = c.lab.probes()
    local made = so_far(c)
    local differences = profile.put_implicit(made, rows, function(key, value)
        c:set(key, value, "between two kernels in two streams")
    end)
    c.device:make_current()
    find_rows(c, rows, "implicit.waits", "host_blocked", "calls that wait for a kernel")
    find_rows(c, rows, "implicit.apart", "serialised", "calls that keep two kernels apart")
    for _, row in ipairs(differences) do
        c:find("implicit.open", profile.difference_text(row))
    end
end

return implicit
