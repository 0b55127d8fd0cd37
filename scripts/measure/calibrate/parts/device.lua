-- device.lua - what the device says of itself.

local part = { name = "device", title = "what the device says of itself" }

function part.run(c)
    local device = c.device
    local function read(key, value)
        c:set(key, value, "device properties")
    end
    local major, minor = device.compute_capability:match("^(%d+)%.(%d+)$")
    read("name", device.name)
    read("compute_capability", { math.tointeger(major), math.tointeger(minor) })
    read("sm_count", device.sm_count)
    read("max_threads_per_block", device.max_threads_per_block)
    read("shared_bytes_per_block", device.max_shared_bytes_per_block)
    if not c.simulated then
        c:set("shared_reserved_bytes", math.tointeger(major) >= 8 and 1024 or 0,
              "vendor: of each block, from compute capability 8.0 on")
    end
    local limited = device.memory_bytes < math.maxinteger
    read("memory_bytes", limited and device.memory_bytes or "unlimited")
    read("async_engine_count", device.async_engine_count)
    read("priority_least", device.priority_range.least)
    read("priority_greatest", device.priority_range.greatest)
end

return part
