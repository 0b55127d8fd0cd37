-- console.lua - what repl/console/console.c calls: showing values, lines that begin with "." or
-- "?", the banner. Each has a file of its own, which is loaded at its first use:
--
--   values/          how values are shown, each kind in its file
--   help/            help(), ?x and `streamlab help`: what docs/api says, and how it is laid out
--   dot_commands/    .help, .device, .trace, .load, .save and the others
--   out.lua          Out[n], the values of earlier entries
--   completion/      what Tab offers
--   banner.lua       the first lines;  timing.lua  time(f) and .timer;  who.lua  who()
--
-- Errors, texts for the terminal and the index of docs/api, which others need as well, are in
-- repl/run.

local strings = import "repl/run/strings.lua"

local console = {}

local alone <const> = {}        -- the console's functions that are called where they stand alone

-- What is said of an entry that ended well; `find` is a function of hint_names.lua.
local function hint_by(find)
    local count = import "repl/console/dot_commands/session.lua".count()
    local hint = import "repl/run/errors/hint_names.lua"[find](count)
    if hint then
        io.stdout:flush()
        io.stderr:write(import "repl/run/errors/errors.lua".hint(hint), "\n")
    end
end

-- Shows the values of an entry by show(...); `help` and `who` work without parentheses, too.
function console.show_with(show, ...)
    local call = select("#", ...) == 1 and alone[...]
    if call then
        return call()
    end
    import "repl/console/dot_commands/session.lua".shown()
    import "repl/console/dot_commands/dot_commands.lua".note_shown(...)
    show(...)
    if select("#", ...) == 1 and ... == nil then
        hint_by "no_value"
    end
end

function console.show(...)
    console.show_with(import "repl/console/values/values.lua".show, ...)
end

-- The first value of entry n.
function console.keep(n, value)
    import "repl/console/out.lua".keep(n, value)
end

-- A shell runs the command, which prints for itself.
local function run_shell(command)
    io.stdout:flush()
    local fine, how, status = os.execute(command)
    if not fine then
        io.stderr:write(how == "signal" and "ended by signal " or "exit status ", status, "\n")
    end
end

-- A line that begins with ".", "?" or "!".
function console.command(line)
    local question, command = line:match("^%s*%?%s*(.-)%s*$"), line:match("^%s*!(.*)$")
    if question then
        import "repl/console/help/help.lua".ask(question)
    elseif command then
        run_shell(command)
    else
        import "repl/console/dot_commands/dot_commands.lua".run(line)
    end
end

function console.banner()
    import "repl/console/banner.lua".show()
end

-- Around the run of each chunk: before it, and after it has ended well or by an error.
function console.before()
    import "repl/console/timing.lua".before()
end

function console.after()
    import "repl/console/timing.lua".after()
    import "repl/console/dot_commands/session.lua".ran()
    hint_by "assigned_nothing"
    hint_by "option"
end

function console.after_error()
    import "repl/console/timing.lua".after()
end

-- At the end of the REPL.
function console.close()
    import "repl/console/dot_commands/dot_commands.lua".close()
end

local globals <const> = {
    help = "repl/console/help/help.lua", who = "repl/console/who.lua",
    time = "repl/console/timing.lua", timeit = "repl/console/timing.lua",
}

-- Adds the console's own functions to the globals that are not taken.
function console.open()
    internals.keep_devices()            -- .device finds each by its profile's name
    for name, file in pairs(globals) do
        if rawget(_G, name) == nil then
            local function call(...)
                local closer <close> = strings.own()
                return import(file)[name](...)
            end
            rawset(_G, name, call)
            alone[call] = (name == "help" or name == "who") and call or nil
        end
    end
end

return console
