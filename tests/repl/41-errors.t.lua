-- 41-errors.t.lua - exit statuses, messages and tracebacks, lost output, Ctrl-C.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local run, sh = shell.run, shell.sh

local folder = shell.folder()
local function script(text)
    return shell.write(folder .. "/s.lua", text)
end

local function other(text)
    return shell.write(folder .. "/c.lua", text)
end

-- ---- messages ------------------------------------------------------------------

local _, err, code = run { script [[
local function f()
  error('went wrong')
end
local x = f()
]] }
tap.is(code, 1, "an error of a script ends it with status 1")
tap.like(err, "^streamlab: [^\n]*s.lua:2: went wrong\n 2 |   error%('went wrong'%)\n"
    .. "stack traceback:\n", "its message comes first, and the line")
tap.like(err, "s.lua:2: in [^\n]*f'\n\t[^\n]*s.lua:4: in main chunk\n$",
    "then the script's own lines")
tap.ok(not err:find("[C]", 1, true), "frames of C are left out")
_, err = run { other "local co = coroutine.wrap(function() error('inside') end)\nco()" }
tap.like(err, "^streamlab: [^\n]*c.lua:2: [^\n]*c.lua:1: inside\n",
    "an error in a coroutine has both positions")
_, err = run { other "local co = coroutine.wrap(function() error('inside') end) co()" }
tap.like(err, "^streamlab: [^\n:]*c.lua:1: inside\n", "and one that is the same only once")
_, err = sh("STREAMLAB_DEBUG=1 \"$P\" " .. folder .. "/s.lua")
tap.like(err, "%[C%]: in function 'error'", "STREAMLAB_DEBUG=1 shows them")

_, err, code = run { "--backend=sim", script [[
local a = lab.ones(4, 3)

local function g()
  return lab.matmul(a, a)
end
lab.profile(function()
  g() return 1
end)
]] }
tap.is(code, 1, "an error of the laboratory is one of the script")
tap.like(err, "^streamlab: [^\n]*s.lua:4: matmul: [^\n]*4x3", "it prints as the user's own line")
tap.like(err, "s.lua:7: in [^\n]*\n[^\n]*s.lua:6: in main chunk\n$",
    "the traceback goes through lab.profile")
tap.ok(not err:find("\tstreamlab:", 1, true), "the prelude is left out")

local function message(text)
    local _, e, c = run { "-e", text }
    return e:match("^streamlab: ([^\n]*)"), c
end
tap.is(message "error(setmetatable({}, {__tostring = function() return 'my object' end}))",
    "my object", "an error object prints through __tostring")
tap.is(message "error({})", "(error object is a table value)", "a table as error says so")
tap.is(message "error(nil)", "(error object is a nil value)", "nil as error says so")
tap.is(message "error(12)", "12", "a number as error is printed")
tap.like(message "x =", "unexpected symbol near <eof>", "a syntax error is printed")
tap.is(select(2, message "x ="), 1, "and is one of the script")
_, err, code = run { folder .. "/none.lua" }
tap.is(code, 1, "a script that is not there is an error")
tap.like(err, "none.lua", "and is named")
_, err = run { "-e", "local function r() return 1 + r() end r()" }
tap.like(err, "stack overflow", "a stack overflow is reported")
tap.like(err, "skipping %d+ levels", "in a short traceback")
_, err = run { "-e", "coroutine.wrap(function() error('inside') end)()" }
tap.like(err, "command line%):1: inside", "an error comes out of a coroutine")
local resumes = "local co = coroutine.create(function(a) return a, coroutine.yield(a + 1) end)"
    .. " print(coroutine.resume(co, 4)) print(coroutine.resume(co, 6)) print(coroutine.resume(co))"
local nested = "local n = 0 local function f() n = n + 1"
    .. " local fine, why = %s if not fine then print(n > 190, why) end end f()"
tap.is(run { "-e", nested:format "coroutine.resume(coroutine.create(f))" },
    "true\tC stack overflow\n", "coroutines nest as deep as in lua5.4")
nested = "local n = 0 local function f() n = n + 1 return coroutine.wrap(f)() end"
    .. " print((pcall(f)), n > 190)"
tap.is(run { "-e", nested }, "false\ttrue\n", "so do wrapped ones")
_, err = run { "-e", "local co = coroutine.resume(5)" }
tap.like(err, "bad argument #1 to 'resume' %(thread expected, got number%)",
    "a wrong argument of coroutine.resume is named as in lua5.4")
tap.is(run { "-e", "local co co = coroutine.wrap(function() co() end) print(pcall(co))" },
    "false\t(command line):1: cannot resume non-suspended coroutine\n",
    "a coroutine cannot resume itself")
local closes = "local co = coroutine.wrap(function() local x <close> = setmetatable({},"
    .. " {__close = function() io.write('closed ') end}) error('e', 0) end) print(pcall(co))"
tap.is(run { "-e", closes }, "closed false\te\n",
    "a wrapped coroutine that fails closes its variables")
tap.is(run { "-e", "local co = coroutine.create(function(...) return select('#', ...) end)"
    .. " print(coroutine.resume(co, table.unpack({}, 1, 5000)))" }, "true\t5000\n",
    "a coroutine takes many arguments")
tap.is(run { "-e", resumes }, "true\t5\ntrue\t4\t6\nfalse\tcannot resume dead coroutine\n",
    "coroutines work as ever")
