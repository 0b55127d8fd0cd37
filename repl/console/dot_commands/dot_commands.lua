-- dot_commands.lua - the lines that begin with a dot: .help, .device, .trace, ...
--
-- Each command is a function of the text after its name. It prints to stdout. If it refuses, it
-- raises {refusal = sentence}, or an error of the laboratory, which is printed to stderr with the
-- command's name. Other errors propagate. If a command returns a function, a script of the
-- user's, it is called.

local api = import "repl/run/api.lua"
local errors = import "repl/run/errors/errors.lua"
local excerpt = import "repl/run/errors/excerpt.lua"
local files = import "repl/run/file_names.lua"
local objects = import "repl/console/values/objects.lua"
local recording = import "repl/console/dot_commands/recording.lua"
local sheet = import "repl/console/help/sheet.lua"
local session = import "repl/console/dot_commands/session.lua"
local strings = import "repl/run/strings.lua"
local text = import "repl/run/text.lua"
local whole_files = import "repl/run/files.lua"

local dot_commands = {}

local commands = {}

local function refuse(sentence, ...)
    error({ refusal = sentence:format(...) }, 0)
end

local function say(line, ...)
    local clean = text.clean(line:format(...), true)
    io.write(table.concat(text.fold(clean, internals.columns()), "\n"), "\n")
end

-- ---- what help says ------------------------------------------------------------------------

local function refuse_usage(name)
    refuse("usage: %s", api.signature(api.entry("." .. name)))
end

