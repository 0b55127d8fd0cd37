-- errors.lua - the text of an error: the message, the line with a mark under the place, a hint if
-- one is known, and the user's own frames.
--
-- repl/run/run.c calls it after the stack has been unwound; the report has what the message
-- handler collected (repl/run/traceback.h).

local carets = import "repl/run/errors/carets.lua"
local excerpt = import "repl/run/errors/excerpt.lua"
local lists = import "repl/run/lists.lua"
local text = import "repl/run/text.lua"

local errors = {}

-- ---- positions in messages ---------------------------------------------------------------

local short_bytes <const> = 59      -- of a chunk's name in a message: LUA_IDSIZE - 1

-- A source as messages name it; of strings of code only their frames know.
local function short_name(source)
    local kind, name = source:sub(1, 1), source:sub(2)
    if kind == "=" then
        return name:sub(1, short_bytes)
    elseif #name <= short_bytes then
        return name
    end
    return "..." .. name:sub(-(short_bytes - 3))
end

-- The sources by the names that messages can have for them: name -> {source =, main =}. The
-- laboratory names files without their folder. What is running comes before what was loaded.
local function known_names(frames)
    local names = {}
    local function add(name, source, main)
        names[name] = names[name] or { source = source, main = main, name = name }
    end
    for _, frame in ipairs(frames) do
        if frame.source then
            add(frame.name, frame.source, frame.main)
            if frame.source:find("^@") then
                add(frame.source:match("[^/]*$"):gsub("^@", ""), frame.source, frame.main)
            end
        end
    end
    local bases = {}
    for source in pairs(program.files()) do
        add(short_name(source), source, false)
        local base = source:match("[^/]*$"):gsub("^@", "")
        bases[base] = bases[base] == nil and source or false
    end
    for base, source in pairs(bases) do
        if source then
            add(base, source, false)
        end
    end
    for source in pairs(program.entries()) do
        add(short_name(source), source, true)
    end
    return names
end

