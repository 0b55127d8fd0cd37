-- targets.lua - what the command line of an instrument names: the device that is measured, and the
-- profile for all else.

local command = import "repl/run/command.lua"
local measuring = import "repl/run/measuring.lua"

local targets = {}

function targets.refuse_files(words)
    if #words > 0 then
        command.refuse(("no files are needed, got '%s'"):format(words[1]))
    end
end

-- The device that --backend, --device and --profile name, or that a script would get.
function targets.device(options)
    if options.backend or options.device or options.profile or options.host then
        return command.checked(lab.open, { backend = options.backend, index = options.device,
                                           profile = options.profile, host = options.host })
    end
    return command.checked(lab.device)
end

-- The table of the profile that --base names, and what it is called; without --base that of the
-- simulated device, or h200.
function targets.base(options, device)
    local base, host = options.base, nil
    if not base and device.simulated then
        local chosen, chosen_host = measuring.chosen_profile()
        base, host = options.profile or chosen, options.host or not options.profile and chosen_host
    end
    return command.checked(measuring.load_profile, base or "h200", host)
end

return targets
