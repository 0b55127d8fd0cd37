-- whatif.lua - streamlab whatif FILE: a recorded program with changes, and how long it would take.

local command = import "repl/run/command.lua"

local options, files = command.read(import "repl/usage/whatif.lua", { ... })
if #files ~= 1 then
    command.refuse(#files < 1 and "a trace file is needed"
        or ("one trace file, got also '%s'"):format(files[2]))
end

local timeline = command.load(files[1])
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

io.stdout:write(options.json and command.try(w.json, w) or command.try(w.text, w))
if w:identity().problem then
    os.exit(1)
end
