-- benchmark.lua - streamlab compare --benchmark: how good a profile's predictions, or those of
-- another simulator, are for random programs that GPUs have run. docs/benchmark.md is its manual.

local benchmark_files = import "scripts/measure/benchmark/benchmark_files.lua"
local command = import "repl/run/command.lua"
local entries = import "repl/compare/entries.lua"
local families = import "scripts/measure/benchmark/families.lua"
local files = import "repl/run/files.lua"
local json = import "repl/run/json.lua"
local listing = import "scripts/measure/benchmark/listing.lua"
local lists = import "repl/run/lists.lua"
local runs = import "repl/compare/runs.lua"
local score_report = import "scripts/measure/benchmark/score_report.lua"
local scores = import "scripts/measure/benchmark/scores.lua"

local benchmark = {}

-- From the repository's root.
local default_file <const> = "docs/results/benchmark.jsonl"
local most_bytes <const> = 64 << 20

-- ---- what was measured -----------------------------------------------------------------------

-- A file's text, parsed by parse(text).
local function read(path, parse)
    local text, reason = files.read_bounded(path, most_bytes)
    if not text then
        command.fail(("cannot read %s: %s"):format(path, reason))
    end
    local result, wrong = parse(text)
    if not result then
        command.fail(("%s: %s"):format(path, wrong))
    end
    return result
end

local function read_measured(path)
    if not path and not files.exists(default_file) then
        command.fail(("there is no %s here: run this in the repository's root, or name the "
            .. "file: streamlab compare --benchmark FILE"):format(default_file))
    end
    return read(path or default_file, benchmark_files.measurements)
end

-- Whether a measurement is on one of the days; each is a day, or a day and a machine.
local function is_of_days(m, days)
    return lists.any(days, function(day)
        return day == m.day or day == benchmark_files.occasion(m)
    end)
end

local function selected(list, options)
    local seeds = options.seeds
    return lists.select(list, function(m)
        return (not seeds or seeds[1] <= m.seed and m.seed <= seeds[2])
            and (not options.families or lists.any(options.families,
                function(name) return name == m.family end))
            and (not options.days or is_of_days(m, options.days))
            and (not options.used or options.used == m.used)
    end)
end

-- A measurement of each program, in the order of families and seeds.
local function distinct_programs(list)
    local order = {}
    for i, family in ipairs(families.list) do
        order[family.name] = i
    end
    local programs = lists.map(lists.group(list, benchmark_files.program),
        function(group) return group[1] end)
    return lists.sorted(programs, function(m) return { order[m.family], m.seed } end)
end

-- ---- predictions: by program {us, low_us, high_us} ----------------------------------------------

local function read_generator(path)
    local text, reason = files.read(path)
    if not text then
        command.fail(("cannot read %s: run this in the repository's root"):format(reason))
    end
    return text
end

-- A generator may have changed since its programs were measured.
local function check_generators(digests, programs)
    for _, group in ipairs(lists.group(programs, function(m) return m.family end)) do
        local family = families[group.key]
        local digest, measured = benchmark_files.digest(family, read_generator), digests[group.key]
        if digest ~= measured then
            command.fail(("%s is not the one that drew the programs that were measured: its digest "
                .. "is %s, the file's %s"):format(family.script, digest, measured))
        end
    end
end

-- That of a simulated GPU, which options.open() makes the current device; with a range if there are
-- options.spread draws. Or nil and a reason.
local function simulate_one(entry, options)
    local side, whole = runs.simulated(entry, options.open)
    if not side then
        return nil, whole
    elseif side.makespan_us == 0 then
        return nil, "it enqueues nothing"
    elseif not options.spread then
        return { us = side.makespan_us }
    end
    local low_us, high_us = runs.range(entry, options.open, whole, options.spread)
    return low_us and { us = side.makespan_us, low_us = low_us, high_us = high_us }, high_us
end

