-- 52-values-objects.t.lua - how the REPL shows streams, events, devices and timelines, and
-- what who(), time(f) and the banner print.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local lines = require "lines"
local session = require "session"
local shown = lines.run

local function is(text, want, name, environment)
    tap.is((shown(text, environment)), want, name)
end

-- Streams, events, devices --------------------------------------------------------------

is([[s = lab.stream{name = "first"}
s
lab.spin(5, {stream = s}); lab.spin(5, {stream = s});
s
lab.host_work(20)
s
s:close()
s]], [[stream "first" (id 1, priority 0, blocking): idle
stream "first" (id 1, priority 0, blocking): working, 2 operations in flight
stream "first" (id 1, priority 0, blocking): idle
stream (closed)
]], "a stream says how it stands")
is([[lab.stream{priority = "high", non_blocking = true, name = "a\27[2Jb"}]],
    "stream \"a\\x1b[2Jb\" (id 1, priority -5, non-blocking): idle\n", "its name is escaped")
is([[e = lab.event()
e
lab.spin(1); e:record();
e
e:synchronize()
e
lab.event{timing = false}
e:close()
e]], [[event (timed): not recorded
event (timed): recorded, pending
event (timed): recorded, has happened
event (without timing): not recorded
event (closed)
]], "an event, too")
is([[s = lab.stream{name = "s"}
g, x = lab.graph(function() return lab.ones(2) end, {name = "step", stream = s})
g
g:launch();
x
lab.synchronize();
x
who()
s:begin_capture();
s
pcall(lab.synchronize);
s
g:free()
g]], [[graph 1 "step" (1 node, not launched)
tensor 2 float32 on cuda, 8 bytes (1 operation in flight)
  lab.synchronize() waits for its values
tensor 2 float32 on cuda, 8 bytes
  1.  1.
variable  what                                 now                 size
s         stream 1 "s" (priority 0, blocking)  idle
g         graph 1 "step" (1 node)              launched 1 time
x         tensor 2 float32 on cuda                              8 bytes
memory: 8 bytes on the device, 0 bytes pinned, 0 bytes pageable
stream "s" (id 1, priority 0, blocking): captured
stream "s" (id 1, priority 0, blocking): its capture is spoiled
graph (freed)
]], "a graph, what it makes, and a stream that is captured")
is([[d = lab.device()
d
lab.spin(1);
d
tl = lab.record()
d
lab.open{profile = "t4"};
d]], [[device 0 textbook GPU (sim, profile textbook): current, idle
device 0 textbook GPU (sim, profile textbook): current, 1 operation in flight
device 0 textbook GPU (sim, profile textbook): current, idle, recording
device 0 textbook GPU (sim, profile textbook): idle, recording
]], "and a device")
is([[d = lab.device()
lab.open{profile = "t4"};
s = lab.stream()
d:make_current();
resume = coroutine.wrap(function() local guard <close> = lab.use(s) coroutine.yield() end)
resume()
d]], "device 0 textbook GPU (sim, profile textbook): current, idle\n",
    "which is current again where a coroutine has yielded that took another one")
is("s = lab.stream()\n{s, lab.event()}",
    "{stream 1 \"stream 1\" (priority 0, blocking), event (not recorded, timed)}\n",
    "in tables objects are short")
is([[s = lab.default_stream()
s:launch_host_func(function() error("in vain", 0) end); lab.spin(3);
e = lab.event()
e
lab.host_work(0.0001)]], "event (timed): not recorded\n", "asking is no wait")

-- Timelines -----------------------------------------------------------------------------

local out = shown("tl = lab.profile(function() lab.spin(1); lab.spin(2) end)\ntl", "COLUMNS=60")
tap.like(out, "^timeline of 2 spans: makespan 3001%.%d us, 1%.00 times the\n  bound of 3000%.0 "
    .. "us\n",
    "a timeline is described in a line")
tap.like(out, "\ndefault .*kernel.*\n_:explain%(%) says where the time went\n$",
         "and shown as a chart")
tap.is((shown("tl = lab.profile(function() lab.spin(1); end)\ntl", "LC_ALL=C")):find("[\x80-\xff]"),
    nil,
    "in ASCII if the locale is")
is("tl = lab.record()\ntl\ntl:stop();\ntl", "timeline (recording)\ntimeline of 0 spans\n",
    "one that is recording, or empty, is one line")

-- who() ---------------------------------------------------------------------------------

is("who()", "nothing: no device, stream, event, graph, kernel, tensor or timeline\n",
   "nobody opens no device")
