-- Prints for ever.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    while n > 3 do
        print(("x"):rep(10000))
    end
    return 2 * n
end

function work() end
