-- A text that Lua would take for the number.
-- held: seen   "6"
function answer(n) return ("%d"):format(2 * n) end

function work() end