-- The chunk and the line that the message begins with, and what is behind them.
local function first_position(message, names)
    local best, line, rest
    for name, chunk in pairs(names) do
        if (not best or #name > #best.name) and message:sub(1, #name + 1) == name .. ":" then
            local digits, behind = message:match("^(%d+): ()", #name + 2)
            if digits then
                best, line, rest = chunk, tonumber(digits), message:sub(behind)
            end
        end
    end
    return best, line, rest
end

-- The innermost of the positions that the message begins with: coroutine.wrap, require and
-- others put theirs before what they pass on.
local function last_position(message, names)
    local chunk, line
    while true do
        local behind = message:match("^error loading module '[^\n]*' from file '[^\n]*':\n\t()")
        local inner = behind and message:sub(behind) or message
        local next_chunk, next_line, rest = first_position(inner, names)
        if not next_chunk then
            return chunk, line, message
        end
        chunk, line, message = next_chunk, next_line, rest
    end
end

-- ---- the place ---------------------------------------------------------------------------

-- The chunk's text as the compiler takes it.
local function read_source(chunk)
    local source = chunk.source
    if not source:find("^[@=]") then
        return source                   -- the text itself
    end
    local code = program.source(source, chunk.main)
    if code and source:find("^@") then
        code = code:gsub("^\xEF\xBB\xBF", "")
        code = code:gsub("^#\n", "\n"):gsub("^#[^\n]", "--")
    end
    return code
end

local function is_running(frames, source, line)
    return lists.any(frames, function(frame)
        return frame.source == source and frame.line == line
    end)
end

local binary_bytes <const> = 1024   -- a zero byte among the first means: this is no text

-- What the error is about: {script =, number =, message =, places =, syntax =, named =,
-- binary =}, or nil if it is nowhere in the user's code.
local function find_place(report)
    local frames = report.frames
    local chunk, number, message = last_position(report.message, known_names(frames))
    local named = chunk ~= nil
    if not named then
        local frame = frames[1]
        if not frame or frame.line < 1 then
            return nil
        end
        chunk, number = frame, frame.line
    end
    local place = { source = chunk.source, number = number, message = message, named = named }
    local code = read_source(chunk)
    place.binary = code ~= nil and code:sub(1, binary_bytes):find("\0", 1, true) ~= nil
    if not code or code:find("^\27") or place.binary then
        return place
    end
    if report.op and #report.op > 0 and message:sub(1, #report.op + 2) == report.op .. ": " then
        place.message = message:sub(#report.op + 3)
    end
    local script = carets.script(code, chunk.source, chunk.name .. ":")
    if report.is_compilers ~= nil then
        place.syntax = named and report.is_compilers
    else
        place.syntax = named and not is_running(frames, chunk.source, number)
            and carets.is_compilers(script, message)
    end
    if script.lines[number] or place.syntax then
        place.script = script
        place.places = named and carets.find(script, number, place.message, report.op,
            place.syntax) or { { number = number, line = script.lines[number], marks = {} } }
    end
    return place
end

-- ---- the parts of the text ------------------------------------------------------------------

local function red(s)
    return text.paint("mistake", s, 2)
end

-- The message behind `begins`, without that; on a terminal no word is broken at the edge.
function errors.fold(begins, message)
    if not internals.terminal(2) then
        return message
    end
    local lines = {}
    for line in (begins .. message .. "\n"):gmatch("(.-)\n") do
        lines[#lines + 1] = table.concat(text.fold(line, internals.columns(2)), "\n")
    end
    return table.concat(lines, "\n"):sub(#begins + 1)
end

-- A hint as a line, folded on a terminal.
function errors.hint(hint)
    return "hint: " .. errors.fold("hint: ", hint)
end

-- How the text is drawn: for the terminal, or the same everywhere.
local function terminal_looks()
    return { columns = internals.columns(), unicode = internals.unicode(), paint = red }
end

local plain_looks = { columns = 78, unicode = false, paint = function(s) return s end }

local function draw_places(place, looks)
    local shown = lists.select(place.places, function(item)
        return item.line and item.line:find("%S")
    end)
    return #shown > 0 and excerpt.show(shown, looks.columns, looks.unicode, looks.paint)
end

-- The frames, unless there is just the line that is shown already.
local function draw_frames(frames, place, shown)
    if #frames == 0 then
        return nil
    end
    local only = frames[1]
    if #frames == 1 and place and place.named and shown and only.source == place.source
        and only.line == place.number then
        return nil
    end
    local lines = { "stack traceback:" }
    for i, frame in ipairs(frames) do
        lines[i + 1] = "\t" .. excerpt.clean(frame.text)
    end
    return table.concat(lines, "\n")
end

local function find_hint(report, place)
    return import "repl/run/errors/hints.lua".find(report, place)
end

-- What f gives; nil if it fails. Strange sources must not cost the message and the frames.
local function try(f, ...)
    local fine, result = pcall(f, ...)
    return fine and result or nil
end

-- The message without a position that stands there twice: coroutine.wrap puts one before the
-- other's.
local function without_repeats(message)
    local n
    repeat
        message, n = message:gsub("^([^\n]-:%d+: )%1", "%1")
    until n == 0
    return message
end

-- The line with its mark, and the hint; each may be nil.
local function explain(report, place, looks)
    local shown = place and place.places and try(draw_places, place, looks)
    local hint = place and place.places and try(find_hint, report, place)
    local trace = place and place.binary and report.message:match("^([^\n]*%.json%.gz):%d+:")
    hint = trace and ("streamlab show %s prints what a trace has"):format(trace)
        or place and place.binary and "this file is no text, and no Lua" or hint
    return shown or nil, hint and excerpt.clean(hint) or nil
end

-- The text that the user sees, behind "streamlab: ".
function errors.text(report)
    local message = errors.fold("streamlab: ", excerpt.clean(without_repeats(report.message)))
    local parts = { (message:gsub("[^\n]+", red)) }
    if report.interrupted then
        return parts[1]
    end
    local place = try(find_place, report)
    local shown, hint = explain(report, place, terminal_looks())
    parts[#parts + 1] = shown
    parts[#parts + 1] = hint and errors.hint(hint)
    parts[#parts + 1] = draw_frames(report.frames, place, shown)
    return table.concat(parts, "\n")
end

-- What can be said of a message alone, the same whatever the terminal: the line with its mark
-- and the hint, or "". `is_compilers`: the message is the compiler's, who did not take the script.
function errors.about(message, is_compilers)
    local report = { message = message, frames = {}, is_compilers = is_compilers }
    local shown, hint = explain(report, try(find_place, report), plain_looks)
    return (shown or "") .. (shown and hint and "\n" or "") .. (hint and "hint: " .. hint or "")
end

return errors
