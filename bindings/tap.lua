-- tap.lua - lab.tap: the object whose methods are assertions, the record of each, and
-- the Test Anything Protocol. The assertions themselves are in tap_values.lua and
-- tap_timeline.lua; tap_waits.lua finds waits that were not needed, tap_order.lua says what is or
-- is not in order.
--
-- Every assertion makes one record, a table that a sink gets:
--   status   "passed", "failed" or "skipped"
--   name     what was to be so
--   seen, asked      what was there, and what was wanted; or nil
--   look     where to look for the reason, some lines; or nil
--   chart    the timeline as text; or nil
--   why      of those skipped
-- Printing is one sink; the program has others (core.tap).
--
-- Values may come from untrusted code. So these files call no metamethod of such a value, and
-- look no function up through one (text:format).

local lab, core = ...

local raise, refuse, type_name = core.raise, core.refuse, core.type_name
local check_options, no_more = core.arguments.check_options, core.arguments.no_more
local is_text, is_count = core.arguments.is_text, core.arguments.is_count
local format, gsub = string.format, string.gsub

-- Of each object: sink, say, finish; run, failed, planned; done.
local meta, states, state_of = core.need("classes"){
    name = "streamlab.tap", what = "what lab.tap gave", call = "t:%s(...)",
}
local methods = meta.__methods

-- Shared by the files of assertions.
local tap = { methods = methods }
core.assertions = tap

-- Values as texts ------------------------------------------------------------------------

-- On one line, without terminal commands.
local one_line = core.safe
tap.one_line = one_line

-- A number with as few digits as give the same number when they are read again.
function tap.number(value)
    if value ~= value then return "NaN" end
    if math.type(value) == "integer" then return format("%d", value) end
    for digits = 6, 17 do
        local text = format("%." .. digits .. "g", value)
        if tonumber(text) == value then return text end
    end
    return value > 0 and "inf" or "-inf"
end

local longest_text <const> = 60

