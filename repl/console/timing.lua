-- timing.lua - time(f), and .timer on.

local timing = {}

function timing.before()
end

function timing.after()
end

return timing
