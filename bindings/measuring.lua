-- measuring.lua - how long something takes.

local lab, core = ...

local table = table
local as, synchronize = core.as, lab.synchronize
local check_function, no_more = core.arguments.check_function, core.arguments.no_more
local check_options, is_count = core.arguments.check_options, core.arguments.is_count

core.measure_options = {
    {"warmup", "a whole number from 0 on", is_count},
    {"reps", "a whole number from 1 on", function(value) return is_count(value) and value >= 1 end},
}

-- {median_us, min_us, max_us, spread, samples_us}
local function statistics(samples)
    local sorted = table.move(samples, 1, #samples, 1, {})
    table.sort(sorted)
    local n = #sorted
    local median_us, range_us = (sorted[(n + 1) // 2] + sorted[n // 2 + 1]) / 2, sorted[n] - sorted[1]
    return {median_us = median_us, min_us = sorted[1], max_us = sorted[n],
            spread = range_us == 0 and 0 or range_us / median_us, samples_us = samples}
end

-- On the host's clock; the device is idle at both ends of each repetition. For the function
-- `op`, with its checked options.
function core.measure(op, f, opts)
    local samples = {}
    for _ = 1, opts.warmup or 3 do f() end
    as(op, synchronize)
    for i = 1, opts.reps or 9 do
        local start_ns = core.now_ns()
        f()
        as(op, synchronize)
        samples[i] = (core.now_ns() - start_ns) / 1000
    end
    return statistics(samples)
end

function lab.measure(f, opts, ...)
    check_function(f, 1, "measure")
    no_more(2, "measure", ...)
    return core.measure("measure", f, check_options(opts, core.measure_options, "measure"))
end
