-- 72-paste.t.lua - blocks that a terminal pastes: each is one entry.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local keys, pasted = session.keys, session.pasted

local s = session.open { arguments = { "--norc" }, history = true }
s:wait "lab[1]> "

s:type(pasted "for i = 1, 2 do\n\tprint(i * 10)\n\nend")
tap.ok(s:finds "\nlab%[1%]> for i = 1, 2 do\n +print%(i %* 10%)\n\nend$",
    "a block is shown with its tabs and blank lines, and waits")
s:type("\r")
tap.ok(s:finds "end\n10\n20\nlab%[2%]>$", "Enter runs it as one entry")
s:type(keys.up)
tap.ok(s:finds "lab%[2%]> for i = 1, 2 do\n +print%(i %* 10%)\n\nend$", "it is recalled as one")
s:type(keys.up .. keys.up .. keys["end"] .. " print(7)" .. "\r")
tap.ok(s:finds "end\n10\n7\n20\n7\nlab%[3%]>$", "and can be edited")

s:type(pasted "n = (n or 0) + 1\n\n")
s:type("\r")
s:wait "lab[4]> "
s:type("n\r")
tap.ok(s:finds "\n1\nlab%[5%]>$", "newlines at its end do not run it twice")

s:type(pasted "a = 1\nb = a + 1\nlocal c = b + 1\nprint(a, b, c)")
s:type("\r")
tap.ok(s:finds "\n1 +2 +3\nlab%[6%]>$", "a block may be several statements")
s:type(pasted "a = 5\nlocal b = 6\na * b" .. "\r")
tap.ok(s:finds "\n30\nlab%[7%]>$", "and its last line an expression, whose value is shown")
s:type(pasted "local t = {\n  1,\n  2,\n}\n#t,\n  t[2]" .. "\r")
tap.ok(s:finds "\n2 +2\nlab%[8%]>$", "also one over several lines")
s:type(pasted "a = 5\na + 1;" .. "\r")
tap.ok(s:wait "lab[9]> ", "a semicolon at its end")
tap.ok(not s:text():find "\n6\n", "keeps the value silent")

s:type(pasted "if true then\n" .. "\r")
tap.ok(s:wait "...> ", "an unfinished block goes on")
s:type(pasted "print 'on'\nend" .. "\r")
tap.ok(s:finds "\non\nlab%[10%]>$", "with what is typed or pasted")

s:type("print(" .. pasted "'x'" .. ")" .. "\r")
tap.ok(s:finds "\nx\nlab%[11%]>$", "a piece is pasted into a line")
s:type("\27[200~print('cr')\r\nprint('lf')\nprint('end')\27[201~" .. "\r")
tap.ok(s:finds "\ncr\nlf\nend\nlab%[12%]>$", "newlines may be of any kind")
s:type(pasted "print('a\27[31m\7b')" .. "\r")
tap.ok(s:finds "\na%[31mb\nlab%[13%]>$", "control characters are left out")
s:type(pasted "s = 'é日'\n#s" .. "\r")
tap.ok(s:finds "\n5\nlab%[14%]>$", "UTF-8 is not")
s:type(pasted "x = = 1\ny = 2" .. "\r")
tap.ok(s:finds "unexpected symbol near '='\n.*lab%[15%]>$" or s:finds "unexpected symbol",
    "an error in it is one error")
s:type("y\r")
tap.ok(s:finds "\nnil\nhint: y has no value\nlab%[16%]>$", "and nothing of it has run")

local block = {}
for i = 1, 500 do
    block[i] = ("t%d = %d -- a line of a large block"):format(i, i)
end
s:type(pasted(table.concat(block, "\n")) .. "\r")
tap.ok(s:wait "lab[17]> ", "a block of 500 lines")
s:type("t1 + t500\r")
tap.ok(s:finds "\n501\nlab%[18%]>$", "is taken whole")

s:type("\27[200~never ended")
s:type(keys.interrupt)
tap.ok(s:finds "%^C\nlab%[18%]>$", "Ctrl-C drops a block that does not end")
s:run "'fine'"

-- Without brackets the lines come as if they were typed.
s:type("u = 1\nfor i = 1, 2 do\nu = u + i\nend\nu\n")
tap.ok(s:finds "\n4\nlab%[22%]>$", "a terminal without brackets pastes line by line")
tap.is(table.concat(s.screen.unknown, " "), "", "nothing odd is sent to the terminal")
tap.is(s:leave(), 0, "Ctrl-D leaves")

local file = assert(io.open(s.home .. "/.local/state/streamlab/history"))
local history = file:read "a"
file:close()
tap.ok(history:find("for i = 1, 2 do\\n\tprint(i * 10)\\n\\nend\n", 1, true),
    "a block is one line of the history file")
s:close()

tap.done()
