-- fields.lua - checks tables that somebody else wrote. What is known of a table is a list of
-- fields, {name, kind, needed}; a kind is {what a value must be, in words, and a function that says
-- whether a value is that}.

local fields = {}

-- ---- kinds -------------------------------------------------------------------------------------

-- A text without control characters.
function fields.is_line(value)
    return type(value) == "string" and value ~= "" and not value:find("%c")
end

-- A text of 1 to `most` bytes, in which a control character may stand, but no zero, at which the
-- system's functions would end a path.
function fields.text(most)
    return { ("a text of 1 to %d bytes"):format(most), function(value)
        return type(value) == "string" and value ~= "" and #value <= most
            and not value:find("\0", 1, true)
    end }
end

-- The same of any bytes, or none.
function fields.bytes(most)
    return { ("a text of at most %d bytes"):format(most), function(value)
        return type(value) == "string" and #value <= most
    end }
end

function fields.whole(least, most)
    return { ("a whole number from %d to %d"):format(least, most), function(value)
        return math.type(value) == "integer" and value >= least and value <= most
    end }
end

function fields.number(least, most)
    return { ("a number from %g to %g"):format(least, most), function(value)
        return type(value) == "number" and value >= least and value <= most
    end }
end

fields.boolean = { "true or false", function(value) return type(value) == "boolean" end }
fields.table = { "a table", function(value) return type(value) == "table" end }

-- Of SHA-256, as hexadecimal digits.
fields.digest = { "a digest", function(value)
    return type(value) == "string" and #value == 64 and not value:find("[^0-9a-f]")
end }

-- What may also be false: it is not known.
function fields.or_false(kind)
    return { kind[1] .. " or false", function(value) return value == false or kind[2](value) end }
end

-- A list of at most so many values, each of that kind, without a gap.
function fields.list(kind, most)
    return { ("a list of at most %d, each %s"):format(most, kind[1]), function(value)
        if type(value) ~= "table" or #value > most then
            return false
        end
        local n = 0
        for _ in next, value do
            n = n + 1
        end
        for i = 1, #value do
            if not kind[2](value[i]) then
                return false
            end
        end
        return n == #value
    end }
end

-- ---- tables ------------------------------------------------------------------------------------

-- A value as messages quote it.
local function shown(value)
    if type(value) == "number" or type(value) == "boolean" then
        return tostring(value)
    end
    return fields.is_line(value) and ('"%.60s"'):format(value) or type(value)
end

-- What is wrong with the values of known fields; nil: nothing.
function fields.problem(values, known)
    for _, field in ipairs(known) do
        local name, kind, needed = table.unpack(field)
        if values[name] == nil and needed then
            return ("'%s' is missing: %s"):format(name, kind[1])
        elseif values[name] ~= nil and not kind[2](values[name]) then
            return ("'%s' must be %s, got %s"):format(name, kind[1], shown(values[name]))
        end
    end
end

-- The same where a table has the known fields and no other ones.
function fields.problem_in_all(values, known)
    local problem, names, others = fields.problem(values, known), {}, {}
    for _, field in ipairs(known) do
        names[field[1]] = true
    end
    for name in next, values do
        others[#others + 1] = not names[name] and tostring(name) or nil
    end
    table.sort(others)
    local near = others[1] and internals.nearest(others[1], names)
    return problem or others[1] and ("there is no '%s'%s"):format(others[1],
        near and ("; did you mean '%s'?"):format(near) or "")
end

return fields
