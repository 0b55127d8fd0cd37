-- 57-children.t.lua - programs that run side by side for the grader: what they see, what is
-- kept of what they say, and that none of them outlives its time.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"
package.cpath = shell.program:gsub("[^/]*$", "") .. "tests/repl/?.so;" .. package.cpath
local calls = require "calls"
local clock = debug.getregistry()["streamlab.internals"].wall_ns
local program = debug.getregistry()["streamlab.environment"].program
local internals = debug.getregistry()["streamlab.internals"]

local sanitized = (os.getenv("STREAMLAB_SANITIZE") or "") ~= ""
local linux = os.execute("test -r /proc/self/stat")

local function spawn(command, options)
    options = options or {}
    return program.spawn {
        command = command, wall_seconds = options.wall_seconds or 50,
        output_bytes = options.output_bytes or 1000, environment = options.environment,
        server = options.server,
    }
end

-- What becomes of a command of sh; and how many seconds that took.
local function run(script, options)
    local start = clock()
    spawn({ "/bin/sh", "-c", script }, options)
    local result = program.wait()
    return result, (clock() - start) / 1e9
end

-- Whether there is no such process. One that was killed may take a moment. If its parent is gone,
-- what remains of it waits for the system's first process, which may take its time.
local function is_gone(pid)
    pid = assert(math.tointeger(tonumber(pid)))
    for _ = 1, 100 do
        if linux then
            local stat <close> = io.open(("/proc/%d/stat"):format(pid))
            local state = stat and (stat:read("a") or ""):match("%) (%a)")
            if not state or state == "Z" or state == "X" then return true end
        elseif not os.execute("kill -0 " .. pid .. " 2>/dev/null") then
            return true
        end
        os.execute("sleep 0.02")
    end
    return false
end

local descriptors = calls.descriptors()
local folder = shell.folder()

-- ---- what is kept ---------------------------------------------------------------------------

tap.is(program.wait(), nil, "nothing runs, so there is nothing to wait for")

local r = run "echo out; echo err >&2; echo report >&3; exit 7"
tap.is(r.output, "out\n", "stdout is kept")
tap.is(r.errors, "err\n", "and stderr")
tap.is(r.report, "report\n", "and what is written to descriptor 3")
tap.is(r.status, 7, "the status is the program's")
tap.is(r.signal, nil, "no signal ended it")
tap.ok(not (r.timed_out or r.truncated or r.report_too_long), "and no limit")
tap.is(program.wait(), nil, "it is reported once")

r = run "kill -TERM $$"
tap.is(r.signal, 15, "a signal that ends it is reported")
tap.is(r.status, nil, "and is no status")

r = run "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
tap.ok(r.processor_s > 0.01 and r.processor_s < 30, "processor time is measured")

r = run("echo begin; head -c 3000000 /dev/zero; echo end >&3", { output_bytes = 6 })
tap.is(r.output, "begin\n", "output beyond the limit is dropped")
tap.ok(r.truncated, "which is reported")
tap.is(r.report, "end\n", "and the program goes on")

r = run("printf 123456", { output_bytes = 6 })
tap.ok(r.output == "123456" and not r.truncated, "output of just the limit is whole")

