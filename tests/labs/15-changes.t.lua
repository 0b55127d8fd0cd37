-- 15-changes.t.lua - variants of a lab that are changes of its solution: which program one is, what
-- is said of one that fits nowhere, that messages count the program's lines, and that no file of a
-- student's is one.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local environment = debug.getregistry()["streamlab.environment"]
local apply = environment.import("repl/labs/change.lua").apply

-- ---- the program -----------------------------------------------------------------------------

local solution <const> = [[
-- The solution.
-- Its second line.

function one(x)
    x:twice()
    x:wait()
    return x
end

function two(x)
    x:thrice()
    x:wait()
    return x
end
]]

local function program_of(change) return apply("c", change, solution) end

tap.is(program_of [[
-- fails: 1.1
-- replace:
    x:twice()
    x:wait()
-- by:
    x:twice()
]], (solution:gsub("%-%- The solution.\n[^\n]*", "-- fails: 1.1")
    :gsub("(twice%(%)\n)[^\n]*\n", "%1")), "lines are replaced, and the comment above all")
tap.is(program_of "-- replace:\n    x:twice()\n-- by:\n    -- replaced\n    x:half()",
    (solution:gsub("x:twice%(%)", "-- replaced\n    x:half()")),
    "without a comment of its own it has the solution's; a line may become two")
tap.is(program_of "-- replace:\n    x:twice()\n-- by:\n", (solution:gsub("    x:twice%(%)\n", "")),
    "and a line nothing")
tap.is(program_of "-- replace:\nfunction one(x)\n  ...\nend\n-- by:\nlocal one\n",
    (solution:gsub("function one.-\nend", "local one")), "... stands for as few lines as fit")
tap.is(program_of "-- replace:\nfunction one(x)\n...\n    return x\nend\n...\nend\n-- by:\n",
    "-- The solution.\n-- Its second line.\n\n", "also twice, and with several lines behind it")
tap.is(program_of("-- replace:\n\n    x:thrice()\n\n-- by:\n\n    x:three()\n\n\n"
    .. "-- replace:\n    x:twice()\n-- by:\n    x:two()\n"),
    (solution:gsub("twice", "two"):gsub("thrice", "three")),
    "blank lines between the parts do not count, nor does the order of replacements")
tap.is(apply("c", "-- a\r\n-- replace:\r\nb()\r\n-- by:\r\nc()\r\n", "-- s\r\nb()\r\n"),
    "-- a\nc()\n", "line ends of Windows are line ends")
tap.is(apply("c", "-- a\n-- replace:\nb()\n-- by:\nc()", "b()\n"), "-- a\nc()\n",
    "a solution may begin without a comment")
tap.is(apply("c", "-- a\n-- replace:\nb()\n-- by:\nc()", "--[[ x\n]]\nb()"),
    "-- a\n--[[ x\n]]\nc()\n",
    "a long comment is not one that is replaced; a last line needs no end")
tap.is(apply("c", "\u{feff}-- a\n-- replace:\nb()\n-- by:\nc()", "\u{feff}-- s\nb()\n"),
    "-- a\nc()\n", "marks that editors put before the first line are none of it")

-- ---- what fits nowhere -----------------------------------------------------------------------

local function refused(change, want, name)
    local fine, problem = pcall(program_of, change)
    tap.is(not fine and problem.message, want, name)
end

refused("-- fails: 1.1\nx = 1\n-- replace:\n", "c:2: this line is neither a comment nor below "
    .. "-- replace:", "code above the first mark is refused")
refused("-- fails: 1.1\n", "c:1: there is no -- replace: in this file", "a comment is no change")
refused("", "c:0: there is no -- replace: in this file", "nor is an empty file")
refused("-- a\n-- by:\n", "c:2: this -- by: has no -- replace:", "-- by: alone is refused")
refused("-- replace:\na\n-- by:\nb\n-- by:\n", "c:5: this -- by: has no -- replace:", "or a second")
refused("-- replace:\na\n", "c:1: this -- replace: has no -- by:", "-- replace: alone is refused")
refused("-- replace:\na\n-- replace:\nb\n-- by:\n", "c:1: this -- replace: has no -- by:",
    "also before another one")
