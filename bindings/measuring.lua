-- measuring.lua - how long something takes.

local lab, core = ...

local as, synchronize = core.as, lab.synchronize
local check_function, no_more = core.arguments.check_function, core.arguments.no_more
local check_options, is_count = core.arguments.check_options, core.arguments.is_count

local measure_options = {
    {"warmup", "a whole number from 0 on", is_count},
    {"reps", "a whole number from 1 on", function(value) return is_count(value) and value >= 1 end},
}

-- On the host's clock; the device is idle at both ends of each repetition.
function lab.measure(f, opts, ...)
    check_function(f, 1, "measure")
    no_more(2, "measure", ...)
    opts = check_options(opts, measure_options, "measure")
    local samples, sorted = {}, {}
    for _ = 1, opts.warmup or 3 do f() end
    as("measure", synchronize)
    for i = 1, opts.reps or 9 do
        local start_ns = core.now_ns()
        f()
        as("measure", synchronize)
        samples[i] = (core.now_ns() - start_ns) / 1000
        sorted[i] = samples[i]
    end
    table.sort(sorted)
    local n = #sorted
    local median_us = (sorted[(n + 1) // 2] + sorted[n // 2 + 1]) / 2
    return {median_us = median_us, min_us = sorted[1], max_us = sorted[n], samples_us = samples}
end
