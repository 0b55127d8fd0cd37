-- Loads code whose globals are those of the program.
-- held: attempt to index a nil value
local environment = load("return _ENV", "=tests/hidden.lua", "t", nil)()
error(environment.io.open("tests/hidden.lua"):read("a"))
