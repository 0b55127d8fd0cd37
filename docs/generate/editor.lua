-- editor.lua - streamlab.d.lua, from which LuaLS knows the laboratory: types, arguments,
-- options, and what is said about them.
--
-- Classes are streamlab.tensor and so on, as in messages of Lua. A table of options is a
-- class of its own, streamlab.options.matmul.

local api = import "repl/run/api.lua"
local tokens = import "repl/run/tokens.lua"

local editor = {}

local classes <const> = {
    device = true, stream = true, event = true, tensor = true, timeline = true,
    graph = true, kernel = true, results = true, tap = true,
    comm = true, work = true, thread = true, ranks = true,
    whatif = true,
}

-- ---- words ---------------------------------------------------------------------------

-- A type of the data, in which classes have their full names. Texts in quotes stay.
local function type_text(text)
    local parts, at = {}, 1
    for from, quoted, to in text:gmatch('()(%b"")()') do
        parts[#parts + 1] = text:sub(at, from - 1)
        parts[#parts + 1] = quoted
        at = to
    end
    parts[#parts + 1] = text:sub(at)
    for i, part in ipairs(parts) do
        parts[i] = part:sub(1, 1) == '"' and part or part:gsub("[%a_][%w_.]*", function(word)
            return classes[word] and "streamlab." .. word or nil
        end)
    end
    return table.concat(parts)
end

-- What an argument can be called in Lua code.
local function variable(name)
    return (tokens.keywords[name] or name == "self") and name .. "_" or name
end

-- Text behind a tag, in one line.
local function one_line(text)
    return (text:gsub("%s+", " "))
end

local function add_comment(out, text)
    for line in (text:gsub("%s+$", "") .. "\n"):gmatch("([^\n]*)\n") do
        out(line == "" and "---\n" or "--- " .. line .. "\n")
    end
end

-- ---- options ---------------------------------------------------------------------------

local function has_options(entry)
    return entry.options and #entry.options > 0
end

-- "streamlab.options.matmul" for lab.matmul, "streamlab.options.tensor.matmul" for the method.
local function options_class(entry)
    return "streamlab.options." .. entry.name:gsub("^lab%.", ""):gsub(":", ".")
end

local function add_options(out, entry)
    out("---@class ", options_class(entry), "\n")
    for _, option in ipairs(entry.options) do
        local default = option.default and (". Default: " .. option.default) or ""
        out("---@field ", option[1], "? ", type_text(option[2]), " ",
            one_line(option[3] .. default), "\n")
    end
    out("\n")
end

-- ---- functions -------------------------------------------------------------------------

-- What is said about it, as Markdown.
local function add_text(out, entry)
    add_comment(out, entry.brief)
    if entry.blocks then
        add_comment(out, "\nBlocks " .. entry.blocks .. ".")
    end
    for i, item in ipairs(entry.errors or {}) do
        add_comment(out, ("%s- `%s`: %s"):format(i == 1 and "\n" or "", item[1], item[2]))
    end
    if entry.about then
        add_comment(out, "\n" .. entry.about)
    end
    if entry.example then
        add_comment(out, "\n```lua\n" .. entry.example:gsub("%s+$", "") .. "\n```")
    end
    if entry.cuda then
        add_comment(out, "\nCUDA: `" .. entry.cuda .. "`")
    end
    if entry.pytorch then
        add_comment(out, "\nPyTorch: `" .. entry.pytorch .. "`"
            .. (entry.differs and "; what differs: " .. entry.differs or ""))
    end
end

-- Adds the type and the text of an item to those of "...", behind which nothing can stand.
local function fold(item, type_name, text)
    local known = "|" .. item[2] .. "|"
    if not known:find("|" .. type_name .. "|", 1, true) then
        item[2] = item[2] .. "|" .. type_name
    end
    item[3] = text and item[3] .. "; then " .. text or item[3]
end

-- The arguments as LuaLS has them: {name, type, text, optional}.
local function parameters(entry)
    local list = {}
    local function add(name, type_name, text, optional)
        local last = list[#list]
        if last and last[1] == "..." then
            fold(last, type_name, text)
        else
            list[#list + 1] = { name, type_name, text, optional }
        end
    end
    for _, argument in ipairs(entry.arguments or {}) do
        local default = argument.default and (". Default: " .. argument.default) or ""
        add(variable(argument[1]), type_text(argument[2]), argument[3] .. default,
            argument.default ~= nil)
    end
    if has_options(entry) then
        add("options", options_class(entry), nil, true)
    end
    return list
end

local function returned_types(entry)
    local types = {}
    for i, item in ipairs(entry.returns or {}) do
        types[i] = type_text(item[1])
    end
    return table.concat(types, ", ")
end

-- Options may stand in the place of arguments that are left out: an overload for each.
local function add_overloads(out, entry, list)
    if not has_options(entry) or list[#list][1] ~= "options" then
        return
    end
    local own = entry.kind == "method" and { "self: streamlab." .. entry.class } or {}
    for n = #list - 2, 0, -1 do
        if not list[n + 1][4] then
            return
        end
        local words = table.move(own, 1, #own, 1, {})
        for i = 1, n do
            words[#words + 1] = ("%s%s: %s"):format(list[i][1], list[i][4] and "?" or "",
                list[i][2])
        end
        words[#words + 1] = "options: " .. options_class(entry)
        local returned = returned_types(entry)
        out("---@overload fun(", table.concat(words, ", "), ")",
            returned ~= "" and ": " .. returned or "", "\n")
    end
end

local function add_function(out, entry)
    if has_options(entry) then
        add_options(out, entry)
    end
    add_text(out, entry)
    local list, names = parameters(entry), {}
    for i, item in ipairs(list) do
        names[i] = item[1]
        out("---@param ", item[1], item[4] and item[1] ~= "..." and "?" or "", " ", item[2],
            item[3] and " " .. one_line(item[3]) or "", "\n")
    end
    for _, item in ipairs(entry.returns or {}) do
        -- What follows "#" is no name of the value.
        out("---@return ", type_text(item[1]), " # ", one_line(item[2] or ""), "\n")
    end
    add_overloads(out, entry, list)
    out("function ", entry.name, "(", table.concat(names, ", "), ") end\n\n")
end

-- ---- classes ---------------------------------------------------------------------------

local function add_fields(out, owner)
    for entry in api.each() do
        if entry.kind == "field" and entry.class == owner then
            out("---@field ", entry.key, " ", type_text(entry.type), " ", one_line(entry.brief),
                "\n")
        end
    end
end

-- The page names the methods that are operators as well: a + b is a:add(b), -a is a:neg().
local function add_operators(out, page)
    for _, name in ipairs(page.operators or {}) do
        local entry = api.member(page.class, name)
        local other = entry.arguments and entry.arguments[1]
        out("---@operator ", other and name .. "(" .. type_text(other[2]) .. ")" or "unm", ": ",
            type_text(entry.returns[1][1]), "\n")
    end
end

local function add_classes(out)
    for _, page in ipairs(api.pages()) do
        if page.class then
            out("---@class streamlab.", page.class, "\n")
            add_fields(out, page.class)
            add_operators(out, page)
            out("local ", page.class, " = {}\n\n")
        end
    end
end

function editor.files()
    local parts = {}
    local function out(...)
        for i = 1, select("#", ...) do
            parts[#parts + 1] = (select(i, ...))
        end
    end
    out("---@meta streamlab\n\n-- Made from docs/api. `lab` is a global in the program; ",
        "elsewhere it is what\n-- require \"streamlab\" gives.\n\n")
    add_classes(out)
    out("---@class streamlab.cuda\nlocal cuda = {}\n\n---@class streamlab\n")
    add_fields(out, "lab")
    out("---@field cuda streamlab.cuda the calls of CUDA as they are\nlab = {}\n\n",
        "lab.cuda = cuda\n\n")
    for entry in api.each() do
        if entry.kind == "function" or entry.kind == "method" then
            add_function(out, entry)
        end
    end
    out("return lab\n")
    return { ["streamlab.d.lua"] = table.concat(parts) }
end

return editor
