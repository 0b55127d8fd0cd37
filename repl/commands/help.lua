-- help.lua - streamlab help [NAME]: what help(x) says in the REPL.

local command = import "repl/run/command.lua"
local help = import "repl/console/help/help.lua"

local usage = [[
usage: streamlab help [NAME]
Says what there is to know about a function, a method or a page (matmul,
event:record, streams), about a function of CUDA or PyTorch (cudaMemcpyAsync,
torch.matmul), or where words are found. Without a name it lists all.

  -h, --help        print this and stop
Exit status: 0 success, 1 there is nothing about NAME, 2 wrong usage.
]]

local _, words = command.read(usage, {}, ...)
if not help.about(table.concat(words, " ")) then
    os.exit(1)
end
