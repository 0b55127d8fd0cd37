-- Takes the memory that the race checker needs, so that it goes off, and leaves a race.
-- held: 0 of 80 points
-- memory
-- score: 20
function answer(n) return 2 * n end

local function use_up(keep, lists)
    for i = 1, 50 do
        keep[i] = ("x"):rep(1000000 + i)
    end
    for _, n in ipairs { 100000, 1000, 100 } do
        local fine, list = true, {}
        for i = 1, n do
            list[i] = i
        end
        lists[n] = list         -- as garbage it would be freed when Lua itself needs memory
        while fine do
            fine, keep[#keep + 1] = pcall(lab.tensor, list, { device = "cpu" })
        end
    end
end

function work(batch)
    local keep, lists, events, s = {}, {}, {}, lab.stream { non_blocking = true }
    local copy = batch:to("cuda")
    use_up(keep, lists)
    for i = 1, 3000 do
        local _, event = pcall(s.record_event, s)
        events[i % 1000] = event
    end
    for i = 51, #keep do
        pcall(keep[i].free, keep[i])
    end
    local out = lab.empty(64, 64)
    out:copy_(lab.mul(copy, 2), { stream = s, non_blocking = true })
    return out
end
