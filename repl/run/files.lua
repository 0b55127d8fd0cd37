-- files.lua - whole files, for subcommands.

local files = {}

-- The bytes of a file; or nil and the reason, which begins with the path.
function files.read(path)
    local file, reason = io.open(path, "rb")
    if not file then
        return nil, reason
    end
    local text, why = file:read("a")
    file:close()
    if not text then
        return nil, path .. ": " .. tostring(why)
    end
    return text
end

-- The bytes of a file that somebody else made; or nil and the reason, without the path. Its size is
-- asked for before it is opened, and no more is read: it may be a pipe that nobody writes to, or
-- terabytes that take no room on the disk.
function files.read_bounded(path, most_bytes)
    local bytes, reason = program.file_bytes(path)
    if not bytes then
        return nil, reason
    elseif bytes > most_bytes then
        return nil, ("it has %d bytes, more than %d"):format(bytes, most_bytes)
    end
    local file <close>, why = io.open(path, "rb")
    if not file then
        return nil, why:match("[^:]*$"):sub(2)
    end
    local text, failure = file:read(bytes + 1)          -- a larger buffer would be made whole
    if text and #text > bytes then
        text = text .. (file:read(most_bytes - bytes) or "")
    end
    if failure or text and #text > most_bytes then
        return nil, failure or "it grows while it is read"
    end
    return text or ""
end

-- Writes a file whole, or leaves it as it was. True; or nil and a sentence.
function files.write(path, text)
    return files.write_all { { path = path, text = text } }
end

-- The same of a list of {path =, text =}: all of them are complete before the first takes its
-- place.
function files.write_all(list)
    return internals.write_files(list)
end

-- Whether a file could be written; it is left as it is. True, and whether what is written to it is
-- added to what it has, as in a pipe; or nil and a sentence.
function files.try(path)
    return internals.try_file(path)
end

-- The bytes of the file that make(path) writes, which is temporary; its name ends in the suffix.
function files.made(suffix, make)
    local folder = program.make_scratch()
    local path = folder .. "/made" .. suffix
    local _ <close> = setmetatable({}, { __close = function() program.remove_scratch(folder) end })
    make(path)
    return assert(files.read(path))
end

-- Whether there is something; it is not opened, since it may be a pipe that nobody writes to.
function files.exists(path)
    return program.real_path(path) ~= nil
end

-- The sorted names of a folder's files that end in one of `suffixes` and are not hidden; empty if
-- there is no such folder.
function files.ending_in(folder, suffixes)
    local names = {}
    for _, name in ipairs(program.folder(folder) or {}) do
        for _, suffix in ipairs(suffixes) do
            if name:find("^[^.]") and name:sub(-#suffix) == suffix then
                names[#names + 1] = name
            end
        end
    end
    table.sort(names)
    return names
end

return files