_, err, code = run { "-e", "print(1)", "-e", "error('two')", "-e", "print(3)" }
tap.is(code, 1, "the first error ends the run")

-- ---- os.exit -------------------------------------------------------------------

for _, case in ipairs { { "os.exit()", 0 }, { "os.exit(true)", 0 }, { "os.exit(false)", 1 },
    { "os.exit(3)", 3 }, { "os.exit(3, false)", 3 },
    { "coroutine.wrap(function() os.exit(4) end)()", 4 },
    { "lab.open{backend='sim'} local a = lab.rand(64, 64) lab.matmul(a, a) os.exit(5)", 5 },
    { "lab.open{backend='sim'} lab.profile(function() lab.spin(1) os.exit(6) end)", 6 },
    { "lab.open{backend='sim'} lab.with(lab.stream(), function() lab.spin(1) os.exit(7) end)", 7 },
} do
    local o, e, c = run { "-e", case[1] }
    tap.is(o .. e .. c, tostring(case[2]), case[1] .. " has its status and says nothing")
end
local _, e, c = run { "-e", "lab.open{backend='sim'} local s = lab.stream()"
    .. " s:launch_host_func(function() os.exit(8) end) s:synchronize()" }
tap.is(e .. c, "8", "os.exit within a host function ends the program")
tap.is(run { "-e", "setmetatable({}, {__gc = function() print('collected') end}) os.exit()" },
    "collected\n", "os.exit closes the state")

-- ---- lost output ---------------------------------------------------------------

if io.open("/dev/full") then
    for _, case in ipairs { "-e 'print(1)'", "-e 'print(1) os.exit()'", "--help", "--version" } do
        _, err, code = sh("\"$P\" " .. case .. " > /dev/full")
        tap.is(code, 1, "output lost to a full disk is an error: " .. case)
        tap.like(err, "cannot write to stdout", "and is reported: " .. case)
    end
else
    tap.skip("no /dev/full", 8)
end
_, err, code = sh("\"$P\" -e 'print(1)' >&-")
tap.is(code, 1, "a closed stdout is an error")
_, err, code = sh("\"$P\" -e 'x = 1' >&-")
tap.is(code .. err, "0", "but not when nothing was written")
_, err, code = sh("\"$P\" -e 'print(1) os.exit(9)' >&-")
tap.is(code, 9, "a script's own failure keeps its status")

-- ---- Ctrl-C ----------------------------------------------------------------------

local function interrupted(text)
    local c, e = shell.interrupted(script("io.stdout:setvbuf('no') print('go')\n" .. text))
    return c, e
end

for _, case in ipairs { { "while true do end", "a loop" },
    { "coroutine.wrap(function() while true do end end)()", "a loop in a coroutine" },
    { "local function f() coroutine.wrap(function() while true do end end)() end\n"
        .. "coroutine.resume(coroutine.create(f)) print('on')", "a coroutine's coroutine" },
    { "lab.open{backend='sim'} while true do lab.spin(0.001) lab.synchronize() end",
        "a loop of work" },
} do
    code, err = interrupted(case[1])
    tap.is(code, 130, "Ctrl-C ends " .. case[2] .. " with status 130")
    tap.like(err, "interrupted!", "and says so")
end

-- The line that ran, in the script's own code.
for _, case in ipairs { { "\nlocal function f()\nwhile true do end\nend\n\nf()", 4, "a function" },
    { "lab.open{backend='sim'}\nlab.with(lab.stream{}, function()\nwhile true do end\nend)", 4,
        "a function that lab.with calls" },
} do
    code, err = interrupted(case[1])
    tap.like(err, "%.lua:" .. case[2] .. ": interrupted!", "Ctrl-C names the line of " .. case[3])
end

-- What a script does with an error that Ctrl-C raised and pcall caught.
local caught = "local fine, why = pcall(function() while true do end end)\n"
for _, case in ipairs {
    { "print('fine')", 0, "" , "that ends well is no failure" },
    { "error('plain error')", 1, "plain error", "that fails for another reason has status 1" },
    { "error(why, 0)", 130, "interrupted!", "that raises it again has status 130" },
    { "error({})", 1, "a table value", "that fails with an object has status 1" },
    { "local co = coroutine.create(function() return 1 end)\n"
        .. "assert(coroutine.resume(co)) assert(coroutine.wrap(function() return 2 end)() == 2)",
        0, "", "may resume coroutines" },
    { "local fine, e = coroutine.resume(coroutine.create(function() error('inner') end))\n"
        .. "assert(not fine) error(e, 0)", 1, "inner", "sees a coroutine's own errors" },
} do
    code, err = interrupted(caught .. case[1])
    tap.is(code, case[2], "a script that catches Ctrl-C and " .. case[4])
    tap.like(err, case[3], "and says so: " .. case[1])
end
code, err = interrupted("local co = coroutine.create(function()\n" .. caught
    .. "coroutine.yield(why) return 'end' end)\n"
    .. "local _, first = coroutine.resume(co) assert(first:find('interrupted!'))\n"
    .. "local fine, last = coroutine.resume(co) assert(fine and last == 'end')")
tap.is(code .. err, "0", "a coroutine may catch Ctrl-C itself, and its resumer goes on")
code, err = interrupted("local co = coroutine.wrap(function()\n"
    .. "while true do coroutine.yield() end end)\nwhile true do co() end")
tap.is(code, 130, "Ctrl-C finds a loop that changes coroutines all the time")
tap.like(err, "interrupted!", "and says so")

shell.remove(folder)
tap.done()
