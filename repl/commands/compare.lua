-- compare.lua - streamlab compare SCRIPT...: scripts on the GPU and on the simulator, side by
-- side.

local command = import "repl/run/command.lua"
local comparison = import "repl/compare/comparison.lua"
local devices = import "repl/compare/devices.lua"
local entries = import "repl/compare/entries.lua"
local files = import "repl/run/files.lua"
local instruments = import "repl/run/instruments.lua"
local lists = import "repl/run/lists.lua"
local picture = import "repl/compare/picture.lua"
local records = import "repl/compare/records.lua"
local report = import "repl/compare/report.lua"
local runs = import "repl/compare/runs.lua"

-- ---- the command line ----------------------------------------------------------------------

local options, words = command.read(import "repl/usage/compare.lua", { ... })

-- Refuses options by their names, with a sentence about them.
local function refuse_any(names, sentence)
    for _, name in ipairs(names) do
        if options[name] then
            command.refuse(("--%s %s"):format(name, sentence))
        end
    end
end

local function check_benchmark()
    refuse_any({ "against", "measured", "runs", "rounds", "verbose", "svg", "jsonl", "dump" },
        "goes with scripts, not with --benchmark")
    if options.list then
        refuse_any({ "predictions", "write-predictions", "profile", "host", "spread", "json" },
            "goes with scores, not with --list")
    end
    if options.predictions then
        refuse_any({ "profile", "host", "spread", "write-predictions" },
            "goes with a profile's predictions, not with --predictions")
    end
    if #words > 1 then
        command.refuse(("--benchmark takes one file, got '%s' as well"):format(words[2]))
    end
end

if options.plan then
    refuse_any({ "benchmark", "measured", "rounds", "verbose", "json", "svg",
                 "jsonl", "dump" },
        "does not go with --plan; --json, --svg and --jsonl are for streamlab merge")
end
if options.benchmark then
    check_benchmark()
elseif options.measured then
    refuse_any({ "against", "dump", "rounds", "runs" }, "goes with runs, not with --measured")
elseif options.rounds and options.against then
    command.refuse("--rounds goes with a real GPU: a simulated one takes as long each time")
elseif #words == 0 then
    command.refuse("a script is needed")
end

-- ---- the two sides -------------------------------------------------------------------------

local tell = command.progress(options)

local function run_benchmark()
    local benchmark = instruments.import "scripts/measure/benchmark/benchmark.lua"
    if options.list then
        benchmark.list(words[1], { seeds = options.seeds, families = options.families,
                                   days = options.days, used = options.used })
        return true
    end
    local profile, host
    if not options.predictions then
        profile, host = devices.chosen(options)
    end
    return benchmark.run(words[1], {
        predictions = options.predictions, profile = profile, host = host,
        open = profile and devices.checked(devices.simulator(profile, host), command.refuse),
        seeds = options.seeds, families = options.families,
        spread = options.spread, days = options.days, used = options.used, json = options.json,
        write_predictions = options["write-predictions"],
    }, tell)
end

if options.benchmark then
    os.exit(run_benchmark())
end

local settings = { profile = options.profile, host = options.host, against = options.against,
                   runs = options.runs, spread = options.spread, without_gpu = options.measured }

-- ---- what was measured before --------------------------------------------------------------

local most_measured <const> = 256 * 1024 * 1024

local function read_measured(path)
    local text, reason = files.read_bounded(path, most_measured)
    if not text then
        command.fail(("cannot read %s: %s"):format(path, reason))
    end
    local list, line, problem = records.read(text)
    if not list then
        command.fail(("%s:%d: not a line of --jsonl: %s"):format(path, line, problem))
    elseif #list == 0 then
        command.fail(path .. " has no scripts")
    end
    return list
end

local function key(script, seed)
    return script .. "\n" .. (seed or "")
end

local function by_key(list)
    local known = {}
    for _, record in ipairs(list) do
        known[key(record.script, record.seed)] = record
    end
    return known
end

-- What is to be run, and by key what was measured before.
local function read_entries()
    local measured = options.measured and read_measured(options.measured)
    if #words > 0 then
        return entries.list(words, options.seeds), measured and by_key(measured)
    end
    return lists.map(measured, function(record) return entries.new(record.script, record.seed) end),
        by_key(measured)
end

-- ---- the runs ------------------------------------------------------------------------------

local function compare(entry, opened, measured)
    local record = measured and measured[key(entry.script, entry.seed)]
    if measured and not record then
        return nil, options.measured .. " does not have it"
    end
    return comparison.run(entry, opened, record)
end

local pipes = {}            -- path -> whether it is one

local function prepare_files()
    for _, path in pairs { options.jsonl or false, options.svg or false } do
        if path then
            pipes[path] = command.try_file(path)
        end
    end
    if options.dump then
        local made, reason = program.make_folder(options.dump)
        if not made then
            command.fail(reason)
        end
    end
end

-- The number keeps the names of files apart.
local function write_dump(number, result)
    local name = ("%04d-%s.txt"):format(number, result.entry.name:gsub("[^%w._-]+", "_"):sub(-120))
    local written, reason = files.write(options.dump .. "/" .. name, records.operations(result))
    if not written then
        command.fail(reason)
    end
end

-- "2 of 9  scripts/puzzler.lua  0.998"
local function progress(number, n, result)
    local r, note = result.record, ""
    if result.gpu and #result.sim.parts ~= #result.gpu.parts then
        note = ("  (%d timelines simulated, %d measured)"):format(#result.sim.parts,
            #result.gpu.parts)
    end
    return ("%d of %d  %s  %.3f%s"):format(number, n, result.entry.name, r.sim_us / r.gpu_us, note)
end

-- The lines of all scripts so far; where a path leads to a pipe, once, at the end.
local function write_lines(lines, is_end)
    if options.jsonl and is_end == pipes[options.jsonl] then
        command.write(options.jsonl, table.concat(lines))
    end
end

local list, measured = read_entries()
if options.plan then
    local count, reason = import("repl/plans/comparisons.lua").write(options.plan, list, settings)
    if not count then
        command.fail(reason)
    end
    print(("%d scripts are in %s"):format(count, options.plan))
    os.exit(0)
end
local opened = devices.open(settings, command.refuse, tell)
local in_full = not options.json and (options.verbose or #list == 1)
prepare_files()

-- Only these are kept of a script, because timelines would fill the memory.
local results, lines = {}, {}

local function take(number, result)
    tell(progress(number, #list, result))
    lines[#lines + 1] = records.line(result.record)
    results[#results + 1] = { entry = result.entry, record = result.record }
    write_lines(lines, false)
    if options.dump then
        write_dump(number, result)
    end
    if in_full then
        report.print(result, opened.other)
    end
end

-- Once a process has recorded the GPU, the recorder takes part of all that runs there.
if opened.real and not measured then
    opened.rounds = options.rounds
    opened.timed = runs.gather(list, opened, tell, true)
    opened.gathered = options.rounds and runs.gather(list, opened, tell) or nil
end
for i, entry in ipairs(list) do
    local result, reason = compare(entry, opened, measured)
    if result then
        take(i, result)
    else
        command.warn(entry.name .. ": " .. reason)
    end
end

local failed = #list - #results
write_lines(lines, true)
if options.svg and #results > 0 then
    command.write(options.svg, picture.svg(results))
end
if options.json then
    io.stdout:write(table.concat(lines))
elseif #list > 1 then
    io.stdout:write(report.summary(results, failed, not options.against))
end
if failed > 0 then
    os.exit(1)
end
