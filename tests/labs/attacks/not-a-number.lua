-- What is neither less nor more than anything.
-- held: seen   NaN
function answer() return 0 / 0 end

function work() return lab.full(0 / 0, 64, 64) end
