-- plan.lua - a plan: a file of JSON lines. The first says what is to be done, {"identity": DIGEST,
-- "plan": {...}}; each other one is a point of it, {"point": DIGEST, "values": [...]}.
--
-- A point's digest is that of its line and of the first line, in which all that decides about its
-- result stands or has a digest: so a result that goes by it is the result of this point, whoever
-- wrote the file, and a line that was changed by hand is refused.

local files = import "repl/run/files.lua"
local json = import "repl/run/json.lua"

local sha256 = internals.sha256

-- The form of the file. Whoever changes it so that plans of earlier minor versions cannot be read
-- has to wait for a new major version.
local plan = { version = 1 }

-- What a plan runs on, as a kind of field.
plan.backend = { "sim or cuda", function(value) return value == "sim" or value == "cuda" end }

-- Why a plan's profile is not opened: it is a file by name and none by kind, as a pipe that nobody
-- writes to. nil: it can be opened, or has not been found.
function plan.problem_with_profile(profile)
    local _, reason = program.file_bytes(profile)
    if profile:find("[/.]") and reason == "it is no file" then
        return ("cannot read profile %s: %s"):format(profile, reason)
    end
end

local most_bytes <const> = 256 * 1024 * 1024
local most_line <const> = 1024 * 1024

-- ---- writing -----------------------------------------------------------------------------------

local function head_of(body)
    body.version, body.streamlab = plan.version, lab.version
    local text = json.write(body)
    local identity = sha256(text)
    return identity, ('{"identity":"%s","plan":%s}\n'):format(identity, text)
end

local function digest_of(identity, values)
    return sha256(identity .. "\n" .. values)
end

-- Writes a plan of that kind; next_point() gives a list of values, nil behind the last. `body`: a
-- table that json.lua can write. The number of points; or nil and a sentence.
function plan.write(path, body, next_point)
    local identity, head = head_of(body)
    local lines = { head }
    for values in next_point do
        local text = json.write(values)
        if #text > most_line // 2 then
            return nil, ("point %d takes %d bytes, more than %d"):format(#lines, #text,
                most_line // 2)
        end
        lines[#lines + 1] = ('{"point":"%s","values":%s}\n'):format(digest_of(identity, text), text)
    end
    local written, reason = files.write(path, table.concat(lines))
    if not written then
        return nil, reason
    end
    return #lines - 1
end

-- ---- reading -----------------------------------------------------------------------------------

local function major(version)
    return type(version) == "string" and #version < 32 and version:match("^(%d+)%.%d+%.%d+$")
end

-- Why a plan of that version cannot be read, or nil.
local function problem_with_version(body)
    if body.version ~= plan.version or major(body.streamlab) ~= major(lab.version) then
        return ("the plan is of streamlab %s, this is %s: run what wrote it again"):format(
            tostring(body.streamlab), lab.version)
    end
end

local function read_head(line)
    local identity, text = line:match('^{"identity":"(%x+)","plan":(.*)}$')
    if not text then
        return nil, "it is no plan"
    elseif sha256(text) ~= identity then
        return nil, "it was changed after it was written"
    end
    local body, reason = json.read(text)
    if type(body) ~= "table" then
        return nil, reason or "it is no plan"
    end
    reason = problem_with_version(body)
    return not reason and { identity = identity, body = body } or nil, reason
end

local before_digest <const> = '{"point":"'

-- The digest of a point's line, and its values as they stand there; or nil and a sentence.
local function read_point(line, identity)
    local digest, values = line:match('^{"point":"(%x+)","values":(.*)}$')
    if not values then
        return nil, "it is no point of a plan"
    elseif digest_of(identity, values) ~= digest then
        return nil, "it was changed after it was written"
    end
    return digest, values
end

-- The number of the line is 1 for the first point.
local function in_shard(number, shard)
    return not shard or (number - 1) % shard.count == shard.index - 1
end

-- Calls take(line, number, where it begins) for each line, until it gives a sentence, which is
-- returned.
local function each_line(text, take)
    local number, from = 0, 1
    while from <= #text do
        local stop = text:find("\n", from, true) or #text + 1
        number = number + 1
        local problem = stop - from > most_line and "the line is too long"
            or take(text:sub(from, stop - 1), number, from)
        if problem then
            return ("%s (line %d)"):format(problem, number)
        end
        from = stop + 1
    end
end

-- What plan.read gives. Points are numbers, and their lines are taken apart when they are needed: a
-- worker collects garbage before each point, and tables for ten thousand would be visited each
-- time.
local methods = {}
methods.__index = methods

function methods:digest(number)
    local from = self.starts[number] + #before_digest
    return self.text:sub(from, from + 63)
end

-- The point {number, digest, values}; values are {} if they cannot be read, and `problem` says why.
function methods:point(number)
    local from = self.starts[number]
    local line = self.text:sub(from, (self.text:find("\n", from, true) or #self.text + 1) - 1)
    local digest, text = read_point(line, self.identity)
    local values, problem = json.read(text)
    local is_list = type(values) == "table"
    return { number = number, digest = digest, values = is_list and values or {},
             problem = not is_list and (problem or "it has no values") or nil }
end

-- {path, identity, body, count = of all points, numbers = of those in the shard}, with the methods
-- above.
-- `shard`: {index =, count =} or nil for all. Or nil and a sentence.
function plan.read(path, shard)
    local text, reason = files.read_bounded(path, most_bytes)
    if not text then
        return nil, ("cannot read %s: %s"):format(path, reason)
    end
    local read, numbers, starts, count = nil, {}, {}, 0
    local problem = each_line(text, function(line, number, from)
        if number == 1 then
            read, reason = read_head(line)
            return not read and reason or nil
        end
        count = number - 1
        if in_shard(count, shard) then
            local digest, why = read_point(line, read.identity)
            if not digest then
                return why
            end
            numbers[#numbers + 1], starts[count] = count, from
        end
    end)
    if problem or not read then
        return nil, ("%s: %s"):format(path, problem or "it is no plan")
    end
    read.path, read.text, read.numbers, read.starts, read.count = path, text, numbers, starts, count
    return setmetatable(read, methods)
end

return plan
