-- 74-completion.t.lua - Tab at the prompt. What can stand for a word is in
-- repl/console/completion/complete.lua; here it is how that is shown and put in.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local keys = session.keys

if not io.open("repl/console/completion/complete.lua") then
    tap.skip_all("this version has no completion")
end

local s = session.open { arguments = { "--norc" }, columns = 40, rows = 12 }
s:wait "lab[1]> "
s:type(session.pasted [[
zq_alpha, zq_alpine, zq_alpix = 1, 2, 3
zq_only = 4
for i = 1, 300 do _G["zqmany" .. i] = i end]] .. "\r")
s:wait "lab[2]> "

s:type("x = zq_on\t")
tap.ok(s:shows "lab[2]> x = zq_only", "the only word is put in")
s:type(" + 1 -- \21" .. "y = zq_al\t")
tap.ok(s:shows "zq_alpha   zq_alpine  zq_alpix", "of several all are shown")
tap.ok(s:shows "lab[2]> y = zq_alp", "and what they have in common is put in")
s:type("i\t")
tap.ok(s:shows "zq_alpine  zq_alpix", "fewer, the more is typed")
tap.ok(s:shows "lab[2]> y = zq_alpi", "and the line goes on")
s:type("x\r")
s:wait "lab[3]> "
s:type("y\r")
tap.ok(s:shows "3", "as if it had been typed")
s:wait "lab[4]> "

local bells = s.screen.bells
s:type("zq_nothing\t + 1")
tap.ok(s:shows "lab[4]> zq_nothing + 1", "where nothing fits, nothing happens")
tap.ok(s.screen.bells > bells, "but a bell")
s:type("\21" .. "zqmany\t")
tap.ok(s:finds "%.%.%. and %d+ more\n", "of many as many are shown as the screen has room for")
tap.ok(s:wait "lab[4]> zqmany", "and the line stands below them")

s:type("\21" .. "if true then\r")
s:wait "...> "
s:type("\tz = zq_on\t\r")
tap.ok(s:shows "...>     z = zq_only", "an entry's other lines are completed too")
s:type("end\r")
s:wait "lab[5]> "

s:type("zq_on + 1" .. keys.left .. keys.left .. keys.left .. keys.left .. "\t\r")
tap.ok(s:finds "zq_only %+ 1\n5\n", "a word in the middle of a line is completed")

s:wait "lab[6]> "
s:type("'é日' .. zq_on\t")
tap.ok(s:finds "'é日' %.%. zq_only$", "behind characters of several bytes too")
s:type(session.pasted "\nlocal u = 1\nprint(zq_al" .. "\t")
tap.ok(s:finds "'é日' %.%. zq_only\nlocal u = 1\nprint%(zq_alp$", "and in a block")
s:interrupt()
tap.is(table.concat(s.screen.unknown, " "), "", "nothing odd is sent to the terminal")
tap.is(s:leave(), 0, "Ctrl-D leaves")
s:close()

tap.done()
