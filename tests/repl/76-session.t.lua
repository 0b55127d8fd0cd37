-- 76-session.t.lua - a whole session at a terminal: all that the prompt offers, one after the
-- other, as somebody would try it.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local shell = require "shell"
local keys = session.keys

local home = shell.folder()
shell.sh("mkdir -p " .. home .. "/.config/streamlab " .. home .. "/data")
shell.write(home .. "/.config/streamlab/rc.lua", "mine = 'from the start file'\n")
shell.write(home .. "/data/loaded.lua", "loaded = (loaded or 0) + 1\nprint('loading', loaded)\n")

-- What the program is has to be found from there.
if not shell.program:find("^/") then
    shell.program = io.popen("pwd"):read("l") .. "/" .. shell.program
end
local s = session.open { home = home, history = true, shell = 'cd && exec "$P"' }
tap.ok(s:wait "lab[1]> ", "there is a prompt")
tap.is(s:text(), "streamlab " .. shell.read("VERSION"):sub(1, -2) .. [[: `lab` is the laboratory
GPU: textbook GPU, simulated (profile textbook)
help() to start, ?lab.matmul for a name, .help for commands, Tab completes,
Ctrl-D ends
lab[1]>]], "the banner says what there is and how to go on, on one screen")

local function is(line, answer, name)
    tap.is(s:ask(line), answer, name)
end
local function like(line, pattern, name)
    tap.like(s:ask(line), pattern, name)
end

-- ---- values --------------------------------------------------------------------------------

is("mine", '"from the start file"\n', "the start file has run")
is("1 + 1", "2\n", "an expression's value is shown")
is("_ * 21", "42\n", "_ is the last one")
is("_ + 1;", "", "a semicolon keeps it silent")
is("_", "43\n", "but _ has it")
is("x = 5; x * 2", "10\n", "a line may be statements and then an expression")
is("z = -5; math.abs(z)", "5\n", "which may be a call")
is("z = -6; math.abs(z);", "", "that a semicolon keeps silent as well")
is("z = math.abs -- one; x", "", "but not what a comment says")
is("x", "5\n", "which have run")
is("x = 6;", "", "a statement has no value, and may have its semicolon")
is("1, nil, 'two'", '1       nil     "two"\n', "several values are shown")
is("{3, 1, b = {true}, a = 'z'}", '{3, 1, a = "z", b = {true}}\n', "tables with sorted keys")
is("t = {}; t.t = t; t", "{t = <cycle: _>}\n", "and cycles")
is("=7", "7\n", "as in old Lua, = shows a value")
is("'é日'", '"é日"\n', "letters of all kinds")

is("a = lab.ones(200, 300); lab.synchronize()", "", "a tensor is made")
is("a", [[
tensor 200x300 float32 on cuda, 234.37 KiB
   1.   1.   1.  ...   1.   1.   1.
   1.   1.   1.  ...   1.   1.   1.
   1.   1.   1.  ...   1.   1.   1.
  ...  ...  ...  ...  ...  ...  ...
   1.   1.   1.  ...   1.   1.   1.
   1.   1.   1.  ...   1.   1.   1.
   1.   1.   1.  ...   1.   1.   1.
]], "a tensor is shown as its shape, dtype, place and corners")
is("up = lab.stream{name = 'up'}; up", 'stream "up" (id 1, priority 0, blocking): idle\n',
    "a stream as a line")
is("lab.spin(1, {stream = up})", "", "work is enqueued")
is("up", 'stream "up" (id 1, priority 0, blocking): working, 1 operation in flight\n',
    "which the line tells")
is("e = up:record_event(); e", "event (timed): recorded, pending\n", "an event as a line")
is("e:synchronize(); e", "event (timed): recorded, has happened\n", "which tells its state")
is("both = function() lab.spin(1); lab.spin(1, {stream = up}) end", "", "a function is made")
like("both", "^function <lab%[%d+%]:1>\n$", "and shown with its place")
is("tl = lab.profile(both); tl", [[
timeline of 2 spans: makespan 2001.4 us, 1.00 times the bound of 2000.0 us
default │████████████████████████████████▌································│  50%
up      │································▐████████████████████████████████│  50%
        └┬───────────────┬───────────────┬───────────────┬───────────────┬┘ busy
        0.0             0.5             1.0             1.5             2.0 ms
         █ kernel  · idle  lighter, hollow: partly busy
_:explain() says where the time went
]], "a timeline is shown as its chart")
like("_:explain()", "\nWhere time was lost .* waited 999 us for spin in\n",
    "and explains itself")

-- ---- help ----------------------------------------------------------------------------------

like("help()", "^Devices .*Streams .*Timelines .*\nThe console .*%?lab%.matmul", "help() lists all")
like("?lab.matmul", "^lab%.matmul%(a, b, { out =, [^\n]* }%)\nthe product of two matrices[^\n]*\n"
    .. ".*\nCUDA      cublasLtMatmul\nPyTorch   torch%.matmul[^\n]*\n", "?name describes one")
local of_matmul = s:ask("?lab.matmul")
is("help(lab.matmul)", of_matmul, "so does help(value)")
like('help "cudaStreamSynchronize"', "^s:synchronize%(%)[^\n]*\nwaits for the stream's work\n",
    "a name of CUDA finds the function")
like("?torch.cuda.Stream.synchronize", "s:synchronize", "so does one of PyTorch")
like("?a", "^Tensors\n.*\n  t:matmul%(", "?variable tells what can be done with it")
like("?gap", "\n  timeline:gaps +%l", "a word searches")
like("?nonesuch", 'no help about "nonesuch"', "in vain, too")
like(".help", "^%.help .*\n%.device .*\n%.quit ", ".help lists the commands")

