-- files.lua - what the programs here share: files as a whole, words for the shell, and ending
-- with a sentence.

local files = {}

-- Ends the program, with a sentence on stderr.
function files.stop(status, text)
    io.stderr:write(arg[0]:match("[^/]*$"), ": ", text, "\n")
    os.exit(status, true)
end

-- A file's bytes.
function files.whole(path)
    local file, message = io.open(path, "rb")
    if not file then files.stop(1, message) end
    local text = file:read("a")
    file:close()
    return text
end

function files.write(path, text)
    local file, message = io.open(path, "wb")
    if not file or not file:write(text) or not file:close() then
        files.stop(1, message or path)
    end
end

-- Text as one word of the shell's.
function files.quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

return files
