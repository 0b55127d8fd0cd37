-- 48-save.t.lua - .save: a session as a script that runs again, and the last timeline.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()
if not shell.program:find("^/") then
    shell.program = io.popen("pwd"):read("l") .. "/" .. shell.program
end

local function lines(text)
    return shell.sh("cd " .. folder .. " && printf %s " .. shell.quote(text)
        .. " | \"$P\" -i --backend=sim")
end

local function read(name)
    return shell.read(folder .. "/" .. name)
end

local head <const> =
    "-- A session of streamlab, written by .save.\nlocal lab = require \"streamlab\"\n\n"

-- What a session of these entries is saved as, and what that prints when it runs.
local function saved(entries)
    os.remove(folder .. "/s.lua")
    local out, err = lines(entries .. ".save s.lua\n")
    local text = read "s.lua"
    tap.is((text or ""):sub(1, #head), head, "the script says where it is from")
    tap.like(out, "saved s.lua\n$", "and that it is saved is said")
    local again, problem, code = shell.sh("cd " .. folder .. " && \"$P\" --backend=sim s.lua")
    tap.is(code .. problem, "0", "it runs")
    return (text or ""):sub(#head + 1), again, out:gsub("saved s.lua\n$", ""), err
end

local function is(entries, code, name)
    local text, again, before = saved(entries)
    tap.is(text, code, name)
    tap.is(again, before, "it prints what the session has printed: " .. name)
end

is("x = -3; math.abs(x)\n", "do\nx = -3;\nprint(math.abs(x))\nend\n", "a call at the end")
is("x = 3\nx\nx, x + 1\n", "x = 3\nprint(x)\nprint(x, x + 1)\n", "statements and values")
is("=1 + 1\n", "print(1 + 1)\n", "a line with = in front")
is("for i = 1, 2 do\n  print(i)\nend\n", "for i = 1, 2 do\n  print(i)\nend\n",
    "an entry of several lines")
is("local y = 3 print(y)\ny\n", "do\nlocal y = 3 print(y)\nend\nprint(y)\n",
    "a local ends with its entry, as it did")
is("1 + 1;\nx = 2\n", "local _ = 1 + 1\nx = 2\n", "what was silent is silent")
is("print(1);\nx = 2\n", "print(1)\nx = 2\n", "also a call")
local keep_last <const> = "local function keep_last(...)     -- what the prompt does with values\n"
    .. "    if select(\"#\", ...) > 0 then _ = (...) end\n    return ...\nend\n\n"
is("1 + 1\n_ * 2\n", keep_last .. "print(keep_last(1 + 1))\nprint(keep_last(_ * 2))\n",
    "_ is what it was")
is("1, nil, 2\n_\n", keep_last .. "print(keep_last(1, nil, 2))\nprint(keep_last(_))\n",
    "_ is the first of several values, which are all shown")
is("7;\nprint(5)\n_ -- seven\n",
    keep_last .. "keep_last(7)\nkeep_last(print(5))\nprint(keep_last(_ -- seven\n))\n",
    "_ stays where there is no value")
is("1 + 1 -- two\n", "print(1 + 1 -- two\n)\n", "comments stay")
is("a = lab.ones(2, 2)\na:sum():item()\nlab.synchronize()\n",
    "a = lab.ones(2, 2)\nprint(a:sum():item())\nlab.synchronize()\n",
    "a call prints its value if it had one")
is("f = print\n(f)(1)\n", "f = print\n;(f)(1)\n", "an entry does not go on with the one before")
is("x = 5; x * 2\n", "do\nx = 5;\nprint(x * 2)\nend\n", "statements and then an expression")
is("t = {} help = 3\nhelp\nt.time = 4\n", "t = {} help = 3\nprint(help)\nt.time = 4\n",
    "names of the user's stay")
is("return 5\n", "print(5)\n", "return is no end of the script")

local looking = saved("help()\nwho()\n?lab\nx = 1\nhelp 'lab.ones'\n")
tap.is(looking, "x = 1\n", "what was only looked at is left out")
local timed, again = saved("time(print, 3)\n")
tap.is(timed, "local time = time or function(f, ...) return f(...) end\n\n"
    .. "time(print, 3)\n",
    "time(f) is a call of f")
tap.is(again, "3\n", "as the script shows")

local text, _, _, err = saved("x = 1\nerror('no')\ny = = 2\nz()\nx = 2\n")
tap.is(text, "x = 1\nx = 2\n", "entries that failed are left out")
tap.like(err, "no.*unexpected symbol.*nil value", "they have been reported")

text = saved(".device t4\na = lab.device().profile\n.device textbook\n.device t4\n.streams\n")
tap.is(text, "local device_1 = lab.open{ backend = \"sim\", profile = \"t4\" }\n"
    .. "a = lab.device().profile\n"
    .. "local device_2 = lab.open{ backend = \"sim\", profile = \"textbook\" }\n"
    .. "device_1:make_current()\n", "changes of the device are in it, other commands not")
shell.write(folder .. "/part.lua", "p = 7\n")
is(".load part.lua\np\n", "dofile(\"part.lua\")\nprint(p)\n", "so are scripts that were loaded")

-- ---- recordings ----------------------------------------------------------------------------

os.remove(folder .. "/r.json")
text, again = saved(".trace r.json\nlab.spin(1)\n.trace off\n_.span_count\n")
tap.is(text, keep_last .. "local recording_1 = lab.record{ name = \"streamlab .trace\" }\n"
    .. "keep_last(lab.spin(1))\nrecording_1:stop()\nrecording_1:save(\"r.json\")\n"
    .. "_ = recording_1\nprint(keep_last(_.span_count))\n", "what .trace records is recorded")
tap.is(again, "1\n", "and is _ afterwards")
os.remove(folder .. "/r.json")
shell.sh("cd " .. folder .. " && \"$P\" --backend=sim s.lua")
tap.like(read "r.json", "\"spin\"", "and saved")
lines "lab.spin(1);\n.trace r.json\nlab.spin(1);\n.save s.lua\n"
tap.is(read "s.lua", head .. "lab.spin(1)\nlocal recording_1 = lab.record{ name = \"streamlab "
    .. ".trace\" }\nlab.spin(1)\nrecording_1:stop()\nrecording_1:save(\"r.json\")\n",
    "a recording that goes on is saved at the end, as at the prompt")
text = saved(".trace r.json\n.trace off\n.trace r.svg\n.trace off\n")
tap.like(text, "local recording_2 = .*recording_2:save%(\"r.svg\"%)\n_ = recording_2\n$",
    "each recording has its name")
text = saved(".trace r.json\nfor _ = 1, 12 do lab.spin(0.9e9) end\n.trace off\n")
tap.like(text, "\npcall%(recording_1.stop, recording_1%)\nrecording_1:save%(\"r.json\"%)\n",
    "one that could not be waited for is saved all the same")

-- ---- files ---------------------------------------------------------------------------------

local out
_, err = lines ".save s2.lua\n"
tap.is(err, "streamlab: .save: nothing has run yet\n", "an empty session is not saved")
shell.write(folder .. "/mine.lua", "x = 1\n")
_, err = lines "y = 2\n.save mine.lua\n"
tap.is(err, "streamlab: .save: mine.lua is there and is not from .save: take another name\n",
    "a script of the user's is not overwritten")
tap.is(read "mine.lua", "x = 1\n", "indeed")
out = lines "y = 2\n.save own.lua\ny = 3\n.save own.lua\n"
tap.is(out, "saved own.lua\nsaved own.lua\n", "but one of its own is")
tap.is(read "own.lua", head .. "y = 2\ny = 3\n", "by the whole session")
_, err = lines "y = 2\n.save none/s.lua\n.save s.txt\n.save s\n"
tap.like(err, "^streamlab: %.save: cannot write 'none/s.lua': No such file or directory\n"
    .. "streamlab: %.save: s.txt: the file must end in [^\n]*\n"
    .. "streamlab: %.save: s: the file must end in [^\n]*\n$", "what cannot be saved is reported")
lines "y = 2\n.save 'with blanks.lua'\n"
tap.ok(read "with blanks.lua", "a file name may have blanks")

-- ---- timelines -------------------------------------------------------------------------------

local profiled <const> = "lab.profile(function() lab.spin(1) end)"
for _, case in ipairs {
    { profiled .. "\n", "that is the last value" },
    { profiled .. "\n1 + 1\n", "that was shown before" },
    { "tl = " .. profiled .. "\n", "that is the only one in a global" },
} do
    os.remove(folder .. "/t.json")
    out, err = lines(case[1] .. ".save t.json\n")
    tap.like(out, "saved t.json: 1 operation\n$", "the timeline is saved " .. case[2])
    tap.is(err, "", "without complaints")
    tap.like(read "t.json", "\"spin\"", "with what ran")
end
lines(profiled .. "\n.save t.svg\n.save t.html\n.save t.json.gz\n")
tap.like(read "t.svg", "^<%?xml", "as a picture as well")
tap.like(read "t.html", "<html", "and as a page")
tap.like(read "t.json.gz", "^\31\139", "and compressed")
tap.like(lines ".load t.json.gz\n_.span_count\n", "\n1\n$", "which can be loaded again")
_, err = lines "x = 1\n.save t2.svg\n"
tap.is(err, "streamlab: .save: there is no timeline; lab.profile(f) makes one\n",
    "without a timeline there is nothing to save")
_, err = lines("b = " .. profiled .. "\na = " .. profiled .. "\n.save t2.svg\n")
tap.is(err, "streamlab: .save: which one of a, b? write a:save(\"t2.svg\")\n",
    "of several one is to be chosen")
_, err = lines(profiled .. "\n.save none/t.svg\n")
tap.like(err, "^streamlab: %.save: [^\n]*none/t.svg[^\n]*\n$", "a picture that cannot be written")

_, err = lines "x = 1\n.save self.lua\n.load self.lua\n.save self.lua\n"
tap.is(err, "streamlab: .save: the session runs self.lua, which would run itself: take another "
    .. "name\n", "a session is not saved as the script that it has loaded")
tap.is(read "self.lua", head .. "x = 1\n", "which stays as it was")

-- ---- what explanations quote -------------------------------------------------------------------

out = lines("a = lab.ones(512, 512, {device = 'cpu'})\ntl = lab.profile(function()\n"
    .. "  b = a:cuda()\n  c = lab.matmul(b, b)\nend)\ntl:explain()\n")
tap.like(out, "\n    | b = a:cuda%(%)\n    %-> Pin `a`", "explanations quote the entries' lines")
tap.like(out, "at lab%[2%]:2", "which they name")
out = lines("function go() b = a:cuda() c = lab.matmul(b, b) end\n"
    .. "a = lab.ones(512, 512, {device = 'cpu'})\nlab.profile(go):explain()\n")
tap.like(out, "\n    | function go%(%) b = a:cuda%(%) c = lab.matmul%(b, b%) end\n",
    "also those of earlier ones")
local explained <const> = "a = lab.ones(512, 512, {device = \"cpu\"}) "
    .. "lab.profile(function() b = a:cuda() c = lab.matmul(b, b) end):explain()"
out = shell.run { "--backend=sim", "-e", explained }
tap.like(out, "\n    | a = lab.ones", "and an option -e")
out = shell.run { "--backend=sim", "-e", "x = 1", "-e", explained }
tap.ok(out:find("Pin", 1, true) and not out:find("\n    | ", 1, true),
    "lines that may be of one option or another are not quoted")

shell.remove(folder)
tap.done()
