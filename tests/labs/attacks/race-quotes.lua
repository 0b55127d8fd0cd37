-- Leaves a race with the test, whose report quotes both lines.
-- held: failed: no race
-- score: 20
function answer(n) return 2 * n end

function work(batch)
    local s = lab.stream { non_blocking = true }
    local out = lab.empty(64, 64)
    out:copy_(lab.mul(batch:cuda(), 2), { stream = s, non_blocking = true })
    return out
end
