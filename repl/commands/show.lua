-- show.lua - streamlab show FILE: a trace file as chart, figures and explanation, or as
-- another file.

local command = import "repl/run/command.lua"
local file_names = import "repl/run/file_names.lua"

local usage = [[
usage: streamlab show [options] FILE
Analyses a trace file: whether time can be saved, a chart of what ran when, busy
times, overlaps and bounds, and where time was lost. FILE is a .json or
.json.gz, written by streamlab, by PyTorch's profiler or by others in that
format; - is stdin.

what to print (default: all three):
  --chart           the chart
  --summary         busy times, overlaps, lower bounds
  --explain         the critical path, where time was lost, and what to do about
                    it
  --stream NAME     of the explanation: where the time went until the last
                    operation of that stream ended
  --json            the figures as one JSON object instead
  --device N        only GPU N. Without it each GPU of the file is printed (at
                    most 16), one below the other on the same axis; files and
                    --json are of the one with the most operations
the chart:
  --from TIME, --to TIME
                    a part of it, from the first operation on: 12ms, 3.5us, 2s;
                    figures and explanation are of the whole
  --rows WHAT       streams (default) or engines
  --columns N       its width, else that of the terminal
files:
  -o, --output FILE write this instead of printing: .svg, .html, .json or
                    .json.gz; .et for ASTRA-sim (a file for each GPU), .goal for
                    LogGOPSim; may be given several times. --from, --to and
                    --rows hold for an .svg
  --theme WHICH     light or dark, of the .svg; without it as the viewer prefers
others:
  -h, --help        print this and stop
Exit status: 0 success, 1 the file cannot be read or written, 2 wrong usage.
]]

local function output(path)
    if file_names.is_of_timeline(path) then
        return path
    end
    return nil, "a file that ends in " .. file_names.of_timelines
end

local file_option = { read = output, name = "files", list = true }
local known = {
    chart = true, summary = true, explain = true, json = true,
    from = { read = command.time_us }, to = { read = command.time_us },
    rows = { read = command.one_of("streams", "engines") }, stream = { read = command.some },
    columns = { read = command.columns }, device = { read = command.device },
    theme = { read = command.one_of("light", "dark") },
    o = file_option, output = file_option,
}

local options, files = command.read(usage, known, ...)
command.check_range(usage, options)
options.explain = options.explain or options.stream ~= nil or nil
local some = options.chart or options.summary or options.explain
if #files ~= 1 then
    command.refuse(usage, #files == 0 and "a trace file is needed"
        or ("one trace file at a time, got also '%s'; streamlab diff compares two")
        :format(files[2]))
elseif options.json and (some or options.stream) then
    command.refuse(usage, "--json goes without --chart, --summary, --explain and --stream")
end

-- What is in doubt is said above the verdict, in JSON and on a page; where there is none, on stderr.
local printed_parts = not options.files or some
local says_verdict = options.json or printed_parts and (not some or options.summary or options.explain)
local function load(device)
    return command.load(files[1], device, says_verdict)
end

local tl = load(options.device)
local several = #tl.device_indices > 1
if several and options.stream and not options.device then
    command.refuse(usage, "the file has several GPUs: --stream needs --device, too")
end
if not several then
    command.check_start(options, tl.makespan_us)
end

for _, path in ipairs(options.files or {}) do
    local how
    if path:find("%.svg$") then
        how = { from_us = options.from, to_us = options.to, rows = options.rows,
                theme = options.theme }
    end
    command.try(tl.save, tl, path, how)
end
if options.json then
    print((command.try(tl.json, tl)))
    return
elseif options.files and not some then
    return
end

-- A blank line between what is printed.
local printed = false
local function separate()
    if printed then
        print()
    end
    printed = true
end

-- In lines of 80 columns at most, or as many as the chart has. A number stays with its unit.
local function wrap(text, columns)
    local line = ""
    text = (text .. " "):gsub("(%d) ([num]?[sx%%])(%W)", "%1\0%2%3")
    for word in text:gmatch("%S+") do
        word = word:gsub("\0", " ")
        if line ~= "" and utf8.len(line) + 1 + utf8.len(word) > columns then
            print(line)
            line = word
        else
            line = line == "" and word or line .. " " .. word
        end
    end
    print(line)
end

-- Headed by its name, if there is more than one, or there is more than one part of it.
local function print_title(shown)
    if several or not some then
        separate()
        print(command.title(files[1], shown))
        printed = false
    end
    if not some and shown.span_count > 0 then
        for _, doubt in ipairs(shown.doubts) do
            wrap(doubt.sentence, options.columns or 80)
        end
        wrap(command.try(shown.verdict, shown).sentence, options.columns or 80)
    end
end

local function print_device(shown)
    print_title(shown)
    local function print_part(method, ...)
        separate()
        command.try(method, shown, ...)
    end
    -- The first part below the chart opens with the verdict, unless it has been printed.
    local verdict = some ~= nil
    local function print_figures(method, how)
        how.verdict = verdict
        print_part(method, how)
        verdict = false
    end
    if options.chart or not some then
        print_part(shown.show, { from_us = options.from, to_us = options.to, rows = options.rows,
                                 columns = options.columns })
    end
    -- Of an empty timeline each part would say only that.
    if shown.span_count > 0 or some then
        if (options.from or options.to) and (not some or options.summary or options.explain) then
            separate()
            print("What follows is of the whole: --from and --to cut the chart alone.")
        end
        if options.summary or not some then
            print_figures(shown.summary, {})
        end
        if options.explain or not some then
            print_figures(shown.explain, { columns = options.columns, stream = options.stream })
        end
    end
    printed = true
end

-- stdin cannot be read again.
if options.device or files[1] == "-" then
    print_device(tl)
    return
end
for _, device in ipairs(tl.device_indices) do
    print_device(device == tl.device_index and tl or load(device))
end
