-- 48-threads.t.lua - the end of programs that have threads: errors that nobody has got, Ctrl-C, and
-- threads under plain lua5.4.
package.path = "tests/?.lua;tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local folder = shell.folder()
local prologue = "lab.open { backend = 'sim', profile = 'textbook' }\n"
local n_scripts = 0

local function script(text)
    n_scripts = n_scripts + 1
    return shell.write(("%s/t%d.lua"):format(folder, n_scripts), prologue .. text)
end

-- ---- the end of a program -----------------------------------------------------------------

local out, err, code = shell.run { script [[
lab.thread(function() lab.host_work(1) print("in time") end)
print "the script ends"]] }
tap.is(out .. err .. code, "the script ends\nin time\n0",
       "a thread that is not joined is joined at the end")

_, err, code = shell.run { script [[
local kept = lab.thread(function()
    lab.host_work(1)
    error("lost?")
end)]] }
tap.like(err, "^streamlab: thread 1, which was started at t2%.lua:2 and not joined, has failed: "
    .. "[^\n]*t2%.lua:4: lost%?\n$",
    "its error is reported, with where it was started and where it failed")
tap.is(code, 1, "and is the program's")

_, err, code = shell.run { script [[
for i = 1, 3 do lab.thread(function(n) error({}, n) end, i) end
lab.thread(function() lab.matmul(1) end)]] }
local _, n_lines = err:gsub("and not joined, has failed: ", "")
tap.is(n_lines, 4, "of several each is reported")
tap.like(err, "error object is a table value", "also one without a text")
tap.like(err, "t3%.lua:3: matmul: ", "and one of the laboratory, with its position")

_, err, code = shell.run { script [[
lab.thread(function() lab.thread(function() error("inner") end) end):join()]] }
tap.like(err, "^streamlab: thread 2, which was started at t4%.lua:2 and not joined, has failed: "
    .. "[^\n]*inner\n$",
    "the error of a thread's thread is reported at its end")

out, err, code = shell.run { script [[
lab.thread(function() for _ = 1, 3 do lab.host_work(1) io.write("x") end end)
os.exit(3)]] }
tap.is(out .. err .. code, "xxx3", "os.exit joins them, too")

_, err, code = shell.run { script [[
lab.thread(function() lab.host_work(1) error("late") end)
error("first")]] }
tap.like(err, "t6%.lua:3: first.*t6%.lua:2: late",
         "after an error of the script those of threads are reported as well")
tap.is(code, 1, "and the status is that of an error")

-- ---- globals ---------------------------------------------------------------------------------

_, err = shell.run { script [[
local function work()
    total, other = 3, nil
    function helper() end
    total = total + 1
end
for _ = 1, 3 do lab.thread(work):join() end]] }
tap.is(err, "streamlab: t7.lua:3: thread: 'total' becomes a global variable of this thread alone, "
    .. "which the script will not see: declare it local, and return what the script needs\n",
    "a global that threads set is reported once; functions and nil are not")

_, err = shell.run({ "-i" }, prologue .. "s = lab.stream()\n"
    .. "lab.thread(function() lab.spin(1, {stream = s}) end):join()\n")
tap.like(err, "lab%[3%]:1: thread: 's' is a global variable of the script",
         "what the prompt has is refused by name")

_, err = shell.run { "predict", "--profile", "textbook", script [[
n = 3
lab.thread(function() return n end):join()]] }
tap.like(err, "t8%.lua:3: thread: 'n' is a global variable",
         "so is a global of a script that predict runs")

-- ---- Ctrl-C ------------------------------------------------------------------------------

