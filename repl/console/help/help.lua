-- help.lua - help(), help(x), ?x and `streamlab help`: finds what is meant and shows it.
--
-- ?x is read as a path of names and looked up raw, so that no code of the user runs.

local api = import "repl/run/api.lua"
local lists = import "repl/run/lists.lua"
local apropos = import "repl/console/help/apropos.lua"
local pages = import "repl/console/help/pages.lua"
local sheet = import "repl/console/help/sheet.lua"

local help = {}

-- ---- several entries ---------------------------------------------------------------------

local most_found <const>, enough_found <const> = 20, 8

local function name_of(entry) return entry.name end

-- A paragraph behind `first`; `marks`: the text is Markdown.
local function print_hanging(first, text, marks)
    local page = sheet.new()
    page:hanging(first, marks and page:marked(text) or text)
    page:print()
end

-- Entries with a line each.
local function show_list(title, entries, n_more)
    local page = sheet.new()
    page:heading(title)
    pages.add_list(page, entries, name_of)
    if n_more > 0 then
        page:line(("  and %d more"):format(n_more))
    end
    page:print()
end

-- One line with the entries' names, but for the one or the page that was shown.
local function show_also(entries, shown)
    local others = lists.select(entries, function(entry)
        return entry ~= shown and entry.page ~= shown
    end)
    if #others > 0 then
        print_hanging("Also     ", lists.join(others, name_of))
    end
end

-- Several of the same last name: the function of `lab` stands for its method.
local function show_named(entries, text)
    local main = #entries == 1 and entries[1] or nil
    for _, entry in ipairs(entries) do
        main = main or entry.kind == "function" and entry or nil
    end
    if main then
        pages.entry(main):print()
        show_also(entries, main)
    else
        show_list(("\"%s\" is the name of:"):format(text), entries, 0)
    end
end

-- ---- by text -------------------------------------------------------------------------------

