-- 48-dot-commands.t.lua - the lines that begin with a dot.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()

-- Entries at the console, in the folder; what they print, what goes to stderr, the status.
local function lines(text, options)
    return shell.sh("cd " .. folder .. " && printf %s " .. shell.quote(text)
        .. " | HOME=" .. folder .. " COLUMNS=80 \"$P\" -i " .. (options or "--backend=sim"))
end

-- What the program is has to be found from the folder.
if not shell.program:find("^/") then
    shell.program = io.popen("pwd"):read("l") .. "/" .. shell.program
end

local function read(name)
    return shell.read(folder .. "/" .. name)
end

-- ---- what is no command ------------------------------------------------------------------

local out, err, code = lines ".streems\n.zzz\n.5 + .5\nx = 1\n  .help 1 2 3\n"
tap.like(err, "^streamlab: %.streems: there is no such command; did you mean %.streams%?\n"
    .. "streamlab: %.zzz: there is no such command; %.help lists them\n",
    "an unknown command is refused, and what is meant is named")
tap.like(out, "^1.0\n", "a number that begins with a dot is Lua")
_, err = lines ".exit\n.man\n"
tap.is(err, "streamlab: .exit: there is no such command; did you mean .quit?\n"
    .. "streamlab: .man: there is no such command; did you mean .help?\n",
    "names that others have for a command are known")
tap.is(code, 0, "a refused command is no error of the program")
for command, usage in pairs {
    streams = ".streams x", timer = ".timer", races = ".races x", load = ".load", save = ".save",
    quit = ".quit now",
} do
    _, err = lines(usage .. "\n")
    tap.like(err, "^streamlab: %." .. command .. ": usage: %." .. command,
        "wrong use of ." .. command .. " says how it is used")
end
_, err = lines ".timer maybe\n"
tap.is(err, "streamlab: .timer: usage: .timer on|off\n", "with its arguments")

-- ---- .help ---------------------------------------------------------------------------------

out, err = lines ".help\n"
tap.is(err, "", ".help works")
for _, usage in ipairs { ".help [WORD]", ".device [NAME]", ".streams", ".timer on|off",
    ".trace [FILE|off]", ".races", ".load FILE", ".save FILE", ".quit", "?WORD", "!COMMAND" } do
    tap.ok(out:find("\n" .. usage .. "  ", 1, true) or out:find(usage .. "  ", 1, true) == 1,
        ".help lists " .. usage)
