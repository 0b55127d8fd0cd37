-- A chart with more columns than there is memory for.
-- held: option 'columns' must be at most
local tl = lab.profile(function() lab.spin(10) end)
error(#tl:text { columns = 2000000000 })
