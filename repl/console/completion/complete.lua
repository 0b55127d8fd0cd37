-- complete.lua - what Tab offers at the prompt.
--
-- complete(text) gets what stands before the cursor and gives the position of the word that
-- is being typed, and the words that it may become:
--   globals, a.b, a.b:method    fields of tables, also by way of __index tables; fields and
--                               methods of the laboratory's objects, also of those that the
--                               text above makes, which has not run
--   lab.stream{pri              names of options, from docs/api
--   t:to("cu, lab.load("fi      the texts that an argument or option may be; else files
--   tl:busy_us("ker, require "  kinds and engines of spans; modules
--   .tra, .load fi, ?lab.ma     the console's commands and what they take
--   ?str, help("cudaStr         what help knows as well
-- No code of the user's runs: values are looked up raw, and no metamethod is called.

local api = import "repl/run/api.lua"
local assigned = import "repl/console/completion/assigned.lua"
local cursor = import "repl/console/completion/cursor.lua"
local files = import "repl/run/file_names.lua"
local lists = import "repl/run/lists.lua"
local tokens = import "repl/run/tokens.lua"

local complete = {}

local most_index_tables <const> = 20    -- that are followed, one behind the other
local most_keys <const> = 10000         -- of a table that are looked at

-- ---- looking up -------------------------------------------------------------------------

-- The table behind a value's __index, if it is one.
local function index_table(value)
    local metatable = debug.getmetatable(value)
    local index = type(metatable) == "table" and rawget(metatable, "__index")
    return type(index) == "table" and index or nil
end

-- The metatable of an object of the laboratory, whose __index is a function. What lab.table
-- gives is a table.
local function object_metatable(value)
    local kind = type(value)
    local metatable = (kind == "userdata" or kind == "table") and debug.getmetatable(value)
    if type(metatable) == "table" and type(rawget(metatable, "__methods")) == "table" then
        return metatable
    end
end

-- The tables in which the fields of a value are found, nearest first.
local function field_tables(value)
    local tables = {}
    if type(value) == "table" then
        tables[1] = value
    end
    for _ = 1, most_index_tables do
        value = index_table(value)
        if not value then
            break
        end
        tables[#tables + 1] = value
    end
    return tables
end

local function lookup(value, key)
    local object = object_metatable(value)
    if object then
        return rawget(object.__methods, key)
    end
    for _, fields in ipairs(field_tables(value)) do
        if rawget(fields, key) ~= nil then
            return rawget(fields, key)
        end
    end
end

-- The value of a path like cursor.read gives, without its last `n` steps.
local function value_of(path, n)
    local value = _G
    for i = 1, #path - n do
        value = lookup(value, path[i].key)
        if value == nil then
            return nil
        end
    end
    return value
end

-- The method of that name that has most options, whatever its class.
local function any_method(key)
    local best
    for _, entry in ipairs(api.named(key)) do
        if entry.kind == "method"
            and (not best or #(entry.options or {}) > #(best.options or {})) then
            best = entry
        end
    end
    return best
end

-- The entry in docs/api of the function that a path names. If its object is not known, because a
-- call returns it or it does not exist yet, the entry is found by the method's name.
local function described(path)
    local value, last = value_of(path, 0), path[#path]
    local name = type(value) == "function" and api.name_of(value)
    if name then
        return api.entry(name)
    end
    local own = #path == 1 and type(value) == "function" and api.entry(last.key)
    if own and own.kind == "global" then    -- the console's own: help, who, time
        return own
    end
    return value == nil and last.separator == ":" and any_method(last.key) or nil
end

-- ---- offering ----------------------------------------------------------------------------

-- Adds the word to the list if it begins so, and if found[word] does not say that it is there.
local function offer(found, word, prefix, ending)
    if type(word) == "string" and word:sub(1, #prefix) == prefix and not found[word] then
        found[word] = true
        found[#found + 1] = word .. (ending or "")
    end
end

local function is_name(key)
    return type(key) == "string" and key:find("^[%a_][%w_]*$") ~= nil
end

-- Names that begin with "_" are offered only if "_" was typed.
local function offer_keys(found, fields, prefix, functions_only)
    local key, value = next(fields)
    for _ = 1, most_keys do
        if key == nil then
            break
        end
        local hidden = prefix == "" and is_name(key) and key:find("^_")
        if is_name(key) and not hidden and (not functions_only or type(value) == "function") then
            offer(found, key, prefix)
        end
        key, value = next(fields, key)
    end
end

-- Methods or fields of a class, as docs/api has them.
local function members(class, separator, prefix)
    local found = {}
    for entry in api.each() do
        if entry.class == class and entry.kind == (separator == ":" and "method" or "field") then
            offer(found, entry.key, prefix)
        end
    end
    return found
end

-- Fields of what stands before the last "." or ":" at the end of the text.
local function fields(path, text)
    local last = path[#path]
    local value = value_of(path, 1)
    local object = object_metatable(value)
    local found = {}
    if object then
        offer_keys(found, last.separator == ":" and object.__methods or object.__fields, last.key)
    elseif value ~= nil then
        for _, candidates in ipairs(field_tables(value)) do
            offer_keys(found, candidates, last.key, last.separator == ":")
        end
    else
        local class = assigned.class_at_end(text, path)
        return class and members(class, last.separator, last.key) or found
    end
    return found
end

local function globals(prefix)
    local found = {}
    offer_keys(found, _G, prefix)
    for word in next, prefix ~= "" and tokens.keywords or {} do
        offer(found, word, prefix)
    end
    return found
end

-- The options of the call whose table is being written, but for those that are there.
local function options(call, prefix)
    local entry = call and described(call.path)
    local found = {}
    for _, name in ipairs(call and call.given or {}) do
        found[name] = true
    end
    for _, option in ipairs(entry and entry.options or {}) do
        offer(found, option[1], prefix, " = ")
    end
    return found
end

-- ---- words that help knows ----------------------------------------------------------------

-- Pages, the last parts of names, and CUDA's and PyTorch's names. There are many, so they are
-- offered only if part of the name was typed.
local function add_topics(found, prefix)
    for _, page in ipairs(api.pages()) do
        offer(found, page.file, prefix)
    end
    if #prefix < 2 then
        return found
    end
    for entry in api.each() do
        offer(found, entry.key, prefix)
        for _, name in ipairs(api.foreign_names(entry)) do
            offer(found, name, prefix)
        end
    end
    for _, name in ipairs(api.missing_names()) do
        offer(found, name, prefix)
    end
    return found
end

-- ---- texts ------------------------------------------------------------------------------

-- The texts among the types of an argument or option: "cuda"|"cpu".
local function texts_of(description, prefix)
    local found = {}
    for text in (description and description[2] or ""):gmatch('"([^"]*)"') do
        offer(found, text, prefix)
    end
    return found
end

local function named(list, name)
    for _, description in ipairs(list or {}) do
        if description[1] == name then
            return description
        end
    end
end

local function profiles(prefix)
    local found = {}
    for _, path in ipairs(internals.embedded_names()) do
        offer(found, path:match("^scripts/profiles/(.+)%.lua$"), prefix)
    end
    return found
end

-- Files whose name begins so, folders with "/" at the end; none that a terminal would obey.
local function file_names(prefix)
    local folder, name = prefix:match("^(.*/)(.*)$")
    local found = {}
    for _, file in ipairs(program.folder(folder and files.name(folder) or ".") or {}) do
        local hidden = file:find("^%.") and not (name or prefix):find("^%.")
        if not hidden and internals.safe(file) == file then
            offer(found, (folder or "") .. file, prefix)
        end
    end
    return found
end

-- Kinds and engines of spans, which a selection of a timeline may be.
local selections <const> = {
    "collective", "comm", "compute", "copy", "d2h", "h2d", "host", "host_func", "kernel",
    "memcpy_d2d", "memcpy_d2h", "memcpy_h2d", "memcpy_p2p", "memset", "p2p",
}

local function offer_selections(prefix)
    local found = {}
    for _, word in ipairs(selections) do
        offer(found, word, prefix)
    end
    return found
end

-- What require finds: what is loaded, and files of Lua here.
local function modules(prefix)
    local found = {}
    offer_keys(found, package.loaded, prefix)
    for _, file in ipairs(program.folder(".") or {}) do
        offer(found, file:match("^([%w_]+)%.lua$"), prefix)
    end
    return found
end

-- What may stand in the text that was begun.
local function texts(call, prefix)
    local entry = call and described(call.path)
    if call and #call.path == 1 and call.path[1].key == "require" then
        return modules(prefix)
    elseif not entry then
        return file_names(prefix)
    elseif entry.name == "help" then
        return add_topics({}, prefix)
    elseif call.option == "profile" then
        local found = profiles(prefix)
        return #found > 0 and found or file_names(prefix)
    end
    local description = call.option and named(entry.options, call.option)
        or not call.option and entry.arguments
            and entry.arguments[math.min(call.argument, #entry.arguments)]
    if description and description[2] == "stream|string|table" then
        return offer_selections(prefix)
    end
    local found = texts_of(description, prefix)
    if #found == 0 and not (description and description[2]:find('"', 1, true)) then
        return file_names(prefix)
    end
    return found
end

-- ---- lines for the console ---------------------------------------------------------------

local takes <const> = {
    [".load"] = file_names, [".save"] = file_names, [".trace"] = file_names, [".device"] = profiles,
    [".timer"] = function(prefix)
        return texts_of({ "", '"on"|"off"' }, prefix)
    end,
}

local function command(text)
    local name, at, rest = text:match("^%s*(%.%a+)%s+()(.*)$")
    if name == ".help" then
        return nil, at
    elseif name then
        return takes[name] and takes[name](rest) or {}, at
    end
    local found = {}
    local first, prefix = text:match("^%s*()(%..*)$")
    for _, word in ipairs(import "repl/console/dot_commands/dot_commands.lua".names()) do
        offer(found, word, prefix)
    end
    return found, first
end

-- ---- the whole ----------------------------------------------------------------------------

local function names(text, base)
    local state = cursor.read(text)
    if state.text then
        return base + state.text - 1, texts(state.call, text:sub(state.text))
    elseif state.comment then
        return base + #text, {}
    end
    local path, first = state.path, state.first
    if not path then
        return base + first - 1, {}
    elseif #path > 1 then
        return base + first - 1, fields(path, text)
    end
    local prefix = path[1] and path[1].key or ""
    local found = state.key and options(state.call, prefix) or {}
    if #found == 0 then
        found = globals(prefix)
    elseif prefix ~= "" then
        lists.append(found, globals(prefix))
    end
    return base + first - 1, found
end

-- Where the whole question is one word, that may be one of help's.
local function add_help_words(found, word, whole)
    if whole:match("^%s*(.-)$") == word then
        add_topics(found, word)
    end
end

-- The signature of the function whose call the text ends in, if docs/api has it.
function complete.signature(text)
    local call = cursor.read(text).call
    local entry = call and described(call.path)
    return entry and api.signature(entry)
end

-- The position, from 1, where the word at the end of the text begins, and what it may be,
-- sorted.
function complete.complete(text)
    local first, found
    local question = text:match("^%s*%?+()")
    if text:find("^%s*%.") then
        found, first = command(text)
        question = not found and first
    end
    if question then
        first, found = names(text:sub(question), question)
        add_help_words(found, text:sub(first), text:sub(question))
    elseif not found then
        first, found = names(text, 1)
    end
    table.sort(found)
    return first, found
end

return complete
