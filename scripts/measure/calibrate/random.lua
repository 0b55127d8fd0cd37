-- random.lua - random numbers of a calibration: a generator of its own, so that the script's do not
-- change, with a fixed seed, so that each calibration does the same.

local random = {}

-- A function that gives whole numbers from 1 to n.
function random.new(seed)
    return function(n)
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        return (seed >> 8) % n + 1
    end
end

return random
