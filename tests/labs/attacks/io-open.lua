-- Reads the hidden test as a file.
-- held: there is no 'io' in a lab
local file = io.open("tests/hidden.lua") or io.open("tests/labs/attack-lab/tests/hidden.lua")
error(file:read("a"))
