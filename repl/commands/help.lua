-- help.lua - streamlab help [NAME]: prints what help(x) prints in the REPL.

local command = import "repl/run/command.lua"
local help = import "repl/console/help/help.lua"

local usage = [[
usage: streamlab help [NAME]
Shows the help about a function, a method or a page (matmul,
event:record, streams), about a function of CUDA or PyTorch (cudaMemcpyAsync,
torch.matmul), or searches for words. Without a name it lists all pages.

  -h, --help        print this and stop
Exit status: 0 success, 1 there is no help about NAME, 2 wrong usage.
]]

local _, words = command.read(usage, {}, ...)
if not help.about(table.concat(words, " ")) then
    os.exit(1)
end
