-- 11-constants.t.lua - who writes for the visible tests alone gets 30 points at most, in each lab
-- but the one with kernels (14-right-kernels.t.lua).
package.path = "tests/labs/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local constants = require "constants"

for lab in shell.sh("ls scripts/labs"):gmatch("(%d%d[^\n]*)\n") do
    if lab ~= "10-kernels" then constants.check(lab) end
end

tap.done()