is([[s = lab.stream{name = "first"}
a, b = lab.zeros(1024, 1024), lab.ones(3)
c = a
data = {lab.ones(4, {device = "cpu", pinned = true}), x = {lab.ones(5)}, ["odd key"] = b}
do local z = lab.ones(6, {device = "cpu"}) hidden = function() return z end end
e = s:record_event()
lab.synchronize()
lab.spin(1, {stream = s})
tl = lab.profile(function() end)
lab.spin(1, {stream = s})
who()]], [[variable            what                                     now                         size
s                   stream 1 "first" (priority 0, blocking)  working, 1 in flight
e                   event (timed)                            recorded, has happened
a, c                tensor 1024x1024 float32 on cuda                                    4 MiB
b, data["odd key"]  tensor 3 float32 on cuda                                         12 bytes
data[1]             tensor 4 float32 on cpu (pinned)                                 16 bytes
(no variable)       tensor 5 float32 on cuda                                         20 bytes
(no variable)       tensor 6 float32 on cpu                                          24 bytes
tl                  timeline of 0 spans, makespan 0.0 us
memory: 4 MiB on the device, 16 bytes pinned, 24 bytes pageable
]], "variables, states and sizes", "COLUMNS=100")
out = shown("s = lab.stream{name = 'a long name'}\na = lab.ones(100, 100)\nwho()", "COLUMNS=40")
tap.is(out, [[s: stream 1 "a long name" (priority 0,
  blocking), idle
a: tensor 100x100 float32 on cuda, 39.06
  KiB
memory: 39.06 KiB on the device, 0 bytes
  pinned, 0 bytes pageable
]], "a narrow terminal has sentences")
out = shown "a = lab.ones(1)\na = nil\n_ = nil\nwho()"
tap.is(out:find("tensor 1", 1, true), nil, "what was let go is not there")
tap.like(shown "lab.ones(7);\nwho()", "\n_ +tensor 7 ", "the last value has a name")
tap.like(shown "for i = 1, 250 do _G['t' .. i] = lab.empty(1) end\nwho()",
    "\n%.%.%. and 50 older\n", "there is an end to it")
tap.like(shown [[t = setmetatable({lab.ones(1)}, {__pairs = error, __index = error, __eq = error})
setmetatable(_G, {__index = error, __pairs = error});
who()]], "%(no variable%) +tensor",
    "no metamethod runs")
tap.is((shown "x = who()\nx"),
    "nothing: no device, stream, event, graph, kernel, tensor or timeline\nnil\n",
    "it returns nothing")

-- time(f) -------------------------------------------------------------------------------

out = shown "time(function(a, b) return a + b, nil end, 1, 2)"
tap.like(out, "^ *[%d.]+ [nmu]?s  until f returned\n3\tnil\n$",
         "what f returns is returned; no GPU")
tap.is(select(2, shown "time(function() end)"), "", "and none is opened")
is("lab.synchronize()\ntime(function() lab.spin(5) end)",
    "3.800 us  until f returned (simulated)\n5.008 ms  until all work was done (simulated)\n"
    .. "5.000 ms  the GPU worked (100 %)\n", "the host's part, the whole, the GPU's part")
out = shown "time(function() lab.spin(5) end)"
tap.like(out, "until f returned %(simulated%)\n5%.%d+ ms  until all work was done %(simulated%)\n",
    "f may open the device")
is("s = lab.stream(); lab.spin(100, {stream = s})\ntime(function() lab.spin(1, {stream = s}) end)",
    "3.800 us  until f returned (simulated)\n1.008 ms  until all work was done (simulated)\n"
    .. "1.000 ms  the GPU worked (99 %)\n", "earlier work is not counted")
local _, err = shown "time(3)"
tap.like(err, "time: argument 1 %(f%) must be a function, got number; write time%(function%(%) "
    .. "%.%.%. end%)",
    "no function")
out, err = shown "lab.device();\ntime(function() error('no', 0) end)\nlab.full(1, 1, \z
    {device = 'cpu'})"
tap.like(err, "streamlab: no\n", "an error passes")
tap.like(out, "  1%.\n$", "and the recording ends with it")

-- .timer on -----------------------------------------------------------------------------

local timing <const> = 'timing = '
    .. 'debug.getregistry()["streamlab.imported"]["repl/console/timing.lua"]\n'
out = shown(timing .. [[lab.synchronize()
timing.set(true)
lab.spin(5)
lab.synchronize()
1 + 1
error("no", 0)
timing.set(false)
lab.host_work(1)
1 + 2]])
tap.is(out, "time: 3.800 us simulated; 1 operation in flight\ntime: 5.005 ms simulated\n"
    .. "time: 0 ns simulated\n2\ntime: 0 ns simulated\n3\n",
    "each entry says how long it took, also after an error")
out = shown(timing .. "timing.set(true)\n1")
tap.like(out, "^time: [%d.]+ [num]?s\n1\n$", "without a device it is real time")

-- The banner ----------------------------------------------------------------------------

-- What is there at the first prompt.
local function banner(columns, environment)
    environment.STREAMLAB_BACKEND = environment.STREAMLAB_BACKEND or false
    local s = session.open { arguments = { "--norc" }, columns = columns, env = environment }
    s:wait "lab[1]> "
    local text = s:text():match("^(.*)\nlab%[1%]>") or s:text()
    s:leave()
    s:close()
    return text
end

out = banner(80, {})
tap.like(out, "^streamlab %d+%.%d.*`lab` is the laboratory\n", "the banner has the version")
tap.like(out, "GPU: textbook GPU, simulated %(profile textbook%): [^\n]+\n",
         "which GPU there is, and why")
tap.like(out, "help%(%).*%?lab%.matmul.*%.help.*Tab.*Ctrl%-D", "and how to go on")
out = banner(40, { STREAMLAB_PROFILE = "rtx4060_laptop" })
tap.like(out, "RTX%s+4060.*rtx4060_laptop", "another profile")
tap.ok(lines.widest(out) <= 40, "it fits 40 columns")
tap.ok(select(2, out:gsub("\n", "")) < 8, "and eight lines")
out = banner(80, { STREAMLAB_PROFILE = "nothing" })
tap.like(out, "no GPU: there is no profile \"nothing\"", "what is wrong is said")
tap.like(out, "Ctrl%-D", "and the REPL starts")
out = banner(80, { STREAMLAB_BACKEND = "cuda" })
tap.like(out, "no GPU: .*Ctrl%-D", "so it does without the GPU that is asked for")

tap.done()
