-- 53-api-data.t.lua - docs/api describes everything that scripts can call, once, and in the
-- form that docs/api/README.md asks for.

local T = require "tap"
local data = require "repl.api_data"
local shell = require "repl.shell"

local api = data.api

-- One check for all entries; the first that are wrong are named.
local function none(wrong, name)
    table.sort(wrong)
    if not T.is(#wrong, 0, name) then
        for i = 1, math.min(#wrong, 20) do
            T.diag("  " .. wrong[i])
        end
    end
end

-- ---- coverage ----------------------------------------------------------------------------

local function check_coverage()
    local names, missing, unknown, twice, seen = data.names(), {}, {}, {}, {}
    for entry in api.each() do
        local name = entry.name
        twice[#twice + 1] = seen[name] and name or nil
        seen[name] = true
        local callable = entry.kind ~= "command" and entry.kind ~= "global"
        if callable and names[name] ~= entry.kind then
            unknown[#unknown + 1] = ("%s, a %s in docs/api/%s.lua"):format(name, entry.kind,
                entry.page.file)
        end
    end
    for name in pairs(names) do
        missing[#missing + 1] = not seen[name] and name or nil
    end
    none(missing, "everything that scripts can call has an entry")
    none(unknown, "and every entry is of something that scripts can call")
    none(twice, "no name has two entries")
end

-- The globals that the console adds, as its -i shows them.
local function check_console_globals()
    local list = "local t = {} for k in pairs(_G) do t[#t + 1] = k end table.sort(t) "
        .. "print(table.concat(t, ' '))"
    local plain = shell.run { "--norc", "-e", list }
    local console = shell.run({ "--norc", "-i" }, list .. "\n")
    local known, wrong = {}, {}
    for name in plain:gmatch("%S+") do
        known[name] = true
    end
    for name in console:gmatch("%S+") do
        local entry = api.entry(name)
        if not known[name] and not (entry and entry.kind == "global") then
            wrong[#wrong + 1] = name
        end
        known[name] = true
    end
    for entry in api.each() do
        wrong[#wrong + 1] = entry.kind == "global" and not known[entry.name] and entry.name or nil
    end
    none(wrong, "the console's globals and their entries are the same")
end

-- ---- the form ----------------------------------------------------------------------------

local page_keys <const> = {
    title = "string", class = "string", order = "number", operators = "table", about = "string",
    missing = "table", topics = "table", entries = "table", more = "string", file = "string",
}
local entry_keys <const> = {
    name = "string", brief = "string", type = "string", arguments = "table", options = "table",
    returns = "table", blocks = "string", errors = "table", about = "string", example = "string",
    cuda = "string", pytorch = "string", differs = "string", see = "table",
    page = "table", kind = "string", class = "string", key = "string",     -- added when read
}

local function add_wrong_keys(wrong, what, t, known)
    for key, value in pairs(t) do
        if type(value) ~= known[key] then
            wrong[#wrong + 1] = ("%s: %s is a %s"):format(what, key, type(value))
        end
    end
end

local function check_keys()
    local wrong = {}
    for _, page in ipairs(api.pages()) do
        local what = "docs/api/" .. page.file
        add_wrong_keys(wrong, what, page, page_keys)
        if not page.title or not page.order then
            wrong[#wrong + 1] = what .. ": no title or no order"
        end
        for _, entry in ipairs(page.entries) do
            add_wrong_keys(wrong, entry.name, entry, entry_keys)
            if not entry.brief then
                wrong[#wrong + 1] = entry.name .. ": no brief"
            end
        end
    end
    none(wrong, "pages and entries have the keys that there are, and those that must be")
end

-- "waits for a stream": one line, a small letter or a name first, no full stop.
local function check_briefs()
    local wrong = {}
    for entry in api.each() do
        local brief = entry.brief
        local first = brief:match("^[%w`\"'%-]+") or ""
        local is_name = first:find("^%u%u") or first:find("^[`\"%-%d]")
        if brief:find("\n") or brief:find("%.$") or #brief > 100
            or first:find("^%u") and not is_name or first == "" then
            wrong[#wrong + 1] = entry.name .. ": " .. brief
        end
    end
    none(wrong, "briefs are one line, lower case, without a full stop")
end

local words <const> = {}
for word in ([[number integer string boolean table function nil any userdata
    device stream event graph kernel tensor timeline results tap comm work thread ranks whatif]]):gmatch("%a+") do
    words[word] = true
end

-- Whether the text is a type as LuaLS writes it.
local function is_type(text)
    text = text:gsub('"[^"|]*"', "nil"):gsub("%s*|%s*", "|")
    local before
    repeat
        before = text
        text = text:gsub("table<(%a+), (%a+)>", function(key, value)
            return words[key] and words[value] and "table" or nil
        end):gsub("fun%b()", "function"):gsub("(%a)%[%]", "%1"):gsub("table<(%a+), (%a+)%[%]>",
            "table<%1, %2>")
    until text == before
    for part in (text .. "|"):gmatch("([^|]*)|") do
        if not words[part] then
            return false
        end
    end
    return true
end

local function check_types()
    local wrong = {}
    local function check(entry, text)
        if type(text) ~= "string" or not is_type(text) then
            wrong[#wrong + 1] = ("%s: type %s"):format(entry.name, tostring(text))
        end
    end
    for entry in api.each() do
        if entry.type then
            check(entry, entry.type)
        end
        for _, item in ipairs(entry.returns or {}) do
            check(entry, item[1])
        end
        for _, list in ipairs { entry.arguments or {}, entry.options or {} } do
            for _, item in ipairs(entry.kind == "command" and {} or list) do
                check(entry, item[2])
            end
        end
    end
    none(wrong, "types are LuaLS's")
end

local function is_sane_item(item, n)
    for i = 1, n do
        if type(item[i]) ~= "string" or item[i] == "" then
            return false
        end
    end
    local default = item.default
    return item[n + 1] == nil and (default == nil or type(default) == "string" and n == 3)
end

local function check_items()
    local wrong = {}
    for entry in api.each() do
        for list, n in pairs { arguments = 3, options = 3, returns = 2, errors = 2 } do
            for i, item in ipairs(entry[list] or {}) do
                if not is_sane_item(item, n) then
                    wrong[#wrong + 1] = ("%s: item %d of %s"):format(entry.name, i, list)
                end
            end
        end
    end
    none(wrong, "arguments, options, returns and errors have their texts")
end

-- A required argument behind one that may be left out could not be given.
local function check_order_of_arguments()
    local wrong = {}
    for entry in api.each() do
        local optional = false
        for _, argument in ipairs(entry.arguments or {}) do
            if optional and not argument.default and argument[1] ~= "..." then
                wrong[#wrong + 1] = ("%s: %s"):format(entry.name, argument[1])
            end
            optional = optional or argument.default ~= nil
        end
    end
    none(wrong, "arguments that may be left out come last")
end

local function status_codes()
    local codes = {}
    for name in shell.read("core/streamlab.h"):gmatch("\n    X%((%u+),") do
        codes["SL_" .. name] = true
    end
    return codes
end

local function check_errors()
    local codes, wrong = status_codes(), {}
    T.ok(codes.SL_EINVAL, "the codes of errors are read from the header")
    for entry in api.each() do
        for _, item in ipairs(entry.errors or {}) do
            if not codes[item[1]] then
                wrong[#wrong + 1] = ("%s: %s"):format(entry.name, item[1])
            end
        end
    end
    none(wrong, "errors have codes that there are")
end

local function check_see()
    local wrong = {}
    for entry in api.each() do
        for _, name in ipairs(entry.see or {}) do
            if not api.entry(name) or name == entry.name then
                wrong[#wrong + 1] = ("%s: %s"):format(entry.name, name)
            end
        end
    end
    none(wrong, "entries refer to other entries")
end

-- ---- texts -------------------------------------------------------------------------------

-- All texts of a page, each with the name of what it is about.
local function each_text(page, f)
    f(page.title, page.about or "")
    f(page.title, page.more or "")
    for _, entry in ipairs(page.entries) do
        f(entry.name, entry.about or "")
        f(entry.name, entry.blocks or "")
        f(entry.name, entry.differs or "")
        f(entry.name, entry.brief)
        for _, list in ipairs { "arguments", "options", "returns", "errors" } do
            for _, item in ipairs(entry[list] or {}) do
                f(entry.name, item[#item])
            end
        end
    end
end

-- `lab.something` in prose is something. Names of files are none.
local function check_names_in_texts()
    local wrong = {}
    for _, page in ipairs(api.pages()) do
        each_text(page, function(where, text)
            for name in text:gmatch("`(lab%.[%a_][%w_.]*)") do
                name = name:gsub("%.+$", "")
                if not api.entry(name) and name ~= "lab.cuda" and not name:find("^lab%.lua") then
                    wrong[#wrong + 1] = ("%s: `%s`"):format(where, name)
                end
            end
        end)
    end
    none(wrong, "functions that texts name are there")
end

-- A backtick too many turns what follows into code.
local function check_backticks()
    local wrong = {}
    for _, page in ipairs(api.pages()) do
        each_text(page, function(where, text)
            text = ("\n" .. text):gsub("\n```.-\n```", "")
            local _, n = text:gsub("`", "")
            wrong[#wrong + 1] = n % 2 == 1 and where or nil
        end)
    end
    none(wrong, "backticks come in pairs")
end

-- What is said not to be here must not be here.
local function check_missing()
    local here, wrong, n = data.names(), {}, 0
    for entry in api.each() do
        for _, name in ipairs(api.foreign_names(entry)) do
            here[name] = entry.name
        end
    end
    for _, item in ipairs(api.page("elsewhere").missing) do
        for name in item[1]:gmatch("%S+") do
            local class, member = name:match("^(%l+)%.([%w_]+)$")
            local is_here = here[name] or class and api.member(class, member)
            wrong[#wrong + 1] = is_here and name or nil
            n = n + 1
        end
        if item[2]:find("^%u%l") or item[2]:find("%.$") then
            wrong[#wrong + 1] = item[2]
        end
    end
    none(wrong, "no name is said to be missing that is here, and what is said is no sentence")
    T.ok(n >= 150, n .. " names are known")
end

-- What a topic names is there, and no other topic or page has its words.
local function check_topics()
    local wrong, seen, n = {}, {}, 0
    for _, topic in ipairs(api.page("topics").topics) do
        for _, name in ipairs(topic.see) do
            local folder, file = name:match("^(%a+)/(.*)$")
            local path = folder
                and ({ guide = "docs/guide/%s.md", labs = "scripts/labs/%s/README.md",
                experiments = "scripts/experiments/%s.lua" })[folder]:format(file)
            local found = path and io.open(path) or not path and api.entry(name)
            wrong[#wrong + 1] = not found and topic[1] .. ": " .. name or nil
        end
        for word in topic[1]:gmatch("%s*([^,]+)") do
            wrong[#wrong + 1] = (seen[word:lower()] or api.page(word) or api.topic(word) ~= topic)
                and word or nil
            seen[word:lower()], n = true, n + 1
        end
        wrong[#wrong + 1] = not topic[2]:find("%.$") and topic[2] or nil
    end
    none(wrong, "topics name what is there, each word once, in sentences")
    T.ok(n >= 100, n .. " words are topics")
end

T.ok(is_type "integer[]" and is_type 'tensor|number' and is_type '"cuda"|"cpu"'
    and is_type "table<string, number>" and is_type "table<string, integer[]>"
    and not is_type "tensr" and not is_type "stream or nil" and not is_type "",
    "what a type is")
check_coverage()
check_console_globals()
check_keys()
check_briefs()
check_types()
check_items()
check_order_of_arguments()
check_errors()
check_see()
check_names_in_texts()
check_backticks()
check_missing()
check_topics()
T.done()
