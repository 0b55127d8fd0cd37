-- 12-bundled-kernels.t.lua - lab 10 as 10-bundled.t.lua has the others, but for its wrong solutions,
-- which are 13-wrong-kernels.t.lua's: compilers take their time.
package.path = "tests/labs/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local bundled = require "bundled"

local lab <const> = "10-kernels"
local why = shell.sh(('"$P" lab grade scripts/labs/%s scripts/labs/%s/solution.lua 2>&1'):format(lab, lab))
    :match("cannot be run: ([^\n]*)")
if why then
    tap.skip(why, 1)
    tap.done()
    return
end

bundled.grade(lab, function(student) return not student:find("^wrong") end)
bundled.run_starter(lab)
tap.done()
