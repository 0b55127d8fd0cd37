-- 41-undefined-option.t.lua - an option whose value is a variable that there is not: stderr says so
-- once, and reading such a variable is what it always was.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()

-- What the script says on stderr, "s.lua" for its path; and its output.
local function run(text)
    local path = shell.write(folder .. "/s.lua", text)
    local out, err, code = shell.run { "--backend=sim", path }
    tap.is(code, 0, "it runs: " .. text)
    return (err:gsub("streamlab: [^\n]-s%.lua", "s.lua")), out
end

tap.is(run "lab.stream{non_blocking = True}", "s.lua:1: there is no variable 'True', so that "
    .. "non_blocking is not set: true is lower case\n", "a word of another language")
tap.is(run "local s = lab.stream{\n    name = 'x',\n    non_blocking = ture,\n}",
    "s.lua:3: there is no variable 'ture', so that non_blocking is not set: did you mean true?\n",
    "a slip of the pen, by its own line")
tap.is(run "for i = 1, 3 do lab.empty(2, {pinned = Yes, device = 'cpu'}) end",
    "s.lua:1: there is no variable 'Yes', so that pinned is not set\n", "once, however often")

local quiet <const> = {
    { "print(DEBUG == nil, True == nil) if DEBUG then error() end",
      "a script that asks for globals" },
    { "lab.spin(0.01, {stream = mine or lab.stream()})", "a choice" },
    { "later = 2 lab.spin(0.01, {blocks = later})", "a global that is there when it is read" },
    { "local function f(stream) lab.spin(0.01, {stream = stream}) end f()", "a parameter" },
    { "local n for n = 1, 2 do lab.spin(0.01, {blocks = n}) end", "a loop's variable" },
    { "local t = {extent = EXTENT, hue = red}", "a table of the script's own" },
    { "local t = {stream = 1} a, stream = b, 2", "an assignment" },
}
for _, case in ipairs(quiet) do
    tap.is(run(case[1]), "", case[2] .. " is nobody's mistake")
end

local _, out = run "lab.spin(0.01, {blocks = 2}) print(getmetatable(_G))"
tap.is(out, "nil\n", "globals have no metatable where there is nothing to watch")
_, out = run [[
setmetatable(_G, {__index = function(_, name) return name end})
local s = lab.stream{name = nobody}
print(s.name)]]
tap.is(out, "nobody\n", "and a script's own is not replaced")

local _, err = shell.run { "--backend=sim", "-e", "lab.stream{non_blocking = True}" }
tap.like(err, "^streamlab: %(command line%):1: there is no variable 'True'", "with -e")
shell.write(folder .. "/in", "local s = lab.stream()\nlab.spin(1, {stream = s})\n")
_, err = shell.sh(('"$P" --backend sim -i < %s/in'):format(folder))
tap.like(err, "lab%[2%]:1: there is no variable 's', so that stream is not set: s was local in "
    .. "lab%[1%]", "at the prompt")
shell.write(folder .. "/called.lua", "return lab.stream{non_blocking = False}")
_, err = shell.sh(("\"$P\" --backend sim -e 'dofile \"%s/called.lua\"'"):format(folder))
tap.like(err, "called%.lua:1: there is no variable 'False'", "in a file that a script runs")

shell.remove(folder)
tap.done()
