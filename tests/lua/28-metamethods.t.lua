-- 28-metamethods.t.lua - what debug.getmetatable gives: every metamethod, method and getter of
-- every kind of object, called with every other kind; and objects that were given another's
-- metatable.

local T = require "tap"
local ideal = require "lua.ideal"

ideal.textbook()

-- ---- objects -----------------------------------------------------------------------------

local function closed(object)
    object:close()
    return object
end

local function freed(object)
    object:free()
    return object
end

local kept = lab.stream()
local objects = {
    device = lab.device(), stream = kept, event = lab.event(), tensor = lab.ones(2, 2),
    graph = lab.graph(function() lab.spin(0.1) end), timeline = lab.profile(lab.spin, 0.1),
    thread = lab.thread(function() end), guard = lab.use(kept), results = lab.table{ { n = 1 } },
    comm = lab.comm{ devices = { 0 } }, stdout = io.stdout,
    ["closed stream"] = closed(lab.stream()), ["closed event"] = closed(lab.event()),
    ["freed tensor"] = freed(lab.ones(1)),
    ["freed graph"] = freed(lab.graph(function() lab.spin(0.1) end)),
    ["no argument"] = false, ["number"] = 1, ["text"] = "x", ["table"] = {}, ["function"] = print,
    ["coroutine"] = coroutine.create(print),
}
objects.thread:join()
getmetatable("").__index = string
debug.getmetatable(objects.guard).__close(objects.guard)
local _, failed = pcall(lab.ones, -1)
objects.error = failed

local names = {}
for name in pairs(objects) do names[#names + 1] = name end
table.sort(names)

-- The metatables of the laboratory's objects, by their names.
local metatables = {}
for _, value in pairs(debug.getregistry()) do
    local name = type(value) == "table" and rawget(value, "__name")
    if type(name) == "string" and name:find("^streamlab%.") then metatables[name] = value end
end
for key, value in pairs(debug.getregistry()) do     -- the laboratory's and the program's own
    local mt = type(value) == "userdata" and debug.getmetatable(value)
    if mt and not mt.__name then metatables["the value of " .. tostring(key)] = mt end
end
for _, name in ipairs(names) do
    local mt = type(objects[name]) == "userdata" and debug.getmetatable(objects[name])
    T.ok(not mt or name == "stdout" or metatables[mt.__name] == mt,
         "the metatable is found: " .. name)
end

-- All functions of a metatable, with their names.
local function functions_of(mt)
    local list = {}
    for key, value in pairs(mt) do
        if type(value) == "function" then list[#list + 1] = { key, value } end
    end
    for _, field in ipairs{ "__methods", "__fields" } do
        for key, value in pairs(mt[field] or {}) do
            if type(value) == "function" then list[#list + 1] = { field .. "." .. key, value } end
        end
    end
    table.sort(list, function(a, b) return a[1] < b[1] end)
    return list
end

local function message_of(failure)
    return type(failure) == "table" and rawget(failure, "message") or tostring(failure)
end

-- ---- metamethods with another object ---------------------------------------------------------

-- These do nothing to what they are not for: it is collected, closed or compared.
-- Texts and numbers are concatenated by Lua.
local silent <const> = { __gc = true, __close = true, __eq = true, __concat = true }

local others <const> = { {}, { 1 }, { "x" }, { true, 1 }, { "x", 1 }, { 1, 1 }, { {} } }

local function call(f, self, arguments)
    if self == false then return pcall(f) end
    return pcall(f, self, table.unpack(arguments))
end

local n_calls = 0
for name, mt in pairs(metatables) do
    local wrong, quiet, tried = {}, {}, table.move(others, 1, #others, 1, {})
    for field in pairs(mt.__fields or {}) do tried[#tried + 1] = { field } end
    for _, entry in ipairs(functions_of(mt)) do
        for _, other in ipairs(names) do
            local own = type(objects[other]) ~= "string"
                and debug.getmetatable(objects[other]) == mt
            for _, arguments in ipairs(own and {} or tried) do
                n_calls = n_calls + 1
                local fine, failure = call(entry[2], objects[other], arguments)
                local text = message_of(failure)
                if not fine and not (text:find "must be" or text:find "has no fields? "
                        or text:find "bad argument"
                        or text:find "one too many" or text:find "attempt to concatenate") then
                    wrong[#wrong + 1] = ("%s of %s: %s"):format(entry[1], other, text)
                elseif fine and not silent[entry[1]] and entry[1] ~= "__index" then
                    quiet[#quiet + 1] = ("%s of %s"):format(entry[1], other)
                end
            end
        end
    end
    T.ok(#wrong == 0, name .. ": another object is refused, with what was needed")
    for i = 1, math.min(#wrong, 10) do T.diag(wrong[i]) end
    T.ok(#quiet == 0, name .. ": and nothing is done to it")
    for i = 1, math.min(#quiet, 10) do T.diag(quiet[i]) end
end
T.ok(n_calls > 10000, "many were tried")
T.like(message_of(select(2, pcall(debug.getmetatable(kept).__newindex, objects.event, 1, 2))),
       "argument 1 %(self%) must be a stream, got event", "the message says what was given")

-- ---- objects with another's metatable --------------------------------------------------------

local function use(object, mt)
    local own = debug.getmetatable(object)
    debug.setmetatable(object, mt)
    for key in pairs(mt.__fields or {}) do pcall(function() return object[key] end) end
    for _, method in pairs(mt.__methods or {}) do pcall(method, object) end
    pcall(tostring, object)
    pcall(function() return object == kept, object.x end)
    pcall(function() object.x = 1 end)
    if mt.__gc then pcall(mt.__gc, object) end
    debug.setmetatable(object, own)
end

for _, mt in pairs(metatables) do
    for _, name in ipairs(mt.__methods and names or {}) do
        local object = objects[name]
        if type(object) == "userdata" and name ~= "stdout" and debug.getmetatable(object) ~= mt then
            use(object, mt)
        end
    end
end
T.is(objects.tensor:sum():item(), 4.0,
     "a tensor that was given all other metatables is what it was")
T.is(tostring(objects.stream):match "^%w+", "stream", "so is a stream")
T.ok(objects.event:query(), "and an event")

objects.comm:free()
objects, kept, metatables, failed = nil, nil, nil, nil
T.done()
