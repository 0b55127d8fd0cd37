-- A view that begins before its tensor and ends behind it.
-- held: narrow: 
local t = lab.zeros(16, { device = "cpu" })
for _, range in ipairs { { 1, 17 }, { 0, 4 }, { -8, 4 }, { 17, 1 }, { 2, math.maxinteger } } do
    assert(not pcall(t.narrow, t, 1, table.unpack(range)))
end
t:narrow(1, 8, 1000)
