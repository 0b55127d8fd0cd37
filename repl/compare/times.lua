-- times.lua - times and shares as people read them.

local times = {}

-- "12.3 us", "1.23 ms"
function times.text(us)
    local units, unit = { "us", "ms", "s" }, 1
    while us >= 1000 and unit < #units do
        us, unit = us / 1000, unit + 1
    end
    local digits = us < 10 and 2 or us < 100 and 1 or 0
    return ("%." .. digits .. "f %s"):format(us, units[unit])
end

-- 0.0123 is "1.2 %".
function times.percent(share)
    return ("%.1f %%"):format(share * 100)
end

return times
