-- program.lua - the command line of the program itself.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

-- What -e and -l give: in the order given they are run.
local function chunk(letter)
    return function(text)
        return { letter, text }
    end
end

-- "3,4"
local function descriptors(text)
    local requests, replies = text:match("^(%d%d?%d?%d?),(%d%d?%d?%d?)$")
    if not requests then
        return nil, "two descriptors, as --server=3,4"
    end
    return { tonumber(requests), tonumber(replies) }
end

return {
    usage = {
        "streamlab [options] [script [args]]",
        "streamlab lab|probe|calibrate|compare|predict|hosts|help ...",
        "streamlab record|show|diff|whatif ...",
        "streamlab work|merge|sbatch PLAN ...",
    },
    about = [[
Runs a Lua script with the laboratory in the global `lab`.]],
    { title = "as lua5.4",
        { "-e STAT", read = chunk "e", field = "chunks", list = true, free = true, [[
            run the string STAT]] },
        { "-i", "read and run lines from stdin after the script" },
        { "-l MOD, -l G=MOD", read = chunk "l", field = "chunks", list = true, [[
            require MOD into the global MOD, or G]] },
        { "-v", "print the version" },
        { "-E", "ignore environment variables" },
        { "-W", "turn warnings on" },
        { "--", "stop handling options" },
        { "-", "run stdin as a script" } },
    { title = "the laboratory",
        { "--backend NAME", one_of = { "cuda", "sim" }, [[
            cuda, a real GPU, or sim, the simulated one; without it
            cuda if a GPU answers]] },
        shared.device,
        { "--devices N", read = values.whole(1, 64), [[
            how many GPUs the simulated machine has, 1 to 64]] },
        shared.profile,
        shared.host,
        { "--seed N", read = values.whole(0, math.maxinteger), "the seed of random tensors" },
        { "--tune", [[
            measure how the first matmul of each shape is fastest on a
            real GPU, and keep that for later runs]] },
        { "--spread N", read = values.whole(2, 1000), [[
            first run the script N times in draws from the profile's
            uncertain figures; what it records then has a range]] },
        { "--trace FILE", read = values.timeline_file, [[
            record the whole run and save it; FILE ends in .json,
            .json.gz, .svg, .html, .et or .goal]] },
        { "--check[=MODE]", one_of = { "warn", "error" }, default = "warn", [[
            look for races: warn (default) reports them on stderr, error
            raises where one would happen]] },
        { "--server[=IN,OUT]", read = descriptors, default = "3,4", [[
            answer requests that come as lines of JSON on descriptor IN
            (3) with lines on OUT (4), for notebooks and editors]] },
        { "--display FILE", read = values.some, [[
            also write what scripts show there, as the events that
            --server sends: timelines as pages, plots as pictures]] } },
    { title = "subcommands, each with --help",
        { "lab ...", "course labs: check, grade, new, pack, print" },
        { "probe", "what CUDA's calls do to the host and to streams" },
        { "calibrate", "measures a GPU: a profile for the simulator" },
        { "compare SCRIPT...", "scripts on the GPU and on the simulator, side by side" },
        { "predict SCRIPT...", "between which times scripts' makespans lie, and why" },
        { "hosts", "what recordings on real GPUs have shown of the host" },
        { "record -- COMMAND", "records a CUDA program, and says where time was lost" },
        { "show FILE", "a trace file as chart, figures and explanation, or as a picture" },
        { "diff A B", "two trace files side by side, and what moved" },
        { "whatif FILE", "how long a recorded program would take with changes" },
        { "work PLAN", "works on the points of a plan, also on other machines" },
        { "merge PLAN", "the table of what was worked on" },
        { "sbatch PLAN", "a script with which Slurm works on a plan" },
        { "help [NAME]", "help about a function, or the list of all pages" } },
    { title = "others",
        { "--color WHEN", one_of = { "auto", "always", "never" }, [[
            auto (default), always or never]] },
        { "--norc", "do not run the REPL's start file" },
        { "--version", "print the version and stop" },
        { "--help", "print this and stop" } },
    ending = [[
Without a script, lines are read from stdin if it is a terminal, and all of
stdin is run as a script if not.
Exit status: 0 success, 1 error in a script, 2 wrong usage, 130 Ctrl-C.]],
}
