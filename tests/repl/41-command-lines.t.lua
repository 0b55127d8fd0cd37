-- 41-command-lines.t.lua - a command line that a table describes: what --help prints of it, and
-- how words are read. The tables of repl/usage are complete.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local environment = dofile("docs/generate/source.lua").environment("")
environment.internals = { nearest = function(name, known)
    return known[name .. "s"] and name .. "s" or nil
end }
local import = environment.import
local command_line = import "repl/run/command_line.lua"
local commands = import "docs/generate/commands.lua"
local values = import "repl/run/values.lua"

-- ---- reading -----------------------------------------------------------------------------------

local number <const> = values.whole(1, 9)
local line <const> = {
    usage = { "tool [options] FILE", "tool --list" },
    about = "Does things.",
    { title = "how",
        { "-n, --number N", read = number, "how many" },
        { "--from N, --to N", read = number, "a range" },
        { "--rows WHAT", one_of = { "a", "b", "c" }, "which\n   rows" },
        { "--mode[=WORD]", one_of = { "soft", "hard" }, default = "soft", "how hard" },
        { "-e TEXT", read = values.some, field = "texts", list = true, free = true, "a text" },
        { "--deep", with = "number", "also below" } },
    { title = "what", { "check", "an action" }, { "--points", of = "check", "only of check" },
        { "--quiet", of = "run stop" } },
    ending = "That is all.",
}

-- "number=3 rows=a : x y", or "! sentence".
local function read(words, action, first)
    local list = {}
    for word in words:gmatch "%S+" do
        list[#list + 1] = word
    end
    local options, others, at = command_line.read(line, list, action, first)
    if not options then
        return "! " .. others
    end
    local shown = {}
    for name, value in pairs(options) do
        shown[#shown + 1] = name .. "=" .. (type(value) == "table" and table.concat(value, "+")
            or tostring(value))
    end
    table.sort(shown)
    return table.concat(shown, " ") .. " : " .. table.concat(others, " ")
        .. (first and " @" .. at or "")
end

for words, expected in pairs {
    ["x --number 3 y"] = "number=3 : x y",
    ["--number=3"] = "number=3 : ",
    ["-n 3"] = "number=3 : ",
    ["-n3"] = "number=3 : ",
    ["--from 2 --to=5"] = "from=2 to=5 : ",
    ["--mode x"] = "mode=soft : x",
    ["--mode=hard x"] = "mode=hard : x",
    ["-e one -e --two"] = "texts=one+--two : ",
    ["--rows b -- --rows c"] = "rows=b : --rows c",
    ["- x"] = " : - x",
    ["--help --nosuch"] = "help=true : --nosuch",
    ["-n 1 --deep"] = "deep=true number=1 : ",
    ["--nosuch"] = "! unrecognized option '--nosuch'",
    ["--row b"] = "! unrecognized option '--row'; did you mean --rows?",
    ["--n 3"] = "! unrecognized option '--n'",
    ["-number 3"] = "! -n needs a whole number from 1 to 9, got 'umber'",
    ["-hn"] = "! unrecognized option '-hn'",
    ["--deep=1 -n 1"] = "! --deep takes no value",
    ["--deep"] = "! --deep goes with --number",
    ["--number"] = "! --number needs a value",
    ["--number x"] = "! --number needs a whole number from 1 to 9, got 'x'",
    ["--number="] = "! --number needs a whole number from 1 to 9, got ''",
    ["--number --deep"] = "! --number needs a value, and '--deep' is an option; --number=--deep "
        .. "takes it as the value",
    ["-n --deep"] = "! -n needs a value, and '--deep' is an option; -n--deep takes it as the value",
    ["--rows d"] = "! --rows needs a, b or c, got 'd'",
    ["--mode hard"] = "! --mode takes its mode behind '=', as --mode=hard (to run a script of that "
        .. "name, write ./hard)",
    ["--mode=no"] = "! --mode needs soft or hard, got 'no'",
    ["--points"] = "! unrecognized option '--points'",
} do
    tap.is(read(words), expected, words)
end
tap.is(read("--points", "check"), "points=true : ", "an action has its own options")
tap.is(read("--quiet", "check"), "! unrecognized option '--quiet'", "and not those of others")
tap.is(read("--quiet", "stop"), "quiet=true : ", "of which several may have one")
tap.is(read("-n 3 file --number 4", nil, true), "number=3 : file --number 4 @3",
    "where words end the options, the first of them is known")

tap.is(command_line.text(line), [[
usage: tool [options] FILE
       tool --list
Does things.

how:
  -n, --number N    how many
  --from N, --to N  a range
  --rows WHAT       which
                    rows
  --mode[=WORD]     how hard
  -e TEXT           a text
  --deep            also below
what:
  check             an action
  --points          only of check
  -h, --help        print this and stop
That is all.
]], "--help is made of the same table, without what has no text")

-- ---- the tables --------------------------------------------------------------------------------

local files = {}
for name in io.popen("ls repl/usage repl/commands"):read("a"):gmatch "(%w+)%.lua" do
    files[name] = (files[name] or 0) + 1
end
for _, command in ipairs(commands.all()) do
    tap.is(files[command.name], 2, command.name .. " has a program and a table")
    files[command.name] = nil
    tap.is((shell.run { command.name, "--help" }), command_line.text(command.line),
        "and prints it")
end
files.program, files.shared = nil, nil
tap.is(next(files), nil, "no subcommand is left out of the program's --help")
tap.is((shell.run { "--help" }), command_line.text(commands.program), "which prints its own")

for _, item in ipairs { { line = commands.program }, table.unpack(commands.all()) } do
    local wide = {}
    for text in command_line.text(item.line):gmatch "[^\n]+" do
        wide[#wide + 1] = #text > 84 and text or nil
    end
    tap.is(table.concat(wide, "\n"), "", (item.name or "the program") .. ": no line is too long")
end

tap.done()
