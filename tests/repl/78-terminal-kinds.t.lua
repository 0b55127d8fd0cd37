-- 78-terminal-kinds.t.lua - what a session looks like where terminals differ: colours, letters, a
-- narrow window, and files that are closed.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local shell = require "shell"

-- A line of each kind of answer: values, a chart, help, who, an error, commands.
local entries <const> = {
    "a = lab.ones(30, 30); a", "{1, x = 'y', z = {true, nil}}", "s = lab.stream{name = 'up'}; s",
    "lab.spin(1, {stream = s}); e = s:record_event(); e",
    "function f() lab.spin(1) lab.spin(1, {stream = s}) end", "tl = lab.profile(f); tl",
    "tl:explain()", "who()", "time(f)", "help()", "?pinned", "?tl", "help(f)", "?nonesuch", "lab",
    "lab.stream", "lab.device()", "lab.matmull(a, a)", "a:matmul(3)", "x = = 1", ".help",
    ".streams",
    ".device t4", ".device h200", ".races", ".timer on", "f()", ".timer off",
    "t = {} for i = 1, 60 do t['k' .. i] = i * i end; t",
}

-- A session in which all of them have been typed, and their answers.
local function everything(options)
    options.arguments = options.arguments or { "--norc" }
    local s = session.open(options)
    if options.unfolded then        -- rows are what the program takes for lines
        s.screen:resize(200, 24)
    end
    tap.ok(s:wait "lab[1]> ", options.name .. ": there is a prompt")
    local answers = { s:text():match("^(.*)\n") }
    for _, entry in ipairs(entries) do
        answers[#answers + 1] = s:ask(entry) or ""
    end
    tap.is(s:leave(), 0, options.name .. ": and it ends")
    tap.is(table.concat(s.screen.unknown, " "), "", options.name
        .. ": nothing odd is sent to the terminal")
    s:close()
    return s, answers
end

local plain_answers

-- Without those in which words that are coloured have marks instead.
local function without_marks(answers)
    local kept = {}
    for i, answer in ipairs(answers) do
        kept[i] = not plain_answers[i]:find("`") and answer or nil
    end
    return kept
end

-- ---- colours ---------------------------------------------------------------------------------

local function has_colour(s)
    return s.raw:find("\27%[[%d;]*[1-9]m") ~= nil
end

local plain
plain, plain_answers = everything { name = "NO_COLOR", env = { NO_COLOR = "1" } }
tap.ok(not has_colour(plain), "with NO_COLOR nothing has a colour")
tap.ok(plain.raw:find("█", 1, true), "a UTF-8 terminal gets blocks")
local coloured, coloured_answers = everything { name = "colour", env = { NO_COLOR = false } }
tap.ok(has_colour(coloured), "a terminal gets colours")
tap.is_deeply(without_marks(coloured_answers), without_marks(plain_answers),
    "which change nothing else")
local codes = {}
for code in coloured.raw:gmatch("\27%[([%d;]*[1-9])m") do
    codes[code] = true
end
for _, code in ipairs { "1;31", "32", "35", "36" } do
    tap.ok(codes[code], "errors, strings, constants and numbers have their own: " .. code)
end
local answers
for _, case in ipairs {
    { "NO_COLOR and --color=always", { NO_COLOR = "1" }, { "--norc", "--color=always" }, true },
    { "--color=never", { NO_COLOR = false }, { "--norc", "--color=never" }, false },
    { "TERM=dumb", { NO_COLOR = false, TERM = "dumb" }, nil, false },
} do
    local s
    s, answers = everything { name = case[1], env = case[2], arguments = case[3] }
    tap.is(has_colour(s), case[4], case[1] .. (case[4] and " colours" or " does not colour"))
    tap.is_deeply(without_marks(answers), without_marks(plain_answers), case[1]
        .. " changes nothing else")
    if case[1] == "TERM=dumb" then
        tap.is(s.raw:match("\27[^\n]*"), nil, "a dumb terminal gets no escape sequences")
    end
end
local out = shell.sh("NO_COLOR= $P --color=always -e 'error(1)' 2>&1;"
    .. "NO_COLOR= $P -e 'error(1)' 2>&1")
tap.ok(out:find("\27[", 1, true) and not out:find("\27%[.*\n.*\27%["),
    "a pipe gets colours only by --color=always")

-- ---- letters -----------------------------------------------------------------------------------

for _, locale in ipairs { "C", "POSIX" } do
    local s
    s, answers = everything { name = "LC_ALL=" .. locale, env = { LC_ALL = locale } }
    tap.is(s.raw:match("[\128-\255]+"), nil, "LC_ALL=" .. locale .. ": only ASCII is sent")
    tap.like(table.concat(answers), "default |####*%.*|", "a chart is drawn with it")
end

-- ---- a narrow window ---------------------------------------------------------------------

-- Only listings are not broken, which are two columns in.
local function may_be_wide(row)
    return row:find("^  .*[%(=]") ~= nil
end

for _, columns in ipairs { 40, 60 } do
    local name = columns .. " columns"
    local _
    _, answers = everything { name = name, columns = columns, unfolded = true }
    local wide = {}
    for _, answer in ipairs(answers) do
        for row in answer:gmatch("[^\n]+") do
            if utf8.len(row) > columns and not may_be_wide(row) then
                wide[#wide + 1] = row
            end
        end
    end
    tap.is(table.concat(wide, "\n"), "", name .. ": no row is wider")
end

-- ---- files that are closed -------------------------------------------------------------------

-- The status of the program, whose lines come from a pipe, and what the other file gets.
local function closed(redirection, options, lines)
    return shell.sh(("printf %%s %s | \"$P\" --norc %s %s"):format(shell.quote(lines), options,
        redirection))
end

local err, code
out, err, code = closed(">&-", "-i", "1 + 1\nio.stderr:write('here\\n')\n")
tap.is(out, "", "stdout closed: nothing is there")
tap.like(err, "here\n.*cannot write to stdout", "lines are run, and what is lost is reported")
tap.is(code, 1, "as an error")
out, err, code = closed(">&-", "-i", "x = 1\n")
tap.is(code, 0, "where nothing was to be written, it is none")
out, err, code = closed("2>&-", "-i", "1 + 1\nlab.ones('x')\n2 + 2\n")
tap.is(out .. err, "2\n4\n", "stderr closed: errors are lost")
tap.is(code, 0, "and lines run on")
out, err, code = closed(">&- 2>&-", "-i", "1 + 1\nlab.ones('x')\nx = 1\n")
tap.is(code, 1, "both closed: a status, and no crash")
out, err, code = closed("<&-", "-i", "")
tap.is(code, 0, "stdin closed is an empty one")
out, err, code = closed("<&-", "", "")
tap.is(out .. code, "1", "but no script")
tap.like(err, "cannot read stdin", "which is reported")
out, err, code = shell.sh("$P --norc -i <&- >&- 2>&-")
tap.is(code, 0, "with all closed, too")
out, err, code = shell.sh("printf 'print(1)\\n%.0s' 1 2 3 | $P - | true")
tap.is(err, "", "a reader that goes is no crash")
out, err, code = closed(">/dev/full", "-i", "1 + 1\n")
tap.is(code, 1, "a full disk is an error")
tap.like(err, "cannot write to stdout", "which is reported")

-- Reports of races go to stderr, and are as wide as that.
session.with({ name = "a race in 64 columns", columns = 64 }, function(s)
    s:ask 'lab.check "warn"; a, b = lab.stream{name = "copies"}, lab.stream{name = "compute"}'
    s:ask "x = lab.zeros(1024, 1024); lab.synchronize()"
    s:ask "x:zero_{stream = a}; lab.mul(x, x, {stream = b});  -- and a long remark behind it"
    local text = s:ask "lab.synchronize()"
    local widest = 0
    for line in text:gmatch "[^\n]*" do widest = math.max(widest, #line) end
    tap.like(text, 'race: stream "compute" reads at lab%[3%]:1 what stream\n    "copies" may',
        "its words are broken between words")
    tap.like(text, "\n          | x:zero_{stream = a}; lab.mul%(x, x, {stream = b}%);%.%.%.\n",
        "the script's line is cut")
    tap.ok(widest <= 64, "and no row is longer")
end)

local s = session.open { shell = '"$P" --norc 2>&-; echo "status $?"' }
tap.ok(s:wait "lab[1]> ", "a terminal with stderr closed has a prompt")
s:ask "error 'lost'"
tap.is(s:ask "6 * 7", "42\n", "and goes on after errors")
s:type "\4"
tap.ok(s:shows "status 0", "to its end")
s:close()
s = session.open { shell = '"$P" --norc <&-; echo "status $?"' }
tap.ok(s:shows "status 1", "with stdin closed it ends at once")
s:close()

tap.done()
