-- submission.lua - the file that a student hands in: its text, what messages call it, and what
-- can be said of a mistake in it.

local errors = import "repl/console/errors/errors.lua"
local files = import "repl/files.lua"

local submission = {}

local most_bytes <const> = 1024 * 1024

-- Its name in messages. It ends in ".lua" whatever the file is called, so that none passes for
-- a chunk of the program's own ("=streamlab", which positions leave out).
local function chunk_name(path)
    return "=" .. path:match("[^/]*$"):gsub("%.lua$", "") .. ".lua"
end

-- Without what may stand before the first line of a file and is no Lua, as where it is run.
local function without_marks(text)
    return (text:gsub("^\xef\xbb\xbf", ""):gsub("^#[^\n]*", ""))
end

-- The file as {chunk =, text =}; or nil and a sentence.
function submission.read(path)
    local name = path:match("[^/]*$")
    if program.file_kind(path) == "other" then      -- reading a pipe would wait for ever
        return nil, ("cannot read %s: it is no file"):format(name)
    end
    local text, reason = files.read(path)
    if not text then
        return nil, ("cannot read %s: %s"):format(name, reason:match(": (.*)$") or reason)
    elseif #text > most_bytes then
        return nil, ("%s has %d bytes, more than %d"):format(name, #text, most_bytes)
    end
    return { chunk = chunk_name(path), text = without_marks(text) }
end

-- The message of an error in the submission, with the line and a hint where there is one.
local function with_line(self, message, is_syntax)
    program.entries()[self.chunk] = self.text
    local more = errors.about(message, is_syntax)
    return more == "" and message or message .. "\n" .. more
end

function submission.explain(self, message)
    return with_line(self, message, false)
end

-- Why it is no Lua, or nil. It is compiled, and not run.
function submission.mistake(self)
    if self.text:find("^\27") then
        return self.chunk:sub(2) .. " is compiled code, and no text"
    end
    local main, message = load(self.text, self.chunk, "t", {})
    return not main and with_line(self, message, true) or nil
end

return submission
