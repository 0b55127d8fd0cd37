-- whatif.lua - the command line of streamlab whatif.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

-- A change by its name: { name, selection, argument }, in the order given. With a second value the
-- selection and that are a list.
local function change(name)
    return function(text)
        return text ~= "" and { name, text } or nil, "a selection"
    end
end

local function number(text)
    local value = tonumber(text)
    if not value or value < 0 then
        return nil, "a number from 0 on"
    end
    return value
end

local function whole(text)
    return math.tointeger(tonumber(text)), "a whole number"
end

-- { name, factor }: it chooses nothing.
local function of_the_host(text)
    local factor, wanted = number(text)
    return factor and { "host_scale", factor }, wanted
end

local units <const> = { [""] = 1, B = 1, kB = 1e3, KB = 1e3, MB = 1e6, GB = 1e9,
                        KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30 }

-- { name, argument }: likewise.
local function of_all(name, read)
    return function(text)
        local value, wanted = read(text)
        return value and { name, value }, wanted
    end
end

local function bytes(text)
    local value, unit = text:match("^(%d+%.?%d*)(%a*)$")
    if not value or not units[unit] then
        return nil, "a size like 25MB or 64MiB"
    end
    return math.ceil(tonumber(value) * units[unit])
end

local function row(names, name, text, second)
    return { names, read = change(name), second = second, field = "edits", list = true, text }
end

local languages <const> = { lua = "lua", py = "pytorch", cu = "cuda" }

-- { file, language }
local function script(text)
    local language = languages[text:match("[^/]%.(%w+)$")]
    return language and { text, language }, "a file that ends in .lua, .py or .cu"
end

return {
    usage = "streamlab whatif [options] FILE",
    about = [[
Plays a recorded program again, with changes, and says how long it would take,
with charts of both, and what would stand in the way next.
Without changes it tries single ones, and lists them by what they would gain.
FILE is what streamlab show reads. SEL chooses operations or calls: a pattern for
their names, as 'Memcpy HtoD*', or kernel=, operator=, module=, line=, phase=,
step= or stream= with a pattern; step=3 or step=3..5. 'A|B' is either of two.]],
    { title = "changes, in the order given",
        row("--pin SEL", "pin", "copies from or to pageable memory: as fast as pinned"),
        row("--non-blocking SEL", "non_blocking", [[
            the host does not wait for these copies, which are of pinned
            memory]]),
        row("--move SEL STREAM", "move", "to a stream of their own of that name", values.some),
        row("--prefetch SEL N", "prefetch", "copies to the GPU are called N of them earlier",
            number),
        row("--priority SEL P", "priority", "of kernels; less is more urgent, from -5 on",
            whole),
        row("--drop-sync SEL", "drop_sync", [[
            the host waits no longer in these calls, as
            'cudaStreamSynchronize' or line=...]]),
        row("--drop-wait SEL", "drop_wait", "streams wait for no events there"),
        row("--scale SEL F", "scale", "times these operations take, by a factor", number),
        row("--remove SEL", "remove", "operations and calls that are neither called nor run"),
        row("--fuse SEL", "fuse", "neighbours in a stream become one launch"),
        row("--batch SEL", "batch", "neighbours of the same name become one launch, or copy"),
        row("--graph SEL", "graph", "launches without a wait between them become one"),
        row("--threads SEL", "threads", [[
            another thread, two ahead, makes these calls and does what the
            host did before them]]),
        row("--async SEL", "async", [[
            later work waits no longer for these collectives and copies from
            the GPU, before the optimizer, the next step or a wait of the
            host]]),
        { "--buckets SIZE", read = of_all("buckets", bytes),
            field = "edits", list = true, [[
            all-reduces of gradients are of that size, as 25MB or 25MiB]] },
        { "--channels N", read = of_all("channels", values.whole(1, 1024)),
            field = "edits", list = true, "blocks that collectives have on the GPU" },
        { "--profile NAME", read = of_all("profile", values.some),
            field = "edits", list = true, [[
            another GPU, as h100 or a100: the profiles of streamlab run]] },
        { "--host-scale F", read = of_the_host, field = "edits", list = true, [[
            what the host does between and in its calls, by a factor]] } },
    { title = "a part of it, as what comes before the first step is left out",
        { "--step N, --step N..M", read = values.steps, [[
            what was launched during these steps of PyTorch's profiler, or
            ranges called "step 3"]] },
        { "--range NAME", read = values.name, [[
            what was launched in ranges of that name; * stands for
            anything]] } },
    { title = "what to print",
        { "--code", [[
            also what to write: for each change, or the three best, the
            lines that it concerns, and code with what to check]] },
        { "--as LANGUAGE", with = "code", one_of = { "pytorch", "cuda", "cupy", "lua" },
            "in which language; else that of the recording" },
        { "--json", "one JSON object instead" },
        { "--diff KEY", one_of = { "kernel", "operator", "module", "line", "step" }, [[
            also which of these take less or more time with the changes]] },
        { "--no-chart", "no charts of the program before and after" },
        shared.rows,
        { "--columns N", read = values.columns, "their width, else that of the terminal" } },
    { title = "files",
        { "-o, --output FILE", read = values.timeline_file, field = "files", list = true, [[
            also write what is predicted: .svg (below the program as it is),
            .html, .json or .json.gz; may be given several times]] },
        { "--export FILE", read = script, field = "exports", list = true, [[
            the program with its changes as a script that can be run: Lua
            (.lua), Python with PyTorch (.py) or CUDA C++ (.cu)]] } },
    ending = [[
What --export writes makes the same calls, with kernels that compute nothing and
take as long; of programs with several GPUs, processes, collectives, or threads
that call at the same time it writes nothing, and says so.
Which data an operation needs is not in a trace: check that the changed program
may do without the order that it loses. --graph assumes 8 us for a launch of the
graph, and 0.1 us from a node to the next. Ranges hold 41 of 43 measured
pairs, all of which the model was adjusted to (docs/results/whatif.md).
Exit status: 0 success, 1 a file cannot be read, or its records do not carry a
prediction, 2 wrong usage.]],
}
