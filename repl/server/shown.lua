-- shown.lua - the option --display FILE: what a script shows is also written there, in the order in
-- which it is shown, as the events that a server sends (docs/notebook.md); but a timeline's page is
-- a whole file, which the reader puts into a frame of its own. What is printed stays the same.

local json = import "repl/run/json.lua"
local bundle = import "repl/server/bundle.lua"

local shown = {}

local out                               -- the file
local pages = setmetatable({}, { __mode = "k" })    -- timelines that have been sent

local function send(data)
    io.stdout:flush()
    out:write(json.write { event = "display", data = data }, "\n")
    out:flush()
end

local function send_page(tl)
    if pages[tl] or not bundle.has_picture(tl) then return end
    pages[tl] = true
    send(bundle.page(tl, true))
end

-- The methods of a class, whether or not there is an object of it.
local function methods_of(class)
    for _, value in pairs(debug.getregistry()) do
        if type(value) == "table" and rawget(value, "__name") == class then
            return value.__methods
        end
    end
end

-- What the method prints, and then the page or picture of its object.
local function also(methods, name, f)
    local plain = methods[name]
    methods[name] = function(self, ...)
        plain(self, ...)
        f(self)
    end
end

function shown.open(path)
    local reason
    out, reason = io.open(path, "w")
    if not out then error("--display: cannot write " .. reason, 0) end
    local timelines = methods_of "streamlab.timeline"
    for _, name in ipairs { "show", "explain", "summary" } do also(timelines, name, send_page) end
    rawset(internals, "show_plot", function(svg, text)
        io.write(text, "\n")
        send(bundle.plot(svg, text))
    end)
end

return shown
