-- pretty.lua - Lua values as text, on one line if it fits, else an item a line. Of the user's
-- code only __tostring runs.
--
-- First a tree of the parts that are shown is made, within limits: so many items of a table, so
-- deep, so many parts in all. A table of any size costs a bounded number of steps (`steps` below:
-- a tenth of a second); the rest of it is shown as "more". Then the tree is laid out. Keys are
-- sorted unless there are too many.

local text = import "repl/run/text.lua"
local lists = import "repl/run/lists.lua"
local tokens = import "repl/run/tokens.lua"
local functions = import "repl/console/values/functions.lua"
local api = import "repl/run/api.lua"

local pretty = {}

local limits <const> = {
    depth = 4,              -- tables in tables
    items = 50,             -- of one table
    parts = 2000,           -- of all that is shown
    steps = 2000000,        -- entries that are looked at, of all tables
    keys = 10000,           -- that are kept to be sorted, of one table
    lines = 120,
    string_bytes = 200,     -- of a string in a table
    top_string_bytes = 2000,
    key_bytes = 60,
}

-- ---- single values --------------------------------------------------------------------

local function leaf(kind, s)
    return { kind = kind, text = s, width = text.width(s) }
end

local function number_text(value)
    if value ~= value then return "nan" end
    return tostring(value)
end

-- tostring runs code of the user's, which may fail. On one line, and cut.
local function protected_text(value)
    local fine, result = pcall(tostring, value)
    local most = limits.top_string_bytes
    if fine then return text.clean(text.head(result, most), true) end
    local known, reason = pcall(tostring, result)
    reason = known and text.head(reason, most) or "an error without a text"
    return ("<%s whose __tostring failed: %s>"):format(type(value), text.clean(reason, true))
end

local function has_tostring(value)
    local meta = debug.getmetatable(value)
    return type(meta) == "table" and rawget(meta, "__tostring") ~= nil
end

local function file_text(value)
    local state = io.type(value)
    return state and (state == "file" and "file (open)" or "file (closed)")
end

local function userdata_text(value)
    local kind = internals.type_name(value)
    if kind == "guard" then return "guard" end
    return file_text(value) or protected_text(value)
end

local makers = {}

makers["nil"] = function() return leaf("constant", "nil") end
function makers.boolean(value) return leaf("constant", tostring(value)) end
function makers.number(value) return leaf("number", number_text(value)) end
function makers.string(value) return leaf("string", text.quote(value, limits.string_bytes)) end
makers["function"] = function(value)
    local _, s = functions.describe(value)
    return leaf("name", text.clean(s, true))
end
function makers.thread(value)
    return leaf("name", "thread (" .. coroutine.status(value) .. ")")
end
function makers.userdata(value)
    return leaf("name", (userdata_text(value):gsub("\n", " ")))
end

-- ---- keys -----------------------------------------------------------------------------

-- As it is written in a constructor.
local function key_text(key)
    if type(key) == "string" then
        if key:find("^[%a_][%w_]*$") and #key <= limits.key_bytes and not tokens.keywords[key] then
            return key
        end
        return "[" .. text.quote(key, limits.key_bytes) .. "]"
    elseif type(key) == "table" then
        return "[<table>]"
    end
    return "[" .. makers[type(key)](key).text .. "]"
end

-- As it is written behind a table's name.
local function step_text(key)
    local s = key_text(key)
    return s:sub(1, 1) == "[" and s or "." .. s
end

local ranks <const> = { number = 1, string = 2, boolean = 3 }

local function key_precedes(a, b)
    local ra, rb = ranks[type(a)] or 4, ranks[type(b)] or 4
    if ra ~= rb then return ra < rb end
    if ra <= 2 then return a < b end
    return ra == 3 and not a and b
end

-- The number of items 1, 2, ... before the first hole; the table's length if that is more than
-- are shown.
local function list_length(t)
    local n = 0
    while rawget(t, n + 1) ~= nil do
        n = n + 1
        if n > limits.items then return rawlen(t) end
    end
    return n
