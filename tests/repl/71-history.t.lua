-- 71-history.t.lua - entries of earlier sessions: the file, its damages, recalling.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local shell = require "shell"
local keys = session.keys

local home = shell.folder()
local file = home .. "/.local/state/streamlab/history"

-- Runs `f` with a session at its first prompt, which keeps its history in `home`.
local function with(f, env)
    local s = session.open { arguments = { "--norc" }, history = true, home = home, env = env }
    if tap.ok(s:wait "lab[1]> ", "there is a prompt") then
        f(s)
    end
    s:close()
end

local function mode(path)
    local out = shell.sh("stat -c %a " .. shell.quote(path) .. " 2>/dev/null || stat -f %Lp "
        .. shell.quote(path))
    return out:gsub("\n", "")
end

with(function(s)
    s:run "first = 1"
    s:run "first = 1"
    s:run [[back = '\\n']]
    s:type("for i = 1, 2 do\r")
    s:wait "...> "
    s:type("print(i)\r")
    s:wait "...> "
    s:type("end\r")
    s:wait "lab[5]> "
    s:type("  \r")
    s:wait "lab[5]> "
    s:type("dropped")
    s:finds "dropped$"
    s:interrupt()
    s:type("=7\r")
    s:shows "7"
    s:wait "lab[6]> "
    s:type("x = = 1\r")
    s:wait "lab[7]> "
    tap.is(s:leave(), 0, "a session ends")
end)
local kept = "first = 1\nback = '\\\\\\\\n'\nfor i = 1, 2 do\\n    print(i)\\nend\n=7\nx = = 1\n"
tap.is(shell.read(file), kept, "its entries are in the file, one a line, repeated ones once, "
    .. "those with errors too, dropped and blank ones not")
tap.is(mode(file), "600", "which nobody else can read")
tap.is(mode(home .. "/.local/state/streamlab"), "700", "as its folder")

with(function(s)
    s:type(keys.up .. keys.up .. keys.up)
    tap.ok(s:finds "lab%[1%]> for i = 1, 2 do\n    print%(i%)\nend$",
        "the next session recalls an entry of several lines whole")
    s:type("\r")
    tap.ok(s:finds "end\n1\n2\nlab%[2%]>$", "and runs it")
    s:type(keys.up .. keys.up .. keys.up .. keys.up)
    s:type("\21\18back")
    tap.ok(s:finds "\nsearch 'back': #?back", "Ctrl-R says what is searched for, and what it finds")
    s:type("\18")
    tap.ok(s:finds "\nsearch 'back': back = '\\\\n'$", "again for an older entry")
    s:type("\r")
    tap.ok(s:wait "lab[3]> ", "which Enter runs")
    s:type("#back\r")
    tap.ok(s:shows "2", "as it was, with its backslashes")
    s:wait "lab[4]> "
    s:type("\18no such entry")
    tap.ok(s:finds "search 'no such entry' %(not found%): ", "what no entry has is not found")
    s:interrupt()
    tap.ok(s:wait "lab[4]> ", "Ctrl-C leaves a search")
    s:type("typed\18#ba")
    s:finds "search '#ba': #back$"
    s:type("\127\127\127")
    tap.ok(s:finds "search '': ", "Backspace takes a letter away")
    s:type("\7")
    tap.ok(s:finds "\nlab%[4%]> typed$", "and Ctrl-G brings the line back")
    s:type("\21\18#ba\27")
    tap.ok(s:finds "\nlab%[4%]> #back$", "Escape leaves what was found, to be changed")
    s:type("\21")
    s:wait "lab[4]> "
    s:run("'after the search'")
end)

-- Several sessions at once.
local one = session.open { arguments = { "--norc" }, history = true, home = home }
local two = session.open { arguments = { "--norc" }, history = true, home = home }
one:wait "lab[1]> "
two:wait "lab[1]> "
for i = 1, 5 do
    one:type("one = " .. i .. "\r")
    two:type("two = " .. i .. "\r")
end
one:wait "lab[6]> "
two:wait "lab[6]> "
one:leave()
two:leave()
one:close()
two:close()
local counts = { one = 0, two = 0 }
for name in shell.read(file):gmatch "\n(%l+) = %d%f[\n]" do
    counts[name] = (counts[name] or 0) + 1
end
tap.is(counts.one .. " " .. counts.two, "5 5", "of two sessions at once no entry is lost")

-- Ten thousand and some.
local lines = {}
for i = 1, 10050 do
    lines[i] = "x = " .. i
end
shell.write(file, table.concat(lines, "\n") .. "\n")
with(function(s)
    s:type(keys.up .. "0\r")
    s:wait "lab[2]> "
    s:type("x\r")
    tap.ok(s:shows "100500", "the latest of many entries is there")
end)
local text = shell.read(file)
tap.is(text:match "^[^\n]*", "x = 51", "the file is cut to the latest 10,000")
tap.is(select(2, text:gsub("\n", "")), 10002, "to which new ones are added")
tap.is(mode(file), "600", "and still nobody else can read it")
tap.is(shell.sh("ls " .. shell.quote(home .. "/.local/state/streamlab")), "history\n",
    "nothing is left beside it")

