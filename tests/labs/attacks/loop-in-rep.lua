-- Repeats nothing very often.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    if n > 3 then
        ("").rep("", 1000000000000000)
    end
    return 2 * n
end

function work() end
