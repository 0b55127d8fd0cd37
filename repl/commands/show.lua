-- show.lua - streamlab show FILE: a trace file as chart, figures and explanation, or as
-- another file; of several files what the ranks of a program say together.

local command = import "repl/run/command.lua"
local ranks = import "repl/run/ranks.lua"
local shown = import "repl/run/shown.lua"

local options, files = command.read(import "repl/usage/show.lua", { ... })
command.check_range(options)
options.explain = options.explain or options.stream ~= nil or nil
local figures = options.chart or options.summary or options.explain
local tables = options.by or options.idle
local some = figures or tables
if #files == 0 then
    command.refuse("a trace file is needed")
elseif (options.step and 1 or 0) + (options.range and 1 or 0) + (options.skip and 1 or 0) > 1
    or options.count and (options.step or options.range) then
    command.refuse("--step, --range and --skip with --count do not go together")
elseif options.by and options.idle then
    command.refuse("--by and --idle are two tables: give one of them")
elseif options.json and (figures or options.stream) then
    command.refuse("--json goes without --chart, --summary, --explain and --stream")
end

local rank_files = ranks.files(files, options.ranks)
if rank_files then
    ranks.print(rank_files, options)
    return
end
files = { ranks.one(files[1]) }

local prints_text = not options.json and (some or not options.files)
local has_chart = options.chart or not some
command.check_used(options, {
    { "theme", command.writes(options, ".svg"), "-o FILE.svg" },
    { "counters", command.writes(options, ".svg", ".json", ".json.gz"),
      "-o FILE.svg, .json or .json.gz" },
    { "rows", prints_text and has_chart or command.writes(options, ".svg"),
      "the chart: --chart, or -o FILE.svg" },
    { "columns", prints_text, "what is printed as text: a chart, a table, an explanation" },
})

-- What is in doubt is said above the verdict, in JSON and on a page; where there is none, on
-- stderr.
local printed_parts = not options.files or some
local says_verdict = options.json or printed_parts
    and (not some or options.summary or options.explain)
local is_only_table = tables and not figures and not options.files
local steps, range = options.step, options.range
local chosen = (steps or range or options.skip or options.count) and {
    range = range, step = steps and steps.first, last_step = steps and steps.last,
    skip = options.skip, count = options.count,
}
local function load(device)
    local tl = command.load(files[1], device)
    if chosen then
        tl = command.try(tl.part, tl, chosen)
    end
    if not says_verdict then
        command.warn_of_doubts(files[1] .. ": ", tl, is_only_table)
    end
    return tl
end

-- What ran in the time that is asked for; if nothing did, nil and a sentence. Charts show it on the
-- axis of the whole.
local from, to = options.from, options.to
local function cut(tl)
    if not from and not to or tl.span_count == 0 then return tl end
    local why
    local part = command.guard(function(message) why = message end, tl.part, tl,
        { from_us = from, to_us = to })
    return part, why
end

local tl = load(options.device)
local several = #tl.device_indices > 1
if several and options.stream and not options.device then
    command.refuse("the file has several GPUs: --stream needs --device, too")
end
if not several then
    command.check_start(options, tl.makespan_us)
end

-- A chart shows that nothing ran.
local part, why = cut(tl)
if not part and (options.json or options.files or not has_chart and not several) then
    command.fail(why)
end
for _, path in ipairs(options.files or {}) do
    if path:find("%.svg$") then
        command.try(tl.save, tl, path, { from_us = from, to_us = to, rows = options.rows,
                                         theme = options.theme, counters = options.counters })
    elseif path:find("%.json$") or path:find("%.json%.gz$") then
        command.try(part.save, part, path, { counters = options.counters })
    else
        command.try(part.save, part, path)
    end
end
if options.json then
    print((command.try(part.json, part, { by = options.by, idle = options.idle })))
    return
elseif options.files and not some then
    return
end

-- Of a part the title says of which.
local function which()
    if steps and steps.first == steps.last then
        return (", step %d"):format(steps.first)
    elseif steps then
        return (", steps %d to %d"):format(steps.first, steps.last)
    elseif range then
        return ", " .. range
    end
    local before = options.skip or 0
    return chosen and (", operations %d to %d"):format(before + 1, before + tl.span_count) or ""
end

local function when()
    local function time(us) return internals.duration(math.floor(us * 1000 + 0.5)) end
    if from and to then return (", %s to %s"):format(time(from), time(to)) end
    return from and (", from %s on"):format(time(from))
        or to and (", up to %s"):format(time(to)) or ""
end

local function title()
    local of_part = which() .. when()
    return of_part == "" and files[1] or (files[1] == "-" and "stdin" or files[1]) .. of_part
end

-- stdin cannot be read again.
shown.print { name = title(), tl = tl, options = options, some = some, cut = cut,
              load = not options.device and files[1] ~= "-" and load or nil,
              parts = not chosen and not from and not to and "--step, --range or --skip" or nil }
