-- units.lua - shares, sizes and rates as short texts.

local _, core = ...
local ratio = core.ratio

local units = {}

-- "12.3 %", of nothing "0.0 %"
function units.percent(part, whole)
    local permille = ratio(part, math.max(whole, 1), 1000)
    return ("%d.%d %%"):format(permille // 10, permille % 10)
end

local byte_units <const> = { [0] = "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" }

-- "4 MiB", "1.5 KiB", "17 B": two decimals at most. Those of 2^63 and more are negative.
function units.bytes(bytes)
    local u = 0
    while u < 6 and math.ult(1023, bytes >> 10 * u) do u = u + 1 end
    local hundredths = 0
    if u > 0 then hundredths = (bytes >> 10 * (u - 1) & 1023) * 100 // 1024 end
    local decimals = hundredths == 0 and "" or hundredths % 10 == 0 and "." .. hundredths // 10
        or (".%02d"):format(hundredths)
    return ("%d%s %s"):format(bytes >> 10 * u, decimals, byte_units[u])
end

local rate_units <const> = { { "GB/s", 1 }, { "MB/s", 1000 }, { "kB/s", 1000000 } }

-- Bytes a nanosecond are GB/s: "52.4 GB/s", "4.80 MB/s".
function units.rate(bytes, ns)
    local moved, at = bytes < 0 and math.maxinteger or bytes, 1
    while at < #rate_units and ratio(moved, ns, 100 * rate_units[at][2]) < 100 do at = at + 1 end
    local name, scale = rate_units[at][1], rate_units[at][2]
    local tenths, hundredths = ratio(moved, ns, 10 * scale), ratio(moved, ns, 100 * scale)
    if tenths >= 100 then return ("%d.%d %s"):format(tenths // 10, tenths % 10, name) end
    return ("%d.%02d %s"):format(hundredths // 100, hundredths % 100, name)
end

return units
