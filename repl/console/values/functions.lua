-- functions.lua - what functions are called.

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

-- Function of the laboratory -> its name: "lab.matmul", "lab.cuda.memcpy", "stream:query".
-- Made anew each time: a script may have changed `lab`.
local function lab_names()
    local names, module = {}, internals.module()
    add(names, module, "lab.")
    for key, value in next, module do
        if type(key) == "string" and type(value) == "table" then
            add(names, value, "lab." .. key .. ".")
        end
    end
    for _, value in next, debug.getregistry() do
        local noun = type(value) == "table" and rawget(value, "__name")
        noun = type(noun) == "string" and noun:match("^streamlab%.(%a+)$")
        local methods = noun and rawget(value, "__methods")
        if type(methods) == "table" then add(names, methods, noun .. ":") end
    end
    return names
end

-- The name under which the laboratory has the function, or nil.
function functions.lab_name(f)
    return lab_names()[f]
end

local builtin_names

local function builtin_name(f)
    if not builtin_names then
        builtin_names = {}
        add(builtin_names, base, "")
        for name, library in next, libraries do add(builtin_names, library, name .. ".") end
    end
    return builtin_names[f]
end

-- One of the console's own, which are in the globals.
local function console_name(f)
    for _, name in ipairs {"help", "time", "who"} do
        if rawget(_G, name) == f then return name end
    end
end

-- The kind of the function ("lab", "builtin", "lua") and one line about it.
function functions.describe(f)
    local name = functions.lab_name(f)
    if name then return "lab", "function " .. name end
    name = builtin_name(f)
    if name then return "builtin", "builtin " .. name end
    local info = debug.getinfo(f, "S")
    if info.what == "C" then return "builtin", "builtin function" end
    if info.source == "=streamlab" then
        return "builtin", "function " .. (console_name(f) or "of the console")
    end
    return "lua", ("function <%s:%d>"):format(info.short_src, info.linedefined)
end

return functions
