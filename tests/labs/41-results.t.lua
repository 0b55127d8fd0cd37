-- 41-results.t.lua - the results of a class whose submissions are in each other's way: names that
-- collide, names that are too long, links, what lies in the results' folder already. Nobody's
-- results are lost by what another one handed in, and whatever ends the grader, a file of results
-- is whole.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local folder = shell.folder()
local attack_lab <const> = "tests/labs/attack-lab"
local honest <const> = shell.read(attack_lab .. "/solution.lua")
local half <const> = "function answer(n) return 2 * n end\nfunction work() end\n"
local endless <const> = "function answer() while true do end end\nfunction work() end\n"

local function at(name) return folder .. "/" .. name end

local function hand_in(class, name, text)
    shell.sh("mkdir -p " .. shell.quote(at(class .. "/" .. name):match("^(.*)/")))
    return shell.write(at(class .. "/" .. name), text)
end

local function start_grading(class, results, before)
    return shell.start(("%s \"$P\" lab grade -j 8 %s %s -o %s"):format(before or "",
        attack_lab, at(class),
        at(results)))
end

local function grade(...)
    return start_grading(...)()
end

local function listed(name)
    return (shell.sh("LC_ALL=C ls -A " .. at(name)))
end

-- ---- names -----------------------------------------------------------------------------------

local long <const>, longer <const> = ("n"):rep(251), ("é"):rep(125)
for _, class in ipairs { "class", "alone" } do
    hand_in(class, "ada.lua", honest)
    hand_in(class, "zoe.lua", half)
end
hand_in("class", "ada/x.lua", half)
hand_in("class", long .. ".lua", half)
hand_in("class", longer .. "/x.lua", half)
shell.sh(("ln -s zoe.lua %s; ln -s / %s; ln -s none %s"):format(at "class/link.lua",
    at "class/linked", at "class/loose.lua"))

local out, err, code = grade("class", "results")
tap.is(code, 0, "a class with names that collide is graded")
tap.is(listed "results", "ada.2.json\nada.json\nlink.json\n" .. "linked.json\nloose.json\n"
    .. ("n"):rep(240) .. ".json\nzoe.json\n" .. ("é"):rep(120) .. ".json\n",
    "each student has a file, also whose name is another's, or is too long with its suffix")
tap.like(out, "\nzoe" .. (" "):rep(43) .. "20/100  failed 2.1\n",
         "a long name moves no other one's points away")
tap.like(err, "streamlab: lab: the results of ada/ are in ada.2.json\n", "which is reported")
tap.like(err, "the results of n+ are in n+%.json\n", "of both")
tap.like(shell.read(at "results/ada.json"), '"score": 100,', "ada.lua has its own results")
tap.like(shell.read(at "results/ada.2.json"), '"score": 20,', "and ada/x.lua its")
tap.like(shell.read(at "results/link.json"), "it is a link, not a file", "a link is not followed")
tap.like(shell.read(at "results/linked.json"), "it is a link, not a folder", "nor one to a folder")
grade("alone", "alone-results -j 1")
for _, name in ipairs { "ada.json", "zoe.json" } do
    tap.is(shell.read(at("results/" .. name)), shell.read(at("alone-results/" .. name)),
        name .. " has the same bytes as without the others, one after the other")
end

-- ---- what lies in the folder -------------------------------------------------------------------

hand_in("class", "bob.lua", honest)
hand_in("class", "eve.lua", honest)
shell.write(at "secret", "mine")
shell.sh(("cd %s/results && rm -f *.json && mkdir -p bob.json && mkfifo ada.json && ln -s "
    .. "../secret eve.json")
    :format(folder))
out, err, code = grade("class", "results")
tap.is(code, 1, "a student's results that cannot be written are an error")
for _, name in ipairs { "ada", "bob", "eve" } do
    tap.like(err, ("streamlab: lab: %s: cannot write '%s/results/%s.json': there is something of "
        .. "that name, and no file\n"):format(name, folder:gsub("%p", "%%%0"), name),
        name .. "'s are reported")
