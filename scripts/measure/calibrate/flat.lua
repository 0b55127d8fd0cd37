-- flat.lua - a profile's table as one of dotted names ("host.launch_us"), and back.
--
-- A list is a value; any other table only holds names. Call names have dots of their own
-- ("calls.cudaMemcpy.d2d.us"), which the simulator reads as tables in tables.

local flat = {}

local function add(into, t, prefix)
    for key, value in pairs(t) do
        if type(value) == "table" and #value == 0 then
            add(into, value, prefix .. key .. ".")
        else
            into[prefix .. key] = value
        end
    end
    return into
end

function flat.of(profile)
    return add({}, profile, "")
end

-- The names sorted, those of `first` before all others.
function flat.names(values, first)
    local names, seen = {}, {}
    for _, name in ipairs(first or {}) do
        if values[name] ~= nil and not seen[name] then
            seen[name] = true
            names[#names + 1] = name
        end
    end
    local rest = {}
    for name in pairs(values) do
        if not seen[name] then
            rest[#rest + 1] = name
        end
    end
    table.sort(rest)
    return table.move(rest, 1, #rest, #names + 1, names)
end

return flat
