-- predict.lua - the command line of streamlab predict.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

return {
    usage = "streamlab predict [options] SCRIPT...",
    about = [[
Runs scripts on the simulated GPU, once with the profile's figures and N times
with figures drawn from its uncertain ones, and prints between which times the
makespans lie, and which figures matter most. A SCRIPT is a file, or in one word
a file and its arguments: "scripts/puzzler.lua --n 9". The timelines that it
records count, or the whole run if it records none. Its output is not shown. The
first run writes files and starts commands as always; the draws change no files,
get the answers that the commands gave, and compute values only if they differ.
Ctrl-C ends the draws, and what they have shown so far is printed.]],
    { title = "the simulated GPU",
        { "--profile NAME", read = values.profile, "h200, ... or a profile's file" },
        shared.host },
    { title = "the runs",
        { "--spread N", read = values.whole(2, 1000), [[
            how many draws, from 2 to 1000 (default 20)]] },
        shared.seeds },
    { title = "what to print",
        { "--json", "one object for each script instead" } },
    { title = "others" },
    ending = [[
Exit status: 0 success, 1 a script failed, 2 wrong usage, 130 after Ctrl-C.]],
}
