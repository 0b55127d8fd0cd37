-- sanitized.lua - programs that are not built here, such as Python, with a recorder that is built
-- with the address sanitizer: its runtime must be the first library of a process.

local sanitized = {}

-- What a command begins with, in which the recorder at that path is loaded; "" for one without it.
function sanitized.prefix(recorder)
    local pipe <close> = assert(io.popen("ldd '" .. recorder .. "' 2>/dev/null"))
    local runtime = pipe:read("a"):match "libasan%S* => (%S+)"
    return runtime and ("env LD_PRELOAD=%s ASAN_OPTIONS=detect_leaks=0 "):format(runtime) or ""
end

return sanitized
