-- sandbox.lua - the environment that a submission runs in.
--
-- The submission shares the Lua state with the test that calls it, so nothing that the test
-- uses may be reachable from it: every library is a copy, `lab` too, the metatables of the
-- laboratory's classes are locked, and so is that of strings, which all code shares. What
-- reads or writes files is shut for the whole process (internals.close_files); the limits of
-- the operating system stand behind that (repl/confine.h).
--
-- `pairs` goes through keys in order, since Lua's own order changes from run to run and a
-- submission that issues its work in it would be graded differently each time.

local sandbox = {}

-- What a script would have elsewhere, and what to use instead.
local missing = {
    io = "print(...) shows text; a lab has no files",
    os = "measure with lab.profile and lab.measure; a lab has no clock, files or commands",
    package = "a lab has the laboratory, and no other modules",
    debug = "lab.profile and tl:explain() tell what happened",
    dofile = "a submission is one file", loadfile = "a submission is one file",
    collectgarbage = "memory is freed by itself, and a tensor's at once by t:free()",
}

-- Functions of `lab` that a submission does not have.
local missing_in_lab = {
    open = "the GPU of the lab is open already",
    devices = "the GPU of the lab is open already",
    load = "a lab has no files",
    check = "the race checker is on already",
    races = "races are told when the test has ended",
}

-- Lua's own that are passed on as they are. pcall, xpcall and coroutines are the program's,
-- which stop when the time is up.
local plain = { "assert", "error", "getmetatable", "ipairs", "next", "pcall", "rawequal",
    "rawget", "rawlen", "rawset", "select", "tonumber", "tostring", "type", "xpcall", "_VERSION" }

local libraries = { "coroutine", "math", "string", "table", "utf8" }

local function copy(t)
    local result = {}
    for key, value in next, t do
        result[key] = value
    end
    return result
end

-- ---- Lua's functions ---------------------------------------------------------------------

local ranks = { number = 1, string = 2, boolean = 3 }

local function comes_before(a, b)
    local kind_a, kind_b = type(a), type(b)
    if kind_a ~= kind_b then
        return (ranks[kind_a] or 4) < (ranks[kind_b] or 4)
    elseif kind_a == "boolean" then
        return a and not b
    end
    return ranks[kind_a] ~= nil and a < b
end

-- As Lua's, in order of the keys: numbers, strings, then others as they come. Fields may be
-- changed and removed on the way.
local function sorted_pairs(t, ...)
    if type(t) ~= "table" or (debug.getmetatable(t) or {}).__pairs then
        return pairs(t, ...)
    end
    local keys = {}
    for key in next, t do
        keys[#keys + 1] = key
    end
    table.sort(keys, comes_before)
    local i = 0
    return function()
        local key, value
        repeat
            i = i + 1
            key = keys[i]
            if key == nil then
                return nil
            end
            value = rawget(t, key)
        until value ~= nil
        return key, value
    end, t, nil
end

-- A finalizer could run when the test has ended, and for ever.
local function set_metatable(t, metatable, ...)
    if type(metatable) == "table" and rawget(metatable, "__gc") ~= nil then
        error("setmetatable: a lab has no finalizers (__gc)", 2)
    end
    return setmetatable(t, metatable, ...)
end

-- Of the laboratory's objects their class's name alone.
local function get_metatable(value)
    local metatable = debug.getmetatable(value)
    local name = type(metatable) == "table" and rawget(metatable, "__name")
    if type(name) == "string" and name:find("^streamlab%.") then
        return name
    end
    return getmetatable(value)
end

-- Text alone: binary code can break Lua itself. The chunk's name is not for the caller to
-- choose, since messages and explanations quote the lines of the chunk that they name.
local function loader(environment)
    return function(text, _, _, ...)
        local own = environment
        if select("#", ...) > 0 then
            own = (...)
        end
        return load(text, "=(load)", "t", own)
    end
end

local function show(...)
    local texts = table.pack(...)
    for i = 1, texts.n do
        texts[i] = tostring(texts[i])
    end
    io.stdout:write(table.concat(texts, "\t"), "\n")
end

-- ---- the tables ----------------------------------------------------------------------------

-- Makes reading what is not there an error with a hint: most often it is a slip of the pen.
local function make_strict(environment)
    local function read_missing(_, name)
        if missing[name] then
            error(("there is no '%s' in a lab: %s"):format(name, missing[name]), 2)
        end
        local near = type(name) == "string" and internals.nearest(name, environment)
        error(("there is no variable '%s'%s"):format(tostring(name),
            near and ("; did you mean '%s'?"):format(near) or ""), 2)
    end
    setmetatable(environment, { __index = read_missing, __metatable = false })
end

-- The laboratory without what a submission does not have.
local function make_lab()
    local result = copy(lab)
    result.cuda = copy(lab.cuda)
    for name in next, missing_in_lab do
        result[name] = nil
    end
    return setmetatable(result, {
        __index = function(_, name)
            if missing_in_lab[name] then
                error(("lab.%s: a submission does not have it: %s"):format(name,
                    missing_in_lab[name]), 2)
            end
        end,
        __metatable = false,
    })
end

local function lock_strings()
    local metatable = copy(debug.getmetatable(""))
    metatable.__index = copy(string)
    metatable.__index.dump = nil
    metatable.__metatable = false
    debug.setmetatable("", metatable)
end

-- The globals of a submission. From now on this process opens no file, and all strings have
-- locked methods.
function sandbox.make()
    internals.close_files()
    lock_strings()
    local environment = {}
    for _, name in ipairs(plain) do
        environment[name] = _ENV[name]
    end
    for _, name in ipairs(libraries) do
        environment[name] = copy(_ENV[name])
    end
    environment.string.dump = nil
    environment.getmetatable, environment.setmetatable = get_metatable, set_metatable
    environment.pairs, environment.print = sorted_pairs, show
    environment.load = loader(environment)
    environment.lab = make_lab()
    environment.arg = false
    environment._G = environment
    function environment.require(name)
        if name == "streamlab" then
            return environment.lab
        end
        error(("require: a lab has \"streamlab\" and no other modules, got %s"):format(
            type(name) == "string" and '"' .. name .. '"' or type(name)), 2)
    end
    make_strict(environment)
    math.randomseed(1, 0)
    return environment
end

return sandbox
