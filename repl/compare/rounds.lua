-- rounds.lua - the GPU's runs of many scripts in rounds: each script once, then each a second time,
-- and so on. A machine that others use is slower for seconds or minutes; in rounds that falls on
-- one run of many scripts, whose median leaves it out, and not on all runs of a few.

local measure = import "repl/compare/measure.lua"

local rounds = {}

-- Runs all `entries` on the GPU, n times. Gives by entry {side} or {reason =}. tell(text) is
-- called with what is done.
function rounds.run(entries, devices, tell)
    local gathered = {}
    for _, entry in ipairs(entries) do
        local whole, reason = measure.decide(entry, devices.sim)
        gathered[entry] = { whole = whole, runs = {},
                            reason = whole == nil and "on the simulator: " .. reason or nil }
    end
    for round = 1, devices.runs do
        tell(("round %d of %d"):format(round, devices.runs))
        for _, entry in ipairs(entries) do
            local has = gathered[entry]
            if not has.reason then
                local parts, reason = measure.once(entry, devices.gpu, has.whole)
                has.runs[round] = parts
                has.reason = not parts and "on the GPU: " .. reason or nil
            end
        end
    end
    for _, has in pairs(gathered) do
        has.side = not has.reason and measure.side(has.runs) or nil
    end
    return gathered
end

return rounds
