-- timing.lua - time(f), timeit(f), and .timer on.
--
-- On the simulator times are virtual: those of the simulated host and GPU. The time that the
-- simulation takes on this machine is added if it is noticeable.

local strings = import "repl/run/strings.lua"
local text = import "repl/run/text.lua"

local timing = {}

local felt_ns <const> = 100000000

-- "1.234 ms"
local function duration(ns)
    local units, unit, value = { "ns", "us", "ms", "s" }, 1, ns
    while value >= 1000 and unit < #units do
        value, unit = value / 1000, unit + 1
    end
    return (unit == 1 and "%.0f %s" or "%.3f %s"):format(value, units[unit])
end

-- ---- clocks ---------------------------------------------------------------------------

-- Now, on the real clock and on that of the current device, if one is open and simulated.
local function read_clocks()
    local device = internals.current_device()
    local simulated = device and device.simulated
    return { wall_ns = internals.wall_ns(), device = device, simulated = simulated,
             virtual_ns = simulated and internals.now_ns() }
end

-- From the first reading to the second: on the device's clock if it is a simulated one. That
-- of a device which was opened in between began at 0.
local function elapsed(from, to)
    local wall_ns = to.wall_ns - from.wall_ns
    if not to.simulated then return wall_ns, wall_ns, false end
    if from.device and from.device ~= to.device then return wall_ns, wall_ns, false end
    return to.virtual_ns - (from.virtual_ns or 0), wall_ns, true
end

-- Synchronises only if work is in flight, because a call on an idle device costs time, too.
local function wait(device)
    local state = device and internals.state(device)
    if state and state.in_flight > 0 then lab.synchronize() end
end

-- ---- time(f) --------------------------------------------------------------------------

local function print_rows(rows)
    local width = 0
    for _, row in ipairs(rows) do width = math.max(width, #row[1]) end
    for _, row in ipairs(rows) do
        local figure = text.pad(row[1], width, true) .. "  "
        local lines = text.fold(figure .. row[2], internals.columns())
        lines[1] = text.paint("number", figure) .. lines[1]:sub(#figure + 1)
        io.write(table.concat(lines, "\n"), "\n")
    end
end

local function report(start, returned, done, busy_us)
    local total_ns, wall_ns, virtual = elapsed(start, done)
    local simulated = virtual and " (simulated)" or ""
    if not done.device then
        print_rows { { duration(wall_ns), "until f returned" } }
        return
    end
    local rows = {
        { duration(elapsed(start, returned)), "until f returned" .. simulated },
        { duration(total_ns), "until all work was done" .. simulated },
    }
    if busy_us and total_ns > 0 then
        rows[3] = { duration(busy_us * 1000),
                    ("the GPU worked (%.0f %%)"):format(busy_us * 1e5 / total_ns) }
    end
    if virtual and wall_ns >= felt_ns then
        rows[#rows + 1] = { duration(wall_ns), "of real time for that" }
    end
    print_rows(rows)
end

-- Runs f with a recording on the simulator, where that costs no virtual time.
local function run_recorded(tl, start, f, ...)
    local closer <close> = tl
    local results = table.pack(strings.call_users(f, ...))
    local returned = read_clocks()
    wait(returned.device)
    local done = read_clocks()
    if tl then tl:stop() end
    report(start, returned, done, tl and tl:busy_us())
    return table.unpack(results, 1, results.n)
end

-- time(f, ...): runs f(...), waits for the device, prints how long it took, and returns what
-- f returned. Waits for earlier work first.
function timing.time(f, ...)
    if type(f) ~= "function" then
        internals.raise("SL_EINVAL", "time", ("argument 1 (f) must be a function, got %s; write "
            .. "time(function() ... end)"):format(internals.type_name(f)))
    end
    local device = internals.current_device()
    wait(device)
    local tl = device and device.simulated and lab.record() or nil
    return run_recorded(tl, read_clocks(), f, ...)
end

-- ---- timeit(f) -------------------------------------------------------------------------

local enough_ns <const> = 200000000     -- of real time, in which runs are repeated
local least_runs <const>, most_runs <const> = 5, 1000

-- How often f is run, judging by a first run.
local function runs_of(f)
    local began = internals.wall_ns()
    strings.call_users(f)
    wait(internals.current_device())
    local ns = math.max(internals.wall_ns() - began, 1)
    return math.max(least_runs, math.min(most_runs, enough_ns // ns))
end

-- The options with the number of runs; lab.measure refuses what is wrong with them.
local function with_reps(f, options)
    local asked = {}
    if options ~= nil and type(options) ~= "table" then return options end
    for name, value in next, options or {} do asked[name] = value end
    asked.reps = asked.reps or runs_of(f)
    return asked
end

-- timeit(f, {reps =, warmup =}): what lab.measure gives, as two lines.
function timing.timeit(f, options)
    if type(f) ~= "function" then
        internals.raise("SL_EINVAL", "timeit", ("argument 1 (f) must be a function, got %s; write "
            .. "timeit(function() ... end)"):format(internals.type_name(f)))
    end
    local r = lab.measure(f, with_reps(f, options))
    local device = internals.current_device()
    print_rows {
        { duration(r.median_us * 1000), ("until all work was done%s, the median of %d runs"):format(
            device and device.simulated and " (simulated)" or "", #r.samples_us) },
        { duration(r.min_us * 1000), "the shortest; the longest took "
            .. duration(r.max_us * 1000) },
    }
end

-- ---- .timer ---------------------------------------------------------------------------

local on, started = false, nil

-- .timer on, .timer off
function timing.set(value)
    on, started = value, nil
end

function timing.before()
    if on then started = read_clocks() end
end

-- It does not synchronise, which would change the experiment.
function timing.after()
    if not started then return end
    local ns, wall_ns, virtual = elapsed(started, read_clocks())
    started = nil
    local line = "time: " .. duration(ns) .. (virtual and " simulated" or "")
    if virtual and wall_ns >= felt_ns then line = line .. ", " .. duration(wall_ns) .. " real" end
    local device = internals.current_device()
    local state = device and internals.state(device)
    if state and state.in_flight > 0 then
        line = line .. "; " .. text.count(state.in_flight, "operation") .. " in flight"
    end
    for _, folded in ipairs(text.fold(line, internals.columns())) do
        io.write(text.paint("dim", folded), "\n")
    end
end

return timing
