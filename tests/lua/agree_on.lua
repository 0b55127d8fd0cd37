-- agree_on.lua SCRIPT - runs a script, and prints last how well the causes of what it
-- profiles are inferred: "agreement SAME_US TOTAL_US".

local agreement = require "lua.agreement"
local count, profile = agreement.new(), lab.profile

function lab.profile(...)
    local tl = profile(...)
    agreement.add(count, tl)
    return tl
end

local script <const> = arg[1]
arg = { [0] = script }
dofile(script)
print(("agreement %.3f %.3f"):format(count.same, count.total))
