-- host_run.lua - streamlab calibrate --host: measures the host's part alone, and writes it to a
-- file or adds it to those of other days there.

local command = import "repl/run/command.lua"
local files = import "repl/run/files.lua"
local fit = import "scripts/measure/calibrate/fit.lua"
local flat = import "scripts/measure/calibrate/flat.lua"
local host_file = import "scripts/measure/calibrate/host_file.lua"
local machine = import "scripts/measure/calibrate/machine.lua"
local measuring = import "repl/run/measuring.lua"
local targets = import "scripts/measure/targets.lua"

local host_run = {}

local default_seconds <const> = 8

-- The name of the profile that is scaled: --base, else the simulated device's own, or h200.
local function base_name_of(options, device)
    if options.base or not device.simulated then
        return options.base or "h200"
    end
    return options.profile or (measuring.chosen_profile())
end

-- The days that the file has by now; none if there is no file.
local function days_of(path, base_name)
    if not files.exists(path) then
        return {}
    end
    local days, base = command.try(measuring.days, path)
    if not days then
        command.fail(("%s is there already and has no days of a host's part; name another file, or "
            .. "remove it"):format(path))
    elseif base ~= base_name then
        command.fail(("%s has a host's part relative to %s, and not to %s; name another file, or "
            .. "use --base"):format(path, tostring(base), base_name))
    end
    return days
end

local function check_text(text, path)
    local fine, failure = pcall(lab.open, { backend = "sim", profile = load(text)() })
    if not fine then
        command.fail(("%s is not written, for the simulator does not take the profile: %s"):format(
            path, command.message(failure)))
    end
end

-- `options` are those of the command line.
function host_run.run(options)
    local tell, path = command.progress(options), options.output
    local device = targets.device(options)
    local base_name = base_name_of(options, device)
    local base = command.checked(measuring.load_profile, base_name)
    local days = days_of(path, base_name)
    command.try_file(path)
    if base.name ~= device.name then
        tell(("the GPU is %s, and the profile %s is of %s: --base chooses another one"):format(
            device.name, base_name, base.name))
    end
    tell("programs on " .. device.name)
    local measured = fit.measure(lab, fit.is_cold(flat.of(base)),
                                 options.seconds or default_seconds, tell)
    local found = fit.run(lab, base, measured, tell)
    for _, text in ipairs(found.complaints) do
        command.warn(text)
    end
    days[#days + 1] = host_file.day(found, os.date("%Y-%m-%d %H:%M"))
    local text = host_file.text(base, base_name, days, machine.text(device), found.details)
    check_text(text, path)
    command.write(path, text)
    io.stdout:write(host_file.summary(host_file.ranges({ days[#days] }), base_name))
    if #days > 1 then
        io.stdout:write(("all %d days:\n"):format(#days),
                        host_file.summary(host_file.ranges(days), base_name))
    end
end

return host_run
