-- say.lua - say(record, "sentence"): what causes.lua has to say of a finding; nil if nothing.

local _, core = ...
local causes = core.words.causes

return function(record, what)
    local words = causes[record.cause][what]
    if type(words) == "function" then return words(record) end
    return words
end