-- A full disk: a limit on the size of files, which part of the new entry fits, or nothing. The
-- second file is one that would be cut.
for name, old in pairs { ["part of an entry"] = ("x = 1234567\n"):rep(85),
    ["a history that is cut"] = ("x = 1234567\n"):rep(10001) } do
    shell.write(file, old)
    local s = session.open { shell = "trap '' XFSZ; ulimit -f 2; exec \"$P\" --norc",
        history = true,
        home = home }
    s:wait "lab[1]> "
    s:type("y = '" .. ("z"):rep(1100) .. "'\r")
    tap.ok(s:finds "entries are not kept: cannot write the history file",
           "a full disk is reported: " .. name)
    s:wait "lab[2]> "
    s:type("#y\r")
    tap.ok(s:shows "1100", "and the session goes on")
    s:close()
    tap.ok(shell.read(file) == old, "the file is as it was")
    tap.is(shell.sh("ls " .. shell.quote(home .. "/.local/state/streamlab")), "history\n",
        "and nothing is left beside it")
end

-- Damages.
shell.write(file, "good = 1\nb\0ad\n" .. ("x"):rep(2 << 20)
    .. "\n\xff\xfe = 2\n\n\n\\\\\\x\\\ncut sho")
with(function(s)
    s:type(keys.up .. keys.up .. keys.up .. keys.up .. keys.up .. "1\r")
    s:wait "lab[2]> "
    s:type("good\r")
    tap.ok(s:shows "11", "of a damaged file what is sound is taken")
    s:wait "lab[3]> "
    tap.is(s:leave(), 0, "and nothing else happens")
    tap.ok(not s:text():find "streamlab:", "not even a sentence")
end)
tap.like(shell.read(file), "\ncut sho\ngood = 11\ngood\n$", "its unfinished line swallows nothing")

local function notice_with(path, reason, name)
    with(function(s)
        tap.ok(s:finds "entries are not kept: cannot write the history file", name)
        tap.ok(s:finds(reason), name .. ": with the reason")
        s:run "a = 1"
        s:type("a\r")
        tap.ok(s:shows "1", name .. ": the session goes on")
        s:wait "lab[3]> "
        s:type(keys.up .. keys.up .. "1\r")
        s:wait "lab[4]> "
        s:type("a\r")
        tap.ok(s:shows "11", name .. ": with the entries of its own")
        tap.is(select(2, s:text():gsub("not kept", "")), 1, name .. ": and is reported only once")
    end, { STREAMLAB_HISTORY = path })
end
notice_with(home, "it is no plain file", "a folder is no history file")
notice_with("/dev/null/history", "Not a directory", "a file that cannot be made")
if shell.sh("id -u") ~= "0\n" then             -- root may write it
    shell.sh(("echo 'a = 3' > %s/sealed; chmod 400 %s/sealed"):format(home, home))
    notice_with(home .. "/sealed", "Permission denied", "a file that cannot be written")
end

shell.sh("mkfifo " .. shell.quote(home .. "/fifo"))
notice_with(home .. "/fifo", "it is no plain file", "a pipe is none either")

-- Where it is.
with(function(s) s:run "here = 1" end, { STREAMLAB_HISTORY = home .. "/own" })
tap.is(shell.read(home .. "/own"), "here = 1\n", "STREAMLAB_HISTORY names the file")
with(function(s) s:run "there = 1" end, { XDG_STATE_HOME = home .. "/state" })
tap.is(shell.read(home .. "/state/streamlab/history"), "there = 1\n",
    "XDG_STATE_HOME its folder")
local before = shell.read(file)
with(function(s) s:run "nowhere = 1" end, { STREAMLAB_HISTORY = "" })
with(function(s) s:run "nowhere = 1" end, { HOME = false })
tap.is(shell.read(file), before, "an empty STREAMLAB_HISTORY means none")

-- A link stays a link when the file is cut.
shell.write(home .. "/real", table.concat(lines, "\n") .. "\n")
shell.sh(("ln -s %s/real %s/link"):format(home, home))
with(function() end, { STREAMLAB_HISTORY = home .. "/link" })
tap.is(shell.sh("readlink " .. home .. "/link"), home .. "/real\n", "a link stays one")
tap.like(shell.read(home .. "/real"), "^x = 51\n", "and its file is cut")

-- Only terminals have one.
shell.sh("HOME=" .. shell.quote(home .. "/none") .. "; export HOME; printf '1\\n' | $P -i")
tap.is(shell.read(home .. "/none/.local/state/streamlab/history"), nil,
    "lines from a pipe are not kept")

shell.remove(home)
tap.done()
