-- 51-causes-page.t.lua - docs/causes.md says what the scripts of scripts/causes/ print.
--
-- A section of the page names its script, and has in this order: the script's middle part,
-- what it prints, the lines that mend it ("Mended, line 9:"), and the two makespans. Prose
-- between them is free. Where scripts or explanations have changed,
--     LUA_PATH='tests/?.lua;;' build/streamlab tests/lua/51-causes-page.t.lua write
-- writes the page again.

local T = require "tap"
local ideal = require "lua.ideal"

local page_path <const> = "docs/causes.md"
local rewriting <const> = "LUA_PATH='tests/?.lua;;' build/streamlab tests/lua/51-causes-page.t.lua "
    .. "write"

local function script_path(name) return "scripts/causes/" .. name end

-- What stands between the script's head and its run.
local function excerpt(text)
    return text:match('local lab = require "streamlab"\n(.-\nend\n)\nexperiment%(%)')
end

-- The text with lines replaced: {[9] = "..."}.
local function mend(text, lines)
    local number = 0
    return (text:gsub("([^\n]*)\n", function(line)
        number = number + 1
        return (lines[number] or line) .. "\n"
    end))
end

local function makespan_us(text)
    lab.open{ backend = "sim", profile = "textbook" }
    local silent = text:gsub("tl:show%(%)\ntl:explain%(%)\n$", "return tl.makespan_us\n")
    local us = assert(load(silent, "@mended"))()
    collectgarbage()
    return us
end

local function figures(text, lines)
    return ("Makespan %.2f ms, mended %.2f ms."):format(
        makespan_us(text) / 1000, makespan_us(mend(text, lines)) / 1000)
end

-- {[13] = first line, [14] = second} of "13 and 14" and the text below.
local function numbered(numbers, body)
    local lines, each = {}, body:gmatch("([^\n]*)\n")
    for number in numbers:gmatch("%d+") do lines[tonumber(number)] = each() end
    return lines, each() == nil
end

local function fence(kind, body) return "```" .. kind .. "\n" .. body .. "```\n" end

-- The section as it should be, or nil and what it lacks.
local function renewed(section)
    local name = section:match("%.%./scripts/causes/([%w%-]+%.lua)")
    if not name then return nil, "it names no script" end
    local text = ideal.read(script_path(name))
    local status, printed = ideal.run(script_path(name), nil,
        { through = "env LC_ALL=C.UTF-8 COLUMNS=80", options = "--backend sim --profile textbook" })
    local numbers, body = section:match("\nMended, lines? ([%d, and]+):\n\n```lua\n(.-)```\n")
    if status ~= 0 then return nil, script_path(name) .. " fails" end
    if not numbers then return nil, 'it has no lines after "Mended, line N:"' end
    local lines, complete = numbered(numbers, body)
    if not complete then return nil, "it does not have as many mended lines as numbers" end
    local blocks = { fence("lua", excerpt(text)), fence("", printed), fence("lua", body) }
    local n = 0
    local fresh = section:gsub("```%l*\n.-```\n", function()
        n = n + 1
        return blocks[n]
    end)
    local count
    fresh, count = fresh:gsub("Makespan [%d.]+ ms, mended [%d.]+ ms%.", figures(text, lines))
    if n ~= 3 or count ~= 1 then
        return nil, "it does not have three blocks and one line of makespans"
    end
    return fresh, name
end

-- The page's head, and its sections, each from its heading on.
local function parts(page)
    local starts, sections = {}, {}
    for at in page:gmatch("\n()## %d+%. ") do starts[#starts + 1] = at end
    for i, at in ipairs(starts) do
        sections[i] = page:sub(at, (starts[i + 1] or #page + 1) - 1)
    end
    return page:sub(1, (starts[1] or #page + 1) - 1), sections
end

local function all_scripts()
    local pipe <close> = assert(io.popen("ls scripts/causes"))
    local names = {}
    for name in pipe:lines() do names[#names + 1] = name end
    return names
end

local function write_anew(page)
    local head, sections = parts(page)
    for i, section in ipairs(sections) do sections[i] = assert(renewed(section)) end
    local file <close> = assert(io.open(page_path, "w"))
    file:write(head, table.concat(sections))
end

local page = ideal.read(page_path)
if arg[1] == "write" then
    write_anew(page)
    return
end
local head, sections = parts(page)
local told = {}
for i, section in ipairs(sections) do
    local fresh, name = renewed(section)
    told[i] = fresh and name
    if not T.ok(fresh == section, ("section %d says what its script prints"):format(i)) then
        T.diag(fresh and "  " .. name .. " prints something else: " .. rewriting
               or "  " .. name)
    end
end
T.is_deeply(told, all_scripts(), "the page has all scripts of scripts/causes, in their order")
T.is(head .. table.concat(sections), page, "and nothing else")
T.done()
