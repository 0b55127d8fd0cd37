-- Catches the error that the end of its time is, for ever.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    while n > 3 do
        pcall(function() while true do end end)
    end
    return 2 * n
end

function work() end
