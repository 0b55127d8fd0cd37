-- Loops in a message handler, where no hook of Lua's is called.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    if n > 3 then
        xpcall(error, function() while true do end end)
    end
    return 2 * n
end

function work() end
