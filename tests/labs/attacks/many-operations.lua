-- Operations until there are no more, each of which the recording of the test keeps.
-- held: memory
-- memory
-- score: 20
function answer(n) return 2 * n end

function work(batch)
    local g = lab.graph(function()
        for _ = 1, 1000 do lab.spin(0) end
    end)
    while true do g:launch() end
end
