-- Calls itself until the stack has no memory.
-- held: not enough memory
function answer(n) return 1 + answer(n) end

function work() end
