-- hosts.lua - the command line of streamlab hosts.

return {
    usage = "streamlab hosts [options] [TRACE...]",
    about = [[
Prints what recordings on real GPUs have shown of the host, by day and machine,
as factors of the figures of the GPU's profile: what calls cost, and how fast
copies of pageable memory are staged. Each recording on a real GPU adds to it;
predict and compare use the last line of this machine where a GPU answers and no
profile and no host is named, and --host measured does so anywhere: of each
factor what is beyond how far hosts change within minutes. With trace files it
prints what these show instead.]],
    { title = "options",
        { "--forget", "remove all that was kept" } },
    { title = "others" },
    ending = [[
Exit status: 0 success, 1 a file cannot be read or written, 2 wrong usage.]],
}