local go = "io.stdout:setvbuf('no') print('go')\n"
local cases = {
    { "lab.thread(function() while true do end end):join()",
      "a join of a thread that loops in Lua" },
    { "lab.thread(function() while true do lab.host_work(1) end end):join()",
      "one of a thread that works" },
    { "lab.thread(function() while true do pcall(lab.host_work, 1) end end):join()",
        "one of a thread that catches all errors" },
    { "lab.thread(function() while true do lab.spin(0.001) end end):join()",
      "one of a thread that fills the queue" },
    { "lab.thread(function() local s = lab.stream() while true do lab.spin(1, {stream = s}) "
        .. "s:synchronize() end end):join()", "one of a thread that waits" },
    { "local th = lab.thread(function() while true do lab.host_work(1) end end) "
        .. "while not th:done() do end", "a loop that asks whether it is done" },
    { "lab.thread(function() while true do lab.host_work(1) end end) while true do end",
        "a loop of the script beside a thread that waits for its turn" },
    { "lab.thread(function() lab.thread(function() while true do end end):join() end):join()",
        "a thread that joins one that loops" },
    { "lab.thread(function() while true do pcall(function() while true do end end) end end):join()",
        "one of a thread that loops in pcall" },
    { "lab.thread(function() while true do pcall(pcall, function() while true do end end) end "
        .. "end):join()",
        "one in pcall in pcall" },
    { "lab.thread(function() while true do xpcall(function() while true do end end, "
        .. "function() while true do end end) end end):join()",
        "one whose message handler loops, too" },
    { "lab.thread(function() while true do xpcall(error, function() while true do end end) end "
        .. "end):join()",
        "one in a message handler" },
    { "lab.thread(function() while true do coroutine.resume(coroutine.create(function() "
        .. "while true do end end)) end end):join()", "one of a thread that loops in coroutines" },
    { "lab.thread(function() local co = coroutine.wrap(function() while true do pcall(function() "
        .. "while true do end end) end end) while true do pcall(co) end end):join()",
        "one in pcall in a coroutine in pcall" },
    { "lab.thread(function() pcall(debug.sethook) while true do pcall(function() while true do end "
        .. "end) end end):join()", "one of a thread that would take the hook away" },
    { "lab.thread(function() while true do local _ <close> = setmetatable({}, {__close = "
        .. "function() while true do end end}) end end):join()", "one whose closers loop" },
    { "lab.thread(function() while true do table.sort({1, 2, 3}, function() while true do "
        .. "pcall(error) end end) end end):join()", "one that loops in a function that C calls" },
    { "lab.thread(function() while true do pcall(load, function() while true do end end) end "
        .. "end):join()",
        "one that loops in a reader of load" },
    { "local th = lab.thread(function() while true do pcall(function() while true do "
        .. "lab.spin(0.001) end end) end end) pcall(th.join, th) while true do "
        .. "pcall(function() while true do end end) end",
        "a script and a thread that both catch all errors" },
    { "lab.thread(function() while true do pcall(function() while true do end end) end end)",
        "the end of a script whose thread loops in pcall", true },
}
local starts = {}
for i, case in ipairs(cases) do
    starts[i] = function() return shell.start_interrupted(script(go .. case[1])) end
end
shell.each(starts, function(i, status, message)
    local told = status == 130 and message:find("interrupted!", 1, true)
    if not tap.ok(told or cases[i][3] and status == 100, "Ctrl-C ends " .. cases[i][2]) then
        tap.diag(("status %s: %s"):format(status, message))
    end
end)

-- After Ctrl-C what was cleaned up is.
_, err, out = shell.interrupted(script(go .. [[
lab.thread(function()
    local _ <close> = setmetatable({}, {__close = function() for i = 1, 300 do io.write(i == 300 and "closed" or "") end end})
    print(select(2, pcall(function() while true do end end)))
end):join()]]))
tap.like(out, "t%d+%.lua:5: interrupted!\nclosed", "the error has the line, and closers run")

out = shell.run { script [[
print(lab.thread(function()
    local blocked = "grep -c 'SigBlk:.0*$' /proc/self/status"
    local pipe = io.popen(blocked)
    local said = pipe:read("l")
    pipe:close()
    return said, os.execute(blocked .. " >/dev/null"), pcall(io.popen)
end):join())]] }
tap.like(out, "^1\ttrue\tfalse\tbad argument #1 to 'io.popen'",
         "programs that a thread starts can be interrupted")

-- The end of a script waits for its threads, and says so.
out, err, code = shell.sh(([[
>errors; (until grep -q 'still runs' errors; do sleep 0.05; done; kill -INT $(cat errors.pid)) &
sh -c 'echo $$ >errors.pid; exec "$0" --backend sim "$1" 2>errors' "$P" %s; echo $?; cat errors]]):gsub("errors",
    folder .. "/errors"):format(
    script "lab.thread(function()\n    while true do\n        local x = 1\n    end\nend)"))
tap.like(out, "^130\nstreamlab: the script has ended, but the thread that was started at "
    .. "t%d+%.lua:2 still runs, at [^\n]*t%d+%.lua:[34]; Ctrl%-C ends it\n$",
    "a script that has ended and waits for a thread says for which")

