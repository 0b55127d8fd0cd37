-- recording.lua - .trace: records the current device and saves the timeline.

local recording = {}

local now       -- {timeline =, file =, device =} while it records

function recording.state()
    return now
end

function recording.start(file)
    local timeline = lab.record { name = "streamlab .trace" }
    now = { timeline = timeline, file = file, device = lab.device() }
end

-- Stops and saves: the recording that was, and what went wrong when the device was waited
-- for, or nil. The timeline has stopped in any case; what it has is saved. May raise when
-- it saves.
function recording.stop()
    local was = now
    now = nil
    local fine, problem = pcall(was.timeline.stop, was.timeline)
    was.timeline:save(was.file)
    return was, not fine and problem or nil
end

return recording
