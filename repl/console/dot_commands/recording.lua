-- recording.lua - .trace: records the current device and saves the timeline. The script of
-- the session does the same.

local session = import "repl/console/dot_commands/session.lua"

local recording = {}

local now       -- {timeline =, file =, device =, variable = its name in the script}
local n_recordings = 0

function recording.state()
    return now
end

function recording.start(file)
    local timeline = lab.record { name = "streamlab .trace" }
    n_recordings = n_recordings + 1
    local variable = "recording_" .. n_recordings
    now = { timeline = timeline, file = file, device = lab.device(), variable = variable }
    session.did(("local %s = lab.record{ name = \"streamlab .trace\" }"):format(variable))
end

local function saving(variable, file)
    return ("%s:save(%q)"):format(variable, file)
end

-- Stops the recording and saves it. Returns the recording, and the error of waiting for the
-- device, or nil: the timeline has stopped in any case, and what it recorded is saved. Saving may
-- raise.
function recording.stop()
    local was = now
    now = nil
    local fine, problem = pcall(was.timeline.stop, was.timeline)
    local name = was.variable
    session.did(fine and name .. ":stop()" or ("pcall(%s.stop, %s)"):format(name, name))
    was.timeline:save(was.file)
    session.did(saving(name, was.file) .. "\n_ = " .. name)
    return was, not fine and problem or nil
end

-- How a script ends which is written while it records, as Lua, or nil.
function recording.ending()
    return now and ("%s:stop()\n%s"):format(now.variable, saving(now.variable, now.file))
end

return recording