function tap.show(value)
    local kind = type_name(value)
    if kind == "number" then return tap.number(value) end
    if kind == "nothing" then return "nil" end
    if kind == "boolean" then return value and "true" or "false" end
    if kind ~= "string" then return (kind == "event" and "an " or "a ") .. kind end
    if #value <= longest_text then return '"' .. one_line(value) .. '"' end
    return format('"%s..." of %d bytes', one_line(string.sub(value, 1, longest_text)), #value)
end

-- Three digits, as everywhere: "3.80 us".
function tap.duration(us)
    local text = core.duration(math.min(math.floor(math.abs(us) * 1000 + 0.5), 1 << 62))
    return us < 0 and "-" .. text or text
end

function tap.percent(value) return format("%.1f %%", value) end

-- Arguments ------------------------------------------------------------------------------

local function check_self(t, op)
    local state = state_of(t, op)
    if state.done then
        raise("SL_ESTATE", op, "t:done() was called: nothing can be asserted behind it")
    end
    return state
end

-- Gives the name; `made` if there is none.
function tap.check_name(name, arg, op, made)
    if name == nil and made then return made end
    if not is_text(name) or name == "" then
        refuse(op, "argument %d (name) must be a sentence that says what is asserted, got %s", arg,
               name == "" and "an empty one" or type_name(name))
    end
    return name
end

function tap.check_number(value, arg, name, op)
    if type_name(value) == "number" and value == value then return value end
    refuse(op, "argument %d (%s) must be a number, got %s", arg, name,
           type_name(value) == "number" and "NaN" or type_name(value))
end

-- Results --------------------------------------------------------------------------------

-- Ends an assertion of the object: true if it passed or was skipped.
local function conclude(t, op, record)
    local state = check_self(t, op)
    state.run = state.run + 1
    if record.status == "failed" then state.failed = state.failed + 1 end
    state.sink(record)
    return record.status ~= "failed"
end

-- The record's name is the assertion's; look and chart are kept if it failed.
function tap.conclude(t, op, passed, name, found)
    return conclude(t, op, { status = passed and "passed" or "failed", name = name,
                             seen = found.seen, asked = found.asked,
                             look = not passed and found.look or nil,
                             chart = not passed and found.chart or nil })
end

function tap.skip(t, op, why, name)
    return conclude(t, op, { status = "skipped", name = name, why = why })
end

tap.check_self = check_self     -- asked before anything else is looked at

-- Defines t:NAME(...) as f(t, ...), with n arguments, t among them.
function tap.assertion(name, n, f)
    methods[name] = function(t, ...)
        check_self(t, name)
        no_more(n, name, select(n, ...))
        return f(t, ...)
    end
end

tap.assertion("skip", 3, function(t, why, name)
    if not is_text(why) or why == "" then
        refuse("skip", "argument 2 (why) must be a sentence, got %s", type_name(why))
    end
    return tap.skip(t, "skip", why, tap.check_name(name, 3, "skip", "skipped"))
end)

function methods.diag(t, text, ...)
    local state = check_self(t, "diag")
    no_more(2, "diag", ...)
    if not is_text(text) then
        refuse("diag", "argument 2 (text) must be a string, got %s", type_name(text))
    end
    state.say(text)
end

function methods.done(t, ...)
    local state = check_self(t, "done")
    no_more(1, "done", ...)
    state.done = true
    local complete = not state.planned or state.planned == state.run
    state.finish(state)
    return state.failed == 0 and complete
end

-- TAP ------------------------------------------------------------------------------------

local columns <const> = 78

local function out(...)
    io.stdout:write(...)
    io.stdout:write("\n")
end

-- "#   seen   ...", broken at blanks, or as it is.
local function put(label, text)
    local head = format("#   %-6s ", label)
    local blank = "#" .. string.rep(" ", #head - 1)
    for line in string.gmatch(text .. "\n", "([^\n]*)\n") do
        local used = 0
        local parts = {}
        for word in string.gmatch(line, "%S+") do
            if used > 0 and #head + used + 1 + #word > columns then
                out(head, table.concat(parts, " "))
                head, parts, used = blank, {}, 0
            end
            parts[#parts + 1] = word
            used = used + #word + (used > 0 and 1 or 0)
        end
        out(head, table.concat(parts, " "))
        head = blank
    end
end

local function put_lines(text)
    for line in string.gmatch(text .. "\n", "([^\n]*)\n") do
        out(line == "" and "#" or "# " .. line)
    end
end

-- In names "#" begins a directive.
local function title(text)
    return (gsub(gsub(text, "%s+", " "), "[\\#]", "\\%0"))
end

local function printer()
    local n = 0
    return function(record)
        n = n + 1
        local passed = record.status ~= "failed"
        local why = record.status == "skipped" and " # SKIP " .. title(record.why) or ""
        out(passed and "ok " or "not ok ", format("%d", n), " - ", title(record.name), why)
        for _, label in ipairs{ "seen", "asked", "look" } do
            if not passed and record[label] then put(label, record[label]) end
        end
        if record.chart then put_lines((gsub(record.chart, "\n$", ""))) end
        io.stdout:flush()
    end
end

local function print_plan(state)
    local planned = state.planned or state.run
    out("1..", format("%d", planned))
    if planned ~= state.run then
        out(format("# planned %d assertions, but there were %d", planned, state.run))
    end
    if state.failed > 0 then out(format("# %d of %d failed", state.failed, state.run)) end
    io.stdout:flush()
end

-- The object -----------------------------------------------------------------------------

function meta.__tostring(t)
    local state = states[t]
    return format("tap: %d of %d failed", state.failed, state.run)
end

core.need("tap_values")
core.need("tap_waits")
core.need("tap_order")
core.need("tap_timeline")
core.define_class(meta)

local function new(state)
    state.run, state.failed = 0, 0
    local t = setmetatable({}, meta)
    states[t] = state
    return t
end

-- For the program: an object whose records sink(record) gets; say(text), if given, gets what
-- t:diag is called with. done() only ends it.
function core.tap(sink, say)
    return new{ sink = sink, say = say or function() end, finish = function() end }
end

local tap_options = { { "plan", "a whole number from 0 on", is_count } }

function lab.tap(opts, ...)
    no_more(1, "tap", ...)
    opts = check_options(opts, tap_options, "tap")
    if not io then raise("SL_EUNSUPPORTED", "tap", "there is no io library") end
    return new{ sink = printer(), say = put_lines, finish = print_plan, planned = opts.plan }
end
