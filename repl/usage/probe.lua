-- probe.lua - the command line of streamlab probe.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

return {
    usage = "streamlab probe [options]",
    about = [[
Calls each function of CUDA between two kernels in two streams, and reports
whether the host waited, whether the kernels ran together, and for how long; on
blocking streams and on those with cudaStreamNonBlocking. It compares this with
the old list of implicit synchronisations and with CUDA's documents. Takes
seconds. With --capture it makes the calls while a stream is captured, and
reports which ones the capture forbids.]],
    { title = "the device, else the one that a script would get",
        shared.backend,
        shared.device,
        shared.profile,
        shared.host },
    { title = "what to find out, and to write",
        { "--capture", "which calls are errors while a stream is captured" },
        { "--json", "one object for each measurement, in an array" },
        { "-o, --output FILE", read = values.some, "write to this file, not to stdout" },
        { "--save FILE", read = values.file ".lua", [[
            also write a profile, which ends in .lua, with which the
            simulator gives the same results]] },
        { "--base NAME", with = "save", read = values.profile, [[
            the profile for all other figures: a name or a file; without
            it the simulated GPU's own, or h200]] } },
    { title = "others" },
    ending = [[
Exit status: 0 success, 1 the device failed or a file cannot be written, 2 wrong
usage.]],
}
