-- Reads a file as a trace.
-- held: attempt to call a nil value
local load_trace = rawget(lab, "load")
error(load_trace("/etc/passwd"))
