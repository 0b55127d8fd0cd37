-- Does what is forbidden so often that nobody can tell it all.
-- held: forbidden-flood.lua:9 called lab.synchronize
-- burns
-- score: 20
function answer(n) return 2 * n end

function work()
    while true do
        pcall(lab.synchronize)
    end
end
