-- Yields out of the test, which then never goes on.
-- held: attempt to yield from outside a coroutine
function answer() coroutine.yield(6) end

function work() end
