-- range.lua - between which times a makespan lies, and whether the causes keep their order there.

local _, core = ...

local range = {}

local function runs(r) return r.drawn and "draws" or "runs" end

-- "97.2 ms (90.1 to 106): ..."; `r` as in a trace's or figures' field `range`
function range.sentence(r)
    local from = r.drawn and "draws from the profile's uncertain figures" or "more runs"
    local text = ("Makespan %s: where nine in ten are expected, by %d %s."):format(r.makespan,
        r.runs, from)
    if not r.swapped then return text end
    local causes = core.words.causes
    return ("%s In %d of %d %s \"%s\" loses more time than \"%s\", and comes before "
        .. "it."):format(text,
        r.swapped, r.runs, runs(r), causes[r.later].total, causes[r.earlier].total)
end

-- The line below a chart.
function range.line(r) return "makespan " .. r.makespan .. "\n" end

return range
