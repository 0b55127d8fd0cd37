-- Records the test's own work and has it explained, with the lines that did it.
-- held: error: seen
-- score: 20
local tl = lab.record()
function answer(n) return 2 * n end

function work(batch)
    local texts = {}
    tl:stop()
    tl:explain()
    for _, cause in ipairs(tl:causes()) do
        texts[#texts + 1] = cause.sentence
    end
    for _, span in ipairs(tl:spans()) do
        texts[#texts + 1] = span.where
    end
    for _, call in ipairs(tl:calls()) do
        texts[#texts + 1] = call.where
    end
    error("seen " .. table.concat(texts, " "), 0)
end
