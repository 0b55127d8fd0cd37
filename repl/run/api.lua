-- api.lua - the index of docs/api: its pages and entries, by name and by value, and the
-- signatures. Tests check the data; nothing is checked here.
--
-- Besides what docs/api/README.md names, a page has
--   file    its name without folder and ".lua": "events"
-- and an entry
--   page    its page
--   kind    "function", "method", "field", "command" or "global"
--   class   of a method or field
--   key     the last part of its name: "record"

local lists = import "repl/run/lists.lua"

local api = {}

local folder <const> = "docs/api/"

-- ---- reading -----------------------------------------------------------------------

-- What an entry's name says about it.
local function describe(entry, page)
    local name = entry.name
    entry.page = page
    entry.key = name:match("[^.:]+$")
    if name:find(":", 1, true) then
        entry.kind, entry.class = "method", name:match("^[^:]+")
    elseif name:find("^%.") then
        entry.kind = "command"
    elseif entry.type then
        entry.kind, entry.class = "field", name:match("^(.*)%.")
    elseif name:find(".", 1, true) then
        entry.kind = "function"
    else
        entry.kind = "global"
    end
end

local function read_page(path)
    local page = import(path)
    page.file = path:match("([^/]+)%.lua$")
    page.entries = page.entries or {}
    for _, entry in ipairs(page.entries) do
        describe(entry, page)
    end
    return page
end

local pages

-- All pages in their order.
function api.pages()
    if pages then
        return pages
    end
    pages = lists.map(embedded(folder), read_page)
    table.sort(pages, function(a, b)
        local first, second = a.order or math.huge, b.order or math.huge
        if first ~= second then
            return first < second
        end
        return a.file < b.file
    end)
    return pages
end

-- Goes through all entries in the order of pages: for entry in api.each() do.
function api.each()
    return coroutine.wrap(function()
        for _, page in ipairs(api.pages()) do
            for _, entry in ipairs(page.entries) do
                coroutine.yield(entry)
            end
        end
    end)
end

-- ---- by name -------------------------------------------------------------------------

local by_name, by_key

local function index_names()
    local names, keys = {}, {}
    for entry in api.each() do
        names[entry.name] = entry
        keys[entry.key] = keys[entry.key] or {}
        table.insert(keys[entry.key], entry)
    end
    by_name, by_key = names, keys
end

-- The entry of a whole name: "lab.matmul", "event:record", "tensor.dtype", ".trace", "who".
function api.entry(name)
    if not by_name then
        index_names()
    end
    return by_name[name]
end

local receivers <const> = {
    device = "d", stream = "s", event = "e", tensor = "t", timeline = "tl",
    graph = "g", kernel = "k", results = "r", tap = "t", comm = "comm",
    work = "w", thread = "th", ranks = "rk", whatif = "w",
}

-- The entry of a name as it is called: "e:record" for "event:record".
function api.entry_as_called(name)
    local receiver, rest = name:match("^(%a+)([.:].+)$")
    for class, short in pairs(receivers) do
        local entry = receiver == short and api.entry(class .. rest)
        if entry then       -- a tensor is called t as well; no two of them share a name
            return entry
        end
    end
end

-- The entries whose names end so: "close" gives those of streams and events.
function api.named(key)
    if not by_name then
        index_names()
    end
    return by_key[key] or {}
end

-- The method or field of a class.
function api.member(class, key)
    return api.entry(class .. ":" .. key) or api.entry(class .. "." .. key)
end

