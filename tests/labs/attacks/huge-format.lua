-- A number with more digits than a line has.
-- held: invalid conversion
error(#("%9999999999d"):format(1))
