-- A string out of a table that has everything.
-- held: not enough memory
local all = setmetatable({}, { __index = function() return ("x"):rep(1000000) end })
error(#table.concat(all, "", 1, 1e9))