r = run "head -c 3000000 /dev/zero >&2; echo end"
tap.is(#r.errors, 64 * 1024, "64 KiB of stderr are kept")
tap.is(r.output, "end\n", "and the rest keeps nobody waiting")

r = run "head -c 4194304 /dev/zero >&3; echo end"
tap.is(#r.report, 4194304, "a report can be 4 MiB")
tap.is(r.output, "end\n", "far more than a pipe holds")
r = run "head -c 4194305 /dev/zero >&3; sleep 100"
tap.ok(r.report_too_long and r.signal == 9, "who writes a longer one is killed")

-- A process that can have 3 MB more than it has.
local short <const> = [[
local program = debug.getregistry()["streamlab.environment"].program
local function spawn(script)
    program.spawn { command = { "/bin/sh", "-c", script }, wall_seconds = 50, output_bytes = 1000 }
end
local pages = io.open("/proc/self/statm"):read("n")
os.execute(("prlimit --pid $PPID --as=%d"):format(pages * 4096 + 3000000))
spawn "head -c 4000000 /dev/zero >&3; sleep 100"
local r = program.wait()
spawn "echo well"
print(r.out_of_memory, r.signal, #r.report, program.wait().output)]]
if linux and not sanitized
        and os.execute "command -v prlimit >/dev/null && [ $(getconf PAGESIZE) = 4096 ]" then
    spawn({ program.executable(), "-e", short })
    tap.is(program.wait().output, "true\t9\t0\twell\n\n",
        "who says what there is no memory for is killed, and others are heard")
else
    tap.skip("memory is not limited here")
end

-- ---- what it sees ---------------------------------------------------------------------------

r = run "cat; echo end"
tap.is(r.output, "end\n", "stdin is empty")

spawn({ "/usr/bin/env" }, { environment = { GIVEN = "a b", HOME = "/x" } })
r = program.wait()
local seen = {}
for name, text in r.output:gmatch("([%w_]+)=([^\n]*)") do
    seen[name] = text
end
tap.is(seen.GIVEN, "a b", "its environment has what it is given")
tap.is(seen.HOME, "/x", "also in place of what it would have")
tap.is(seen.PATH, os.getenv("PATH"), "PATH is ours")
tap.is(seen.STREAMLAB_CUDA_PLUGIN, os.getenv("STREAMLAB_CUDA_PLUGIN"), "so is the plugin")
tap.is(seen.OPENBLAS_NUM_THREADS, "1", "BLAS is to have one thread")
tap.is(seen.LUA_PATH, nil, "what it need not know is not there")
tap.is(seen.STREAMLAB, nil, "nor this")
spawn({ "/usr/bin/env" })
tap.ok(program.wait().output:find("HOME=/nonexistent\n", 1, true), "it has no home")

local count = ("package.cpath = %q io.write(require('calls').descriptors())"):format(package.cpath)
do
    local file <close> = assert(io.open("/dev/null"))
    local pipe <close> = assert(io.popen(":"))
    spawn { program.executable(), "-e", count }
    tap.is(program.wait().output, "4", "no other descriptor is open")
end

if linux then
    local pid, group, session = run "cat /proc/$$/stat".output:match("^(%d+) .- %a %d+ (%d+) (%d+)")
    tap.ok(pid and pid == group and pid == session, "it leads a session of its own")
end

-- ---- ends -----------------------------------------------------------------------------------

local seconds
r, seconds = run("sleep 100 & echo $$ $!; wait", { wall_seconds = 0.3 })
tap.ok(r.timed_out and r.signal == 9, "who takes too long is killed")
tap.ok(seconds >= 0.3 and seconds < 20, "then, and not much later")
local pid, grandchild = r.output:match("(%d+) (%d+)")
tap.ok(is_gone(pid) and is_gone(grandchild), "and so is what it has started")

r, seconds = run "sleep 100 & echo $!; exit 3"
tap.is(r.status, 3, "what is left behind, with the pipes, does not keep us waiting")
tap.ok(seconds < 20 and not r.timed_out, "it takes no time")
tap.ok(is_gone(r.output), "and is killed")

if os.execute("command -v setsid >/dev/null") then
    r, seconds = run "setsid sleep 4 & sleep 0.2; exit 3"
    tap.is(r.status, 3, "nor does what has a session of its own")
    tap.ok(seconds < 3.9, "although it lives on, with the pipes")
end

r, seconds = run("exec >&- 2>&- 3>&-; sleep 0.3; exit 4")
tap.is(r.status, 4, "who closes its pipes is waited for all the same")
r = run("exec >&- 2>&- 3>&-; exec sleep 100", { wall_seconds = 0.2 })
tap.ok(r.timed_out and r.signal == 9, "but not longer than its time")

-- It fills its pipe and is held up while we are busy with something else, as the grader is with
-- another's results.
spawn({ "/bin/sh", "-c", "head -c 300000 /dev/zero; echo end >&3" }, { wall_seconds = 0.4 })
os.execute "sleep 0.5"
r = program.wait()
tap.ok(not r.timed_out and r.report == "end\n", "time in which nobody waits for it does not count")

r = run("trap '' TERM INT HUP; while :; do :; done", { wall_seconds = 0.2 })
tap.is(r.signal, 9, "signals that it ignores do not help it")

-- They wait for each other, in sum longer than time passes.
if linux and os.execute "taskset -c 0 true 2>/dev/null" then
    local burn <const> = "for i in 1 2 3 4; do while :; do :; done & done; wait"
    r = run(("exec taskset -c 0 sh -c '%s'"):format(burn), { wall_seconds = 0.02 })
    tap.ok(r.timed_out and r.signal == 9, "nor does it help to wait for a processor without end")
end

-- Four others on its processor, with which it takes five times as long as alone; it has time for
-- two.
if linux and os.execute "taskset -c 0 true 2>/dev/null && test -r /proc/self/schedstat" then
    local work <const> = "i=0; while [ $i -lt 80000 ]; do i=$((i+1)); done; echo done"
    local alone = run("taskset -c 0 sh -c '" .. work .. "'").processor_s
    local burners = {}
    for _ = 1, 4 do
        burners[spawn { "/bin/sh", "-c", "exec taskset -c 0 sh -c 'while :; do :; done'" }] = true
    end
    r = run("exec taskset -c 0 sh -c '" .. work .. "'", { wall_seconds = 2 * alone })
    tap.ok(not burners[r.id] and r.output == "done\n" and not r.timed_out,
        "time in which others have the processor does not count")
    r = run("sleep 100", { wall_seconds = 0.1 })
    tap.ok(r.timed_out, "and time in which it sleeps does, on a busy machine as well")
    program.end_children()
else
    tap.skip("this system does not say how long processes have waited", 2)
end

-- ---- many -----------------------------------------------------------------------------------

local ids, n = {}, 0
local many <const> = tap.sized(40, 100)
for i = 1, many do
    ids[spawn({ "/bin/sh", "-c", "head -c 100000 /dev/zero >&3; echo " .. i })] = i
end
for result in program.wait do
    n = n + (ids[result.id] .. "\n" == result.output and #result.report == 100000 and 1 or 0)
    ids[result.id] = nil
end
tap.is(n, many, many .. " run side by side, and each tells its own")
tap.is(next(ids), nil, "none is reported twice")

local slow = spawn { "/bin/sh", "-c", "sleep 0.5" }
local quick = spawn { "/bin/sh", "-c", ":" }
tap.is(program.wait().id, quick, "the first to end is reported first")
tap.is(program.wait().id, slow, "the other one afterwards")

-- ---- processes that are forked ---------------------------------------------------------------

-- A script of a server that forks, and of what is forked. Alone, it says so.
local function forking(name, before, after)
    return shell.write(folder .. "/" .. name .. ".lua", ([[
        package.cpath = %q
        local calls = require "calls"
        local program = debug.getregistry()["streamlab.environment"].program
        local count = 0
        local function forked(path, script, ...)
            count = count + 1
            print(#{ ... }, ...)
            %s
        end
        if arg[1] then print "alone" os.exit(5) end
        %s
        forked(program.next_fork())]]):format(package.cpath, after, before))
end

-- A server of that script; and what becomes of a process that it starts.
local function serve(path)
    return program.start_fork_server { program.executable(), path }
end
local function ask(server, path, options)
    options = options or {}
    options.server = server
    spawn({ program.executable(), path, table.unpack(options, 1) }, options)
    return program.wait()
end

if linux then
    local path = forking("plain", "", [[
        io.stderr:write(count, " ", calls.descriptors(), " ", os.getenv("HOME"))
        program.report(io.open("/proc/self/stat"):read("a"):match("^%d+ .- %a (.*)"))
        os.exit(7)]])
    local server <close> = serve(path)
    r = ask(server, path, { "a b", "" })
    tap.is(r.output, "2\ta b\t\n", "what is forked gets the words of its command")
    tap.is(r.status, 7, "and its status is its own")
    tap.is(r.errors, "1 4 /nonexistent",
           "its files and its environment are those of other children")
    local parent, group, session = r.report:match("^(%d+) (%d+) (%d+)")
    tap.is(parent, io.open("/proc/self/stat"):read("a"):match("^(%d+)"), "we are its parent")
    tap.is(group, session, "it has a session of its own")
    r = ask(server, path, { "x" })
    tap.is(r.errors, "1 4 /nonexistent", "nothing is left of it in the next one")
    tap.ok(not r.report:find("^%d+ " .. group .. " "), "which is another process")
    r = ask(server, path, { ("x"):rep(20000) })
    tap.ok(r.output == "alone\n" and r.status == 5, "a command that is too long is started")
    r = ask(server, path, { "x" })
    tap.is(r.output, "alone\n", "and those after it")

    path = forking("hangs", "", [[if ... == "hang" then while true do end end]])
    local patient <close> = serve(path)
    r = ask(patient, path, { "hang", wall_seconds = 0.3 })
    tap.ok(r.timed_out and r.signal == 9 and r.processor_s > 0, "who takes too long is killed")
    r = ask(patient, path, { "go" })
    tap.is(r.output, "1\tgo\n", "and the server is not")

    path = forking("ends", "os.exit()", "")
    r = ask(serve(path), path, { "x" })
    tap.is(r.output, "alone\n", "without its server the program is started")
    path = forking("threads", "assert(calls.keep_thread())", "")
    r = ask(serve(path), path, { "x" })
    tap.is(r.output, "alone\n", "also where the server has two threads")
    r = ask(program.start_fork_server { "/nonexistent/program" }, path, { "x" })
    tap.is(r.output, "alone\n", "also where there is no such server")

    path = forking("sleeps", "",
                   ("io.open(%q, 'w'):write(io.open('/proc/self/stat'):read('n')):close() "
        .. "os.execute('exec sleep 60')"):format(folder .. "/pid"))
    shell.run { shell.write(folder .. "/killed.lua", ([[
        local program = debug.getregistry()["streamlab.environment"].program
        local command = { program.executable(), %q }
        program.spawn { command = command, wall_seconds = 50, output_bytes = 0,
            server = program.start_fork_server(command) }
        repeat local pid = io.open(%q) until pid and pid:read("n")
        os.execute('kill -9 $PPID')]]):format(path, folder .. "/pid")) }
    tap.ok(is_gone(shell.read(folder .. "/pid")), "what is forked dies with its parent")
    os.remove(folder .. "/pid")
else
    tap.skip("only Linux forks for others", 14)
end

-- ---- what cannot be run ---------------------------------------------------------------------

tap.throws_like(function() spawn { "/nonexistent/program" } end,
    "spawn: cannot run /nonexistent/program: No such file or directory", "a missing program")
tap.throws_like(function() spawn { "/" } end, "spawn: cannot run /: Permission denied",
    "one that is none")
tap.throws_like(function() spawn {} end, "command names no program", "no program at all")
tap.throws_like(function() spawn { "/bin/sh", 1 } end,
    "command%[2%] must be a string, not a number", "an argument that is no text")
tap.throws_like(function() program.spawn { command = { "/bin/sh" } } end,
    "wall_seconds must be a number, not a nil", "no time given")
tap.throws_like(function() spawn({ "/bin/sh" }, { wall_seconds = 0 }) end,
    "wall_seconds must be positive", "no time left")
tap.throws_like(function() spawn({ "/bin/sh" }, { environment = { 1 } }) end,
    "environment must hold texts by name", "an environment without names")
local of_lab = "scripts/labs/01-first-streams"
for _, most in ipairs { 6, 12, 16 } do
    local _, err, code = shell.sh(("ulimit -n %d; exec \"$P\" lab check %s %s/starter.lua"):format(
        most, of_lab, of_lab))
    tap.like(err, "^streamlab: spawn: cannot open pipes for [^\n]*: Too many open files "
        .. "%(this process may have " .. most .. "; ulimit %-n raises that%)\n$",
        "a limit of " .. most .. " descriptors is reported, without a position in the program")
    tap.is(code, 1, "and the status is 1")
end
tap.is(program.wait(), nil, "none of them runs")
collectgarbage()
tap.is(calls.descriptors(), descriptors, "no descriptor is left open by all this")

-- ---- the end of the program -----------------------------------------------------------------

local prologue = [[
local program = debug.getregistry()["streamlab.environment"].program
local function spawn(script)
    program.spawn { command = { "/bin/sh", "-c", script }, wall_seconds = 50, output_bytes = 9 }
end
]]
local function script(name, text)
    return shell.write(folder .. "/" .. name .. ".lua", prologue .. text)
end
local pid_file = folder .. "/pid"
local start_sleep = ([[
spawn "echo $$ >%s; mv %s %s.made; exec sleep 60"
while not io.open("%s.made") do end
]]):gsub("%%s", pid_file)
local function sleeper_is_gone()
    local text = shell.read(pid_file .. ".made")
    os.remove(pid_file .. ".made")
    return is_gone(text)
end

local _, _, code = shell.run { script("leaves", start_sleep) }
tap.is(code, 0, "a program may leave without waiting")
tap.ok(sleeper_is_gone(), "what it has started is killed then")
_, _, code = shell.run { script("fails", start_sleep .. "error('x')") }
tap.ok(code == 1 and sleeper_is_gone(), "also when it leaves with an error")

if linux then
    shell.run { script("dies", start_sleep .. "os.execute('kill -9 $PPID')") }
    tap.ok(sleeper_is_gone(), "also when it is killed itself")
end

local err
code, err = shell.interrupted(script("waits", start_sleep
    .. "print('go') io.stdout:flush() program.wait() print('waited')"))
tap.is(code, 130, "Ctrl-C ends waiting")
tap.like(err, "waits.lua:%d+: interrupted!", "with the error that says where")
tap.ok(sleeper_is_gone(), "and kills all that run")

local out
out, err, code = shell.sh("ulimit -Sn 50; exec \"$P\" " .. script("many", [[
for i = 1, 30 do spawn("echo " .. i) end
local n = 0
for result in program.wait do n = n + 1 end
io.write(n)
]]))
tap.is(code == 0 and out, "30", "a low soft limit of descriptors does not keep us from many")

code = shell.interrupted(script("catches", start_sleep
    .. "print('go') io.stdout:flush() while true do pcall(program.wait) end"))
tap.is(code, 130, "Ctrl-C ends waiting in a loop that catches errors")
tap.ok(sleeper_is_gone(), "and kills all that run there")
shell.remove(folder)

-- ---- this program ---------------------------------------------------------------------------

spawn({ program.executable(), "-v" })
tap.like(program.wait().output, "^streamlab %d", "executable is the path of this program")
tap.ok(math.type(internals.processors()) == "integer" and internals.processors() >= 1,
    "there is a processor at least")

-- What processors() says where these files are in the place of the system's; nil where that
-- cannot be had.
local function processors_with(files)
    local script = "mount -t tmpfs none /sys/fs/cgroup && cd /sys/fs/cgroup && mkdir cpu && "
        .. files .. [[ && exec "$0" -e "
            print(debug.getregistry()['streamlab.internals'].processors())"]]
    return tonumber((shell.sh(("unshare -m sh -c %s %s 2>/dev/null"):format(shell.quote(script),
        shell.quote(program.executable())))))
end

local all = processors_with("echo max 100000 >cpu.max")
if all then
    tap.is(all, internals.processors(), "a container may have all processors")
    tap.is(processors_with("echo 50000 100000 >cpu.max"), 1, "or a share of them, rounded up")
    tap.is(processors_with("echo 900000000 100000 >cpu.max"), all, "which may be more than all")
    tap.is(processors_with("echo 100000 >cpu/cpu.cfs_quota_us && "
        .. "echo 100000 >cpu/cpu.cfs_period_us"), 1, "older systems say so elsewhere")
    tap.is(processors_with("echo -1 >cpu/cpu.cfs_quota_us && "
        .. "echo 100000 >cpu/cpu.cfs_period_us"), all, "also that there is no limit")
else
    tap.skip("no container can be imitated here", 5)
end

tap.done()
