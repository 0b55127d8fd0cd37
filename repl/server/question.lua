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

-- The path of the call whose arguments stand at the end of the text.
local function call_at_end(before)
    local call, path = cursor.read(before).call, ""
    for i, step in ipairs(call and call.path or {}) do
        path = i == 1 and step.key or path .. step.separator .. step.key
    end
    return path
end

-- The paths of names that the place is about: the call around it, and what stands there. A function
-- that is called there is meant alone.
local function paths_at(before, behind)
    local name = behind:match("^[%w_]*")
    local path = before:match("[%w_.:]*$") .. name
    local is_called = path:find("%a") and behind:find("^%s*[({\"']", #name + 1)
    return is_called and { path } or { call_at_end(before), path }
end

-- The help about what stands at the place, as a text.
function question.inspect(code, place)
    local before, behind = split(code, place)
    if not before then return nil, wrong end
    local help, sheet = import "repl/console/help/help.lua", import "repl/console/help/sheet.lua"
    local texts = {}
    for _, path in ipairs(paths_at(before, behind)) do
        if path:find("%a") then
            local said, found = sheet.said_by(help.ask, path)
            texts[#texts + 1] = found and said or nil
        end
    end
    return { found = #texts > 0,
             data = #texts > 0 and { ["text/plain"] = table.concat(texts, "\n") } or nil }
end

return question
