-- owner.lua - what a measurement makes and has to free, also where it ends with an error:
--
--   local own <close> = owner.new()
--   local a, stream = own(lab.zeros(8)), own(lab.stream(), "close")

local owner = {}

local Owner = {}
Owner.__index = Owner

-- The same as the thing; `how` is the name of the method that frees it: "free", or another one.
function Owner:__call(thing, how)
    self.things[#self.things + 1] = { thing, how or "free" }
    return thing
end

-- Frees all, the first one first. After an error, that of the measurement counts: what is freed may
-- fail because of it, as in a stream that is still captured.
function Owner:__close(failure)
    local things, first = self.things, nil
    self.things = {}
    for _, item in ipairs(things) do
        local freed, problem = pcall(item[1][item[2]], item[1])
        first = first or not freed and { problem } or nil
    end
    if first and failure == nil then
        error(first[1], 0)
    end
end

function Owner:close()
    self:__close()
end

function owner.new()
    return setmetatable({ things = {} }, Owner)
end

return owner
