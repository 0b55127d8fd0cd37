-- report.lua - the file that a calibration writes: a profile, each value with how it was found.

local report = {}

local function number(value)
    return math.type(value) == "float" and ("%.6g"):format(value) or tostring(value)
end

local function text_of(value)
    if type(value) == "table" then
        local items = {}
        for i, item in ipairs(value) do
            items[i] = text_of(item)
        end
        return "{" .. table.concat(items, ", ") .. "}"
    end
    return type(value) == "number" and number(value) or ("%q"):format(value)
end

local function note_of(note)
    if not note then
        return ""
    end
    local spread = note.spread and ("; spread %.1f %%"):format(100 * note.spread) or ""
    return "    -- " .. note.how .. spread
end

-- The profile's text. `base` has what was not measured.
function report.text(c, base)
    local out = { "return {" }
    for _, key in ipairs(c.order) do
        out[#out + 1] = ("    [%q] = %s,%s"):format(key, text_of(c.values[key]),
                                                    note_of(c.notes[key]))
    end
    for _, finding in ipairs(c.findings) do
        out[#out + 1] = ("    -- %s: %s"):format(finding.key, finding.text)
    end
    out[#out + 1] = "}"
    return table.concat(out, "\n") .. "\n"
end

return report
