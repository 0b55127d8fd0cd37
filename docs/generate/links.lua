-- links.lua - links between entries in the pages of docs/reference.

local api = import "repl/run/api.lua"

local links = {}

-- The name under which an entry can be linked to: "event-record", "dot-trace".
function links.anchor(entry)
    return (entry.name:gsub("^%.", "dot-"):gsub("[.:]", "-"))
end

-- A link to the entry of that name from a page, nil for one of another page; `words` instead
-- of the name.
function links.to(name, page, words)
    local entry = api.entry(name)
    local text = "`" .. (words or name) .. "`"
    if not entry then
        return text
    end
    local file = entry.page ~= page and entry.page.file .. ".md" or ""
    return ("[%s](%s#%s)"):format(text, file, links.anchor(entry))
end

-- The entry that code in prose names: `lab.open`, `e:record()`, `event:record`, `t.dtype`.
local function entry_of(code)
    local name = code:gsub("%s*[({].*$", "")
    return api.entry(name) or api.entry_as_called(name)
end

-- Links in a line that is no code.
local function link_line(line, page)
    return (line:gsub("()(`[^`]+`)()", function(from, quoted, to)
        local inside = line:sub(1, from - 1):find("%[[^%]]*$") and line:find("^[^%[]*%]%(", to)
        local entry = not inside and entry_of(quoted:sub(2, -2))
        if not entry or entry.kind == "global" then
            return nil
        end
        return links.to(entry.name, page, quoted:sub(2, -2))
    end))
end

-- Markdown in which the names of entries have become links. Code blocks stay as they are.
function links.linked(text, page)
    local lines, fenced = {}, false
    for line in (text .. "\n"):gmatch("([^\n]*)\n") do
        if line:find("^```") then
            fenced = not fenced
        elseif not fenced and not line:find("^    ") then
            line = link_line(line, page)
        end
        lines[#lines + 1] = line
    end
    return table.concat(lines, "\n")
end

return links
