-- Calls itself until the stack ends.
-- held: stack overflow
function answer(n) return 1 + answer(n) end

function work() end
