-- help.lua - the command line of streamlab help.

return {
    usage = "streamlab help [NAME]",
    about = [[
Shows the help about a function, a method or a page (matmul,
event:record, streams), about a function of CUDA or PyTorch (cudaMemcpyAsync,
torch.matmul), or searches for words. Without a name it lists all pages.]],
    {
    },
    ending = [[
Exit status: 0 success, 1 there is no help about NAME, 2 wrong usage.]],
}