-- ---- Tab -----------------------------------------------------------------------------------

local function completes(typed, wanted, name)
    local n = s:number()
    s:type(typed .. keys.tab)
    tap.ok(s:shows(("lab[%d]> %s"):format(n, wanted)), name)
    s:interrupt()
end
completes("lab.mat", "lab.matmul", "Tab completes a function")
completes("up:sync", "up:synchronize", "a method")
completes("a.dty", "a.dtype", "a field")
completes("lab.ones(2, {dty", "lab.ones(2, {dtype =", "an option's name")
completes("lab.load('data/lo", "lab.load('data/loaded.lua", "and a file's in a string")
completes(".stre", ".streams", "a command")

-- ---- errors --------------------------------------------------------------------------------

is("lab.matmull(a, a)", ([[
streamlab: lab[N]:1: attempt to call a nil value (field 'matmull')
 1 | lab.matmull(a, a)
   |     ^~~~~~~
hint: did you mean lab.matmul?
]]):gsub("N", s:number()), "an error has its line, a caret and a hint")
is("x = = 1", ([[
streamlab: lab[N]:1: unexpected symbol near '='
 1 | x = = 1
   |     ^
]]):gsub("N", s:number()), "so has a wrong line")
is("function bad() a.x.y = 1 end", "", "a function with a mistake")
like("x = bad()", "^streamlab: lab%[%d+%]:1: [^\n]*\n 1 | function bad%(%) a%.x%.y = 1 end\n"
    .. "   | +%^[^\n]*\nstack traceback:\n[^\n]*lab%[%d+%]:1: in global 'bad'\n"
    .. "[^\n]*lab%[%d+%]:1: in main chunk\n$", "has its own line in the error, and the frames")

-- ---- who, time, commands ---------------------------------------------------------------------

is("who()", [[
up: stream 1 "up" (priority 0, blocking), idle
e: event (timed), recorded, has happened
a: tensor 200x300 float32 on cuda, 234.37 KiB
tl: timeline of 2 spans, makespan 2001.4 us
memory: 234.37 KiB on the device, 0 bytes pinned, 0 bytes pageable
]], "who() lists what there is, with its bytes")
is("time(function() lab.spin(2) end)", [[
3.800 us  until f returned (simulated)
2.008 ms  until all work was done (simulated)
2.000 ms  the GPU worked (100 %)
]], "time(f) tells how long it took")
is(".timer on", "", ".timer goes on")
like("lab.spin(1); lab.synchronize()", "^time: 1%.%d+ ms simulated\n$", "each entry is timed then")
is(".timer off", "", "and off")
is("3", "3\n", "none is then")
is(".streams", '* stream "default" (id 0, priority 0, blocking): idle\n'
    .. '  stream "up" (id 1, priority 0, blocking): idle\n', ".streams lists them")
like(".device t4", "^Tesla T4 %(simulated, profile t4%)\n.*also open: textbook GPU",
    ".device changes the GPU")
is("lab.ones(2).device_index == lab.device().index, lab.device().name", 'true    "Tesla T4"\n',
    "which is where things happen then")
like(".device textbook", "^textbook GPU %(simulated, profile textbook%)\n.*also open: Tesla T4",
     "and back")
is("a.device_index == lab.device().index, a:sum():item()", "true    60000.0\n",
    "where everything still is")
is(".races", "no races found\n", ".races says that none were found")

local trace = home .. "/t.json"
is(".trace ~/t.json", "recording textbook GPU; .trace off saves it as " .. trace .. "\n",
    ".trace begins a recording")
is("lab.spin(1); lab.spin(2)", "", "of what follows")
is(".trace off", "saved " .. trace .. ": 2 operations\n", "and saves it")
like(".load ~/t.json", "^timeline of 2 spans: [^\n]*\n.*█", ".load shows it as a chart")
is("#_:spans()", "2\n", "and it is _")
is(".load data/none.lua", "streamlab: .load: cannot read data/none.lua: No such file or "
    .. "directory\n", "a file that is not there is reported")
is(".load ~/data/loaded.lua", "loading 1\n", "a script is run")
is(".load " .. home .. "/data/loaded.lua", "loading 2\n", "with the globals of the session")
is(".save ~/all.lua", "saved " .. home .. "/all.lua\n", ".save saves the session")
is(".nonesuch", "streamlab: .nonesuch: there is no such command; .help lists them\n",
    "a command that is none is refused")

s:type(".quit\r")
tap.is(s:ending(), 0, ".quit leaves")
tap.is(table.concat(s.screen.unknown, " "), "", "nothing odd was sent to the terminal")
tap.is(s.terminal:modes().echo, true, "which is as it was")
s:close()

-- ---- afterwards ----------------------------------------------------------------------------

local out, err, code = shell.sh("cd " .. home .. " && " .. shell.quote(shell.program)
    .. " --backend=sim all.lua")
tap.is(err .. code, "0", "the saved session runs as a script")
tap.like(out, "^nil\n2\n42\n43\n10\n5\n.*\nloading\t2\n$",
    "and prints what it showed, but for what the start file had made")

s = session.open { home = home, history = true }
s:wait "lab[1]> "
s:type(keys.up .. keys.up)
tap.ok(s:wait "lab[1]> .nonesuch", "the next session remembers what was typed")
s:interrupt()
tap.is(s:leave(), 0, "Ctrl-D leaves")
s:close()

shell.remove(home)
tap.done()
