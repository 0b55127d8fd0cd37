-- Draws a plot into a file, and prints one, with a title that is a command.
-- held: SL_E
local results = lab.table { { n = 1, us = 2 }, { n = 2, us = 4 } }
local fine, err = pcall(results.plot, results, { x = "n", y = "us", file = "left-behind.svg",
    title = "`touch left-behind`" })
assert(not fine)
error(err.code .. " " .. err.message)
