-- whatif.lua - streamlab whatif FILE: a recorded program with changes, and how long it would take.

local command = import "repl/run/command.lua"

local options, files = command.read(import "repl/usage/whatif.lua", { ... })
if #files ~= 1 then
    command.refuse(#files < 1 and "a trace file is needed"
        or ("one trace file, got also '%s'"):format(files[2]))
end

if options.step and options.range then
    command.refuse("--step and --range do not go together")
end

local timeline = command.load(files[1])
local step <const> = options.step or {}
if options.step or options.range then
    timeline = command.try(timeline.part, timeline, { range = options.range, step = step.first,
                                                      last_step = step.last })
end
command.warn_of_doubts(files[1] .. ": ", timeline, false)
local w = command.try(lab.whatif, timeline)
local try = command.checked

-- { name, selection or factor } or { { name, selection }, argument }
for _, edit in ipairs(options.edits or {}) do
    local chosen, argument = edit, nil
    if type(edit[1]) == "table" then
        chosen, argument = edit[1], edit[2]
    end
    try(w[chosen[1]], w, chosen[2], argument)
end

local changed = options.edits ~= nil
if not changed and (options.diff or options.files or options["no-chart"]) then
    command.refuse("--diff, --output and --no-chart need a change")
end

for _, export in ipairs(options.exports or {}) do
    command.write(export[1], command.try(w.export, w, export[2]))
end

-- ---- the answer ---------------------------------------------------------------------

io.stdout:write(options.json and command.try(w.json, w, { code = options.code, as = options.as })
    or command.try(w.text, w))
if w:identity().problem then
    os.exit(1)
elseif options.code and not options.json then
    io.stdout:write("\n", command.try(w.code, w, { as = options.as }))
elseif not changed and not options.json then
    io.stdout:write("\nWhat to write for the best three: --code\n")
end
if not changed then return end

local before, after = command.try(w.before, w), command.try(w.timeline, w)
for _, path in ipairs(options.files or {}) do
    command.try(after.save, after, path,
        path:find("%.svg$") and { beside = before, rows = options.rows } or nil)
end
if options.json then return end

-- One above the other, on the same axis.
local function print_chart(name, tl, other)
    print(("\n%s  %s"):format(name, internals.duration(math.floor(tl.makespan_us * 1000 + 0.5))))
    command.try(tl.show, tl, { rows = options.rows, columns = options.columns, beside = other })
end

if not options["no-chart"] then
    print_chart("before", before, after)
    print_chart("after", after, before)
end
if options.diff then
    print()
    command.try(before.diff, before, after, { by = options.diff, columns = options.columns })
end