end
tap.like(shell.read(at "results/zoe.json"), '"score": 20,', "all others are there")
tap.is(shell.read(at "secret"), "mine", "and what a link leads to is as it was")

-- ---- why there are no points -------------------------------------------------------------------

hand_in("remarks", "died.lua", "error('boom')\n" .. honest)
hand_in("remarks", "calls.lua", "local x = nil + 1\n")
hand_in("remarks", "long.lua", "error(('x'):rep(100000), 0)\n")
hand_in("remarks", "telling.lua", "function answer(n) error('I saw ' .. n, 0) end\n"
    .. "function work() end\n")
hand_in("remarks", "wrong.lua", "function answer() return 1 end\nfunction work() end\n")
out = grade("remarks", "remarks.csv")
tap.is(out, [[
calls         0/100  calls.lua:1: attempt to perform arithmetic on a nil value
died          0/100  died.lua:1: boom
long          0/100  ]] .. ("x"):rep(200) .. [[...
telling       0/100  failed 1.1 2.1
wrong         0/100  failed 1.1 2.1
]], "a file that died at once has its reason; what a hidden test showed is left out")
tap.is(shell.read(at "remarks.csv"):gsub("\r", ""):gsub("[^\n]*\n", "", 1), [[
calls,0,100,0,0,calls.lua:1: attempt to perform arithmetic on a nil value
died,0,100,0,0,died.lua:1: boom
long,0,100,0,0,]] .. ("x"):rep(200) .. [[...
telling,0,100,0,0,
wrong,0,100,0,0,
]], "as the table's remark")

hand_in("broken", "new\nline.lua", "x = = 1")
hand_in("broken", "run\ntime.lua", "error('boom')")
hand_in("broken", "too\nlarge.lua", ("x"):rep(2000000))
out, err = grade("broken", "broken")
tap.is(out, [[
new\nline        0/100  new\nline.lua:1: unexpected symbol near '='
run\ntime        0/100  run\ntime.lua:1: boom
too\nlarge       0/100  cannot read too\nlarge.lua: it has 2000000 bytes, more than 1048576
]], "a file's name is written on one line in its reason")
local digest = err:match "the results of new\\nline are in (student%-%x+%.json)\n"
tap.like(shell.read(at("broken/" .. (digest or ""))),
    '"output": "Student: new\\\\nline\\nnew\\\\nline.lua:1: ',
    "and results whose name is not the student's name the student")
grade("broken", "broken.tap")
tap.like(shell.read(at "broken.tap"), "\n    # new\\nline.lua:1: unexpected symbol near '='\n",
         "TAP has it in one line")

-- ---- the grader is killed ----------------------------------------------------------------------

-- aaa is the first of the class and the last that is done; it is killed when bob's are there.
hand_in("killed", "aaa.lua", endless)
hand_in("killed", "bob.lua", honest)
hand_in("killed", "zoe.lua", half)
shell.sh("mkdir " .. at "left")
shell.write(at "left/aaa.json", "old")
out, err, code = grade("killed", "left", ([[
    (until [ -e %s/left/bob.json ]; do sleep 0.02; done
     kill -9 $(cat %s/pid)) & sh -c 'echo $$ > "$0"; exec "$@"' %s/pid]]):format(folder, folder, folder))
tap.is(code, 137, "a grader that is killed ends")
tap.is(shell.read(at "left/aaa.json"), "old", "an old file is as it was")
tap.is(shell.read(at "left/bob.json"), shell.read(at "alone-results/ada.json"),
    "who was graded has results, whole, though the first of the class has none yet")
os.remove(at "killed/aaa.lua")
grade("killed", "left")
tap.is(listed "left", "aaa.json\nbob.json\nzoe.json\n", "nothing else is left by the next run")

shell.remove(folder)
tap.done()
