-- store.lua - the results of a plan's points: p.jsonl has the folder p.results, with a file
-- DIGEST.json for each point that is done, and DIGEST.failed.json for one that failed.
--
-- A file is written under another name and renamed, so that it is complete whenever its process is
-- killed; two processes that do the same point write the same. Names are digests, never texts of a
-- plan, so that none leads out of the folder.

local files = import "repl/run/files.lua"
local json = import "repl/run/json.lua"

local store = {}
store.__index = store

local most_bytes <const> = 8 * 1024 * 1024      -- of a result

function store.open(plan_path)
    return setmetatable({ folder = plan_path:gsub("%.jsonl$", "") .. ".results" }, store)
end

-- Which points are done, and which have failed: two tables by digest.
function store:list()
    local is_done, is_failed = {}, {}
    for _, name in ipairs(program.folder(self.folder) or {}) do
        local digest, ending = name:match("^(%x+)(%.?%l*)%.json$")
        if digest and #digest == 64 then
            local list = ending == "" and is_done or ending == ".failed" and is_failed
            if list then
                list[digest] = true
            end
        end
    end
    return is_done, is_failed
end

function store:path(digest, failed)
    return ("%s/%s%s.json"):format(self.folder, digest, failed and ".failed" or "")
end

-- Makes the folder; true, or nil and a sentence.
function store:prepare()
    return program.make_folder(self.folder)
end

function store:has(digest)
    return program.file_kind(self:path(digest)) == "file"
end

local function write(self, digest, failed, fields)
    fields.point = digest
    local text = json.write(fields)
    if #text > most_bytes then
        return nil, ("its result takes %d bytes, more than %d"):format(#text, most_bytes)
    end
    return files.write(self:path(digest, failed), text .. "\n")
end

-- True; or nil and a sentence. A failure before it is forgotten.
function store:add(digest, fields)
    local written, reason = write(self, digest, false, fields)
    if written then
        os.remove(self:path(digest, true))
    end
    return written, reason
end

function store:add_failure(digest, message)
    return write(self, digest, true, { message = message })
end

-- What was added; or nil and a sentence.
function store:read(digest, failed)
    local path = self:path(digest, failed)
    local text, reason = files.read_bounded(path, most_bytes)
    local fields
    if text then
        fields, reason = json.read(text)
    end
    if type(fields) ~= "table" or fields.point ~= digest then
        return nil, ("%s is no result: %s"):format(path, reason or "it is of another point")
    end
    return fields
end

return store
