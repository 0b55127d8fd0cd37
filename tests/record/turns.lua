-- turns.lua OUT PART... - runs programs by turns as they are and recorded, and prints a table: how
-- long their loops take, medians of the turns, and what recording adds; then what the first turn's
-- spools hold, and what a call costs beside what trace_profiler.c takes off. gpu.sh builds the
-- programs and calls it. OUT gets what the programs print, and the spools. TURNS in the environment
-- is how many a program has at most, and ONLY the names of those that run.
--
-- A part takes five minutes at most: then no further turn and no further program begins.
package.path = "tests/record/?.lua;" .. package.path
local held = require "held"

local most_s <const> = 280           -- of a part
local run_s <const>, compile_s <const> = 60, 150 -- of a run, and of one that fills caches
local most_turns <const> = tonumber(os.getenv "TURNS") or 5
local only <const> = os.getenv "ONLY"
local out <const> = assert(arg[1], "usage: turns.lua OUT PART...")
local streamlab <const> = os.getenv "STREAMLAB" or "build/streamlab"
local here <const> = "tests/record/programs/"

local function torch(name, more)
    local row = { name = name, command = "python3 " .. here .. "torch_programs.py " .. name,
                  turns = 3, needs = "torch", python = true }
    for key, value in pairs(more or {}) do
        row[key] = value
    end
    return row
end

local function sample(name)
    return { name = "sample " .. name, command = out .. "/bin/sample " .. name, turns = 3 }
end

