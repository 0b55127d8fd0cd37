-- calibrate.lua - the command line of streamlab calibrate.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

-- In order: later ones use what earlier ones have found. First those before which nothing may have
-- been recorded.
local parts <const> = {
    "graph_launches", "host", "device", "queue", "split", "latencies", "gemm", "kernels", "copies",
    "pageable", "memory", "graphs", "graph_calls", "peers", "collectives",
    "implicit",
}

-- A set of parts' names.
local function some_parts(text)
    local known, chosen = {}, {}
    for _, name in ipairs(parts) do
        known[name] = true
    end
    for name in (text .. ","):gmatch("([^,]*),") do
        if not known[name] then
            return nil, "parts of " .. table.concat(parts, ",")
        end
        chosen[name] = true
    end
    return chosen
end

-- Their names, in lines that are not too long.
local function part_lines()
    local break_behind <const> = "(" .. ("."):rep(50) .. "%S*) "
    return (table.concat(parts, " "):gsub(break_behind, "%1\n"))
end

return {
    parts = parts,
    usage = {
        "streamlab calibrate -o NAME.lua [options]",
        "streamlab calibrate --host -o NAME.lua [options]",
        "streamlab calibrate --kernels -o NAME.lua [options] SCRIPT [args]",
        "streamlab calibrate --difference A.lua B.lua",
    },
    about = [[
Measures the GPU: what calls cost the host, the gaps between operations, how
long kernels and copies take, what runs at the same time. Writes a profile, with
which the simulator has the same times; each value says how it was measured and
how much its repetitions differ. Takes 90 seconds on a real GPU, which should
be idle otherwise; of two GPUs also the link and collectives between them. A
simulated GPU can be measured, too: that gives its profile.]],
    { title = "the device, else the one that a script would get",
        shared.backend,
        shared.device,
        shared.profile },
    { title = "what to measure and to write",
        { "-o, --output FILE", read = values.file ".lua", "the profile, which ends in .lua" },
        { "--only PART,...", read = some_parts,
            "only these parts; there are\n" .. part_lines() },
        { "--base NAME", read = values.profile, [[
            the profile for what is not measured: a name or a file;
            without it the simulated GPU's own, or h200]] },
        { "--passes N", read = values.whole(1, 99), [[
            how often parts run whose figures vary over time, 1 to 99:
            default 7, those of the host 15, on a simulated GPU 1]] },
        { "--seconds N", read = values.whole(1, 600), [[
            about how long it may take: parts run once in any case, and
            again while there is time; 1 to 600, default 90 or, with
            --host, 8, and with --passes as long as these take]] },
        { "--quiet", "do not print the progress" } },
    { title = "instead",
        { "--host", [[
            measure the host's part alone, in ten seconds, as factors
            of the base's; if the file has days of the same base, this
            one is added]] },
        { "--kernels", [[
            run the script and measure the launches of its own kernels
            (lab.kernel), each alone and two at a time; the file gets
            their times as well]] },
        { "--seeds A-B", with = "kernels", read = values.seeds, [[
            with --kernels: the script with --seed A, ... --seed B]] },
        { "--difference", [[
            by how much the figures of two profiles differ; only those
            that were measured in at least one of them]] } },
    { title = "others" },
    ending = [[
Exit status: 0 success, 1 a part failed (the rest is in FILE.partial) or a file
cannot be read or written, 2 wrong usage.]],
}
