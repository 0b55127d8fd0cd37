-- Streams until there are no more.
-- held: memory
-- memory
local keep = {}
while true do
    keep[#keep + 1] = lab.stream()
end
