-- probe.lua - streamlab probe: what CUDA's calls do to the host and to streams.

local command = import "repl/run/command.lua"
local captures = import "scripts/measure/probe/captures.lua"
local lists = import "repl/run/lists.lua"
local table_of = import "scripts/measure/probe/table.lua"
local profile = import "scripts/measure/probe/profile.lua"
local targets = import "scripts/measure/targets.lua"

local options, words = command.read(import "repl/usage/probe.lua", { ... })
targets.refuse_files(words)
if options.capture and options.save then
    command.refuse("--capture measures nothing that a profile has: leave out --save")
end

-- ---- output ---------------------------------------------------------------------------------

-- An array of objects, one a line, of the fields {name, form}.
local function json(rows, fields)
    return "[\n" .. lists.join(rows, function(row)
        return "  {" .. lists.join(fields, function(field)
            local value = row[field[1]]
            return ('"%s": %s'):format(field[1],
                value == nil and "null" or field[2]:format(value))
        end) .. "}"
    end, ",\n") .. "\n]\n"
end

local function title(device)
    local simulated = " (simulated, profile " .. device.profile .. ")"
    return command.clean(device.name .. (device.simulated and simulated or ""))
end

local function save(rows, device, base, base_name)
    local note = ("calls measured by streamlab probe; all else from the profile %s")
        :format(base_name)
    local made, measured, differences = command.try(profile.make, base, rows, device.name, note)
    command.write(options.save, profile.text(made, measured))
    for _, row in ipairs(differences) do
        command.warn(profile.difference_text(row))
    end
end

local device = targets.device(options)
local base, base_name
if options.save then
    base, base_name = targets.base(options, device)
end
for _, path in ipairs { options.output or options.save, options.save } do
    command.try_file(path)
end

local rows = command.try(options.capture and lab.capture_probes or lab.probes)
local shown = options.capture and captures or table_of
local text = options.json and json(rows, shown.fields) or shown.text(rows, title(device))
if options.output then
    command.write(options.output, text)
else
    io.stdout:write(text)
end
if options.save then
    save(rows, device, base, base_name)
end