local function simulate(programs, options, tell)
    local predictions = {}
    for i, m in ipairs(programs) do
        local family = families[m.family]
        local entry = entries.new(family.script .. family.arguments, m.seed)
        entry.unrecorded = true
        local prediction, reason = simulate_one(entry, options)
        if prediction then
            predictions[benchmark_files.program(m)] = prediction
        else
            command.warn(entry.name .. ": " .. reason)
        end
        if i % 100 == 0 then
            tell(("%d of %d simulated"):format(i, #programs))
        end
    end
    return predictions
end

local function guesses_of(list, predictions)
    local guesses = {}
    for _, m in ipairs(list) do
        local prediction = predictions[benchmark_files.program(m)]
        guesses[#guesses + 1] = prediction and scores.guess(m, prediction)
    end
    return guesses
end

local function count_unused(predictions, all)
    local known, unused = {}, 0
    for _, m in ipairs(all) do
        known[benchmark_files.program(m)] = true
    end
    for program in pairs(predictions) do
        unused = unused + (known[program] and 0 or 1)
    end
    return unused
end

local function predict(programs, digests, options, tell)
    if options.predictions then
        return read(options.predictions, benchmark_files.predictions)
    end
    check_generators(digests, programs)
    return simulate(programs, options, tell)
end

local function check_families(names)
    for _, name in ipairs(names) do
        if not families[name] then
            command.refuse(("there is no family '%s': %s"):format(name,
                lists.join(families.list, function(family) return family.name end)))
        end
    end
end

-- ---- the command -----------------------------------------------------------------------------

-- The programs of families and a range of seeds, whether they were measured or not.
local function programs_of(options)
    local programs = {}
    for _, name in ipairs(options.families) do
        for seed = options.seeds[1], options.seeds[2] do
            table.insert(programs, { family = name, seed = seed })
        end
    end
    return programs
end

-- Prints what programs do, a line of JSON each: those of the file that options choose, or with
-- families and seeds these seeds.
function benchmark.list(path, options)
    check_families(options.families or {})
    local programs
    if options.families and options.seeds then
        programs = programs_of(options)
        for _, name in ipairs(options.families) do read_generator(families[name].script) end
    else
        local measured = read_measured(path)
        programs = distinct_programs(selected(measured.list, options))
        check_generators(measured.digests, programs)
    end
    for _, one in ipairs(programs) do
        io.stdout:write(json.write(listing.program(one.family, one.seed)), "\n")
    end
end

-- Whose predictions they are.
local function source_of(options)
    return options.predictions or "the profile " .. options.profile
        .. (type(options.host) == "string" and ", host " .. options.host or "")
end

-- options: predictions, or profile and host (their names; the host may be nil), open (which makes
-- them the current device) and spread;
-- seeds, families, days, used; json; write_predictions. `path`: the measurements, or nil. Gives
-- whether there is a prediction for each program, where a profile makes them.
function benchmark.run(path, options, tell)
    check_families(options.families or {})
    local measured = read_measured(path)
    local list = selected(measured.list, options)
    if #list == 0 then
        command.fail("no measurement is left by --families, --seeds, --days and --used")
    end
    local programs = distinct_programs(list)
    local predictions = predict(programs, measured.digests, options, tell)
    if options.write_predictions then
        command.write(options.write_predictions,
            benchmark_files.predictions_text(predictions, programs))
    end
    local missing = lists.select(lists.map(programs, benchmark_files.program),
        function(program) return not predictions[program] end)
    local result = { file = path or default_file, list = list, programs = #programs,
                     source = source_of(options),
                     guesses = guesses_of(list, predictions), missing = missing,
                     others = scores.other_occasions(list, measured.list),
                     unused = count_unused(predictions, measured.list) }
    io.stdout:write((options.json and score_report.json or score_report.text)(result))
    return #missing == 0 or options.predictions ~= nil
end

return benchmark
