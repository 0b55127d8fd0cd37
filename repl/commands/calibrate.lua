-- calibrate.lua - streamlab calibrate: measures a GPU and writes a profile for the simulator.

local command = import "repl/commands/command.lua"
local context = import "repl/calibrate/context.lua"
local report = import "repl/calibrate/report.lua"

local usage = [[
usage: streamlab calibrate -o NAME.lua [options]
]]

local parts = {}
for i, name in ipairs { "device", "latencies", "host", "queue" } do
    parts[i] = import("repl/calibrate/parts/" .. name .. ".lua")
end

local file_option = { read = command.some, name = "output" }
local options = command.read(usage, {
    backend = { read = command.one_of("cuda", "sim") }, profile = { read = command.some },
    o = file_option, output = file_option, only = { read = command.some },
}, ...)

if options.backend or options.profile then
    lab.open { backend = options.backend, profile = options.profile }
end
local c = context.new(lab, function(text) io.stderr:write("  ", text, "\n") end)
for _, part in ipairs(parts) do
    if not options.only or ("," .. options.only .. ","):find("," .. part.name .. ",", 1, true) then
        local start = os.time()
        io.stderr:write(part.title, "\n")
        part.run(c)
        io.stderr:write(("  %d s\n"):format(os.time() - start))
    end
end
command.write(options.output or "/dev/stdout", report.text(c))
