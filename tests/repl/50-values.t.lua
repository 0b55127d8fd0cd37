-- 50-values.t.lua - how the REPL shows values of Lua: numbers, strings, tables, functions.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local lines = require "lines"
local shown = lines.run

local function is(text, want, name)
    tap.is((shown(text)), want, name)
end

-- Numbers and the like ------------------------------------------------------------------

is("1, 3.0, -0.5, 1e100, nil, true", "1\t3.0\t-0.5\t1e+100\tnil\ttrue\n",
    "short values are on one line, numbers as Lua writes them")
is("0/0, -(0/0), 1/0, -1/0", "nan\tnan\tinf\t-inf\n", "nan has no sign")
is("1, ('x'):rep(70), 2", "1\n\"" .. ("x"):rep(70) .. "\"\n2\n",
    "what does not fit on a line is on one each")
is("1, {}", "1\n{}\n", "so are tables")

-- Strings -------------------------------------------------------------------------------

is([['a"b\\c']], [["a\"b\\c"]] .. "\n", "a string is quoted as Lua would read it")
is([["a\tb\0c\27[31md\127e"]], [["a\tb\x00c\x1b[31md\x7fe"]] .. "\n",
    "control characters are escaped")
is([["gr\xc3\xbc\xc3\x9fe \xe4\xb8\xad"]], "\"gr\xc3\xbc\xc3\x9fe \xe4\xb8\xad\"\n",
    "UTF-8 is shown")
tap.is((shown([["gr\xc3\xbc\xe4\xb8\xad"]], "LC_ALL=C")), [["gr\u{fc}\u{4e2d}"]] .. "\n",
    "and written as escapes where the locale has none")
is([["\xff\xc3(\xed\xa0\x80"]], [["\xff\xc3(\xed\xa0\x80"]] .. "\n",
    "bytes that are not UTF-8 are escaped, halves of surrogates too")
is([["a\xc2\x9b31mb\u{202e}c\u{200b}"]], [["a\u{9b}31mb\u{202e}c\u{200b}"]] .. "\n",
    "so are control characters beyond ASCII, and those that turn the text around")
is([["one\n\ttwo\27[2J \"q\"\n"]], "one\n\ttwo\\x1b[2J \"q\"\n",
    "a text of several lines is printed as it is, but for what a terminal would obey")
