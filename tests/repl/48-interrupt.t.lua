-- 48-interrupt.t.lua - Ctrl-C stops what runs, wherever it is, and what comes after it runs
-- as ever.
package.path = "tests/?.lua;tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local folder = shell.folder()
local n_scripts = 0

local function script(text)
    n_scripts = n_scripts + 1
    return shell.write(folder .. "/s" .. n_scripts .. ".lua", text)
end

local prologue = "io.stdout:setvbuf('no') print('go')\n"

-- Starts a script that gets SIGINT while it runs. Returns what waits for its status, stderr,
-- and stdout.
local function start(text, options, more)
    return shell.start_interrupted(script(prologue .. text), options, nil, more)
end

local function interrupted(...)
    return start(...)()
end

-- Starts the scripts of a list, and calls `check` with each of its items and the results.
local function each(list, check)
    local starts = {}
    for i, case in ipairs(list) do
        starts[i] = function() return start(case[1]) end
    end
    shell.each(starts, function(i, ...) check(list[i], ...) end)
end

local code, err, out

-- What takes long begins first. Finalizers cannot be stopped.
local lasting = "setmetatable({}, {__gc = function() io.popen('sleep 3'):close() print('it lasted')"
    .. " end}) collectgarbage() print('end')"
local twice, slowly = start(lasting, nil, { 0.3 }), start(lasting, nil, { 2.1 })

-- ---- where Lua code may be ---------------------------------------------------------

local loop = "local function loop() while true do end end\n"
each({
    { "while true do end", "a loop" },
    { loop .. "while true do pcall(loop) end", "a loop that catches all errors" },
    { loop .. "local function f() pcall(loop) return f() end f()", "calls at the tail that do" },
    { loop .. "while true do xpcall(loop, function() end) end", "one with a message handler" },
    { loop .. "while true do xpcall(loop, debug.traceback) end", "and one of C" },
    { loop .. "error(select(2, xpcall(loop, loop)), 0)", "a message handler that would loop" },
    { loop .. "error(select(2, xpcall(error, loop)), 0)", "a message handler that does" },
    { loop .. "coroutine.wrap(loop)()", "a coroutine" },
    { loop .. "while true do pcall(coroutine.wrap(loop)) end", "coroutines in pcall" },
    { loop .. "while true do coroutine.resume(coroutine.create(loop)) end",
        "coroutines that are resumed" },
    { loop .. "local function deep(n) if n == 0 then loop() end\n"
        .. "while true do coroutine.resume(coroutine.create(deep), n - 1) end end deep(20)",
        "a coroutine in a coroutine, twenty deep" },
    { loop .. "coroutine.wrap(function() while true do pcall(loop) end end)()",
        "a coroutine that catches all errors" },
    { "local co = coroutine.wrap(function() while true do coroutine.yield() end end)\n"
        .. "while true do pcall(co) end", "a coroutine that yields all the time" },
    { "local co = coroutine.wrap(function() while true do pcall(coroutine.yield) end end)\n"
        .. "while true do pcall(co) end", "and one that yields in pcall" },
    { loop .. "local co = coroutine.create(function()\n"
        .. "local guard <close> = setmetatable({}, {__close = loop}) coroutine.yield() end)\n"
        .. "coroutine.resume(co) coroutine.close(co)", "what coroutine.close closes" },
    { loop .. "do local guard <close> = setmetatable({}, {__close = loop}) end",
        "a __close metamethod" },
    { loop .. "local guard <close> = setmetatable({}, {__close = loop}) loop()",
        "and one on the way up" },
    { loop .. "local t = setmetatable({}, {__index = loop}) while true do pcall(function()"
        .. " return t.x end) end", "an __index metamethod" },
    { loop .. "while true do pcall(string.gsub, 'aaa', 'a', loop) end", "a callback of gsub" },
    { "while true do pcall(table.sort, {3, 1, 2}, function() while true do end end) end",
        "a comparison of sort" },
    { "while true do local s = string.rep('x', 1000000) end", "long strings" },
    { "setmetatable({}, {__gc = function() for _ = 1, 3e7 do end end}) collectgarbage()\n"
        .. "while true do end", "a finalizer that takes its time" },
    { "lab.open{backend='sim'} while true do lab.spin(0.001) lab.synchronize() end",
        "a loop of work" },
    { "lab.open{backend='sim'} while true do pcall(function()\n"
        .. "lab.spin(0.001) lab.synchronize() end) end", "a loop of work that catches errors" },
    { loop .. "lab.open{backend='sim'} local s = lab.stream() s:launch_host_func(loop)\n"
        .. "s:synchronize()", "a host function" },
    { loop .. "lab.open{backend='sim'} local s = lab.stream() while true do\n"
        .. "s:launch_host_func(function() pcall(loop) end) pcall(s.synchronize, s) end",
        "host functions that catch errors" },
    { loop .. "lab.open{backend='sim'} coroutine.wrap(function() local s = lab.stream()\n"
        .. "while true do s:launch_host_func(loop) pcall(s.synchronize, s) end end)()",
        "and such of a coroutine" },
    { loop .. "lab.open{backend='sim'} while true do pcall(lab.with, lab.stream(), loop) end",
        "a function that lab.with calls" },
}, function(case, code, err)
    tap.is(code, 130, "Ctrl-C stops " .. case[2])
    tap.like(err, "interrupted!", "and says so")
end)
-- Between two entries of a line, what the second one finds.
for _, case in ipairs {
    { "local fine, why = pcall(loop) print(why)", 0, "interrupted!\n$", "has a while to go on" },
    { "local fine, why = pcall(loop) for _ = 1, 1e5 do end print('end')", 130, "^$",
        "but no long one" },
} do
    code, err, out = interrupted(loop .. case[1])
    tap.is(code, case[2], "a script that has caught it " .. case[4])
    tap.like(out, case[3], "and that is all")
