-- functions.lua - what functions are called.

local api = import "repl/run/api.lua"

local functions = {}

local libraries <const> = {
    coroutine = coroutine, debug = debug, io = io, math = math, os = os, string = string,
    table = table, utf8 = utf8,
}
local base <const> = {
    assert = assert, collectgarbage = collectgarbage, dofile = dofile, error = error,
    getmetatable = getmetatable, ipairs = ipairs, load = load, loadfile = loadfile, next = next,
    pairs = pairs, pcall = pcall, print = print, rawequal = rawequal, rawget = rawget,
    rawlen = rawlen, rawset = rawset, require = require, select = select,
    setmetatable = setmetatable, tonumber = tonumber, tostring = tostring, type = type,
    warn = warn, xpcall = xpcall,
}

local function add(names, functions_of, prefix)
    for name, value in next, functions_of do
        if type(name) == "string" and type(value) == "function" and not names[value] then
            names[value] = prefix .. name
        end
    end
end

local builtin_names <const> = {}
add(builtin_names, base, "")
for name, library in next, libraries do add(builtin_names, library, name .. ".") end

-- One of the console's own, which are in the globals.
local function console_name(f)
    for _, name in ipairs { "help", "time", "who" } do
        if rawget(_G, name) == f then return name end
    end
end

-- The kind of the function ("lab", "builtin", "lua") and one line about it.
function functions.describe(f)
    local name = api.name_of(f)
    if name then return "lab", "function " .. name end
    name = builtin_names[f]
    if name then return "builtin", "builtin " .. name end
    local info = debug.getinfo(f, "S")
    if info.what == "C" then return "builtin", "builtin function" end
    if info.source == "=streamlab" then
        return "builtin", "function " .. (console_name(f) or "of the console")
    end
    return "lua", ("function <%s:%d>"):format(info.short_src, info.linedefined)
end

return functions
