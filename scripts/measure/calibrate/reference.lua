-- reference.lua - how fast the host is, measured by a fixed piece of work.
--
-- A virtual machine's processor may be slower or faster for minutes, and all times of the host
-- with it. The time that this work takes shows whether the host was equally fast in two
-- calibrations. The work must not be changed: times of different work cannot be compared.

local statistics = import "repl/run/statistics.lua"

local reference = {}

local steps <const> = 1000000

-- How long it takes now, in ms.
function reference.ms(now_us)
    local start_us, x = now_us(), 0
    for i = 1, steps do
        x = (x * 7 + i) % 1000003
    end
    return (now_us() - start_us) / 1000
end

-- What a profile's note says of some of those; nil if there are none.
function reference.text(samples)
    return samples[1] and ("host.reference_ms %.3f, spread %.1f %%"):format(
        statistics.median(samples), 100 * statistics.spread(samples))
end

-- The same out of a note.
function reference.in_note(note)
    return tostring(note):match("host%.reference_ms [%d.]+, spread [%d.]+ %%")
end

-- What that is, for people.
function reference.sentence(samples)
    return ("%s: a loop of %d steps in Lua, the median of %d times over the calibration. It tells "
        .. "how fast the host was, whose times are to be compared at the same speed only."):format(
        reference.text(samples), steps, #samples)
end

return reference
