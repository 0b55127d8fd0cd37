-- Replaces nothing by much, everywhere.
-- held: not enough memory
error(#("x"):rep(100000):gsub("", ("y"):rep(100000)))
