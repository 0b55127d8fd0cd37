-- 41-error-lines.t.lua - the line that an error shows, the marks under it, and which frames.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()
local path = folder .. "/s.lua"

-- What the program says on stderr, the script's path shortened to S. What kind of function a
-- frame is of depends on the version of Lua.
local function plain(err)
    return (err:gsub(folder:gsub("%p", "%%%0") .. "/s%.lua", "S"):gsub("^streamlab: ", "", 1)
        :gsub("(\t[^\n]*: in )%l+ '([^\n]*)'", "%1'%2'"):gsub("in 'library%.", "in '"))
end

local function of_script(text, ...)
    shell.write(path, text)
    local _, err, code = shell.run { "--backend=sim", path, ... }
    return plain(err), code
end

local function of_entries(text)
    local _, err = shell.run({ "-i", "--backend=sim" }, text)
    return err
end

-- The report of a script of these lines, exactly.
local function is(text, expected, name)
    tap.is(of_script(text), expected, name)
end

-- ---- the laboratory -------------------------------------------------------------------

is("local a = lab.ones(4, 3)\nlocal b = 1\nlocal c = lab.matmul(a, a)\n", [[
s.lua:3: matmul: inner sizes differ: 4x3 times 4x3
 3 | local c = lab.matmul(a, a)
   |               ^~~~~~
]], "an error of the laboratory marks the function")
is("local a = lab.ones(4, 3)\na:matmul(a)\n", [[
s.lua:2: matmul: inner sizes differ: 4x3 times 4x3
 2 | a:matmul(a)
   |   ^~~~~~
]], "or the method")
is("local a, b = lab.ones(2, 3), lab.ones(4, 5)\nlocal c = 1 + 2 + a * b\n", [[
s.lua:2: mul: a is 2x3, b is 4x5: the shapes differ
 2 | local c = 1 + 2 + a * b
   |                     ^
]], "or the operator")
is("local a = lab.ones(4, 3)\nlab.matmul(lab.matmul(a, a), a)\n", [[
s.lua:2: matmul: inner sizes differ: 4x3 times 4x3
 2 | lab.matmul(lab.matmul(a, a), a)
   |     ^~~~~~     ^~~~~~
]], "where several fit each is marked")
is("local a = lab.ones(2)\nprint(a.shape)\n", [[
s.lua:2: tensor has no field or method 'shape'; its sizes are t:size()
 2 | print(a.shape)
   |         ^~~~~
]], "a field that is not there is marked")
is("local a = lab.ones(2)\nlocal t = { a[1] }\n", [[
s.lua:2: a tensor is not indexed with []; use t:get(1)
 2 | local t = { a[1] }
   |              ^
]], "so is an index")
is("local a = lab.ones(4, 3)\n\nlocal function g()\n  return lab.matmul(a, a)\nend\n"
    .. "lab.profile(function()\n  g() return 1\nend)\n", [[
s.lua:4: matmul: inner sizes differ: 4x3 times 4x3
 4 |   return lab.matmul(a, a)
   |              ^~~~~~
stack traceback:
	S:4: in 'g'
	S:7: in function <S:6>
	S:6: in main chunk
]], "the traceback of a function that lab.profile calls is the user's own")
is("lab.matmul(\n  lab.ones(4, 3),\n  lab.ones(4, 3))\n", [[
s.lua:1: matmul: inner sizes differ: 4x3 times 4x3
 1 | lab.matmul(
   |     ^~~~~~
]], "a call over several lines is shown where it begins")
is("pcall(error)\nassert(pcall(lab.spin, 'x'))\n", [[
s.lua:2: spin: argument 1 (ms) must be a number, got string
 2 | assert(pcall(lab.spin, 'x'))
   |                  ^~~~
]], "so is a function that pcall calls")

-- ---- Lua's own errors ------------------------------------------------------------------

is("local t = {}\nt.a.b = t.c\n", [[
S:2: attempt to index a nil value (field 'a')
 2 | t.a.b = t.c
   |   ^
]], "a field that is nil is marked where it is indexed")
is("local x, t = {}, {}\nt.x = x.y.z\n", [[
S:2: attempt to index a nil value (field 'y')
 2 | t.x = x.y.z
   |         ^
]], "and none of another name")
is("local count\nprint(count + 1, #'count')  -- count\n", [[
S:2: attempt to perform arithmetic on a nil value (local 'count')
 2 | print(count + 1, #'count')  -- count
   |       ^~~~~
]], "strings and comments are not names")
is("local t = {}\nt:go(t)\n", [[
S:2: attempt to call a nil value (method 'go')
 2 | t:go(t)
   |   ^~
]], "a method that is nil")
is("local s\nprint('a' .. s .. 'b')\n", [[
S:2: attempt to concatenate a nil value (local 's')
 2 | print('a' .. s .. 'b')
   |              ^
]], "a value that cannot be joined")
is("local t\nprint(#t)\n", [[
S:2: attempt to get length of a nil value (local 't')
 2 | print(#t)
   |        ^
]], "a value without length")
is("print({} < {})\n", [[
S:1: attempt to compare two table values
 1 | print({} < {})
   |          ^
]], "a comparison")
is("print(1 // 0)\n", [[
S:1: attempt to divide by zero
 1 | print(1 // 0)
   |         ^~
]], "a division by zero")
is("string.rep()\n", [[
S:1: bad argument #1 to 'rep' (string expected, got no value)
 1 | string.rep()
   |        ^~~
]], "the function with a wrong argument")
is("local function f()\n  error('went wrong')\nend\nf()\n", [[
S:2: went wrong
 2 |   error('went wrong')
stack traceback:
	S:2: in 'f'
	S:4: in main chunk
]], "an error of the user's shows its line, without a mark")
is("error({})\n", [[
(error object is a table value)
 1 | error({})
stack traceback:
	S:1: in main chunk
]], "one without a position shows where it was raised, and keeps the traceback")
is("error('no place', 0)\n", [[
no place
 1 | error('no place', 0)
stack traceback:
	S:1: in main chunk
]], "also a text")
is("error(setmetatable({}, {__tostring = function() error('inner') end}))\n", [[
S:1: inner
 1 | error(setmetatable({}, {__tostring = function() error('inner') end}))
stack traceback:
	S:1: in function <S:1>
	S:1: in main chunk
]], "an error in __tostring is an error like others")

-- ---- where the user's line is -----------------------------------------------------------

is("local ok, e = pcall(function()\n  local x\n  x()\nend)\nerror(e, 0)\n", [[
S:3: attempt to call a nil value (local 'x')
 3 |   x()
   |   ^
stack traceback:
	S:5: in main chunk
]], "an error that was caught and raised again shows its own line")
is("local co = coroutine.create(function()\n  local x\n  x.y = 1\nend)\n"
    .. "local _, e = coroutine.resume(co) error(e, 0)\n", [[
S:3: attempt to index a nil value (local 'x')
 3 |   x.y = 1
   |   ^
stack traceback:
	S:5: in main chunk
]], "so does one of a coroutine")
is("local f = coroutine.wrap(function()\n  local x\n  x.y = 1\nend)\nf()\n", [[
S:5: S:3: attempt to index a nil value (local 'x')
 3 |   x.y = 1
   |   ^
stack traceback:
	S:5: in main chunk
]], "and one of a wrapped coroutine, which has two positions")
is("lab.current_stream():launch_host_func(function()\n  local x\n  x.y = 1\nend)\n"
    .. "lab.synchronize()\n", [[
s.lua:5: synchronize: a host function failed: S:3: attempt to index a nil value (local 'x')
 5 | lab.synchronize()
   |     ^~~~~~~~~~~
]], "one of a host function shows the call that reported it")
local long = of_script("local function r() return 1 + r() end\nr()\n")
tap.like(long, "^S:1: stack overflow.*\n 1 | local function r%(%) return 1 %+ r%(%) end\n",
    "a stack overflow shows its line")
tap.like(long, "skipping %d+ levels", "in a short traceback")

shell.write(folder .. "/library.lua", "local library = {}\nfunction library.go(t)\n"
    .. "  return t.a.b\nend\nreturn library\n")
is("package.path = '" .. folder .. "/?.lua'\nrequire 'library'.go {}\n",
    ([[
F/library.lua:3: attempt to index a nil value (field 'a')
 3 |   return t.a.b
   |            ^
stack traceback:
	F/library.lua:3: in 'go'
	S:2: in main chunk
]]):gsub("F/", folder .. "/"), "an error in a library that was required shows its line")
is("package.path = '" .. folder .. "/?.lua'\nlocal ok, e = pcall(require 'library'.go, {})\n"
    .. "error(e, 0)\n", ([[
F/library.lua:3: attempt to index a nil value (field 'a')
 3 |   return t.a.b
   |            ^
stack traceback:
	S:3: in main chunk
]]):gsub("F/", folder .. "/"), "also when no frame of it is left")
shell.write(folder .. "/broken.lua", "local x = 1\nx = = 2\n")
tap.is(plain(select(2, shell.run { "-e", "package.path = '" .. folder .. "/?.lua'",
    "-e", "require 'broken'" })), ([[
error loading module 'broken' from file 'F/broken.lua':
	F/broken.lua:2: unexpected symbol near '='
 2 | x = = 2
   |     ^
stack traceback:
	(command line):1: in main chunk
]]):gsub("F/", folder .. "/"), "one that cannot be compiled shows the mistake")
tap.is(plain(select(2, shell.run { "-e", "dofile '" .. folder .. "/broken.lua'" })), ([[
F/broken.lua:2: unexpected symbol near '='
 2 | x = = 2
   |     ^
stack traceback:
	(command line):1: in main chunk
]]):gsub("F/", folder .. "/"), "so does a file that dofile loads")
is("local f = io.open(arg[0], 'a') f:write('-- more\\n') f:close()\nerror('changed')\n",
    "S:2: changed\nstack traceback:\n\tS:2: in main chunk\n",
    "a file that was changed since it was loaded shows no line")
is("load('local x\\n\\nx()', 'a name')()\n", [=[
[string "a name"]:3: attempt to call a nil value (local 'x')
stack traceback:
	[string "a name"]:3: in main chunk
	S:1: in main chunk
]=], "code with a name of its own has no line to show")
is("load('local x\\nx()')()\n", [=[
[string "local x..."]:2: attempt to call a nil value (local 'x')
 2 | x()
   | ^
stack traceback:
	[string "local x..."]:2: in main chunk
	S:1: in main chunk
]=], "code that is its own name shows it")

-- ---- mistakes that the compiler finds ------------------------------------------------------

is("local x = 1\nx = 1 = 2 = 3\n", [[
S:2: unexpected symbol near '='
 2 | x = 1 = 2 = 3
   |       ^
]], "of several candidates the one is marked at which the compiler gave up")
is("local end_ = 1\nlocal x = end_ end\n", [[
S:2: <eof> expected near 'end'
 2 | local x = end_ end
   |                ^~~
hint: this end closes nothing: there is one too many, or a then, do or function is missing before it
]], "a part of a longer word is no candidate")
is("local a = 1\nfor i = 1, 2 do\n  print(i)\n\n", [[
S:5: 'end' expected (to close 'for' at line 2) near <eof>
 2 | for i = 1, 2 do
   | ^~~
 3 |   print(i)
   |           ^
]], "what is not closed is shown, too")
is("print('abc)\nx = 1\n", [[
S:1: unfinished string near ''abc)'
 1 | print('abc)
   |       ^~~~~
]], "an unfinished string")
is("x = [[abc\n", [=[
S:2: unfinished long string (starting at line 1) near <eof>
 1 | x = [[abc
   |          ^
]=], "an unfinished long string")
is("#!/usr/bin/streamlab\nx = = 1\n", [[
S:2: unexpected symbol near '='
 2 | x = = 1
   |     ^
]], "a first line that begins with # is none of Lua's")
is("goto nowhere\n", [[
S:2: no visible label 'nowhere' for <goto> at line 1
 1 | goto nowhere
   |      ^~~~~~~
]], "a label that is not there")

-- ---- where code comes from -----------------------------------------------------------------

local _, err = shell.run { "-e", "local x = 1", "-e", "\nx.y = 1" }
tap.is(err, "streamlab: (command line):2: attempt to index a nil value (global 'x')\n 2 | x.y = 1\n"
    .. "   | ^\n", "an option -e shows its own line")
_, err = shell.run { "-e", "function f()\n  y()\nend", "-e", "-- one\n-- two\n-- three\nf()" }
tap.is(plain(err), "(command line):2: attempt to call a nil value (global 'y')\n"
    .. "stack traceback:\n\t(command line):2: in 'f'\n\t(command line):4: in main chunk\n",
    "what may be of an earlier one shows none")
_, err = shell.run({ "-" }, "# comment\nlocal x\nx.y = 1\n")
tap.is(err, "streamlab: stdin:3: attempt to index a nil value (local 'x')\n 3 | x.y = 1\n   | ^\n",
    "a script from stdin shows its line")
_, err = shell.sh("LUA_INIT='x.y = 1' \"$P\" -e 'print(1)'")
tap.is(err, "streamlab: LUA_INIT:1: attempt to index a nil value (global 'x')\n 1 | x.y = 1\n"
    .. "   | ^\n", "so does LUA_INIT")

tap.is(of_entries "local x\nx.y.z = 1\n", [[
streamlab: lab[2]:1: attempt to index a nil value (global 'x')
 1 | x.y.z = 1
   | ^
hint: x was local in lab[1], and a local ends with its entry; leave local out at the prompt
]], "an entry shows its line, and where a local was")
tap.is(plain(of_entries "function f(t)\n  return t.x.y\nend\nx = f({})\n"), [[
lab[1]:2: attempt to index a nil value (field 'x')
 2 |   return t.x.y
   |            ^
stack traceback:
	lab[1]:2: in 'f'
	lab[2]:1: in main chunk
]], "and that of an earlier entry")
tap.is(of_entries "x = = 2\n1 +\n", [[
streamlab: lab[1]:1: unexpected symbol near '='
 1 | x = = 2
   |     ^
streamlab: lab[2]:1: unexpected symbol near <eof>
 1 | 1 +
   |    ^
]], "an entry that cannot be compiled shows the mistake")
tap.is(of_entries "a b\n", "streamlab: lab[1]:1: syntax error near 'b'\n 1 | a b\n   |   ^\n",
    "words that are no Lua")

-- ---- how it is drawn ------------------------------------------------------------------------

is("\tlocal t = {}\n\tt.x\t.y = 1\n", [[
S:2: attempt to index a nil value (field 'x')
 2 |     t.x .y = 1
   |       ^
]], "tabs become blanks, and the mark stays under its word")
local function drawn(text, environment)
    shell.write(path, text)
    local _, e = shell.sh(environment .. " \"$P\" " .. path)
    return plain(e)
end
local utf8_text = "local t, s = {}, 'äé日本'  t.x.y = 1\n"
tap.is(drawn(utf8_text, "LC_ALL=C.UTF-8"), [[
S:1: attempt to index a nil value (field 'x')
 1 | local t, s = {}, 'äé日本'  t.x.y = 1
   |                              ^
]], "characters of two columns count as two")
tap.is(drawn(utf8_text, "LC_ALL=C"), [[
S:1: attempt to index a nil value (field 'x')
 1 | local t, s = {}, '????'  t.x.y = 1
   |                            ^
]], "a terminal without UTF-8 gets one ? each")

-- Programs write lines that no person reads. What is looked for in them is found at once, or
-- not at all.
local many <const> = tap.sized(10000, 60000)
for _, case in ipairs {
    { ("a = f(1), "):rep(many), "", "S:1: attempt to call a nil value %(global 'f'%)\n 1 | .*%^" },
    { ("a = 1, "):rep(many), " x x", "S:1: syntax error near 'x'\n 1 | .*%^" },
} do
    local began = os.time()
    tap.like(drawn("local t = {" .. case[1] .. "}" .. case[2] .. "\n", ""), case[3],
        "a very long line is shown")
    tap.ok(os.time() - began < 15, "without searching it long")
end

local wide = "local t, s = {}, '" .. ("x"):rep(100) .. "' t.x.y = '" .. ("y"):rep(100) .. "'\n"
local cut = drawn(wide, "COLUMNS=40")
tap.is(cut, [[
S:1: attempt to index a nil value (field 'x')
 1 | ...xxxxxxxxxx' t.x.y = 'yyyyyyy...
   |                  ^
]], "a long line is cut around the mark")
for line in cut:gmatch("[^\n]+\n?") do
    tap.ok(not line:find("|") or #line <= 41, "into the terminal's width: " .. #line)
end
tap.is(drawn("local t = {} t.x.y = '" .. ("z"):rep(100) .. "'\n", "COLUMNS=40"), [[
S:1: attempt to index a nil value (field 'x')
 1 | local t = {} t.x.y = 'zzzzzzzzz...
   |                ^
]], "at its beginning too")
local shown = of_script("local t = {} t.x.y = '\27[31m\7\xFF\xC2\x9B'\n")
tap.ok(not shown:find("[\27\7\xFF\x9B]"), "control characters of the line are not shown")
tap.is(of_script "error('\\27[31mred\\0\\r\\xff', 0)\n":match("^[^\n]*"),
    "\\x1b[31mred\\x00\\r\\xff",
    "nor those of the message")
tap.like(of_script "error('one\\n\\ttwo', 0)\n", "^one\n\ttwo\n 1 | ", "but line ends and tabs are")
local huge = of_script("local t, s = {}, '" .. ("x"):rep(1e6) .. "' t.x.y = 1 --"
    .. ("y"):rep(1e6) .. "\n")
tap.like(huge, "^[^\n]*\n 1 | %.%.%.[^\n]* t%.x%.y [^\n]*%.%.%.\n   | +%^\n$", "a line may be huge")

_, err = shell.sh("\"$P\" --color=always -e 'local t = {} t.x.y = 1'")
tap.is(err, "streamlab: \27[1;31m(command line):1: attempt to index a nil value (field 'x')\27[0m\n"
    .. " 1 | local t = {} t.x.y = 1\n   |                \27[1;31m^\27[0m\n",
    "message and mark are red where colour is wanted")
_, err = shell.sh("STREAMLAB_DEBUG=1 \"$P\" -e 'local t = {} t.x.y = 1'")
tap.is(err, "streamlab: (command line):1: attempt to index a nil value (field 'x')\n"
    .. "stack traceback:\n\t(command line):1: in main chunk\n\t[C]: in ?\n",
    "STREAMLAB_DEBUG=1 shows all frames and no line")

local code, said = shell.interrupted(shell.write(path,
    "io.stdout:setvbuf('no') print('go')\nwhile true do end\n"))
tap.is(plain(said) .. code, "S:2: interrupted!\n130", "Ctrl-C gets its position and no more")

shell.remove(folder)
tap.done()
