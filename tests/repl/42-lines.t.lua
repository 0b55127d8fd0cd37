-- 42-lines.t.lua - -i on a stdin that is no terminal: expressions, statements,
-- continuation lines and errors.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local run = shell.run

local function lines(text, ...)
    return run({ "-i", ... }, text)
end

tap.is(lines "1 + 1\n", "2\n", "an expression is evaluated and printed")
tap.is(lines "1 + 1", "2\n", "also without a newline at the end")
tap.is(lines "x = 3\nx\nx, x\n", "3\n3\t3\n", "statements and lists of expressions")
tap.is(lines "=1 + 1\n=2, 3\n= 'a'\n", "2\n2\t3\n\"a\"\n", "a leading = is as in lua5.4")
tap.is(lines "=1 +\n2\n", "3\n", "such a line goes on as well")
tap.is(lines "x =\n4\nx\n", "4\n", "and means nothing elsewhere")
tap.is(lines "nil\n", "nil\n", "nil is printed")
tap.is(lines "(function() end)()\n", "", "no value prints nothing")
tap.is(lines "\n\n", "", "empty lines do nothing")
tap.is(lines "for i = 1, 2 do\nprint(i)\nend\n", "1\n2\n", "an unfinished statement goes on")
tap.is(lines "f = function(a)\nreturn a\nend\nf(5)\n", "5\n", "so does an unfinished expression")
tap.is(lines "s = [[a\nb]]\ns\n", "a\nb\n", "and a long string, with its newline")
tap.is(lines "-- nothing\n4\n", "4\n", "a comment is a line")

local out, err, code = lines "error('no')\n6\n"
tap.is(out, "6\n", "an error does not end the lines")
tap.like(err, "^streamlab: lab%[1%]:1: no\n", "and is printed")
tap.is(code, 0, "and is no error of the program")
out, err = lines "x = = 1\n7\n"
tap.is(out, "7\n", "nor does a syntax error")
tap.like(err, "unexpected symbol", "which is printed")
out, err = lines "for i = 1, 2 do\n"
tap.like(err, "'end' expected", "an unfinished last line is an error")
tap.is(out, "", "that runs nothing")
out = lines "setmetatable({}, {__tostring = function() error('bad text') end})\n8\n"
tap.like(out, "bad text.*\n8\n", "a value that cannot be printed is shown with its error")
tap.is(lines("lab.ones(2, 2):sum():item()\n", "--backend=sim"), "4.0\n", "lab is there")
tap.is(lines("x\n", "-e", "x = 11"), "11\n", "lines come after -e")
tap.is(lines "a b\n9\n", "9\n", "words that are no Lua are an error")
out, err, code = lines "os.exit(3)\n"
tap.is(code, 3, "os.exit ends the lines")
out, err, code = run({ "-i", "-e", "error('first')" }, "10\n")
tap.is(out .. code, "1", "an error before the lines ends the program")
tap.is(lines "x = 1\nquit\nx\n", "", "quit leaves")
tap.is(lines "quit = 12\nquit\n", "12\n", "unless it is a variable")
tap.is(lines(("x = 1; "):rep(5000) .. "x\n") .. lines(("x=1 "):rep(5000) .. "\nx\n"), "1\n1\n",
    "a line may be long")


-- ---- what is a block's value, and what is none ---------------------------------------

out, err = lines "if true then\n  5 end\n13\n"
tap.is(out, "13\n", "an expression within a block is not taken for a return")
tap.like(err, "unexpected symbol near '5'", "but is the error that it is in Lua")

-- The time is for a machine that is busy: it was forty seconds.
local long = { "function f()" }
for i = 1, 1000 do
    long[#long + 1] = "  y = (y or 0) + " .. i
end
long[#long + 1] = "end\nf()\ny\n"
local file = os.tmpname()
shell.write(file, table.concat(long, "\n"))
out, err, code = shell.sh("timeout 60 \"$P\" -i < " .. shell.quote(file))
os.remove(file)
tap.is(out .. code, "500500\n0", "a function of 1000 lines is read in seconds")

-- ---- globals that raise ---------------------------------------------------------------

local strict = "setmetatable(_G, { __index = function(_, name) error('no ' .. name) end })"
out, err = lines(strict .. ";\n1 + 1\nquit\n3\n")
tap.is(out, "2\n", "where reading an unknown global is an error, lines are read and quit leaves")

-- ---- the methods of strings ------------------------------------------------------------

local uses <const> = "{1, 'a'}\nnosuch.x()\n?lab.ones\nhelp('lab.ones')\nwho()\n.device\n"
local used, complaints = lines(uses)
complaints = complaints:gsub("lab%[%d%]", "lab")
for _, change in ipairs {
    "string.format, string.rep, string.gsub, string.find, string.match, string.byte = nil",
    "string = nil", "getmetatable('').__index = nil", "debug.setmetatable('', nil);",
    "getmetatable('').__index = function() error('no') end",
    "for name in pairs(string) do string[name] = error end",
} do
    out, err = lines(change .. "\n" .. uses)
    tap.is(out, used, "the console works after " .. change)
    tap.is(err:gsub("lab%[%d%]", "lab"), complaints, "and tells errors as before")
end
out, err = lines "getmetatable('').__index = nil\nwho();\nhelp('nosuchword');\n('x'):rep(2)\n"
tap.like(err, "lab%[4%]:1: attempt to index a string value", "the user's strings stay changed")
out = lines "function string.twice(s) return s .. s end\ntime(function() return \z
    ('a'):twice() end)\n"
tap.like(out, "\n\"aa\"\n$", "a function that time() calls has the user's methods")
out = lines "string.upper = string.lower\ntime(function() return ('Ab'):upper() end)\n"
tap.like(out, "\n\"ab\"\n$", "also those that the user has changed")
out = lines("string.upper = string.lower\npcall(time, error)\n('Ab'):upper()\n"
    .. "co = coroutine.wrap(function() return time(coroutine.yield, 1) end)\nco()\n"
    .. "('Ab'):upper()\nco(('Ab'):upper())\n('Ab'):upper()\n")
tap.like(out, "false%s+nil\n\"ab\"\n1\n\"ab\"\n[^\"]*\"ab\"\n\"ab\"\n$",
    "and they are there after errors and while a coroutine waits")
out = lines("function string.twice(s) return s .. s end\n"
    .. "setmetatable({}, {__tostring = function() return ('a'):twice() end})\n")
tap.is(out, "aa\n", "a __tostring of the user's has added methods")

tap.done()
