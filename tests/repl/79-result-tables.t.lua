-- 79-result-tables.t.lua - tables of results at the prompt: how they are shown, help, completion;
-- and what a long sweep says of itself.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local shell = require "shell"
local shown = require "lines".run

-- The prompt ------------------------------------------------------------------------------

tap.is((shown "lab.table({{n = 1, us = 2.5}, {n = 10}}, {title = 'two'})"),
    "two\n n   us\n 1  2.5\n10  -\n", "a table of results is shown as one")
tap.is((shown "{lab.table{{n = 1}}}"), "{table of 1 row}\n", "in tables it is short")
local wide = shown "x = {}; for i = 1, 300 do x[i] = {n = i, m = 'some text'} end\nlab.table(x)"
tap.like(wide, "\nsome text  300\n$", "a long one is shown whole")
tap.like((shown "r = lab.table{}\n?r.csv"), "^r:csv%(%[file%]%) %(method of results%)",
    "?r.csv tells of the method")
tap.like((shown "r = lab.table{}\nhelp(r.plot)"), "^r:plot{ x =", "so does help(r.plot)")
tap.like((shown "r = lab.table{}\n?r.cssv"), "did you mean `csv`", "a misspelt one is put right")
tap.like((shown "r = lab.table{}\nhelp(r)"), "^Measuring\n", "help(r) is the page")

-- A long sweep ------------------------------------------------------------------------------

-- Takes 3 to 5 s of real time, however little of the processor it gets.
local sweep <const> = [[
lab.sweep({{"n", {1, 2, 3}}}, function(point)
    local till = os.time() + 0.5 * point.n
    repeat until os.time() > till
    if STOP then error("stop", 0) end
    return point.n
end)]]

local out, err = shell.run { "--backend", "sim", "--norc", "-e", "print(#" .. sweep .. ".rows)" }
tap.is(out .. err, "3\n", "on a pipe a sweep of some seconds says nothing")

do
    local s = session.open { arguments = { "--norc" }, columns = 60 }
    s:wait "lab[1]> "
    s:type((sweep:gsub("\n%s*", " ")) .. ".columns\r")
    tap.ok(s:finds "sweep 3 of 3: n=3, %d s", "in a terminal one line tells how far it is")
    tap.ok(s:shows '{"n", "value"}', "then the result comes")
    s:wait "lab[2]> "
    tap.is(s:text():find("sweep 3 of 3", 1, true), nil, "and the line is gone")
    s:type 'lab.sweep({{"n", {1}}}, function() print "go" while true do end end)\r'
    s:shows "go"
    s:type "\3"
    tap.ok(s:finds "interrupted!\n", "Ctrl-C ends it, and is called what it is")
    s:wait "lab[3]> "
    s:type "r = lab.table{}\r"
    s:wait "lab[4]> "
    s:type "r:js\t"
    tap.ok(s:finds "r:jsonl", "methods of results are completed")
    s:type "\3"
    s:leave()
    s:close()
end

tap.done()
