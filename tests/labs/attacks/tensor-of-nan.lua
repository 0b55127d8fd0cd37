-- A tensor of what is neither near nor far.
-- held: failed: every element is 6
-- score: 20
function answer(n) return 2 * n end

function work(batch) return lab.mul(batch:cuda(), 0 / 0) end
