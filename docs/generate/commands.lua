-- commands.lua - the command lines that repl/usage describes.

local command_line = import "repl/run/command_line.lua"
local lists = import "repl/run/lists.lua"

local commands = {}

-- What may come first behind a command: "show", "check".
function commands.actions(line)
    local words = {}
    for _, row in ipairs(command_line.rows(line)) do
        words[#words + 1] = #command_line.names(row) == 0 and row[1]:match("^%l+") or nil
    end
    return words
end

local program <const> = import "repl/usage/program.lua"

-- Those of subcommands in the order of the program's --help: a list of {name =, line =}.
function commands.all()
    return lists.map(commands.actions(program), function(name)
        return { name = name, line = import("repl/usage/" .. name .. ".lua") }
    end)
end

-- That of the program itself.
commands.program = program

return commands
