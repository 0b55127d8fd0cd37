-- Moves a table that is not there through metamethods that are none.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    if n > 3 then
        table.move({}, 1, math.maxinteger - 1, 2)
    end
    return 2 * n
end

function work() end
