-- An error whose text never ends.
-- held: an error was raised whose value is a table, not a message
error(setmetatable({}, { __tostring = function() while true do end end,
    __name = "streamlab.error", __index = function() while true do end end }))
