-- squeeze.lua OUT FILE... - copies Lua files to below the folder OUT without comments and
-- indentation, which a page need not load. Lines keep their numbers, for errors.

-- The text of a long string or comment that may begin at `at`, and what follows it; or nil.
local function long(text, at)
    local level = text:match("^%[(=*)%[", at)
    if not level then return nil end
    local _, last = text:find("]" .. level .. "]", at, true)
    return text:sub(at, last), last + 1
end

local function short(text, at)
    local quote, to = text:sub(at, at), at + 1
    while text:sub(to, to) ~= quote do
        to = to + (text:sub(to, to) == "\\" and 2 or 1)
    end
    return text:sub(at, to), to + 1
end

-- Of a comment only its newlines stay.
local function comment(text, at)
    local body, after = long(text, at + 2)
    if body then return body:gsub("[^\n]", ""), after end
    return "", text:find("\n", at, true) or #text + 1
end

local function squeeze(text)
    local parts, at = {}, 1
    while at <= #text do
        local plain, mark = text:match("^([^-%['\"\n]*)()", at)
        if plain ~= "" then
            parts[#parts + 1], at = plain, mark
        else
            local next_two, part, after = text:sub(at, at + 1), nil, nil
            if next_two == "--" then part, after = comment(text, at)
            elseif next_two:find("^['\"]") then part, after = short(text, at)
            elseif next_two:find("^%[") then part, after = long(text, at)
            elseif next_two:find("^\n") then part, after = "\n", text:match("^\n[ \t]*()", at) end
            parts[#parts + 1], at = part or text:sub(at, at), after or at + 1
        end
    end
    return table.concat(parts)
end

local out <const> = arg[1]
for i = 2, #arg do
    local path = arg[i]
    local text
    do
        local file <close> = assert(io.open(path, "rb"))
        text = file:read("a")
    end
    if path:find("%.lua$") then text = squeeze(text) end
    os.execute(("mkdir -p '%s/%s'"):format(out, path:match("^(.*)/")))
    local file <close> = assert(io.open(out .. "/" .. path, "wb"))
    file:write(text)
end
