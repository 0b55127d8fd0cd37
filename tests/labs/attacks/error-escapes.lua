-- A message that is a command for the terminal of whoever reads the results.
-- held: error: \x1b[2J\x1b]0;owned\a
error("\27[2J\27]0;owned\7", 0)