end

-- Looks at a table's entries: {n = items from 1 on, keys = of the others, more = how many
-- there are besides, at_least = or even more}.
local function survey(t, context)
    local n, keys, more, list = list_length(t), {}, 0, 0
    for key in next, t do
        if math.type(key) == "integer" and key >= 1 and key <= n then list = list + 1
        elseif #keys < limits.keys then keys[#keys + 1] = key
        else more = more + 1 end
        context.steps = context.steps - 1
        if context.steps <= 0 then break end
    end
    local at_least = context.steps <= 0
    local unsorted = more > 0 or at_least and #keys > 0
    if not unsorted then table.sort(keys, key_precedes) end
    return { n = at_least and n or list, keys = keys, more = more, at_least = at_least,
             unsorted = unsorted }
end

-- ---- tables ---------------------------------------------------------------------------

local build

local function add_item(node, key, child)
    node.items[#node.items + 1] = { key = key, node = child }
    node.width = node.width + child.width + (key and text.width(key) + 3 or 0)
        + (#node.items > 1 and 2 or 0)
end

local function more_text(count, at_least)
    if count <= 0 and not at_least then return nil end
    return ("... %s%d more"):format(at_least and "at least " or "", math.max(count, 1))
end

local function fill_table(node, t, context, depth, path)
    local found = survey(t, context)
    local shown = 0
    for i = 1, math.min(found.n, limits.items) do
        if context.parts <= 0 then break end
        shown = shown + 1
        add_item(node, nil, build(rawget(t, i), context, depth + 1, path .. "[" .. i .. "]"))
    end
    for _, key in ipairs(found.keys) do
        if shown >= limits.items or context.parts <= 0 then break end
        shown = shown + 1
        add_item(node, key_text(key),
                 build(rawget(t, key), context, depth + 1, path .. step_text(key)))
    end
    node.more = more_text(found.n + #found.keys + found.more - shown, found.at_least)
    if found.unsorted then node.more = node.more .. ", not sorted" end
    if node.more then node.width = node.width + #node.more + 2 end
end

-- A name that the metatable gives, as in {__name = "point"}.
local function type_prefix(t)
    local meta = debug.getmetatable(t)
    local name = type(meta) == "table" and rawget(meta, "__name")
    if type(name) ~= "string" or name == "" then return "" end
    return text.clean(text.head(name, limits.key_bytes)) .. " "
end

local function build_table(t, context, depth, path)
    local rows = api.class_of(t) == "results" and rawget(t, "rows")
    if type(rows) == "table" then
        return leaf("name", "table of " .. text.count(rawlen(rows), "row"))
    end
    if has_tostring(t) then return leaf("name", (protected_text(t):gsub("\n", "\\n"))) end
    if rawequal(t, internals.module()) then return leaf("name", "<lab>") end
    if context.open[t] then return leaf("dim", "<cycle: " .. context.open[t] .. ">") end
    if context.paths[t] then return leaf("dim", "<same as " .. context.paths[t] .. ">") end
    local prefix = type_prefix(t)
    if next(t) == nil then return leaf(nil, prefix .. "{}") end
    if depth > limits.depth or context.parts <= 0 or context.steps <= 0 then
        return leaf("dim", prefix .. "{...}")
    end
    local node = { prefix = prefix, items = {}, width = text.width(prefix) + 2 }
    context.open[t] = path
    fill_table(node, t, context, depth, path)
    context.open[t] = nil
    context.paths[t] = path
    return node
end

function build(value, context, depth, path)
    context.parts = context.parts - 1
    if type(value) == "table" then return build_table(value, context, depth, path) end
    return makers[type(value)](value)
end

-- ---- layout ---------------------------------------------------------------------------

-- The node on one line.
local function flat(node)
    if node.text then return text.paint(node.kind, node.text) end
    local parts = lists.map(node.items, function(item)
        return (item.key and item.key .. " = " or "") .. flat(item.node)
    end)
    if node.more then parts[#parts + 1] = text.paint("dim", node.more) end
    return node.prefix .. "{" .. table.concat(parts, ", ") .. "}"
end

local function is_short_list(node)
    return lists.all(node.items, function(item)
        return not item.key and item.node.text and item.node.width <= 16
    end)
end

local lay_out

-- Items that are short go several on a line.
local function lay_out_short(node, lines, indent, columns)
    local line, width = indent, #indent
    for i, item in ipairs(node.items) do
        local comma = (i < #node.items or node.more) and "," or ""
        if width > #indent and width + item.node.width + 2 > columns then
            lines[#lines + 1] = line
            line, width = indent, #indent
        end
        local blank = width > #indent and " " or ""
        line = line .. blank .. flat(item.node) .. comma
        width = width + #blank + item.node.width + #comma
    end
    lines[#lines + 1] = line
end

local function lay_out_items(node, lines, indent, columns)
    for i, item in ipairs(node.items) do
        local comma = (i < #node.items or node.more) and "," or ""
        local key = item.key and item.key .. " = " or ""
        lay_out(item.node, lines, indent .. key, #indent + text.width(key), #indent, comma, columns)
    end
end

-- Adds the node to the lines. `start` is what its first line begins with, `at` the width of
-- that, `depth` the blanks before the lines that follow.
function lay_out(node, lines, start, at, depth, comma, columns)
    if node.text or at + node.width + #comma <= columns then
        lines[#lines + 1] = start .. flat(node) .. comma
        return
    end
    local indent = (" "):rep(depth + 2)
    lines[#lines + 1] = start .. node.prefix .. "{"
    if is_short_list(node) then lay_out_short(node, lines, indent, columns)
    else lay_out_items(node, lines, indent, columns) end
    if node.more then lines[#lines + 1] = indent .. text.paint("dim", node.more) end
    lines[#lines + 1] = (" "):rep(depth) .. "}" .. comma
end

-- ---- for others -----------------------------------------------------------------------

-- A string by itself: quoted on a line, or as it is if it has several.
local function top_string(s)
    local most = limits.top_string_bytes
    if not s:find("\n", 1, true) then return { text.paint("string", text.quote(s, most)) } end
    local shown = text.clean(text.head(s, most * 5), true)
    local lines = {}
    for line in (shown:gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line end
    if #s > most * 5 then lines[#lines + 1] = ("... (%d bytes)"):format(#s) end
    return lines
end

local function top_text(s, kind)
    local lines = {}
    for line in (s:gsub("\n+$", "") .. "\n"):gmatch("(.-)\n") do
        lines[#lines + 1] = text.paint(kind, line)
    end
    return lines
end

local function top_function(f)
    local kind, s = functions.describe(f)
    s = text.clean(s, true)
    local name = kind == "lab" and s:match("^function (lab%.[%w_.]+)$")
    return { text.paint("name", s) .. (name and ": help(" .. name .. ")" or "") }
end

-- The value as a list of lines. `path` is how an entry can name it: "_".
function pretty.lines(value, path)
    if type(value) == "string" then return top_string(value) end
    if type(value) == "function" then return top_function(value) end
    if type(value) == "userdata" then return top_text(userdata_text(value), "name") end
    if type(value) == "table" and has_tostring(value) then
        return top_text(protected_text(value))
    end
    local context = { open = {}, paths = {}, parts = limits.parts, steps = limits.steps }
    local node, lines = build(value, context, 1, path), {}
    lay_out(node, lines, "", 0, 0, "", internals.columns())
    if #lines > limits.lines then
        local more = #lines - limits.lines + 1
        for i = #lines, limits.lines, -1 do lines[i] = nil end
        lines[limits.lines] = text.paint("dim", ("... %d more lines"):format(more))
    end
    return lines
end

return pretty
