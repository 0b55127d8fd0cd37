-- measuring.lua - what the instruments of scripts/measure need of the program, and scripts do not:
-- profiles as tables, the figures of a simulated GPU that is open, launches as they are made.

local measuring = {}

-- The table of a profile (a name, a file or a table) with the host's part of another one, without
-- what is of no device: spread, days, kernels. Also its short name. Raises what is wrong with it.
measuring.load_profile = internals.load_profile

-- The names of the profile and of the host that a script would get; the host may be nil.
measuring.chosen_profile = internals.chosen_profile

-- The days of a file of a host's part, and its base; nil if it is another one.
function measuring.days(path)
    return internals.need("profiles").days(path)
end

-- The groups of the host's figures, each of which one factor scales.
measuring.host_groups = internals.need("host_part").groups

-- From now on a simulated GPU has the figures of a base profile, and `flat` ones ("host.launch_us")
-- in place of its own.
function measuring.set_figures(device, base, flat)
    local profiles = internals.need("profiles")
    local found = profiles.figures(base, nil, flat)
    internals.set_figures(device, profiles.settings(found.flat))
end

-- How many GPUs the machine of an open one has.
function measuring.device_count(device)
    if device.simulated then
        return internals.default("devices") or 1
    end
    return internals.device_count(device.backend) or 1
end

-- From now on f(kernel, grid, block, ...) is called before each launch of a kernel of lab.kernel;
-- nil ends that.
measuring.watch_launches = internals.watch_launches

function measuring.is_tensor(value)
    return internals.type_name(value) == "tensor"
end

-- Rows {calls, reason} of what lab.probes does not ask, once it has been called.
function measuring.not_probed()
    return internals.not_probed
end

return measuring
