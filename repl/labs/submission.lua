-- submission.lua - the file that a student hands in: its text, its name in messages, and hints
-- about an error in it. Only the process that runs a test (case.lua) uses it: the grader itself
-- opens no submission, so that none can take its time or memory.

local files = import "repl/run/files.lua"
local variants = import "repl/labs/variants.lua"

local submission = {}

local most_bytes <const> = 1024 * 1024
local most_explained <const> = 128 * 1024       -- bytes of a source whose words are looked at

-- Its name in messages, without what would break their lines. It always ends in ".lua", so that no
-- submission is taken for a chunk of the program ("=streamlab", which positions leave out).
local function chunk_name(path)
    return "=" .. internals.safe(variants.stem(path)) .. ".lua"
end

-- Without what may stand before the first line of a file and is no Lua, as where it is run.
local function without_marks(text)
    return (text:gsub("^\xef\xbb\xbf", ""):gsub("^#[^\n]*", ""))
end

-- The text of a file; or nil and why it is no submission. The lab's own variants may be changes of
-- its solution.
local function read(path, lab_folder)
    local name = internals.safe(path:match("[^/]*$"))
    if variants.is_change(path) then
        if variants.are_in(variants.folder_of(path), lab_folder) then
            return variants.text(path)
        end
        return nil,
            name .. " is a change of a solution, and in no folder right or wrong of this lab"
    end
    local text, reason = files.read_bounded(path, most_bytes)
    return text, reason and ("cannot read %s: %s"):format(name, reason)
end

-- The file as {chunk =, text =}; or nil and why it is no submission.
function submission.read(path, lab_folder)
    local text, problem = read(path, lab_folder)
    if not text then
        return nil, problem
    end
    local source = { chunk = chunk_name(path), text = without_marks(text) }
    if source.text:find("^\27") then
        return nil, source.chunk:sub(2) .. " is compiled code, and no text"
    end
    return source
end

-- What helps with the message of an error: the line that it is about, with a mark, and a hint; ""
-- if there is nothing to say. `is_compilers`: the source is no Lua. Only this source is known in
-- this process, so no other one's lines can be quoted.
function submission.explain(source, message, is_compilers)
    if #source.text > most_explained then
        return ""
    end
    local errors = import "repl/run/errors/errors.lua"      -- most tests end without one
    return errors.about(message, is_compilers)
end

return submission