refused("-- a\n-- replace:\n\n-- by:\nb\n", "c:2: this -- replace: has no lines of solution.lua",
    "nothing cannot be replaced")
refused("-- replace:\n...\nend\n-- by:\n", "c:1: `...` stands between lines, not at an end",
    "... needs a line above it")
refused("-- replace:\n\n    x:half()\n-- by:\n", "c:3: solution.lua does not have this line",
    "the line that there is not is named")
refused("-- replace:\n-- The solution.\n-- by:\n", "c:2: solution.lua does not have this line",
    "the comment at the solution's beginning is replaced already")
refused("-- replace:\n    x:twice()\n    x:stop()\n-- by:\n",
    "c:3: solution.lua goes on otherwise in line 6:     x:wait()", "or what is there instead")
refused("-- replace:\n    return x\nend\n\nfunction three(x)\n-- by:\n",
    "c:5: solution.lua goes on otherwise in line 10: function two(x)", "behind all that fits")
refused("-- replace:\nfunction two(x)\n...\nend\nmore\n-- by:\n",
    "c:5: solution.lua goes on otherwise in line 15: there it ends", "also at the end")
refused("-- replace:\nfunction two(x)\n...\n    x:twice()\n-- by:\n",
    "c:4: solution.lua does not have this line behind those above", "or behind ...")
refused("-- replace:\n   x:twice()\n-- by:\n",
    "c:2: line 5 of solution.lua has other blanks than this line", "blanks count")
refused("-- replace:\n    x:wait()\n-- by:\n", "c:1: solution.lua has these lines more than once, "
    .. "from lines 6 and 12 on: add lines above or below them", "what is there twice is refused")
refused("-- replace:\n    x:twice()\n    x:wait()\n-- by:\n-- replace:\nfunction one(x)\n"
    .. "    x:twice()\n-- by:\n", "c:5: line 5 of solution.lua is replaced in line 1 already",
    "no line is replaced twice")

refused(("-- x\n"):rep(5001), "c:5001: there are more than 5000 lines",
    "a change of more than 5000 lines is refused")
local fine, refusal = pcall(apply, "c", "-- replace:\nb()\n-- by:\n", ("b()\n"):rep(5001))
tap.is(not fine and refusal.message, "solution.lua:5001: there are more than 5000 lines",
    "and so is such a solution")
fine, refusal = pcall(apply, "c", "-- replace:\nx\n...\n" .. ("x\n"):rep(400) .. "y\n-- by:\n",
    ("x\n"):rep(4000))
tap.is(not fine and refusal.message, "c:1: these lines fit in too many places to look at them all: "
    .. "add lines that solution.lua has once", "and lines that fit almost everywhere")
fine, refusal = pcall(apply, "c", "-- replace:\nx\n-- by:\n", ("x\n"):rep(3000))
tap.is(not fine and refusal.message, "c:1: solution.lua has these lines more than once, from lines "
    .. "1 and 2 on: add lines above or below them", "of many places two are named")

-- ---- in a lab --------------------------------------------------------------------------------

local folder = shell.folder()
shell.sh(("cp -r tests/labs/attack-lab %s/lab; cp -r tests/labs/attack-lab %s/other; cd %s; "
    .. "mkdir lab/right lab/wrong other/wrong class; echo > lab/starter.lua"):format(
    folder, folder, folder))

local function sh(command)
    local out, err, code = shell.sh(('P=$(realpath "$P"); cd %s; %s'):format(folder, command))
    return out .. err .. code
end

local function write(name, text) shell.write(folder .. "/" .. name, text) end

local program <const> = [[
-- fails: 1.1 2.1
-- A field of nothing.
function answer(n)
    return n.nothing.at.all
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
]]
local change <const> = [[
-- fails: 1.1 2.1
-- A field of nothing.
-- replace:
    return 2 * n
-- by:
    return n.nothing.at.all
]]
write("lab/wrong/field.change", change)
write("lab/wrong/whole.lua", program)
write("lab/right/product.change", "-- replace:\n    return 2 * n\n-- by:\n    return n + n\n")

