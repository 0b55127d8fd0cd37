-- devices.lua - the two sides that scripts are compared on: the simulated GPU, and a real one or a
-- second simulated one.

local command = import "repl/run/command.lua"
local kept = import "repl/run/kept.lua"

local devices = {}

function devices.simulator(profile, host)
    return function()
        lab.open { backend = "sim", profile = profile, host = host }
    end
end

-- Opened once at the start, so that an error in a profile is not reported for a script.
-- refuse(message) does not return.
function devices.checked(open, refuse, hint)
    command.guard(function(message) refuse(message .. (hint or "")) end, open)
    return open
end

local function open_gpu()
    lab.open { backend = "cuda" }
end

-- Warns if the profile is of another GPU than the open one.
local function compare_names(profile, tell)
    local name, simulated_name = lab.device().name, internals.load_profile(profile).name
    if name ~= simulated_name then
        tell(("the GPU is a %s, the profile %s is of a %s: --profile chooses another one"):format(
            name, profile, simulated_name))
    end
end

-- The profile and the host of the simulated side.
function devices.chosen(settings)
    local profile, host = internals.chosen_profile()
    if settings.profile then
        profile, host = settings.profile, nil
    end
    return profile, settings.host or host
end

-- What comparison.run takes. `settings`: profile and host, else those that a script would get, and
-- the host that recordings on this machine have shown;
-- against, the profile of a second simulated GPU; without_gpu, if there are measurements; runs,
-- spread.
function devices.open(settings, refuse, tell)
    local profile, host = devices.chosen(settings)
    if not settings.profile and not host and not settings.against then
        host = kept.host()
    end
    local opened = { runs = settings.runs or 5, spread = settings.spread,
                     real = not settings.against,
                     other = "the GPU",
                     sim = devices.checked(devices.simulator(profile, host), refuse) }
    if settings.against then
        opened.gpu = devices.checked(devices.simulator(settings.against), refuse)
        opened.other = "sim:" .. settings.against
    elseif not settings.without_gpu then
        opened.gpu = devices.checked(open_gpu, refuse, "; without a GPU, --against PROFILE takes a "
            .. "simulated one in its place and --measured FILE what was measured before")
        compare_names(profile, tell)
    end
    return opened
end

return devices
