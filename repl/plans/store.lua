-- store.lua - the results of a plan's points: p.jsonl has the folder p.results, with a file
-- DIGEST.json for each point that is done, and DIGEST.failed.json for one that failed.
--
-- A file is written under another name and renamed, so that it is complete whenever its process is
-- killed; two processes that do the same point write the same. Names are digests, never texts of a
-- plan, so that none leads out of the folder.

local fields_of = import "repl/run/fields.lua"
local files = import "repl/run/files.lua"
local json = import "repl/run/json.lua"

local store = {}
store.__index = store

local most_bytes <const> = 8 * 1024 * 1024      -- of a result

-- Of each result, whatever the plan's kind: how long its point took.
local known <const> = { { "seconds", fields_of.number(0, 1e9) } }

function store.open(plan_path)
    return setmetatable({ folder = plan_path:gsub("%.jsonl$", "") .. ".results" }, store)
end

-- Which points are done, and which have failed: two tables by digest. What is no file is no result.
function store:list()
    local is_done, is_failed = {}, {}
    for _, name in ipairs(program.folder(self.folder) or {}) do
        local digest, ending = name:match("^(%x+)(%.?%l*)%.json$")
        if digest and #digest == 64 then
            local list = ending == "" and is_done or ending == ".failed" and is_failed
            if list and program.file_kind(self.folder .. "/" .. name) == "file" then
                list[digest] = true
            end
        end
    end
    return is_done, is_failed
end

function store:path(digest, failed)
    return ("%s/%s%s.json"):format(self.folder, digest, failed and ".failed" or "")
end

-- Whether there is something where the result would be, which may be no file.
function store:is_taken(digest)
    return program.file_kind(self:path(digest)) ~= nil
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
    local path = self:path(digest, failed)
    local kind = program.file_kind(path)
    if kind and kind ~= "file" then
        return nil, ("cannot write %s: there is something of that name, and no file"):format(path)
    end
    return files.write(path, text .. "\n")
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
    local text, fields, reason
    if program.file_kind(path) == "link" then
        reason = "it is a link"
    else
        text, reason = files.read_bounded(path, most_bytes)
    end
    if text then
        fields, reason = json.read(text)
    end
    if type(fields) ~= "table" then
        reason = reason or "it is no table"
    elseif fields.point ~= digest then
        reason = "it is of another point"
    else
        reason = fields_of.problem(fields, known)
    end
    if reason then
        return nil, ("%s is no result: %s"):format(path, reason)
    end
    return fields
end

return store