-- CUDA's and PyTorch's names of an entry: a list.
function api.foreign_names(entry)
    local names = {}
    for name in ((entry.pytorch or "") .. " " .. (entry.cuda or "")):gmatch("[%w_.]+") do
        names[#names + 1] = name
    end
    return names
end

-- CUDA's and PyTorch's names that are not here, and of which help says so: a list. "cudaGraph"
-- stands for all that begin so.
function api.missing_names()
    local names = {}
    for _, item in ipairs(api.page("elsewhere").missing) do
        for name in item[1]:gmatch("[^%s*]+") do
            local owner = name:match("^%l+%.")
            names[#names + 1] = (not owner or owner == "torch.") and name:gsub("%.$", "") or nil
        end
    end
    return names
end

-- ---- topics --------------------------------------------------------------------------

-- A topic's words as they are compared: "Double-buffering" and "double buffers" alike.
local function plain_words(text)
    local words = {}
    for word in text:lower():gsub("[-_]", " "):gmatch("[^%s]+") do
        words[#words + 1] = word:gsub("s$", "")
    end
    return table.concat(words, " ")
end

local topics

-- The topic (docs/api/topics.lua) that is called so, or nil.
function api.topic(text)
    if not topics then
        topics = {}
        for _, topic in ipairs(api.page("topics").topics) do
            for word in topic[1]:gmatch("[^,]+") do
                topics[plain_words(word)] = topic
            end
        end
    end
    return topics[plain_words(text)]
end

-- The page of that title, of that class, or of that file's name. Small and big letters are
-- the same here.
function api.page(name)
    name = name:lower()
    for _, page in ipairs(api.pages()) do
        if page.title:lower() == name or page.class == name or page.file == name then
            return page
        end
    end
end

-- ---- by value ------------------------------------------------------------------------

-- The class of an object, as pages name it: "event"; nil for other values.
function api.class_of(value)
    local kind = type(value)
    local meta = (kind == "userdata" or kind == "table") and debug.getmetatable(value)
    local ours = type(meta) == "table" and (kind == "userdata" or rawget(meta, "__methods"))
    local name = ours and rawget(meta, "__name")
    return type(name) == "string" and name:match("^streamlab%.(%a+)$") or nil
end

-- "events" for "event"; "results" is one already.
function api.plural(class)
    return class:find("s$") and class or class .. "s"
end

-- Whether the object has such a method or field, whatever the pages say; if not, also the
-- one that is spelt most like it.
function api.has_member(value, key)
    local meta, names = debug.getmetatable(value), {}
    for _, members in ipairs { meta.__methods or {}, meta.__fields or {} } do
        for name in pairs(members) do
            names[name] = true
        end
    end
    if names[key] then
        return true
    end
    return false, internals.nearest(key, names)
end

-- function -> name of its entry
local names_of

local function add_functions(names, functions, prefix)
    for key, value in next, functions do
        if type(key) == "string" and type(value) == "function" then
            names[value] = prefix .. key
        end
    end
end

-- The methods are in metatables, to which the registry has references.
local function add_methods(names)
    for _, value in next, debug.getregistry() do
        local name = type(value) == "table" and rawget(value, "__name")
        local class = type(name) == "string" and name:match("^streamlab%.(%a+)$")
        local methods = class and rawget(value, "__methods")
        if type(methods) == "table" then
            add_functions(names, methods, class .. ":")
        end
    end
end

local function index_values()
    local names = {}
    add_methods(names)
    add_functions(names, lab.cuda, "lab.cuda.")
    add_functions(names, lab, "lab.")
    names_of = names
end

-- The name of one of the laboratory's own functions or methods; nil for other functions.
function api.name_of(f)
    if not names_of then
        index_values()
    elseif not names_of[f] then
        add_methods(names_of)       -- some classes come with their first object
    end
    return names_of[f]
end

-- ---- signatures ----------------------------------------------------------------------

-- "e:record" for "event:record", "t.dtype" for "tensor.dtype".
function api.called(entry)
    local receiver = receivers[entry.class]
    return receiver and entry.name:gsub("^%a+", receiver) or entry.name
end

-- "{ timing = }"; nil without options.
local function options_text(entry)
    if not entry.options or #entry.options == 0 then
        return nil
    end
    return "{ " .. lists.join(entry.options, function(option) return option[1] .. " =" end) .. " }"
end

-- What stands behind the name: "([stream])", "{ timing = }", " [FILE]" of a command, nothing
-- behind a field.
local function arguments_text(entry)
    local words = lists.map(entry.arguments or {}, function(argument)
        return argument.default and "[" .. argument[1] .. "]" or argument[1]
    end)
    if entry.kind == "command" then
        return #words > 0 and " " .. table.concat(words, " ") or ""
    elseif entry.kind == "field" then
        return ""
    end
    local options = options_text(entry)
    if options and #words == 0 then
        return options
    end
    words[#words + 1] = options
    return "(" .. table.concat(words, ", ") .. ")"
end

-- "e:record([stream])", "lab.event{ timing = }", "e.timing"
function api.signature(entry)
    return api.called(entry) .. arguments_text(entry)
end

return api
