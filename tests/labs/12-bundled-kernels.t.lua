-- 12-bundled-kernels.t.lua - lab 10: the solution has all points, and the starter runs by itself.
-- Each test of a submission compiles its kernels, so the others that 10-bundled.t.lua would hand in
-- are for 13-wrong-kernels.t.lua and 14-right-kernels.t.lua in make check-long.
package.path = "tests/labs/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local bundled = require "bundled"

local lab <const> = "10-kernels"
local why = bundled.why_no_kernels(lab)
if why then
    tap.skip(why, 1)
    tap.done()
    return
end

bundled.grade(lab, function(student) return student == "solution" end)
bundled.run_starter(lab)
tap.done()