-- What a call and a program cost without some kinds of records.
local function without()
    local settings = { "" }
    for _, kinds in ipairs { "kernel", "runtime", "driver", "event", "sync", "overhead" } do
        settings[#settings + 1] = "env STREAMLAB_RECORD_WITHOUT=" .. kinds .. " "
    end
    local rows = {}
    for _, row in ipairs { sample "launches", sample "records", sample "waits", torch "eager" } do
        for _, setting in ipairs(settings) do
            rows[#rows + 1] = { name = row.name, command = row.command, needs = row.needs,
                                turns = row.needs and 1 or 2, setting = setting }
        end
    end
    return rows
end

-- In the order of their parts. `first`: a turn before that counts for nothing, which fills caches.
local parts <const> = {
    calls = { sample "launches", sample "asks", sample "records", sample "waits", sample "syncs" },
    native = {
        { name = "sample", command = out .. "/bin/sample", turns = 5 },
        { name = "cublas", command = out .. "/bin/cublas", turns = 5 },
        { name = "cupy", command = "python3 " .. here .. "cupy_loop.py", turns = 3, needs = "cupy",
          python = true },
        { name = "jax", command = "python3 " .. here .. "jax_loop.py", turns = 3, needs = "jax",
          python = true },
    },
    training = { torch "eager", torch("compiled", { first = true }), torch "loader" },
    streams = { torch "graph", torch "streams", torch "prefetch", torch "server" },
    without = without(),
    two = { torch "nccl" },
    planted = {
        { name = "needless_waits", cause = "event_wait" },
        { name = "empty_cache", cause = "host_blocked" },
        { name = "host_prepares", cause = "host_work" },
        { name = "pin_each_batch", cause = "host_blocked" },
        { name = "results_pageable", cause = "host_blocked" },
        { name = "item_each_step", cause = "host_blocked" },
        { name = "tiny_kernels", cause = "host_issuing" },
    },
}

-- ---- one run --------------------------------------------------------------------------------

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function file_of(name, what) return out .. "/" .. name:gsub("%W", "_") .. "." .. what end

-- The numbers that a program prints as NAME=VALUE, added to those of `numbers`. False: it failed,
-- which is said.
local function run(name, what, command, numbers, limit_s)
    local path = file_of(name, what)
    local shell = ("timeout %d %s >%s 2>%s.err"):format(limit_s or run_s, command, quote(path),
        quote(path))
    local fine, _, status = os.execute(shell)
    if not fine then
        print(("  %s, %s: status %d"):format(name, what, status))
        os.execute(("tail -n 3 %s.err | sed 's/^/    /'"):format(quote(path)))
        return false
    end
    local file <close> = assert(io.open(path))
    for key, value in file:read("a"):gmatch "([%w_]+)=([%d.]+)" do
        numbers[key] = numbers[key] or {}
        table.insert(numbers[key], tonumber(value))
    end
    return true
end

local function record(options, spools, command, setting)
    return ("%s%s record --quiet %s --spools %s -- %s"):format(setting or "", streamlab,
        options or "", quote(spools), command)
end

local function median(list)
    table.sort(list)
    return list[(#list + 1) // 2]
end

local function has(module)
    return not module or os.execute(("python3 -c 'import importlib.util, sys; "
        .. "sys.exit(not importlib.util.find_spec(\"%s\"))' >/dev/null 2>&1"):format(module))
end

-- ---- slowdowns ------------------------------------------------------------------------------

local layout <const> = "%-19s %-11s %8s %8s %9s   %s"
local slowdowns = {} -- of loops that are recorded without more

local function print_row(name, plain, recorded, counts)
    for key, list in pairs(plain) do
        local other = recorded[key]
        if other then
            local before, after = median(list), median(other)
            local percent = 100 * (after / before - 1)
            print(layout:format(name, key, ("%.4g"):format(before), ("%.4g"):format(after),
                ("%+.1f %%"):format(percent), ("%.4g to %.4g / %.4g to %.4g"):format(list[1],
                    list[#list], other[1], other[#other])))
            if counts and key == "loop_s" then
                slowdowns[#slowdowns + 1] = percent
            end
        end
    end
end

-- What a call was found to cost, beside what is taken off.
local function print_costs(plain, recorded, tl)
    local verdict = tl:verdict()
    if plain.per_call_us and recorded.per_call_us and verdict.recording_host_us then
        print(("    a call takes %.2f us more; taken off are %.2f us an operation or call"):format(
            median(recorded.per_call_us) - median(plain.per_call_us),
            verdict.recording_host_us / math.max(tl.span_count, #tl:calls())))
    end
end

-- By turns, so that what changes on the machine meets both. The spools of the first turn are kept.
local function take_turns(row, from_s)
    local plain, recorded = {}, {}
    for turn = 1, math.min(row.turns, most_turns) do
        if turn > 1 and os.time() - from_s > most_s then
            print(("  %s: %d of %d turns, the part's time is over"):format(row.name, turn - 1,
                row.turns))
            break
        end
        local spools = file_of(row.name, turn == 1 and "spools" or "later")
        os.execute("rm -rf " .. quote(spools))
        local command = record(nil, spools, row.command, row.setting)
        if not run(row.name, "plain", row.command, plain)
            or not run(row.name, "recorded", command, recorded) then
            return nil
        end
    end
    os.execute("rm -rf " .. quote(file_of(row.name, "later")))
    return plain, recorded
end

-- How much of the GPU's time gets a line of Python, and what it adds.
local function try_python(row, plain)
    local spools, recorded = file_of(row.name, "lines"), {}
    if not run(row.name, "python", record("--python", spools, row.command), recorded) then
        return
    end
    print_row(row.name .. " --python", plain, recorded)
    for _, one in ipairs(held.read(spools)) do
        if one.tl then
            print(("    %s: %.1f %% of the GPU's time has a line"):format(one.name,
                (held.lines(one.tl))))
        end
    end
end

local function compare(row, from_s)
    if not has(row.needs) then
        print(("%s is left out: there is no %s"):format(row.name, row.needs))
        return
    end
    if row.first then
        run(row.name, "first", row.command, {}, compile_s)
    end
    local plain, recorded = take_turns(row, from_s)
    if not plain then
        return
    end
    if row.setting then
        print_row(row.name, plain, recorded)
        print("    " .. (row.setting == "" and "as usual" or row.setting))
        return
    end
    print_row(row.name, plain, recorded, true)
    local spools = file_of(row.name, "spools")
    held.print(spools)
    local first = held.read(spools)[1]
    if first and first.tl then
        print_costs(plain, recorded, first.tl)
    end
    if row.python then
        try_python(row, plain)
    end
end

-- ---- planted causes -------------------------------------------------------------------------

local measured <const> = { range = "measured" }

local function planted(name, side)
    return ("python3 %splanted.py %s %s"):format(here, name, side)
end

-- Median times of the loop before and after the change, by turns; nil: a run failed.
local function walls_of(name, from_s)
    local before, after = {}, {}
    for turn = 1, math.min(3, most_turns) do
        if turn > 1 and os.time() - from_s > most_s then
            break
        end
        if not run(name, "before", planted(name, "before"), before)
            or not run(name, "after", planted(name, "after"), after) then
            return nil
        end
    end
    return median(before.loop_s), median(after.loop_s)
end

-- The measured loops of the program before the change, as recorded; nil: there are none.
local function record_planted(name)
    local spools = file_of(name, "spools")
    os.execute("rm -rf " .. quote(spools))
    if not run(name, "recorded", record(nil, spools, planted(name, "before")), {}) then
        return nil
    end
    local first = held.read(spools, measured)[1]
    if not first or not first.tl then
        print(("%s: nothing is recorded: %s"):format(name, first and first.problem or "no spool"))
        return nil
    end
    return first.tl, spools
end

-- What the cause gains that leads, as a part of the makespan. Launches are mended by a graph.
local function gain_of(tl, verdict)
    local makespan_us = tl.makespan_us - (verdict.recording_us or 0)
    local first = tl:causes()[1]
    local graph_us = verdict.cause == "host_issuing" and first and first.as_graph_us
    return math.max(verdict.gain_us or 0, graph_us and makespan_us - graph_us or 0) / makespan_us
end

-- What the recording says can be gained, beside what mending the program gained untraced.
local function compare_planted(row, from_s)
    local name = row.name
    local before, after = walls_of(name, from_s)
    local tl, spools = nil, nil
    if before then
        tl, spools = record_planted(name)
    end
    if not tl then
        return
    end
    local verdict = tl:verdict()
    local gained, stated = 1 - after / before, gain_of(tl, verdict)
    print(("%-17s %.4g s, mended %.4g s: gained %.1f %%, stated %.1f %% (%.2f of it)")
        :format(name, before, after, 100 * gained, 100 * stated,
        gained > 0 and stated / gained or 0))
    print(("    %s leads%s"):format(verdict.cause or "nothing",
        verdict.cause == row.cause and "" or ", and not " .. row.cause))
    held.print(spools, measured)
end

-- ---- all -------------------------------------------------------------------------------------

print(layout:format("program", "", "plain", "recorded", "added", "least to most of each"))
for i = 2, #arg do
    local from_s = os.time()
    for _, row in ipairs(assert(parts[arg[i]], "no part " .. arg[i])) do
        if os.time() - from_s > most_s then
            print(("%s and what follows are left out, the part's time is over"):format(row.name))
            break
        end
        if not only or (" " .. only .. " "):find(" " .. row.name .. " ", 1, true) then
            local f = row.cause and compare_planted or compare
            f(row, from_s)
            io.stdout:flush()
        end
    end
    print(("# %s took %d s"):format(arg[i], os.time() - from_s))
end
if #slowdowns > 0 then
    table.sort(slowdowns)
    print(("# recording adds %+.1f %% in the median of %d loops, %+.1f %% at most"):format(
        median(slowdowns), #slowdowns, slowdowns[#slowdowns]))
end
