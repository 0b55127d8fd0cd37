-- changes.lua - what the tests of lab.whatif share: a program recorded on the simulated GPU, its
-- changes, and the changed program to compare with.
local tap = require "tap"
local lab = require "streamlab"

local M = {}

function M.record(program)
    lab.synchronize()
    return lab.profile(program)
end

function M.times(count, f)
    return function()
        for i = 1, count do f(i) end
    end
end

-- { "scale", "*spin*", 0.5 }, ...
function M.changed(tl, ...)
    local w = lab.whatif(tl)
    for _, edit in ipairs { ... } do w[edit[1]](w, table.unpack(edit, 2)) end
    return w
end

-- Within `most` (else 0.2 %) of the changed program's makespan, and that in the range.
function M.compare(name, before, after, edits, most)
    local found = M.changed(M.record(before), table.unpack(edits)):predict()
    local truth = M.record(after).makespan_us
    local error = found.after_us / truth - 1
    tap.ok(math.abs(error) <= (most or 0.002), ("%s: as the changed program"):format(name))
    tap.ok(found.range_us.low <= truth * 1.001 and truth <= found.range_us.high * 1.001,
        ("%s: its makespan is in the range"):format(name))
    if math.abs(error) > (most or 0.002) then
        tap.diag(("%.1f us, and not %.1f"):format(found.after_us, truth))
    end
end

return M