end
local _, n = out:gsub("\n", "")
tap.is(n, 11, "and nothing else")
for line in out:gmatch("[^\n]+") do
    tap.ok(#line <= 80, "in 80 columns: " .. line)
end

-- ---- .device -------------------------------------------------------------------------------

local textbook <const> = [[
textbook GPU (simulated, profile textbook)
  SMs            132, compute capability 9.0
  memory         139.79 GiB
  copy engines   3
  priorities     0 (least) to -5 (greatest)
]]
local t4 <const> = [[
Tesla T4 (simulated, profile t4)
  SMs            40, compute capability 7.5
  memory         16 GiB
  copy engines   3
  priorities     0 (least) to -5 (greatest)
]]
tap.is(lines ".device\n", textbook, ".device describes the current GPU")
tap.is(lines ".device t4\nlab.device().profile\n",
    t4 .. "\"t4\"\n", ".device NAME opens one and makes it current")
out = lines "a = lab.ones(2)\n.device t4\n.device \z
    textbook\na:sum():item()\nlab.device() == a.device\n"
tap.like(out, "^" .. (t4 .. "also open: textbook GPU (simulated, profile textbook)\n" .. textbook
    .. "also open: Tesla T4 (simulated, profile t4)\n"):gsub("%p", "%%%0"),
    "an open one becomes current again, and the others are named")
tap.like(out, "\n2.0\n", "with what lives on it")
tap.is((lines "d = lab.device()\n.device t4\n.device textbook\nd == \z
    lab.device()\n"):match("[^\n]*\n$"),
    "true\n", "it is the same one")
tap.like(lines("do lab.open{profile = 't4'} end\nfor i = 1, 3 do lab.open{profile = 'l4'} "
    .. "collectgarbage() end\n.device\n.device t4\n"),
    "also open: Tesla T4 .-\n" .. t4:gsub("%p", "%%%0") .. "also open: NVIDIA L4 .-also open",
    "one that the user has no object of stays open")
tap.is((lines ".device t4\n.device sim\nlab.device().profile\n"):match("[^\n]*\n$"), "\"t4\"\n",
    "sim is the current one if that is simulated")
local spent <const> = "old = lab.device()\nfor i = 1, 12 do lab.spin(0.9e9) end\n"
    .. "pcall(lab.synchronize)\n"
for _, names in ipairs { { "textbook" }, { "sim" }, { "t4", "textbook" },
                         { "textbook", "t4", "textbook" } } do
    out, err = lines(spent .. ".device " .. table.concat(names, "\n.device ")
        .. "\nlab.device() == old, lab.ones(2):sum():item()\n")
    tap.like(out, "\nfalse\t2.0\n", "one whose time is at its end is opened anew: "
        .. table.concat(names, ", "))
    tap.is(err, "", "and without a complaint")
end
out = lines(spent .. ".device textbook\nnew = lab.device()\n.device t4\n.device textbook\n"
    .. "lab.device() == new\n")
tap.like(out, "\ntrue\n$", "the new one is taken then")
out, err = lines ".device t5\nlab.device().profile\n"
tap.like(err, "^streamlab: %.device: there is no profile \"t5\"; known: [^\n]*\n$",
    "an unknown profile is refused")
tap.is(out, "\"textbook\"\n", "and nothing has changed")
_, err = lines ".device cuda:1\n"
tap.like(err, "^streamlab: %.device: [^\n]+\n$", "a GPU that is not there is refused")
shell.write(folder .. "/my gpu.lua", "local t = {} for k, v in pairs { name = 'Mine', sms = 1 } do"
    .. " t[k] = v end return t")
_, err = lines ".device \"my gpu.lua\"\n"
tap.like(err, "^streamlab: %.device: [^\n]*my gpu", "a profile may be a file with blanks")

-- ---- .streams ------------------------------------------------------------------------------

tap.is(lines ".streams\n", "no device is open yet, and so there are no streams\n",
    ".streams opens no device")
out = lines("s = lab.stream{name = 'my own', non_blocking = true}\n"
    .. "lab.spin(1, {stream = s})\n.streams\n")
tap.like(out, "^%* stream \"default\" %(id 0, [^\n]*%): idle\n"
    .. "  stream \"my own\" %(id 1, [^\n]*%): working, 1 operation in\n    flight\n$",
    "it lists the streams, the current one with a star, and which have work")
out = lines "s = lab.stream{}\ns:close()\ns = nil\n.streams\n"
tap.ok(out:find("id 0", 1, true) and not out:find("id 1", 1, true), "a closed one is gone")
out = lines "s = lab.stream{}\n.device t4\ne = lab.stream{}\n.streams\n"
tap.like(out, "Tesla T4 [^\n]*\n%* stream \"default\" [^\n]*\n  stream [^\n]*id 1[^\n]*\n"
    .. "textbook GPU [^\n]*\n",
    "of several devices each has its own, the current one first")

tap.is(lines "a = lab.ones(2)\nt = lab.now_us()\n.streams\nlab.now_us() - t\n":match("[^\n]*\n$"),
    lines "a = lab.ones(2)\nt = lab.now_us()\nlab.now_us() - t\n", "looking costs no time")

-- ---- .timer ----------------------------------------------------------------------------------

out = lines ".timer on\nlab.host_work(2)\n.timer off\nlab.host_work(1)\n"
tap.like(out, "^time: 2%.%d+ ms simulated\n$", ".timer on tells how long each entry took")

-- ---- .races ----------------------------------------------------------------------------------

out, err = lines ".races\n"
tap.is(err .. out, "no races found\n", ".races says that none were found")

-- ---- .trace ----------------------------------------------------------------------------------

out, err = lines [[
.trace
.trace first.json
.trace
lab.spin(1)
.trace off
_.span_count
.trace
]]
tap.is(out, [[
not recording; .trace FILE begins
recording textbook GPU; .trace off saves it as first.json
recording textbook GPU; .trace off saves it as first.json
saved first.json: 1 operation
1
not recording; .trace FILE begins
]], ".trace records what follows, and says whether it does")
tap.is(err, "", "without complaints")
tap.like(read "first.json", "^{.*\"name\":\"spin\".*}%s*$", "the trace is saved")
tap.like(lines ".load first.json\n_.span_count\n", "^timeline of 1 span.*1\n$",
    "and can be loaded, which shows it")
for _, suffix in ipairs { ".json.gz", ".svg", ".html" } do
    lines(".trace x" .. suffix .. "\nlab.spin(1)\n.trace off\n")
    tap.ok(#(read("x" .. suffix) or "") > 100, "a trace can end in " .. suffix)
end
_, err = lines ".trace x.txt\n.trace none/x.json\n.trace .json\n.trace off\n"
tap.is(err, [[
streamlab: .trace: x.txt: the file must end in .json, .json.gz, .svg, .html, .et or .goal
streamlab: .trace: cannot write 'none/x.json': No such file or directory
streamlab: .trace: .json: the file must end in .json, .json.gz, .svg, .html, .et or .goal
streamlab: .trace: nothing is being recorded; .trace FILE begins
]], "what cannot be saved is found out at the beginning")
_, err = lines ".trace a.json\n.trace b.json\n"
tap.is(err, "streamlab: .trace: recording for a.json already; .trace off saves it\n",
    "there is one recording at a time")
tap.is(read "b.json", nil, "and the second file is not made")
for _, ending in ipairs { "", ".quit\n", "os.exit(0)\n", "os.exit(0, false)\n",
    "coroutine.wrap(function() os.exit(true) end)()\n" } do
    os.remove(folder .. "/end.json")
    out, err, code = lines(".trace end.json\nlab.spin(1)\n" .. ending)
    tap.is(err .. code, "0", "the REPL can end while it records: " .. ending)
    tap.like(out, "\nsaved end.json: 1 operation\n$", "it says that it saves: " .. ending)
    tap.like(read "end.json", "\"spin\"", "and the trace is there: " .. ending)
end
out, err = lines(".trace fail.json\nlab.spin(1)\nlab.current_stream():launch_host_func("
    .. "function() error('late', 0) end)\n.trace off\n")
tap.like(err, "^streamlab: %.trace: fail.json has only what was recorded before this: "
    .. "[^\n]*late\n$",
    "a failure that the end finds is reported")
tap.like(read "fail.json", "\"spin\"", "and what was recorded is saved")
lines ".trace 'my trace.json'\n.trace off\n.trace ~/home.json\n.trace off\n"
tap.ok(read "my trace.json", "a file name may be in quotes")
tap.ok(read "home.json", "or in the home folder")
out = lines(".trace both.json\nlab.spin(1)\ntl = lab.profile(function() lab.spin(2) end)\n"
    .. ".trace off\ntl.span_count, _.span_count\n", "--backend=sim --trace all.json")
tap.like(out, "\n1\t2\n$", "lab.profile and --trace record at the same time")
tap.like(read "all.json", "\"spin\"", "and --trace saves its own")

-- ---- .load -----------------------------------------------------------------------------------

shell.write(folder .. "/lab one.lua", "#!/usr/bin/env streamlab\nglobal = 3\nlocal own = 4\n"
    .. "function fails(t)\n  return t.x.y\nend\n")
out, err = lines ".load lab one.lua\nglobal, own\nz = fails {}\n"
tap.is(out, "3\tnil\n", ".load runs a script with the globals of the console")
tap.like(err, "^streamlab: lab one.lua:5: [^\n]*\n 5 |   return t.x.y\n   |            %^\n"
    .. "stack traceback:\n\tlab one.lua:5: [^\n]*\n\tlab%[2%]:1: in main chunk\n$",
    "and its functions' errors show their lines")
shell.write(folder .. "/bad.lua", "local t = {}\n\nt.x.y = 1\n")
_, err = lines ".load bad.lua\n"
tap.is(err, "streamlab: bad.lua:3: attempt to index a nil value (field 'x')\n 3 | t.x.y = 1\n"
    .. "   |   ^\n", "an error of the script is reported as such")
shell.write(folder .. "/broken.lua", "x = = 1\n")
_, err = lines ".load broken.lua\n"
tap.is(err, "streamlab: broken.lua:1: unexpected symbol near '='\n 1 | x = = 1\n   |     ^\n",
    "so is a mistake that the compiler finds")
_, err = lines ".load none.lua\n.load none.json\n.load x.svg\n"
tap.like(err, "^streamlab: %.load: cannot read none.lua: No such file or directory\n"
    .. "streamlab: %.load: [^\n]*none.json[^\n]*\n"
    .. "streamlab: %.load: x.svg: such a file cannot be read; [^\n]*\n$",
    "what cannot be read is reported")
shell.write(folder .. "/not.json", "[1, 2")
_, err = lines ".load not.json\n"
tap.like(err, "^streamlab: %.load: [^\n]*not.json[^\n]*\n$", "also a file that is no trace")
local report <close> = assert(io.open("tests/fuzz/reports/waits", "rb"))
shell.write(folder .. "/report.sqlite", report:read("a"))
local shown, missing = lines ".load report.sqlite\n_.span_count\n"
tap.ok(shown:find("2\n$") or missing:find("libsqlite3", 1, true),
    "a report of Nsight Systems is a trace, or what it is read with is missing")
-- edit and load again, as one does
out, err = lines(".load bad.lua\nf = io.open('bad.lua', 'w') f:write('u = 5') f = f:close()\n"
    .. ".load bad.lua\nu\n")
tap.is(out, "5\n", "a script can be changed and loaded again")
tap.like(err, "t%.x%.y = 1", "each time with the lines that it has")

shell.write(folder .. "/bytes.lua", "\127ELF\0\0\1\n")
_, err = lines ".load bytes.lua\n"
tap.is(err, "streamlab: bytes.lua:1: unexpected symbol near '<\\127>'\n"
    .. "hint: this file is no text, and no Lua\n", "of bytes that are no text none is shown")

-- ---- narrow terminals ------------------------------------------------------------------------

out = shell.sh("printf '.help\\n' | COLUMNS=40 \"$P\" --norc -i --backend=sim")
tap.like(out, "\n%.timer on|off  shows after each entry\n +how long it took\n",
    "the list of commands keeps to the terminal's width")
for line in out:gmatch("[^\n]+") do
    tap.ok(#line <= 40, "as this line does: " .. line)
end

-- ---- .quit -----------------------------------------------------------------------------------

out, err, code = lines "print(1)\n.quit\nprint(2)\n"
tap.is(out .. err .. code, "1\n0", ".quit ends the console with status 0")

shell.remove(folder)
tap.done()
