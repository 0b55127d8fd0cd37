-- options.lua - the program's own command line (repl/usage/program.lua), as options.c needs it.

local command_line = import "repl/run/command_line.lua"

local options = {}

-- After these a subcommand's name is a script's.
local for_scripts <const> = { "chunks", "i", "server", "v", "trace", "check", "spread" }

-- The names of subcommands, as a set: there is a file for each.
local function subcommands()
    local names = {}
    for _, path in ipairs(embedded "repl/commands/") do
        names[path:match("([^/]*)%.lua$")] = true
    end
    return names
end

local function is_for_scripts(given)
    for _, name in ipairs(for_scripts) do
        if given[name] then
            return true
        end
    end
    return false
end

-- Gives the options by name; `script`, the index of the first word that is none; `subcommand`,
-- whether that is a subcommand; `problem`, a sentence if something is wrong; then, or if it was
-- asked for, `text`, what --help prints.
function options.read(line, words)
    local given, others, script, ended = command_line.read(line, words, nil, true)
    if not given then
        return { problem = others, text = command_line.text(line) }
    end
    local word = words[script]
    given.subcommand = word and not ended and not is_for_scripts(given) and subcommands()[word]
    if given.spread and not given.help and not given.version and (not word or word == "-") then
        given.problem = "--spread needs a script's file: it runs several times"
    end
    given.script = script
    given.text = (given.problem or given.help) and command_line.text(line) or nil
    return given
end

-- For a script that is not there: names the subcommand that is spelt much like it on stderr.
function options.suggest(typed)
    local near = internals.nearest(typed, subcommands())
    if near then
        io.stderr:write("hint: did you mean streamlab ", near, "?\n")
    end
end

return options