-- ---- memory ------------------------------------------------------------------------------

-- The memory of a program after n threads of a kind. A state has 176 KiB and more.
local function kib_after(n, body)
    local text = ([[
local function work(s, t)
    %s
end
local s, t = lab.stream(), lab.ones(4)
for i = 1, %d do
    lab.thread(work, s, t):join()
    collectgarbage()
end
lab.synchronize()
local text = io.open("/proc/self/statm"):read("a")
print((tonumber(text:match("^%%d+ %%d+ %%d+ %%d+ %%d+ (%%d+)")) * 4))]]):format(body, n)
    local said, problem = shell.run { script(text) }
    return tonumber(said) or error(problem)
end

local left = {
    { "nothing", "" },
    { "a graph with a host function", "local g = "
        .. "lab.graph(function() lab.current_stream():launch_host_func(function() return g end) "
        .. "end)" },
    { "the same, launched, in a global", "g = lab.graph(function() lab.spin(0.1) "
        .. "lab.current_stream():launch_host_func(function() return g end) end) g:launch()" },
    { "a capture that has not ended", "local s = lab.stream() s:begin_capture() "
        .. "s:launch_host_func(function() return s end)" },
    { "streams, events and tensors",
      "g = {lab.stream(), lab.event(), lab.ones(100)} g[2]:record(g[1])" },
    { "host functions that ran", "lab.current_stream():launch_host_func(function() return s end)" },
    { "a recording", "g = lab.record() lab.spin(0.1)" },
    { "a stream in use", "g = lab.use(lab.stream()) lab.spin(0.1)" },
    { "coroutines that wait", "g = coroutine.wrap(function() local _ <close> = "
        .. "lab.use(lab.stream()) coroutine.yield() end) g()" },
    { "an error", "pcall(error, g) g = {} g.g = g" },
    { "a thread of its own", "g = lab.thread(function() return 1 end)" },
    { "the per-thread stream", "g = lab.cuda and lab.cuda.stream_per_thread lab.spin(0.1)" },
}
if not io.open("/proc/self/statm") or (os.getenv("STREAMLAB_SANITIZE") or "") ~= "" then
    tap.skip("the memory of a process is not known here", #left)
else
    for _, case in ipairs(left) do
        local once, twice = kib_after(40, case[2]), kib_after(80, case[2])
        if not tap.ok(twice - once < 40 * 40, "a thread leaves no state behind with "
                .. case[1]) then
            tap.diag(("%d KiB after 40, %d KiB after 80"):format(once, twice))
        end
    end
end

-- ---- deadlock ----------------------------------------------------------------------------

_, err, code = shell.run { script [[
local first = lab.device()
lab.open { index = 1 }
first:make_current()
local waits = lab.thread(function()
    local comm = lab.comm { devices = { 0, 1 } }
    comm:send(lab.ones(4, { device = "cuda:0" }), { dst = 1 })
    lab.synchronize()
end)
waits:join()]] }
tap.like(err, "t%d+%.lua:8: synchronize: .*rank 1 has not called recv",
    "if no thread can go on, the one that waits for the device reports why, with its line")
tap.is(code, 1, "at once")

-- ---- plain lua5.4 -------------------------------------------------------------------------

local lua, module = os.getenv("STREAMLAB_LUA") or "", os.getenv("STREAMLAB_SO") or ""
if lua == "" or module == "" or (os.getenv("STREAMLAB_SANITIZE") or "") ~= "" then
    tap.skip("no lua5.4, or no module that it can load", 2)
else
    out, err = shell.sh(("LUA_CPATH=%s LUA_PATH= %s -e %s"):format(
        shell.quote(module:gsub("[^/]*$", "?.so")), shell.quote(lua), shell.quote [[
        local lab = require "streamlab"
        lab.open { backend = "sim", profile = "textbook" }
        print(lab.thread(function(n) return lab.ones(n):sum():item() end, 5):join())
        lab.thread(function() error("told") end)]]))
    tap.is(out, "5.0\n", "plain lua5.4 has threads")
    tap.like(err, "thread 2, which was started at %(command line%):4 and not joined, has failed: "
        .. ".*told",
        "and reports errors that nobody has got")
end

tap.done()
