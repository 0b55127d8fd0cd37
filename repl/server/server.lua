-- server.lua - what repl/server/server.c calls: reads requests and replies to them.
--
-- docs/notebook.md has the protocol. A reply is a line of JSON with the request's id: any number of
-- events ("event"), then the answer ("ok"). The other files:
--
--   bundle.lua   a value as texts by MIME type;  html.lua  the one in HTML
--   shown.lua    what scripts show, for the option --display, which needs no server
--   arrays.lua   values and arrays from and for the client
--   question.lua  what completion and help are asked about

local json = import "repl/run/json.lua"
local strings = import "repl/run/strings.lua"
local errors = import "repl/run/errors/errors.lua"
local console = import "repl/console/console.lua"

local server = {}

local protocol <const> = 1
local id                                -- of the request that is being answered

-- A reply's line.
local function line_of(fields)
    fields.id = id
    return json.write(fields) .. "\n"
end

local function send_event(name, fields)
    fields.event = name
    program.send(line_of(fields))
end

-- The answer about an error.
local function failure(name, message, lines)
    return line_of { ok = false, error = { name = name, message = message, traceback = lines } }
end

local function refusal(message)
    return failure("BadRequest", message, { message })
end

-- ---- values ------------------------------------------------------------------------------

local function send_display(data)
    send_event("display", { data = data })
end

-- The global display(value, "page").
local function display(...)
    local closer <close> = strings.own()
    local value, how = ...
    local n = select("#", ...)
    if n < 1 or n > 2 or how ~= nil and how ~= "page" then
        internals.raise("SL_EINVAL", "display", "it takes a value, and for a timeline \"page\"")
    end
    local bundle = import "repl/server/bundle.lua"
    if how and internals.type_name(value) ~= "timeline" then
        internals.raise("SL_EINVAL", "display",
                        ("argument 1 (value) must be a timeline to be shown as "
            .. "a page, got %s"):format(internals.type_name(value)))
    end
    send_display(how and bundle.page(value) or bundle.of(value))
end

local function send_values(...)
    send_event("result", { data = import "repl/server/bundle.lua".of(...) })
end

-- ---- requests ----------------------------------------------------------------------------

-- Each gets the request, and gives the fields of its answer and perhaps bytes, or nil and what is
-- wrong with the request.
local requests = {}

local function is_text(value) return type(value) == "string" end

function requests.complete(request)
    return import "repl/server/question.lua".complete(request.code, request.cursor)
end

function requests.inspect(request)
    return import "repl/server/question.lua".inspect(request.code, request.cursor)
end

function requests.is_complete(request)
    return { state = program.entry_state(request.code) }
end

function requests.get(request)
    return import "repl/server/arrays.lua".get(request.name)
end

function requests.put(request)
    return import "repl/server/arrays.lua".put(request)
end

-- server.c does these; the answer to "run" comes when the entry has run.
local outside <const> = { run = true, quit = true, reset = true }
local most_entries <const> = 1000000

local needs <const> = {
    run = "code", complete = "code", inspect = "code", is_complete = "code", get = "name",
    put = "name",
}

-- What is wrong with a request; nil: nothing.
local function fault(request)
    local name = request.request
    if not is_text(name) or not (requests[name] or outside[name]) then
        return "'request' must be run, complete, inspect, is_complete, get, put, reset or quit"
    elseif needs[name] and not is_text(request[needs[name]]) then
        return ("'%s' of a request to %s must be a string"):format(needs[name], name)
    elseif request.cursor ~= nil and math.type(request.cursor) ~= "integer" then
        return "'cursor' must be a whole number: how many characters stand before it"
    elseif request.number ~= nil and not (math.type(request.number) == "integer"
            and request.number >= 1 and request.number <= most_entries) then
        return ("'number' must be a whole number from 1 to %d: the entry's"):format(most_entries)
    end
end

-- The request in a line, or nil and what is wrong. Bytes that follow a line are not taken for lines
-- where the request is wrong.
local function parse(line)
    if not line then
        return nil, "a request must be a line of at most 8 MiB"
    end
    local request, problem = json.read(line)
    if type(request) ~= "table" then
        return nil, problem or "a request must be an object"
    end
    id = request.id
    program.note_id(id ~= nil and json.write(id) or nil)
    problem = fault(request)
    if not problem and request.request == "put" then
        problem = import "repl/server/arrays.lua".receive(request)
    elseif problem then
        import "repl/server/arrays.lua".drop(request)
    end
    return not problem and request or nil, problem
end

-- The request in a line, false for one that was too long; or nil and the answer that refuses it.
-- SIGINT does not end this: the line and the bytes behind it are always read whole.
function server.read(line)
    id = nil
    local request, problem = parse(line)
    return request, not request and refusal(problem) or nil
end

-- The answer, and bytes behind it.
function server.answer(request)
    if outside[request.request] then return line_of { ok = true } end
    local fields, bytes = requests[request.request](request)
    if not fields then
        return refusal(bytes)
    end
    fields.ok = true
    return line_of(fields), bytes
end

-- ---- runs --------------------------------------------------------------------------------

-- The answer where the n-th chunk has ended well, with these values.
function server.ran(n, silent, ...)
    if not silent and select("#", ...) > 0 then
        console.show_with(send_values, ...)
    end
    return line_of { ok = true, count = n }
end

-- The names of errors, where the laboratory gives none.
local function name_of(report)
    return report.interrupted and "Interrupted" or report.code
        or report.syntax and "SyntaxError" or "Error"
end

-- The answer where what was asked for has failed; the report is that of repl/run/traceback.h.
function server.failed(report)
    local lines = {}
    for line in (errors.text(report) .. "\n"):gmatch("(.-)\n") do
        lines[#lines + 1] = line
    end
    return failure(name_of(report), report.message, lines)
end

-- Clients show what is on stderr as errors, and a notice is none.
local function notice(text)
    io.stdout:write("streamlab: ", text, "\n")
end

-- Before the first request.
function server.open()
    rawset(_G, "display", display)
    rawset(internals, "show_plot", function(svg, text)
        send_display(import "repl/server/bundle.lua".plot(svg, text))
    end)
    debug.getregistry()["streamlab.defaults"].notice = notice
    send_event("ready", { protocol = protocol, version = lab.version,
                          banner = import "repl/console/banner.lua".text() })
end

return server
