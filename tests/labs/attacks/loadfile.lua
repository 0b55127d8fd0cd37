-- The same without running it.
-- held: there is no 'loadfile' in a lab
work = loadfile("tests/hidden.lua")
