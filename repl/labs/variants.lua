-- variants.lua - the submissions that a lab has in right/ and wrong/, to show that its tests give
-- them the points that they should. Each is a program, NAME.lua, or a change of the solution,
-- NAME.change (change.lua); then messages count the lines of the program that results.
--
-- Only a file in right/ or wrong/ of a lab is a change, and its solution is the one beside these
-- folders: no file of a student's gets a line of the solution.

local change = import "repl/labs/change.lua"
local files = import "repl/run/files.lua"

local variants = { suffix = ".change" }

local most_bytes <const> = 1024 * 1024      -- of a program, and of a change

function variants.is_change(path)
    return path:sub(-#variants.suffix) == variants.suffix
end

-- The name of a submission in a file.
function variants.stem(path)
    local name = path:match("[^/]*$")
    return variants.is_change(name) and name:sub(1, -#variants.suffix - 1)
        or (name:gsub("%.[lL][uU][aA]$", ""))
end

function variants.folder_of(path)
    return path:match("^(.*)/[^/]*$") or "."
end

-- The real path of the lab whose right/ or wrong/ a folder is; else nil.
local function lab_around(folder)
    local real = program.real_path(folder) or ""
    return real:match("^(.*)/right$") or real:match("^(.*)/wrong$")
end

-- Whether a folder is right/ or wrong/ of that lab.
function variants.are_in(folder, lab_folder)
    local around = lab_around(folder)
    return around ~= nil and around == program.real_path(lab_folder)
end

-- The path of the lab whose right/ or wrong/ a folder is; else nil.
function variants.lab_of(folder)
    local around = lab_around(folder)
    return around and files.exists(around .. "/lab.lua") and folder .. "/.." or nil
end

-- The sorted names of the variants in a folder.
function variants.names(folder)
    return files.ending_in(folder, { ".lua", variants.suffix })
end

local function read(path)
    local text, reason = files.read_bounded(path, most_bytes)
    if not text then
        error({ message = ("cannot read %s: %s"):format(path, reason) }, 0)
    end
    return text
end

local function text_of(path)
    if not variants.is_change(path) then
        return read(path)
    end
    local around = lab_around(variants.folder_of(path))
    if not around then
        error({ message = ("%s changes a lab's solution, so it has to be in the folder right or "
            .. "wrong of a lab"):format(path) }, 0)
    end
    return change.apply(path, read(path), read(around .. "/solution.lua"))
end

-- The text of a variant's program; or nil and a sentence.
function variants.text(path)
    local fine, result = pcall(text_of, path)
    if fine then
        return result
    elseif type(result) ~= "table" then
        error(result, 0)
    end
    return nil, result.message
end

return variants
