-- option_names.lua FILE - asks each function of docs/api which options it knows, for
-- 54-api-examples.t.lua. FILE gets a line for each: its name, a tab, the names with ", "
-- between them; "none" where no option was accepted, "not called" where its example does not
-- call it.
--
-- The examples run here, each in globals of its own. Around the function that one is about
-- stands another one, which first calls it with the same arguments and an option that
-- there is not. What is said then names those that there are.

local data = require "repl.api_data"
local lab = require "streamlab"

local option <const> = "no_such_option"

-- The options that the function knows, if this call makes it say so.
local function known_by(f, ...)
    local fine, err = pcall(f, ...)
    local message = not fine and type(err) == "table" and err.message or ""
    return message:match("unknown option '" .. option .. "'; known: (.*)$")
end

-- A copy of the options with one more.
local function with_option(options)
    local copy = { [option] = 1 }
    for key, value in pairs(options or {}) do
        copy[key] = value
    end
    return copy
end

-- The argument that the entry has at a place, self being none.
local function argument_at(entry, place)
    local list = entry.arguments or {}
    local i = entry.kind == "method" and place - 1 or place
    local last = list[#list]
    return list[i] or last and last[1] == "..." and last or nil
end

-- Whether a table at that place is an argument, and so no options.
local function takes_table(entry, place)
    local argument = argument_at(entry, place)
    return argument and argument[2]:find("table") ~= nil
end

local function n_required(entry)
    local n = entry.kind == "method" and 1 or 0
    for _, argument in ipairs(entry.arguments or {}) do
        n = n + ((argument.default or argument[1] == "...") and 0 or 1)
    end
    return n
end

-- Calls f with an option more than the arguments have: in the options that they end with, or
-- at each place where options may stand, behind the arguments before it.
local function ask(f, entry, arguments)
    local n = arguments.n
    local whole = #(entry.arguments or {}) + (entry.kind == "method" and 1 or 0)
    for place = math.max(whole, n) + 1, n_required(entry) + 1, -1 do
        local list = table.move(arguments, 1, math.min(place - 1, n), 1, {})
        local given = arguments[place]
        list[place] = with_option(type(given) == "table" and given or nil)
        local found = not takes_table(entry, place)
            and known_by(f, table.unpack(list, 1, place))
        if found then
            return found
        end
    end
    return "none"
end

-- The table in which the function of an entry stands.
local function table_of(entry, methods)
    if entry.kind == "method" then
        return methods[entry.class]
    end
    return entry.name:find("^lab%.cuda%.") and lab.cuda or lab
end

-- Globals as a new program has them, but that it prints nothing.
local function new_globals()
    local globals = {}
    for key, value in pairs(_G) do
        globals[key] = value
    end
    globals._G, globals.print = globals, function() end
    return globals
end

-- Runs the entry's example; gives what its function knows. What the example does with it,
-- which is no function of the laboratory now, may differ.
local function asked(entry, methods)
    local place, answer = table_of(entry, methods), "not called"
    local f = place[entry.key]
    place[entry.key] = function(...)
        place[entry.key] = f
        answer = ask(f, entry, table.pack(...))
        return f(...)
    end
    lab.open { profile = "textbook" }
    pcall(assert(load(entry.example, "=example", "t", new_globals())))
    place[entry.key] = f
    pcall(lab.synchronize)
    return answer
end

local methods = data.methods()
local file <close> = assert(io.open(arg[1], "w"))
for entry in data.api.each() do
    local callable = entry.kind == "function" or entry.kind == "method"
    if callable and entry.example then
        file:write(entry.name, "\t", asked(entry, methods), "\n")
    end
end