tap.is(sh '"$P" lab print lab/wrong/field.change', program .. "0", "lab print prints the program")
tap.is(sh '"$P" lab print lab/wrong/whole.lua', program .. "0", "also one that is whole")
tap.like(sh '"$P" lab print lab/wrong/none.change',
    "^streamlab: lab: cannot read lab/wrong/none.change: .*1$", "or says that there is none")
tap.is(sh '"$P" lab grade lab lab/wrong; "$P" lab grade lab lab/right', [[
field       0/100  field.lua:4: attempt to index a number value (local 'n')
whole       0/100  whole.lua:4: attempt to index a number value (local 'n')
product     100/100  all passed
0]], "right/ and wrong/ are classes")
local whole = sh [[cp lab/wrong/whole.lua field.lua
"$P" lab grade lab field.lua --format tap]]
tap.like(whole, "field.lua:4: ", "messages have the line of the program")
tap.is(sh '"$P" lab grade lab lab/wrong/field.change --format tap', whole,
    "a change gets what the program gets that somebody handed in, to the byte")
tap.is(sh '"$P" lab check lab lab/wrong/field.change', sh '"$P" lab check lab field.lua',
    "lab check says the same")
tap.is(sh 'cd lab/wrong && "$P" lab check field.change', sh '"$P" lab check lab field.lua',
    "and finds the lab above right/ and wrong/")

local function problem(name, text, want, why)
    write("lab/wrong/" .. name .. ".change", text)
    tap.like(sh(('"$P" lab grade lab lab/wrong/%s.change'):format(name)),
        "0/100  lab/wrong/" .. name .. want, why .. " fails, named by lab, variant and line")
    tap.like(sh '"$P" lab pack lab', "^streamlab: lab: lab/wrong/" .. name .. want .. "1$",
        "and lab pack refuses it")
    shell.sh(("rm %s/lab/wrong/%s.change"):format(folder, name))
end
problem("typo", "-- fails: 1.1\n-- replace:\n    return 3 * n\n-- by:\n",
    ".change:3: solution.lua does not have this line\n", "a change that does not fit")
tap.like(sh 'mv lab/right/product.change . && sed s/2/3/ product.change > lab/right/bad.change; \z
    "$P" lab pack lab', "^streamlab: lab: lab/right/bad.change:2: solution.lua does not have "
    .. "this line\n", "also in right/")
tap.like(sh 'rm lab/right/bad.change; "$P" lab pack lab', "^%./attack%-lab%-student.zip\n",
    "a lab whose variants are as they say is packed")

-- ---- a plan ----------------------------------------------------------------------------------

tap.like(sh '"$P" lab grade lab lab/wrong --plan a.jsonl; "$P" work a.jsonl; "$P" merge a.jsonl',
    "\nfield       0/100  field.lua:4: attempt", "a plan may have changes")
tap.like(sh 'sed -i "s/non_blocking = true/non_blocking = false/" lab/solution.lua; \z
    rm -r a.results; "$P" work a.jsonl; cp other/solution.lua lab/',
    "%(field%): lab/wrong/field.change has changed .* 1 done now, 0 before, 1 failed",
    "and notices that the solution is another one")

-- ---- whose solution --------------------------------------------------------------------------

sh 'cp lab/wrong/field.change class/; cp lab/wrong/field.change other/wrong/; mkdir class/wrong; \z
    cp lab/wrong/field.change class/wrong; cp product.change class/ada.lua; \z
    ln -s ../lab/solution.lua class/solution.lua'
local elsewhere <const> = "field       0/100  field.change is a change of a solution, and in no "
    .. "folder right or wrong of this lab\n0"
for _, path in ipairs { "class", "other/wrong", "class/wrong" } do
    tap.is(sh(('"$P" lab grade lab %s/field.change'):format(path)), elsewhere,
        "a change in " .. path .. " gets no line of the solution")
end
tap.like(sh 'rm -r class/wrong; "$P" lab grade lab class', "ada  *0/100  ",
    "what a student calls NAME.lua is no change, whatever is in it")
tap.like(sh '"$P" lab grade lab class', "field.change is no submission", "nor is another file")
tap.is(sh '"$P" lab print class/field.change', "streamlab: lab: class/field.change changes a "
    .. "lab's solution, so it has to be in the folder right or wrong of a lab\n1",
    "nor can it be printed")

shell.remove(folder)
tap.done()
