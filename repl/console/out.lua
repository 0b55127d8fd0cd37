-- out.lua - Out[n]: the first value of entry n.
--
-- Tables and timelines stay. An object that has memory or a place on a GPU does not stay because of
-- Out alone: a session of many tensors would fill the GPU, and who() would list what nobody has.

local out = {}

local class <const> = "streamlab.out"

local function is_kept(value)
    return type(value) == "table" or internals.type_name(value) == "timeline"
end

local function new_table()
    local weak = setmetatable({}, { __mode = "v" })
    return setmetatable({}, { __index = weak, __name = class, __metatable = class, weak = weak })
end

-- The table that Out is, which is made at the first use; nil if the user has given Out another
-- value.
local function current()
    local value = rawget(_G, "Out")
    if value == nil then
        value = new_table()
        rawset(_G, "Out", value)
    end
    local meta = type(value) == "table" and debug.getmetatable(value)
    return type(meta) == "table" and rawget(meta, "__name") == class and value or nil
end

function out.keep(n, value)
    local values = value ~= nil and current()
    if values then
        rawset(is_kept(value) and values or debug.getmetatable(values).weak, n, value)
    end
end

return out
