-- case.lua NAME N... - runs a case of cases.lua with each number of calls; growth.lua counts what
-- is between two calls of lab.now_us. Prints the most memory that the process had.
local folder = arg[0]:match("^.*/") or "./"
package.path = folder .. "?.lua;" .. package.path

local run
for _, case in ipairs(require "cases") do
    if case.name == arg[1] then run = case.run end
end

-- Also what it takes to close what the case has made.
local function round(n)
    run(n)
    lab.synchronize()
    lab.check("off")
    collectgarbage()
    collectgarbage()
end

round(8) -- what is made once is made here
lab.now_us()
for i = 2, #arg do
    round(tonumber(arg[i]))
    lab.now_us()
end
for line in io.lines("/proc/self/status") do
    local kib = line:match("^VmHWM:%s+(%d+) kB")
    if kib then print(kib .. " KiB") end
end
