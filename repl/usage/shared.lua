-- shared.lua - options that several commands have.

local values = import "repl/run/values.lua"

local most_operations <const> = 1000000000000000

return {
    backend = { "--backend NAME", one_of = { "cuda", "sim" }, "cuda or sim" },
    device = { "--device N", read = values.whole(0, 1023),
        "the backend's device number N, from 0" },
    profile = { "--profile NAME", read = values.profile,
        "the simulated GPU: h200, ... or a profile's file" },
    host = { "--host NAME", read = values.profile,
        "the simulated host: that of another profile, or of a file" },
    seeds = { "--seeds A-B", read = values.seeds,
        "each script with --seed A, --seed A+1, ... --seed B" },
    by = { "--by KEY", one_of = { "kernel", "operator", "module", "line", "phase", "step",
                                  "stream", "communication" }, [[
            a table of the operations instead: time, share of all work,
            count, mean, and how long others ran at the same time; of
            steps how long each took, for how long the GPU worked, and
            what was longer in the slowest. KEY is kernel, operator,
            module, line, phase (forward, backward, optimizer),
            step, stream or communication]] },
    skip = { "--skip N", read = values.whole(0, most_operations), [[
            leave out the first N operations, as of a first epoch]] },
    count = { "--count N", read = values.whole(1, most_operations), [[
            then take N operations]] },
    rows = { "--rows WHAT", one_of = { "streams", "engines" }, "streams (default) or engines" },
}
