-- question.lua - what completion and help are asked about: a place in code, by how many characters
-- stand before it. Completion and help themselves are the console's.

local complete = import "repl/console/completion/complete.lua"
local cursor = import "repl/console/completion/cursor.lua"

local question = {}

-- The code before and behind the place; nil: there is no such place.
local function split(code, place)
    local length = utf8.len(code)
    place = place or length
    if not length or place < 0 or place > length then return nil end
    local at = utf8.offset(code, place + 1)
    return code:sub(1, at - 1), code:sub(at)
end

local wrong <const> = "'code' must be UTF-8, and 'cursor' at most its length in characters"

-- The words, and which characters they take the place of.
function question.complete(code, place)
    local before = split(code, place)
    if not before then return nil, wrong end
    local first, words = complete.complete(before)
    local length = utf8.len(before)
    words = words and table.move(words, 1, #words, 1, {}) or {}    -- it has other keys as well
    return { words = words, from = length - utf8.len(before, first), to = length }
end

-- The path of names at the place; or else that of the call whose arguments stand there.
local function path_at(before, behind)
    local path = before:match("[%w_.:]*$") .. behind:match("^[%w_]*")
    if path:find("%a") then return path end
    local call = cursor.read(before).call
    local steps = call and call.path or {}
    for i, step in ipairs(steps) do
        path = i == 1 and step.key or path .. step.separator .. step.key
    end
    return path
end

-- The help about what stands at the place, as a text.
function question.inspect(code, place)
    local before, behind = split(code, place)
    if not before then return nil, wrong end
    local path = path_at(before, behind)
    if not path:find("%a") then return { found = false } end
    local help = import "repl/console/help/help.lua"
    local said, found = import "repl/console/help/sheet.lua".said_by(help.ask, path)
    return { found = found, data = found and { ["text/plain"] = said } or nil }
end

return question
