-- implicit.lua - implicit synchronisation: which calls wait for the device, and which serialise
-- streams, by the rules of `streamlab probe --save`.

local measuring = import "repl/run/measuring.lua"
local profile = import "scripts/measure/probe/profile.lua"

local implicit = { name = "implicit", title = "what calls wait for" }

-- The profile so far: what was measured, merged into the base profile.
local function so_far(c)
    return profile.over(measuring.load_profile(c.base_profile or "h200"), c.values)
end

function implicit.run(c)
    c.progress("each of CUDA's calls, between two kernels")
    local rows = c.lab.probes()
    local made = so_far(c)
    local differences = profile.put_implicit(made, rows, function(key, value)
        c:set(key, value, "between two kernels in two streams")
    end)
    c.device:make_current()
    for _, row in ipairs(differences) do
        c:find("implicit.open", profile.difference_text(row))
    end
end

return implicit