end
code, err, out = interrupted("local guard <close> = setmetatable({}, {__close = function()"
    .. " print('closed') end}) while true do end")
tap.is(code .. out, "130closed\n", "what a script wants closed is closed")
for _, how in ipairs { "coroutine.resume(coroutine.create(f))", "coroutine.wrap(f)()" } do
    code, err, out = interrupted(loop .. "lab.open{backend='sim'} local was = lab.current_stream()"
        .. " local function f() lab.with(lab.stream(), loop) end\n"
        .. "pcall(function() " .. how .. " end) print(lab.current_stream() == was)")
    tap.is(out, "true\n", "a stream that was current in " .. how .. " is not any more")
end

-- ---- twice -------------------------------------------------------------------------

code, err, out = twice()
tap.is(code .. out .. err, "130", "Ctrl-C twice leaves at once with status 130")
code, err, out = slowly()
tap.is(code .. out, "130it lasted\n", "but not with more than two seconds in between")
tap.like(err, "interrupted!", "which are two of the first kind")

-- ---- what the program itself runs ---------------------------------------------------

-- Runs the program, which gets SIGINT after a while. If it has not begun by then, the signal
-- ends it, which is 130 as well.
local function interrupt_command(words)
    return shell.sh([[perl -e '
        $SIG{INT} = "DEFAULT";
        my $pid = fork();
        if (!$pid) { exec @ARGV; }
        select(undef, undef, undef, 0.2);
        kill "INT", $pid;
        waitpid($pid, 0);
        exit($? & 127 ? 128 + ($? & 127) : $? >> 8);
    ' "$P" ]] .. words)
end

-- A profile and a lab.lua without an end end by themselves (40-options.t.lua,
-- 45-strange-labs.t.lua).
shell.sh("\"$P\" lab new " .. folder .. "/lab")
shell.write(folder .. "/lab/tests/visible.lua", "while true do end")
out, err, code = interrupt_command(("lab check %s/lab %s/lab/starter.lua"):format(folder, folder))
tap.is(code, 130, "Ctrl-C while lab check lists the tests of a lab ends with status 130")
tap.is(err:find("broken") or err:find("fails"), nil, "and calls nothing broken")

-- ---- os.exit after it ----------------------------------------------------------------

local page = folder .. "/caught.html"
code, err = interrupted("lab.spin(1) pcall(function() while true do end end) os.exit(3)",
    "--backend=sim --trace " .. page)
tap.is(code .. err, "3", "a script that catches Ctrl-C's error may call os.exit")
tap.ok((shell.read(page) or ""):find("Nothing to gain: no wait made", 1, true),
    "and its page is saved, with its verdict")

-- ---- who else gets the signal ----------------------------------------------------------

code, err, out = shell.interrupted(script(prologue .. "io.read() print('end')"), nil, false)
tap.is(code .. out, "130", "Ctrl-C ends io.read")
out, err, code = shell.sh("trap '' INT; \"$P\" -e 'os.execute(\"kill -INT $PPID\") "
    .. "local f = io.popen(\"echo $PPID\") local pid = f:read() f:close() "
    .. "os.execute(\"kill -INT \" .. pid) for _ = 1, 1e6 do end print(\"end\")'")
tap.is(code .. out, "0end\n", "where SIGINT is ignored, as in the background, it stays so")
out, err, code = shell.sh("perl -e '$SIG{INT} = \"DEFAULT\"; exec @ARGV' \"$P\" -e '"
    .. "print(os.execute(\"kill -INT $$; echo alive\")) "
    .. "print(io.popen(\"kill -INT $$; echo alive\"):read(\"a\") == \"\")'")
tap.is(out, "nil\tsignal\t2\ntrue\n", "and what os.execute and io.popen start is ended by it")

shell.remove(folder)
tap.done()
