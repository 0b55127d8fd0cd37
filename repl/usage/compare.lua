-- compare.lua - the command line of streamlab compare.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

local function simulated(text)
    local name = text:gsub("^sim:", "")
    if name == "" then
        return nil, "a profile, as sim:a100"
    end
    return name
end

-- A reader of a list with commas; `what`: what it is a list of.
local function several(what)
    return function(text)
        local list = {}
        for word in text:gmatch("[^,]+") do
            list[#list + 1] = word
        end
        if #list == 0 then
            return nil, what .. ", with commas between them"
        end
        return list
    end
end

local function used(text)
    local known = { ["held-out"] = "held out", adjusting = "adjusting" }
    return known[text], "held-out or adjusting"
end

return {
    usage = "streamlab compare [options] SCRIPT... or --benchmark [FILE]",
    about = [[
Runs scripts on the GPU and on the simulator, times and records both, and says
how much the simulator's makespans, overlaps and orders differ from the GPU's. A
SCRIPT is a file, or in one word a file and its arguments: "a.lua --n 9". The
timelines that it records are compared, or the whole run if it records none. Its
output is not shown, and its first run alone writes files.]],
    { title = "the two sides",
        shared.profile,
        shared.host,
        { "--spread N", read = values.whole(2, 1000), [[
            also N simulated runs with figures drawn from the profile's
            uncertain ones: the range of the simulated makespan]] },
        { "--against NAME", read = simulated, [[
            another simulated GPU instead of the real one: a100 or
            sim:a100, or a profile's file]] },
        { "--measured FILE", read = values.some, [[
            figures from FILE, which an earlier --jsonl has written,
            instead of runs on the GPU; without scripts, those in FILE]] },
        { "--runs N", read = values.whole(1, 1000), [[
            runs on the GPU, after one to warm up; the median counts
            (default 5)]] },
        { "--rounds", [[
            run all scripts on the GPU once, then all a second time, ...
            A slow minute of the machine then affects one run of each]] },
        shared.seeds },
    { title = "what to print",
        { "-v, --verbose", "each script in full, as for a single one" },
        { "--json", "one object for each script instead" },
        { "--quiet", "no progress on stderr" } },
    { title = "files to write",
        { "--jsonl FILE", read = values.some, "what --json prints" },
        { "--svg FILE", read = values.file ".svg", [[
            a picture, predicted makespans against measured ones]] },
        { "--dump FOLDER", read = values.some, [[
            all operations of both sides, a text file for each script]] },
        { "--plan FILE.jsonl", read = values.file ".jsonl", [[
            run nothing yet: streamlab work FILE runs the scripts, on any
            number of machines, and streamlab merge FILE prints the summary]] } },
    { title = "the benchmark, which needs no GPU",
        { "--benchmark", [[
            scores predictions of what GPUs took for random programs. FILE
            has the measurements: docs/results/benchmark.jsonl, in the
            repository's root. --profile, --host, --spread, --json and
            --quiet hold, and --seeds takes only these programs]] },
        { "--list", with = "benchmark", [[
            what the programs do, a line of JSON each, instead of scores:
            for other simulators. With --families and --seeds also
            programs that were not measured]] },
        { "--predictions F", with = "benchmark", read = values.some, [[
            the predictions of another simulator, instead of a profile's:
            lines {"family": "mixed", "seed": 1, "us": 20.5}, perhaps with
            low_us and high_us]] },
        { "--write-predictions F", with = "benchmark", read = values.some, [[
            writes those of the profile, in that form]] },
        { "--families F,...", with = "benchmark", read = several "families of programs", [[
            only these: mixed, captured, graphs, kernels, calls, gpus, apart]] },
        { "--days D,...", with = "benchmark", read = several "days as 2026-11-22", [[
            only what was measured on these days: 2026-11-22, or with the
            machine as the table has it: "2026-11-22 a"]] },
        { "--used WORD", with = "benchmark", read = used, [[
            only programs that were held-out while the simulator was
            adjusted, or those used for adjusting]] } },
    { title = "others" },
    ending = [[
Exit status: 0 success, 1 a script failed, or a file cannot be read or written,
2 wrong usage.]],
}
