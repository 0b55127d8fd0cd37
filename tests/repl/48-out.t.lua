-- 48-out.t.lua - at the prompt: Out[n], commands of the shell, timeit.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

-- What lines at the prompt print on stdout and stderr.
local function typed(lines)
    local out, err = shell.sh("printf '%s\\n' " .. shell.quote(lines)
        .. ' | "$P" --backend sim --norc -i')
    return out, err
end

-- ---- Out ----------------------------------------------------------------------------------------

tap.is(typed "6 * 7\nx = 1\n'a', 'b';\nOut[1], Out[2], Out[3]", "42\n42\tnil\t\"a\"\n",
    "Out has the first value of each entry, also of a silent one")
tap.is(typed "{x = 5}\ncollectgarbage() _ = nil collectgarbage()\nOut[1].x", "{x = 5}\n5\n",
    "tables stay")
tap.like(typed "lab.profile(lab.spin, 0);\n_ = nil collectgarbage()\nOut[1].makespan_us >= 0",
    "\n?true\n$", "timelines, too")
tap.is(typed "lab.ones(2);\n_ = nil collectgarbage() collectgarbage()\nOut[1]", "nil\n",
    "a tensor that nobody holds does not stay")
tap.is(typed "x = lab.ones(2); x;\n_ = nil collectgarbage() collectgarbage()\nOut[1] == x",
    "true\n", "one that a variable holds is there")
tap.is(typed "1\nOut = nil\n3\nOut[1], Out[3]", "1\n3\nnil\t3\n", "Out = nil forgets")
tap.is(typed "Out = 'mine'\n2\nOut", "2\n\"mine\"\n", "and the user's own Out is left alone")
local out, err = typed "setmetatable(_G, {__index = function(_, k) error('no ' .. k) end, \z
    __newindex = error})\n7"
tap.like(out .. err, "7\n$", "globals that must be declared do not matter")

-- ---- the shell ---------------------------------------------------------------------------------

tap.is(typed "io.write 'first ';\n!echo second\n  !echo 'a  b'", "first second\na  b\n",
    "a line that begins with ! is run by a shell, in its turn")
out, err = typed "!exit 3\n!kill -9 $$\n!true\n1"
tap.is(out, "1\n", "a command that fails is no end")
tap.is(err:gsub("^streamlab:[^\n]*\n", ""), "exit status 3\nended by signal 9\n", "and is reported")

-- ---- timeit ------------------------------------------------------------------------------------

local ideal <const> = "lab.open{profile = 'textbook'};\n"
tap.like(typed(ideal .. "timeit(function() lab.spin(1) end, {reps = 3})"),
    "^1%.0%d+ ms  until all work was done %(simulated%), the median of 3 runs\n"
    .. "1%.0%d+ ms  the shortest; the longest took 1%.0%d+ ms\n$",
    "timeit prints what lab.measure gives")
tap.like(typed(ideal .. "n = 0\ntimeit(function() n = n + 1 end)\nn > 5 and n < 2000"), "\ntrue\n$",
    "without a number it finds one")
for call, message in pairs {
    ["timeit(3)"] = "timeit: argument 1 %(f%) must be a function, got number",
    ["timeit(print, 3)"] = "options must be a table",
    ["timeit(function() end, {rep = 3})"] = "unknown option 'rep'",
    ["timeit(function() end, {reps = -1})"] = "'reps' must be a whole number",
} do
    tap.like(select(2, typed(call)), message, "refused: " .. call)
end
tap.is(select(2, typed "timeit(function() error('mine', 0) end)"):match "mine", "mine",
    "an error of f's is f's")

tap.done()