local out = shown [[("x"):rep(1e6)]]
tap.ok(#out < 2100, "a long string is cut")
tap.like(out, '^"x+"%.%.%. %(1000000 bytes%)\n$', "with its length")
tap.like(shown [[("x\n"):rep(1e6)]], "%.%.%. %(2000000 bytes%)\n$", "a long text as well")
out = shown [[("\xc3\xbc"):rep(999) .. "a" .. ("\xc3\xbc"):rep(1000)]]
tap.is(out:find("\\x", 1, true), nil, "no character is cut in two")

-- Tables --------------------------------------------------------------------------------

is("{}", "{}\n", "an empty table")
is("{1, 2.5, 'a', true, {3}}", "{1, 2.5, \"a\", true, {3}}\n", "a list")
is([[{b = 1, a = "x\n", [10] = 2, [1.5] = 3}]], "{[1.5] = 3, [10] = 2, a = \"x\\n\", b = 1}\n",
    "numbers come first, then names, both in order")
is([[{["odd key"] = 4, ["end"] = 5, [true] = 6, [{}] = 7, "the very first", [3] = 3}]],
    [[{
  "the very first",
  [3] = 3,
  ["end"] = 5,
  ["odd key"] = 4,
  [true] = 6,
  [<table>] = 7
}
]], "keys are written as in a constructor; what does not fit is an item a line")
is([[{["a\27b"] = 1}]], [[{["a\x1bb"] = 1}]] .. "\n", "a key is escaped, too")
tap.is((shown("{first = 1, second = {'some', 'words'}}", "COLUMNS=30")),
    "{\n  first = 1,\n  second = {\"some\", \"words\"}\n}\n", "the width decides")
tap.is((shown("{1000000, 2000000, 3000000, 4000000}", "COLUMNS=24")),
    "{\n  1000000, 2000000,\n  3000000, 4000000\n}\n", "short items share lines")
is("{1, {2, {3, {4, {5}}}}}", "{1, {2, {3, {4, {...}}}}}\n", "four tables deep is deep enough")
is("t = {1}; t.self = t; t.a = {5}; t.b = t.a; t.c = {d = {t.a, t}}\nt",
    "{\n  1,\n  a = {5},\n  b = <same as _.a>,\n  c = {d = {<same as _.a>, <cycle: _>}},\n"
    .. "  self = <cycle: _>\n}\n", "cycles and tables that are there twice are marked")
is("e = {}; e.e = 1", "", "a statement shows nothing")
is("e = {}; e", "{}\n", "an expression behind one does")
is("e = {}\n{e, e}", "{{}, {}}\n", "an empty table may be there twice")
is("{[1] = 1, [2] = 2, [4] = 4}", "{1, 2, [4] = 4}\n", "a hole ends the list")

out = shown "t = {} for i = 1, 1000 do t[i] = i end\nt"
tap.like(out, "49, 50,\n  %.%.%. 950 more\n}\n$", "fifty items of a list, and how many more")
out = shown "t = {} for i = 1, 60 do t['k' .. i] = i end\nt"
tap.like(out, "^{\n  k1 = 1,\n  k10 = 10,.*\n  %.%.%. 10 more\n}\n$", "and of the names, sorted")
out = shown "t = {} for i = 1, 45 do t[i] = {} for j = 1, 45 do t[i][j] = ('x'):rep(20) end end\nt"
tap.like(out, "\n%.%.%. %d+ more lines\n$", "lines have a limit")
local _, count = out:gsub("\n", "")
tap.is(count, 120, "of 120")

-- Metamethods ---------------------------------------------------------------------------

is([[setmetatable({x = 1}, {__index = error, __pairs = error, __len = error, __name = "point",
__call = error, __eq = error, __close = error, __gc = nil, __metatable = 5})]],
    "point {x = 1}\n", "no metamethod runs; a name is shown")
is([[{setmetatable({}, {__tostring = function() return "mine\27[2J" end})}]],
    "{mine\\x1b[2J}\n", "but __tostring, whose result is escaped")
is([[setmetatable({}, {__tostring = function() return "two\nlines" end})]], "two\nlines\n",
    "and may have lines")
tap.like(shown [[{setmetatable({}, {__tostring = function() error("no") end})}]],
    "^{<table whose __tostring failed: lab%[1%]:1: no>}\n$", "an error in it is shown as such")
tap.like(shown [[setmetatable({}, {__tostring = function() return {} end})]],
    "<table whose __tostring failed: '__tostring' must return a string>", "so is a wrong result")
tap.like(shown [[setmetatable({}, {__tostring = function() error(setmetatable({}, {__tostring =
function() error("no") end})) end})]], "failed: an error without a text>",
    "and an error whose text fails")
is("setmetatable({}, {__name = 5})", "{}\n", "a name that is none is left out")
out = shown [[select(2, pcall(lab.matmul, 1, 2))]]
tap.is(out, "lab[1]:1: matmul: argument 1 (a) must be a tensor, got number\n",
    "an error of the laboratory is its sentence")

-- Other kinds ---------------------------------------------------------------------------

is("print, string.rep", "builtin print\nbuiltin string.rep\n", "functions of Lua have names")
is("lab.matmul", "function lab.matmul: help(lab.matmul)\n", "those of the laboratory too")
is("{lab.cuda.memcpy, lab.stream().query}", "{function lab.cuda.memcpy, function stream:query}\n",
    "methods as well")
is("function f() end\nf", "function <lab[1]:1>\n", "others say where they begin")
is("{who}", "{function who}\n", "the console's own")
is("io.stdout, coroutine.create(print)", "file (open)\nthread (suspended)\n", "files and threads")
is("{lab = lab, {1, lab}}", "{{1, <lab>}, lab = <lab>}\n", "lab in a table is short")
out = shown "lab"
tap.like(out, "^lab: the laboratory%. help%(%) explains it, help%(lab%.matmul%) one function%.\n",
    "lab says what it is")
tap.like(out, "\n  [%a ]+: .*matmul", "and what is in it")
tap.is(out:find("0x", 1, true), nil, "without addresses")
tap.ok(lines.widest(out) <= 80, "in the width")
tap.ok(lines.widest((shown("lab", "COLUMNS=40"))) <= 40, "any width")
tap.like(shown "lab.cuda", "CUDA's plain calls.*memcpy_async", "lab.cuda as well")

-- Lists of records ----------------------------------------------------------------------

is([[{{name = "a", us = 1.25, n = 10}, {name = "bcd", us = 10, n = 2}}]],
    "     name     us   n\n[1]  a     1.250  10\n[2]  bcd      10   2\n",
    "a list of tables with the same fields is a table")
is("{{x = 1}, {x = 2}}", "{{x = 1}, {x = 2}}\n", "with one field it is a list")
is("{{x = 1, y = 2}, {x = 2, y = {}}}", "{{x = 1, y = 2}, {x = 2, y = {}}}\n",
    "fields that are tables are none for it")
is("{{x = 1, y = 2}, {a = 2, b = 3}, {c = 1, d = 1}}",
    "{{x = 1, y = 2}, {a = 2, b = 3}, {c = 1, d = 1}}\n", "nor are different ones")
is("{{x = 1, y = 2}, {x = 3, y = 4}, n = 2}", "{{x = 1, y = 2}, {x = 3, y = 4}, n = 2}\n",
    "a list with names beside the items is not one")
out = shown "t = {} for i = 1, 30 do t[i] = {name = 'n' .. i, i = i} end\nt"
tap.like(out, "\n%[20%]  n20   20\n%.%.%. 10 more\n$", "twenty rows, and how many more")
out = shown("{{alpha = 'xxxxxxxxxx', beta = 'yyyyyyyyyy', gamma = 'z'}, "
    .. "{alpha = 'x', beta = 'y', gamma = 'zzzzzzzzzz'}}", "COLUMNS=30")
tap.is(out, "     alpha       beta\n[1]  xxxxxxxxxx  yyyyyyyyyy\n[2]  x           y\nalso: gamma\n",
    "columns without room are named")
out = shown [[{{a = "\27[2J", b = 1}, {a = "x", b = 2}}]]
tap.like(out, "\\x1b%[2J", "cells are escaped")
out = shown "lab.devices()"
tap.like(out, "^ +name +backend +index +profile\n *%[1%] +NVIDIA H200", "the devices")

-- Huge tables ---------------------------------------------------------------------------

out = shown [[t = {} for i = 1, 1e7 do t[i] = i end
t
u = {} for i = 1, 1e5 do u["k" .. i] = i end
u
v = {} for i = 1, 50 do v[i] = t end
v
w = {} for i = 1, 40 do w[i] = {u, t} end
w]]
tap.like(out, "49, 50,\n  %.%.%. at least %d+ more\n}\n", "ten million items are not looked at")
tap.like(out, "k%d+ = %d+,\n  %.%.%. 99950 more, not sorted\n}\n",
    "a hundred thousand names are not sorted")

-- Colour --------------------------------------------------------------------------------

out = shown("{1, 'a', nil, true}", "", "--color=always")
tap.is(out, "{\27[36m1\27[0m, \27[32m\"a\"\27[0m, [4] = \27[35mtrue\27[0m}\n",
    "kinds of values have colours")
tap.is((shown("{1, 'a'}", "CLICOLOR_FORCE=1 NO_COLOR=1")), "{1, \"a\"}\n",
       "unless nobody wants them")
tap.is((shown("{1, 'a'}", "", "--color=never")), "{1, \"a\"}\n", "or they are turned off")

tap.done()
