-- Changes what it was given to what it gives.
-- held: seen   0 at (1, 1)
-- score: 20
function answer(n) return 2 * n end

function work(batch)
    batch:zero_()
    return lab.mul(batch:cuda(), 2)
end
