-- A string of ten gigabytes.
-- held: resulting string too large
error(#("x"):rep(10000000000))
