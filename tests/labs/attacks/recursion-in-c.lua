-- Calls itself through functions in C, whose stack is the process's.
-- held: C stack overflow
local function deeper(s) return (s:gsub(".", deeper)) end
deeper("x")
