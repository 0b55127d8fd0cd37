-- A chain of metatables that has no end.
-- held: '__index' chain too long; possible loop
local t = {}
setmetatable(t, { __index = setmetatable({}, { __index = t }) })
setmetatable(getmetatable(t).__index, { __index = t })
error(t.x)
