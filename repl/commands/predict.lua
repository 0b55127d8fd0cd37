-- predict.lua - streamlab predict SCRIPT...: between which times the makespans of scripts lie on the
-- simulated GPU, and on which uncertain figures of its profile they depend most.

local command = import "repl/run/command.lua"
local entries = import "repl/compare/entries.lua"
local influence = import "repl/predict/influence.lua"
local prediction = import "repl/predict/prediction.lua"

local usage = [[
usage: streamlab predict [options] SCRIPT...
Runs scripts on the simulated GPU, once with the profile's figures and N times
with figures drawn from its uncertain ones, and prints between which times the
makespans lie, and which figures matter most. A SCRIPT is a file, or in one word
a file and its arguments: "scripts/puzzler.lua --n 9". The timelines that it
records count, or the whole run if it records none. Its output is not shown.

the simulated GPU:
  --profile NAME    h200, ... or a profile's file
  --host NAME       the simulated host: that of another profile, or of a file
the runs:
  --spread N        how many draws, from 2 to 1000 (default 20)
  --seeds A-B       each script with --seed A, --seed A+1, ... --seed B
what to print:
  --json            one object for each script instead
others:
  -h, --help        print this and stop
Exit status: 0 success, 1 a script failed, 2 wrong usage.
]]

local options, words = command.read(usage, {
    profile = { read = command.some }, host = { read = command.some },
    spread = { read = command.whole(2, 1000) }, seeds = { read = command.seeds }, json = true,
}, ...)
if #words == 0 then
    command.refuse(usage, "a script is needed")
end

-- What scripts find that open no device themselves; opened once, so that an error in a profile is
-- not reported for a script.
local function choose_device()
    internals.set_default("backend", "sim")
    for _, name in ipairs { "profile", "host" } do
        if options[name] then
            internals.set_default(name, options[name])
        end
    end
    if options.profile and not options.host then
        internals.set_default("host", nil)
    end
    command.checked(usage, lab.open)
end

-- "makespan 97.2 ms (90.1 to 106)"
local function makespan_text(figures)
    return "makespan " .. internals.range_text(figures.makespan_us, figures.low_us, figures.high_us)
end

local function say(result)
    print(("%s: %s"):format(command.clean(result.entry.name), makespan_text(result.whole)))
    for i, part in ipairs(#result.parts > 1 and result.parts or {}) do
        print(("    recording %d: %s"):format(i, makespan_text(part)))
    end
    print("    " .. influence.sentence(result.rows, result.whole.makespan_us,
        result.runs))
end

choose_device()
local failed = 0
for _, entry in ipairs(entries.list(words, options.seeds)) do
    local result, reason = prediction.make(entry, options.spread or 20)
    if result then
        (options.json and function(r) io.stdout:write(prediction.json(r)) end or say)(result)
    else
        failed = failed + 1
        command.warn(entry.name .. ": " .. reason)
    end
end
if failed > 0 then
    os.exit(1)
end
