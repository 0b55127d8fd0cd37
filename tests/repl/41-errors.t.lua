-- 41-errors.t.lua - exit statuses, messages and tracebacks, lost output, Ctrl-C.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local run, sh = shell.run, shell.sh

local folder = shell.folder()
local function script(text)
    return shell.write(folder .. "/s.lua", text)
end

-- ---- messages ------------------------------------------------------------------

local _, err, code = run { script [[
local function f()
  error('went wrong')
end
local x = f()
]] }
tap.is(code, 1, "an error of a script ends it with status 1")
tap.like(err, "^streamlab: [^\n]*s.lua:2: went wrong\nstack traceback:\n",
    "its message comes first")
tap.like(err, "s.lua:2: in [^\n]*f'\n\t[^\n]*s.lua:4: in main chunk\n$",
    "then the script's own lines")
tap.ok(not err:find("[C]", 1, true), "frames of C are left out")
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
        tap.like(err, "cannot write to stdout", "and is told: " .. case)
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

-- The status of a program that gets SIGINT once it has printed a line.
local function interrupted(text)
    local file = script("io.stdout:setvbuf('no') print('go')\n" .. text)
    local _, e, c = sh([[
perl -e '
    $SIG{INT} = "DEFAULT";
    my $pid = open(my $from, "-|", @ARGV) or die;
    my $line = <$from>;
    select(undef, undef, undef, 0.1);
    kill "INT", $pid;
    local $/; my $rest = <$from>;
    close($from);
    exit($? & 127 ? 100 : $? >> 8);
' "$P" ]] .. shell.quote(file))
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

shell.remove(folder)
tap.done()
