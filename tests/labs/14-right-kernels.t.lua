-- 14-right-kernels.t.lua - lab 10 as 10-bundled.t.lua and 11-constants.t.lua have the others: two
-- more right solutions have all points, the starter few, and who writes for the visible tests alone
-- as well.
package.path = "tests/labs/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local bundled = require "bundled"
local constants = require "constants"

local lab <const> = "10-kernels"
local why = bundled.why_no_kernels(lab)
if why then
    tap.skip(why, 1)
    tap.done()
    return
end

bundled.grade(lab, function(student) return student:find("^right") or student == "starter" end)
constants.check(lab)
tap.done()
