-- result_names.lua - what the file with a student's results is called, without its suffix. A
-- student's name is a file's, of any bytes; the results may go to a system on which not every name
-- is one, or on which "Ada" and "ada" are the same.

local result_names = {}

local longest <const> = 246             -- of the 255 bytes that a name may have, with its suffix
local longest_stem <const> = 240        -- of a name that gets a number

-- Names of devices on some systems, whatever their suffix is.
local devices <const> = { con = true, prn = true, aux = true, nul = true }
for i = 0, 9 do
    devices["com" .. i], devices["lpt" .. i] = true, true
end

local function lowered(letter)
    return utf8.char(utf8.codepoint(letter) + 32)
end

-- Names that have the same key are the same on some system, which may not tell capital letters from
-- small ones, nor a letter with a mark from the two characters that it can be written as. Greek and
-- Cyrillic letters are lowered; of other scripts, what can have either is left out.
function result_names.key(name)
    if not name:find("[\x80-\xff]") then
        return name:lower()
    end
    local marked <const> = "[\xcc\xcd][\x80-\xbf]"
    return "\x80" .. name:lower():gsub("[\1-\x7f]" .. marked, "")
        :gsub("[\xce-\xd1][\x80-\xbf]" .. marked, "")
        :gsub("\xd0[\x90-\xaf]", lowered):gsub("\xce[\x91-\xa9]", lowered)
        :gsub("[\xc2-\xcd\xd2-\xd6][\x80-\xbf]", ""):gsub("\xce[\x80-\xb0]", "")
        :gsub("\xcf[\x82\x83\x8a-\xbf]", ""):gsub("\xd0[\x80-\x8f\xb9]", "")
        :gsub("\xd1[\x90-\xbf]", ""):gsub("[\xe1\xe2\xea\xef][\x80-\xbf][\x80-\xbf]", "")
end

-- Whether a name leads to no other folder, is no option, no device and nothing hidden, and has no
-- control characters.
function result_names.is_plain(name)
    return type(name) == "string" and name ~= "" and #name <= longest and not name:find("^[-.~]")
        and not name:find("[%c/\\]") and not devices[name:lower():match("^[^.]*")]
end

-- The beginning of a name, without half a character at its end.
local function shortened(name)
    for behind = longest_stem + 1, longest_stem - 2, -1 do
        if (name:byte(behind) or 0) & 0xC0 ~= 0x80 then
            return name:sub(1, behind - 1)
        end
    end
    return name:sub(1, longest_stem)         -- it is no UTF-8
end

-- What a name that cannot be kept begins with: its own beginning, or a digest.
local function stem_of(student)
    local stem = shortened((student:gsub("/$", "")))
    return result_names.is_plain(stem) and stem
        or "student-" .. internals.sha256(student):sub(1, 16)
end

-- Gives each submission `result`: the student's name; if it is not plain or taken ("ada/" beside
-- "ada"), a name that no student has.
function result_names.give(submissions)
    local taken, others = {}, {}
    for _, submission in ipairs(submissions) do
        local student = submission.student
        local key = result_names.key(student)
        if result_names.is_plain(student) and not taken[key] then
            submission.result, taken[key] = student, true
        else
            others[#others + 1] = submission
        end
    end
    for _, submission in ipairs(others) do
        local stem = stem_of(submission.student)
        local name, n = stem, 1
        while taken[result_names.key(name)] do
            n = n + 1
            name = stem .. "." .. n
        end
        submission.result, taken[result_names.key(name)] = name, true
    end
end

return result_names
