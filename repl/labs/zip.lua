-- zip.lua - makes .zip files. The same entries give the same bytes (where zlib is the same).
-- https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

local zip = {}

local version <const> = 20                              -- of the format: 2.0
local made_by_unix <const> = 3 << 8 | version           -- the attributes' upper half is a mode
local names_are_utf8 <const> = 1 << 11
local deflated <const> = 8
local first_of_1980 <const> = 0x0021                    -- day 1, month 1 of zip's first year
local regular_file <const> = 0x8000                     -- S_IFREG
local most_bytes <const> = 0xFFFFFFFE                   -- what is larger needs another format
local most_entries <const> = 0xFFFE
local too_much <const> = "zip: there are 65535 entries or 4 GiB, or more"

-- What a file's own header and its line in the list of all have in common.
local function description(entry, packed, sum)
    return ("<I2 I2 I2 I2 I2 I4 I4 I4 I2 I2"):pack(version, names_are_utf8, deflated, 0,
        first_of_1980, sum, #packed, #entry.data, #entry.name, 0)
end

local function check(entry, i)
    if type(entry) ~= "table" then
        error(("zip: entry %d is no table"):format(i), 0)
    elseif type(entry.name) ~= "string" or type(entry.data) ~= "string" then
        error(("zip: entry %d has no name or no data"):format(i), 0)
    elseif entry.name == "" or #entry.name > 0xFFFF or entry.name:find("\0", 1, true) then
        error(("zip: entry %d has a name that a .zip file cannot have"):format(i), 0)
    elseif #entry.data > most_bytes then
        error(("zip: '%s' has 4 GiB or more"):format(entry.name), 0)
    end
end

-- The bytes of a .zip file with the entries {name =, data =, executable = bool}, in their order,
-- deflated, of 1980-01-01 and with the permissions 0644 or 0755. Raises a sentence.
function zip.archive(entries)
    local parts, list, at = {}, {}, 0
    if #entries > most_entries then
        error(too_much, 0)
    end
    for i, entry in ipairs(entries) do
        check(entry, i)
        local packed, sum, is_text = program.deflate(entry.data)
        local about = description(entry, packed, sum)
        local mode = regular_file | (entry.executable and 493 or 420)       -- 0755, 0644
        local header = "PK\3\4" .. about .. entry.name
        list[i] = ("<c4 I2 c26 I2 I2 I2 I4 I4"):pack("PK\1\2", made_by_unix, about, 0, 0,
            is_text and 1 or 0, mode << 16, at) .. entry.name
        parts[#parts + 1], parts[#parts + 2] = header, packed
        at = at + #header + #packed
    end
    local names = table.concat(list)
    if at + #names > most_bytes then
        error(too_much, 0)
    end
    parts[#parts + 1] = names
    parts[#parts + 1] = ("<c4 I2 I2 I2 I2 I4 I4 I2"):pack("PK\5\6", 0, 0, #list, #list, #names,
        at, 0)
    return table.concat(parts)
end

return zip
