-- profile_parts.lua - a profile has two parts. The GPU's figures are the same in every machine that
-- has this GPU; the host's are of its processor, its memory and its operating system.

-- The host's part: these figures and tables, and of `calls` what calls cost. How calls behave
-- (`waits`, `serialises`, `from_bytes`) is the driver's, and belongs to the GPU's part.
local host_names <const> = {
    host = true, host_cold = true, host_graph = true, host_pool = true, host_cache_bytes = true,
    host_gb_per_s = true, thread_contention_us = true,
    h2d_staging_gb_per_s = true, d2h_staging_gb_per_s = true,
    h2d_written_gb_per_s = true, host_written_bytes = true,
    h2d_staging_cold_gb_per_s = true, d2h_staging_cold_gb_per_s = true,
    submit_us = true, wake_us = true, host_func_in_us = true, host_func_out_us = true,
}
local most_depth <const> = 8
local host_call_fields <const> = { us = true, us_per_mib = true }

local parts = {}

-- Whether the figure `key`, as "host.launch_us", is the host's.
function parts.is_host(key)
    local first, rest = key:match("^([^.]*)%.?(.*)$")
    if first == "calls" then return host_call_fields[rest:match("[^.]*$")] or false end
    return host_names[first] or false
end

-- Whether a row of `spread` with this key is the host's; the key may also be a table's name.
function parts.is_hosts_spread(key)
    local is_call = ("." .. key):find("^%.calls%f[.\0]")
    return is_call and not key:find("%.from_bytes$") or parts.is_host(key)
end

-- The host's figures in a profile's table, by key: {["host.launch_us"] = 2.1, ...}.
function parts.host_of(t, of_host, prefix, depth)
    of_host, prefix, depth = of_host or {}, prefix or "", depth or 1
    for key, value in next, t do
        local name = prefix .. tostring(key)
        local is_named = type(value) == "table" and rawlen(value) == 0 and next(value) ~= nil
        if is_named and depth < most_depth then
            parts.host_of(value, of_host, name .. ".", depth + 1)
        elseif parts.is_host(name) then
            of_host[name] = value
        end
    end
    return of_host
end

return parts