function commands.help(word)
    if word ~= "" then
        import "repl/console/help/help.lua".ask(word)
        return
    end
    local page, rows = sheet.new(), {}
    for entry in api.each() do
        if entry.kind == "command" then
            rows[#rows + 1] = { api.signature(entry), page:marked(entry.brief) }
        end
    end
    rows[#rows + 1] = { "?WORD", "the same as .help WORD" }
    rows[#rows + 1] = { "!COMMAND", "runs a command of the shell" }
    page:rows(rows)
    page:print()
end

-- ---- devices ------------------------------------------------------------------------------

local function kind_of(device)
    if not device.simulated then
        return ("%s:%d"):format(device.backend, device.index)
    end
    return device.profile ~= "" and "simulated, profile " .. device.profile or "simulated"
end

local function describe(device)
    local range = device.priority_range
    say("%s (%s)", device.name, kind_of(device))
    say("  SMs            %d, compute capability %s", device.sm_count, device.compute_capability)
    local limited = device.memory_bytes < math.maxinteger
    say("  memory         %s", limited and text.bytes(device.memory_bytes) or "unlimited")
    say("  copy engines   %d", device.async_engine_count)
    say("  priorities     %d (least) to %d (greatest)", range.least, range.greatest)
end

local last_ns <const> = 46 * 24 * 3600 * 1000000000     -- virtual time ends on that day

-- The open device that the name means, the current one before others; or nil. One that
-- cannot go on is passed over.
local function find_device(name)
    local devices = internals.devices()
    if #devices > 0 then
        table.insert(devices, 1, lab.device())
    end
    for _, device in ipairs(devices) do
        if device.simulated and (name == "sim" or device.profile == name)
            and internals.now_ns(device) < last_ns then
            return device
        end
    end
end

-- What lab.open needs for the name, and the same as Lua.
local function how_to_open(name)
    local index = name == "cuda" and 0 or math.tointeger(name:match("^cuda:(%d+)$"))
    if index then
        return { backend = "cuda", index = index },
            ("{ backend = \"cuda\", index = %d }"):format(index)
    elseif name == "sim" then
        return { backend = "sim" }, "{ backend = \"sim\" }"
    end
    local profile = files.name(name)
    return { backend = "sim", profile = profile },
        ("{ backend = \"sim\", profile = %q }"):format(profile)
end

-- The devices' names in the script that .save writes.
local variables, n_variables = {}, 0

local function new_variable(device)
    n_variables = n_variables + 1
    variables[device] = "device_" .. n_variables
    return variables[device]
end

local function change_to(device)
    device:make_current()
    session.did(variables[device] and variables[device] .. ":make_current()"
        or "-- .device " .. device.name)
end

local function open_device(name)
    if #internals.devices() > 0 and not variables[lab.device()] then
        session.did(("local %s = lab.device()"):format(new_variable(lab.device())))
    end
    local options, code = how_to_open(name)
    local device = lab.open(options)
    session.did(("local %s = lab.open%s"):format(new_variable(device), code))
end

function commands.device(name)
    if name ~= "" then
        local open = find_device(name)
        if open then
            change_to(open)
        else
            open_device(name)
        end
    end
    local current = lab.device()
    describe(current)
    for _, device in ipairs(internals.devices()) do
        if device ~= current then
            say("also open: %s (%s)", device.name, kind_of(device))
        end
    end
end

-- ---- streams ------------------------------------------------------------------------------

local function by_device_and_id(a, b)
    if a.device ~= b.device then
        return a.order < b.order
    end
    return a.stream.id < b.stream.id
end

function commands.streams(rest)
    if rest ~= "" then
        refuse_usage("streams")
    end
    local devices, list = internals.devices(), {}
    if #devices == 0 then
        return say("no device is open yet, and so there are no streams")
    end
    lab.default_stream()
    for _, stream in ipairs(internals.streams()) do
        for order, device in ipairs(devices) do
            if stream.device == device then
                list[#list + 1] = { stream = stream, device = device, order = order }
            end
        end
    end
    table.sort(list, by_device_and_id)
    local current, shown = lab.current_stream(), nil
    for _, item in ipairs(list) do
        if #devices > 1 and item.device ~= shown then
            shown = item.device
            say("%s (%s)", shown.name, kind_of(shown))
        end
        for i, line in ipairs(objects.lines(item.stream, "stream", internals.columns() - 2)) do
            io.write(i == 1 and item.stream == current and "* " or "  ", line, "\n")
        end
    end
end

-- ---- timing, tracing, races ------------------------------------------------------------------

function commands.timer(word)
    if word ~= "on" and word ~= "off" then
        refuse_usage("timer")
    end
    import "repl/console/timing.lua".set(word == "on")
end

-- Whether a timeline can be saved there, found out before anything is recorded.
local function check_picture(file)
    if not files.is_of_timeline(file) then
        refuse("%s: the file must end in %s", file, files.of_timelines)
    end
    local fine, reason = whole_files.try(file)
    if not fine then
        refuse("%s", reason)
    end
end

local function say_saved(timeline, file)
    say("saved %s: %s", file, text.count(timeline.span_count, "operation"))
end

local function stop_trace()
    local was, problem = recording.stop()
    say_saved(was.timeline, was.file)
    rawset(_G, "_", was.timeline)
    if problem then
        refuse("%s has only what was recorded before this: %s", was.file, tostring(problem))
    end
end

function commands.trace(word)
    local now = recording.state()
    if word == "" then
        if now then
            return say("recording %s; .trace off saves it as %s", now.device.name, now.file)
        end
        return say("not recording; .trace FILE begins")
    elseif word == "off" then
        if not now then
            refuse("nothing is being recorded; .trace FILE begins")
        end
        return stop_trace()
    elseif now then
        refuse("recording for %s already; .trace off saves it", now.file)
    end
    local file = files.name(word)
    check_picture(file)
    recording.start(file)
    say("recording %s; .trace off saves it as %s", lab.device().name, file)
end

function commands.races(rest)
    if rest ~= "" then
        refuse_usage("races")
    end
    local found = lab.races()
    if #found == 0 then
        return say("no races found")
    end
    for i, race in ipairs(found) do
        io.write(i > 1 and "\n" or "", excerpt.clean(race.message), "\n")
    end
end

-- ---- files ---------------------------------------------------------------------------------

local function load_trace(file)
    local timeline = lab.load(file)
    io.stdout:flush()
    for line in (timeline.notice or ""):gmatch("[^\n]+") do
        io.stderr:write(excerpt.clean(("streamlab: %s: %s"):format(file, line)), "\n")
    end
    session.did(("_ = lab.load(%q)"):format(file))
    rawset(_G, "_", timeline)
    import "repl/console/console.lua".show(timeline)
end

local function running(file)
    return ("dofile(%q)"):format(file)
end

-- Gives the function that runs it.
local function load_script(file)
    local chunk, problem = loadfile(file)
    if not chunk then
        local reason = problem:match("^cannot open (.*)$") or problem:match("^cannot read (.*)$")
        if reason then
            refuse("cannot read %s", reason)
        end
        error(problem, 0)
    end
    return function()
        chunk()
        session.did(running(file))
    end
end

function commands.load(words)
    local file = files.name(words)
    local suffix = files.suffix(file)
    if file == "" then
        refuse_usage("load")
    elseif suffix == ".json" or suffix == ".json.gz" or suffix == ".sqlite" then
        return load_trace(file)
    elseif files.is_of_timeline(file) then
        refuse("%s: such a file cannot be read; a script or a trace (.json, .json.gz, "
            .. ".sqlite) can", file)
    end
    return load_script(file)
end

local shown_timeline

-- The console has shown these values.
function dot_commands.note_shown(...)
    for i = 1, select("#", ...) do
        local value = select(i, ...)
        if internals.type_name(value) == "timeline" then
            shown_timeline = value
        end
    end
end

-- The names of the globals that hold timelines, sorted, and one of them.
local function global_timelines()
    local names, found = {}, nil
    for name, value in next, _G do
        if type(name) == "string" and internals.type_name(value) == "timeline" then
            names[#names + 1], found = name, value
        end
    end
    table.sort(names)
    return names, found
end

local function last_timeline(file)
    local value = rawget(_G, "_")
    if internals.type_name(value) == "timeline" then
        return value
    elseif shown_timeline then
        return shown_timeline
    end
    local names, found = global_timelines()
    if #names == 0 then
        refuse("there is no timeline; lab.profile(f) makes one")
    elseif #names > 1 then
        refuse("which one of %s? write %s:save(%q)", table.concat(names, ", "), names[1], file)
    end
    return found
end

-- A script of the user's is never overwritten by a session.
local function check_script(file)
    local old = io.open(file, "r")
    local first = old and old:read("l")
    if old then
        old:close()
    end
    if first and first ~= session.header then
        refuse("%s is there and is not from .save: take another name", file)
    end
end

local function save_script(file)
    if session.is_empty() then
        refuse("nothing has run yet")
    end
    check_script(file)
    if session.has_done(running(file)) then
        refuse("the session runs %s, which would run itself: take another name", file)
    end
    local written, reason = whole_files.write(file, session.script(recording.ending()))
    if not written then
        refuse("%s", reason)
    end
    say("saved %s", file)
end

function commands.save(words)
    local file = files.name(words)
    if file == "" then
        refuse_usage("save")
    elseif files.suffix(file) == ".lua" then
        return save_script(file)
    elseif not files.is_of_timeline(file) then
        refuse("%s: the file must end in .lua for the session, or in %s for the last "
            .. "timeline", file,
            files.of_timelines)
    end
    local timeline = last_timeline(file)
    timeline:save(file)
    say_saved(timeline, file)
end

function commands.quit(rest)
    if rest ~= "" then
        refuse_usage("quit")
    end
    os.exit(true, true)
end

-- ---- running them ---------------------------------------------------------------------------

-- ".device", ".help", ..., sorted.
function dot_commands.names()
    local names = {}
    for name in next, commands do
        names[#names + 1] = "." .. name
    end
    table.sort(names)
    return names
end

local function complain(name, sentence)
    io.stdout:flush()
    local begins = "streamlab: ." .. name .. ": "
    io.stderr:write(begins, errors.fold(begins, excerpt.clean(sentence)), "\n")
end

-- The sentence of what a command refuses, or nil for other errors.
local function sentence_of(problem)
    if type(problem) ~= "table" then
        return nil
    end
    local sentence = problem.refusal or problem.message
    return type(sentence) == "string" and sentence or nil
end

-- Calls it, prints its refusal if it raises one, and returns its results.
local function try(name, f, ...)
    local fine, result = pcall(f, ...)
    if fine then
        return result
    elseif not sentence_of(result) then
        error(result, 0)
    end
    complain(name, sentence_of(result))
end

-- Names that others have for them.
local other_names <const> = {
    exit = "quit", q = "quit", bye = "quit", h = "help", man = "help", run = "load",
    open = "load", time = "timer", gpu = "device", stop = "trace off",
}

local function unknown(name)
    local known = {}
    for other in next, commands do
        known[other] = true
    end
    local near = other_names[name] or internals.nearest(name, known)
    complain(name, near and ("there is no such command; did you mean .%s?"):format(near)
        or "there is no such command; .help lists them")
end

function dot_commands.run(line)
    local name, rest = line:match("^%s*%.([%w_]+)%s*(.-)%s*$")
    local command = commands[name]
    if not command then
        return unknown(name)
    end
    local script = try(name, command, rest)
    if script then
        strings.call_users(script)      -- not protected: its errors are reported as an entry's
    end
end

-- The REPL ends: what is recorded is saved.
function dot_commands.close()
    if recording.state() then
        try("trace", stop_trace)
    end
end

return dot_commands
