-- A pattern whose match takes longer than the world is old, all of it in C.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    if n > 3 then
        ("a"):rep(5000):find(("a*"):rep(24) .. "b")
    end
    return 2 * n
end

function work() end
