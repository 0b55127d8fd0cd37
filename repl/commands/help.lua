-- help.lua - streamlab help [NAME]: prints what help(x) prints in the REPL.

local command = import "repl/run/command.lua"
local help = import "repl/console/help/help.lua"

local _, words = command.read(import "repl/usage/help.lua", { ... })
if not help.about(table.concat(words, " ")) then
    os.exit(1)
end
