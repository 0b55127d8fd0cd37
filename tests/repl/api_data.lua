-- api_data.lua - docs/api as the program reads it, and what of it can be called: for the
-- tests of this folder.

local source = dofile "docs/generate/source.lua"
local shell = require "repl.shell"

local api_data = {}

api_data.environment = source.environment("")
api_data.api = api_data.environment.import "repl/run/api.lua"

-- An object of each class.
function api_data.objects()
    local lab = require "streamlab"
    local ranks = debug.getregistry()["streamlab.internals"].need "ranks".ranks
    local whatif = debug.getregistry()["streamlab.internals"].need "whatif".whatif
    local classes = debug.getregistry()["streamlab.internals"].need "communicators"
    return {
        comm = setmetatable({}, classes.comm), work = setmetatable({}, classes.work),
        device = lab.open { profile = "textbook" }, stream = lab.default_stream(),
        event = lab.event(),
        tensor = lab.ones(2, { device = "cpu" }), timeline = lab.profile(function() end),
        graph = lab.graph(function() end),
        kernel = lab.kernel { name = "f", args = {}, cpu = function() end },
        results = lab.table { { n = 1 } }, tap = lab.tap(),
        thread = lab.thread(function() end), ranks = setmetatable({}, ranks),
        whatif = setmetatable({}, whatif),
    }
end

-- The tables of methods by class, as the objects use them.
function api_data.methods()
    local tables = {}
    for class, object in pairs(api_data.objects()) do
        tables[class] = debug.getmetatable(object).__methods
    end
    return tables
end

-- All names that a script can use: name -> "function", "method" or "field".
function api_data.names()
    local lab, names = require "streamlab", {}
    for key, value in pairs(lab) do
        if key ~= "cuda" then
            names["lab." .. key] = type(value) == "function" and "function" or "field"
        end
    end
    for key in pairs(lab.cuda) do
        names["lab.cuda." .. key] = "function"
    end
    for class, object in pairs(api_data.objects()) do
        local meta = debug.getmetatable(object)
        for key in pairs(meta.__methods) do
            names[class .. ":" .. key] = "method"
        end
        for key in pairs(meta.__fields) do
            names[class .. "." .. key] = "field"
        end
    end
    return names
end

return api_data