-- The entries to show of those that were found: those that only mention the words somewhere
-- are left out where there are enough others.
local function best_of(found)
    local entries = {}
    for _, item in ipairs(found) do
        if #entries < most_found and (item.strong or #entries < enough_found) then
            entries[#entries + 1] = item.entry
        end
    end
    return entries
end

local function show_found(text)
    local found = apropos.entries(text)
    local entries = best_of(found)
    if #entries > 0 then
        show_list(("\"%s\" is found in:"):format(text), entries, #found - #entries)
    end
    local found_pages = apropos.pages(text)
    if #found_pages > 0 then
        print_hanging(#entries > 0 and "Also in the pages "
            or ("\"%s\" is found in the pages "):format(text),
            lists.join(found_pages, function(page) return page.title end))
    end
    return #entries + #found_pages > 0
end

local most_quoted <const> = 60      -- bytes of a text that nothing is known about

local function show_nothing(text)
    local near = apropos.nearest(text)
    text = internals.safe(#text > most_quoted
        and text:sub(1, most_quoted):gsub("[\x80-\xff]+$", "") .. "..." or text)
    local meant = near and (", did you mean %s?"):format(near) or ";"
    print_hanging("", ("there is no help about \"%s\"%s help() lists all pages"):format(text,
        meant))
    return false
end

-- Says what to use instead of a name of CUDA's or PyTorch's that does not exist here. False: the
-- name is not known.
local function show_elsewhere(name)
    local instead = internals.elsewhere(name:find("[.:%u]") and name or "lab." .. name, true)
    if not instead then
        return false
    end
    print_hanging("", ("There is no `%s` here: %s."):format(internals.safe(name), instead), true)
    return true
end

-- Without fields, whose names are often words that people look for.
local function callable(entries)
    return lists.select(entries, function(entry) return entry.kind ~= "field" end)
end

-- A name, a page's title, a topic, a name of CUDA or PyTorch, or words to search for. False: there
-- is nothing.
local function show_text(text)
    local name = text:gsub("^lab:", "lab."):gsub("%s*%(.*$", "")
    local entry = api.entry(name) or api.entry_as_called(name)
    local page, named = api.page(name), callable(api.named(name))
    local topic = api.topic(text)
    local foreign = apropos.of_foreign_name(name)
    local inner = name:match("^lab%.cuda%.(.+)$") or name:match("^lab%.(.+)$")
    if inner and #foreign == 0 then     -- lab.memory_allocated for torch.cuda.memory_allocated
        foreign = apropos.of_foreign_name("cuda." .. inner)
    end
    if entry then
        pages.entry(entry):print()
    elseif page then
        pages.page(page):print()
        show_also(named, page)
    elseif topic then
        pages.topic(topic):print()
        show_also(named)
    elseif #named > 0 then
        show_named(named, name)
    elseif #foreign == 1 then
        pages.entry(foreign[1]):print()
    else
        local known = #foreign == 0 and show_elsewhere(name)
        local full = known and name:find("[.:%u]")      -- a word may stand in texts as well
        return full or show_found(text) or known or show_nothing(text)
    end
    return true
end

-- ---- by value ------------------------------------------------------------------------------

-- "a number", "a function at lab.lua:3"
local function described(value)
    if type(value) == "function" then
        local info = debug.getinfo(value, "S")
        if info.what == "Lua" and info.short_src ~= "streamlab" then
            return ("a function of %s:%d"):format(info.short_src, info.linedefined)
        end
        return "a function of Lua's own libraries, or of another module"
    end
    return value == nil and "nil" or "a " .. type(value)
end

-- Whether the value is one that the pages tell about; shows that.
local function show_value(value)
    local topic = rawequal(value, lab.cuda) and "cuda" or api.class_of(value)
    local page = topic and api.page(topic)
    local entry = type(value) == "function" and api.entry(api.name_of(value) or "")
    if rawequal(value, package.loaded.streamlab) then
        pages.overview():print()
    elseif page then
        pages.page(page):print()
    elseif entry then
        pages.entry(entry):print()
    else
        return false
    end
    return true
end

-- The console's own functions among the globals are known by their names.
local function name_among_globals(value)
    for name, other in next, _G do
        if rawequal(other, value) and api.entry(name) then
            return name
        end
    end
end

local function show_no_value(what)
    print_hanging("", what .. (what:find("%?$") and " " or "; ")
        .. "`help \"word\"` searches, `help()` lists all pages", true)
end

-- ---- what others call -------------------------------------------------------------------------

-- Shows help about a text; false if there is nothing.
function help.about(text)
    text = text:match("^%s*(.-)%s*$")
    if text == "" then
        pages.overview():print()
        return true
    end
    return show_text(text)
end

-- help(), help(x): x is a text or a value.
function help.help(...)
    local value = ...
    if select("#", ...) == 0 then
        pages.overview():print()
    elseif type(value) == "string" then
        help.about(value)
    elseif not show_value(value) then
        local name = type(value) == "function" and name_among_globals(value)
        if name then
            pages.entry(api.entry(name)):print()
        else
            show_no_value("no help for " .. described(value))
        end
    end
end

-- ---- ?x --------------------------------------------------------------------------------------

-- The value that a path of names, "a.b:c", stands for, and what is left of the path where it
-- leads into an object: "c". What a field of an object holds is not asked for.
local function resolve(path)
    local value = _G
    for name, at in path:gmatch("([^.:]+)()") do
        if api.class_of(value) then
            return value, path:sub(at - #name)
        elseif type(value) == "table" then
            value = rawget(value, name)
        else
            return nil
        end
    end
    return value
end

local function is_path(text)
    return text:find("^[%a_][%w_]*$") or text:find("^[%a_][%w_]*[.:][%w_.:]*[%w_]$")
end

-- Help about a method or field of an object.
local function show_member(object, key)
    local class = api.class_of(object)
    local entry = api.member(class, key)
    if entry then
        pages.entry(entry):print()
        return
    end
    local has, near = api.has_member(object, key)
    local instead = internals.elsewhere(class .. "." .. key, true)
    show_no_value(has and ("no help for `%s` of %s"):format(key, api.plural(class))
        or ("%s has no field or method `%s`%s"):format(class, key, instead and "; " .. instead
            or near and (", did you mean `%s`?"):format(near) or ""))
end

-- Whether the text is the path of something that is there; shows help about that.
local function ask_path(text)
    local value, key = resolve(text)
    if key then
        show_member(value, key)
    elseif value == nil then
        return false
    elseif not show_value(value) then
        local entry = type(value) == "function" and api.entry(text)
        if entry then
            pages.entry(entry):print()
        else
            show_no_value(("`%s` is %s"):format(text, described(value)))
        end
    end
    return true
end

-- The text behind the "?" of a line. Further ones are as good as none. False: there is nothing.
function help.ask(text)
    text = text:gsub("^[%s?]+", ""):gsub("[%s?]+$", ""):gsub("%s*%(%s*%)$", "")
    text = text:match("^([\"'])(.*)%1$") and text:sub(2, -2) or text
    return text ~= "" and is_path(text) and ask_path(text) or help.about(text)
end

return help
