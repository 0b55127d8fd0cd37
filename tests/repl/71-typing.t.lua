-- 71-typing.t.lua - what helps while somebody types: colours, brackets, signatures, indentation,
-- undo, earlier entries that begin alike; and long lines, which are drawn again at each key.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local keys, with = session.keys, session.with

-- ---- long lines ------------------------------------------------------------------------------

-- The prompt takes 8 columns of 60: 52 characters are in the first row.
with({ name = "60 columns", columns = 60 }, function(s)
    s:type("'" .. ("x"):rep(69) .. "'")
    tap.ok(s:finds("> '" .. ("x"):rep(51) .. "\n" .. ("x"):rep(18) .. "'$"),
           "a line of equal characters wraps")
    s:type "\1"
    tap.ok(s:cursor_at(5, 9), "Ctrl-A goes to its beginning")
    s:type "#"
    tap.ok(s:finds("> #'" .. ("x"):rep(50) .. "\n" .. ("x"):rep(19) .. "'$"),
        "a key there moves what is in both rows")
    s:type "\5\r"
    tap.ok(s:shows "69", "and the line is whole")
    s:wait "lab[2]> "
    s:type(("1"):rep(52))
    tap.ok(s:cursor_at(9, 1), "behind a full row the cursor is in the next one")
    s:type(keys.backspace)
    tap.ok(s:finds("> " .. ("1"):rep(51) .. "$"), "from which Backspace comes back")
    s:type("\21" .. ("日"):rep(26) .. "x日")
    tap.ok(s:finds("> " .. ("日"):rep(26) .. "\nx日$"),
           "a wide character that has no room wraps whole")
    s:interrupt()
end)

with({ name = "more rows than the terminal has", columns = 40, rows = 6 }, function(s)
    local lines = {}
    for i = 1, 12 do lines[i] = ("v%d = %d"):format(i, i) end
    s:type(session.pasted(table.concat(lines, "\n")))
    s:finds "v12 = 12$"
    local above = #s.screen.above
    s:type(keys.left .. keys.right .. keys.left .. keys.right)
    s:type(keys.up:rep(11) .. "\1x")
    tap.ok(s:finds "\nlab%[1%]> xv1 = 1\nv2 = 2", "the rows around the cursor are shown")
    tap.is(#s.screen.above, above, "keys leave no copies above")
    s:type(keys.backspace .. "\r")
    s:wait "lab[2]> "
    s:type "v1 + v12\r"
    tap.ok(s:shows "13", "and the entry is whole")
end)

-- ---- colours ----------------------------------------------------------------------------------

-- The SGR parameters of the characters of the row in which the cursor is.
local function colours(s, from, to)
    local row, list = s.screen:cursor(), {}
    for column = from, to do list[#list + 1] = s.screen:colour(row, column) end
    return table.concat(list, ",")
end

with({ name = "colours", env = { NO_COLOR = false } }, function(s)
    s:type "if 'a' == 1 or nil then -- b"
    s:finds "%-%- b$"
    tap.is(colours(s, 9, 11), "1;34,1;34,", "keywords have a colour")
    tap.is(colours(s, 12, 14), "32,32,32", "strings")
    tap.is(colours(s, 19, 19), "36", "numbers")
    tap.is(colours(s, 24, 26), "35,35,35", "constants")
    tap.is(colours(s, 33, 36), "2,2,2,2", "and comments")
    s:type "\21f(a[1])"
    s:finds "f%(a%[1%]%)$"
    tap.ok(s:until_true(function() return colours(s, 10, 15) == "1;4,,,36,,1;4" end, "brackets"),
        "a bracket behind which the cursor stands shows its partner")
    s:type "\r"
    s:wait "lab[2]> "
    local entered = {}
    for column = 10, 15 do entered[#entered + 1] = s.screen:colour(5, column) end
    tap.is(table.concat(entered, ","), ",,,36,,", "but not when the entry is complete")
    s:type "\21')' }"
    s:finds "}$"
    tap.ok(s:until_true(function() return colours(s, 9, 13) == "32,32,32,,31" end, "no partner"),
        "one without a partner is marked, and a string has none")
    s:type "\21.help lab"
    s:finds "lab$"
    tap.is(colours(s, 9, 17), ",,,,,,,,", "commands are no Lua")
    s:interrupt()
end)
with({ name = "NO_COLOR" }, function(s)
    s:type "if 'a' == 1"
    s:finds "== 1$"
    tap.is(colours(s, 1, 20), (","):rep(19), "with NO_COLOR nothing has a colour")
end)

-- ---- signatures ---------------------------------------------------------------------------------

with({ name = "signatures" }, function(s)
    s:type "lab.stream("
    tap.ok(s:finds "lab%.stream%(\nlab%.stream{ priority =, .*}$",
           "behind a bracket stands what a function takes")
    tap.ok(s:cursor_at(5, 20), "and the cursor stays where it is")
    s:type "{name = 'a'}"
    tap.ok(s:finds "'a'}\nlab%.stream{", "as long as the call is not complete")
    s:type ")"
    tap.ok(s:finds "lab%.stream%({name = 'a'}%)$", "then it is gone")
    s:type "\21lab.matmul(\r"
    tap.ok(s:finds "lab%[1%]> lab%.matmul%(\n%.%.%.>", "Enter leaves none behind")
    s:interrupt()
end)

-- ---- indentation --------------------------------------------------------------------------------

with({ name = "indentation" }, function(s)
    s:type "function f(x)\r"
    s:wait "...> "
    s:type "if x then return g{\r"
    tap.ok(s:finds "\n%.%.%.>     if x then return g{\n", "a line within a function is indented")
    s:type "1}\r"
    tap.ok(s:finds "\n%.%.%.>         1}\n", "a line in which several things begin counts once")
    s:type "else\r"
    tap.ok(s:finds "\n%.%.%.>     else\n", "else belongs under its if")
    s:type "endless = 1\r"
    tap.ok(s:finds "\n%.%.%.>         endless = 1\n",
           "a name that begins with end does not end anything")
    s:type(keys.backspace .. "end\r")
    tap.ok(s:finds "\n%.%.%.>     end\n", "Backspace removes a level")
    s:type "end\r"
    tap.ok(s:finds "\n%.%.%.> end\nlab%[2%]>$", "the last end is not indented")
    s:type "t = {\r"
    s:wait "...> "
    s:type(session.pasted "    1," .. "\r")
    tap.ok(s:finds "\n%.%.%.>     1,\n", "what is pasted with its own blanks gets no more")
    s:type "\r"
    s:finds "     1,\n%.%.%.>\n%.%.%.>$" -- between two prompts the terminal itself echoes
    s:type "}\r"
    tap.ok(s:finds "\n%.%.%.>     1,\n%.%.%.>\n%.%.%.> }\nlab%[3%]>$", "an empty line stays empty")
    s:type "for i = 1, 2 do\r"
    s:wait "...> "
    s:type(keys.eof)
    tap.ok(s:wait "lab[3]> ", "Ctrl-D behind blanks that nobody typed drops the entry")
end)

-- ---- undo, and earlier entries ------------------------------------------------------------------

with({ name = "undo" }, function(s)
    s:type "one two\23\31"
    tap.ok(s:finds "> one two$", "Ctrl-_ brings back what was cut")
    s:type "\31"
    tap.ok(s:finds "> one$", "then takes back a word")
    s:type "\31\31"
    tap.ok(s:finds "lab%[1%]>$", "then another")
    local bells = s.screen.bells
    s:type "\31x"
    tap.ok(s:finds "> x$" and s.screen.bells > bells, "until there is nothing more")
    s:type "\21ab\20"
    tap.ok(s:finds "> ba$", "Ctrl-T exchanges two characters")
    s:type "\21"
end)

with({ name = "earlier entries" }, function(s)
    for i, entry in ipairs { "apple = 1", "pear = 2", "apple = 3", "plum = 4" } do
        s:type(entry .. "\r")
        s:wait(("lab[%d]> "):format(i + 1))
    end
    s:type("app" .. keys.up)
    tap.ok(s:finds "> apple = 3$", "Up finds what begins as the line does")
    s:type(keys.up)
    tap.ok(s:finds "%] ?> apple = 1$" or s:finds "> apple = 1$", "then an older one")
    s:type(keys.down .. keys.down)
    tap.ok(s:finds "> app$", "Down comes back to what was typed")
    s:type("\21" .. keys.up)
    tap.ok(s:finds "> plum = 4$", "where nothing is typed all entries are there")
    s:interrupt()
end)

-- ---- a plain terminal ---------------------------------------------------------------------------

with({ name = "dumb", columns = 40, env = { TERM = "dumb" } }, function(s)
    s:type "if true then"
    s:finds "then$"
    s:type(keys.home .. "  ")
    tap.ok(s:finds ">   if true then$", "on a plain terminal lines can be edited")
    s:type("\21#'" .. ("abcdefghij"):rep(8) .. "'")
    tap.ok(s:finds "> [a-j]*hij'$", "a long one is moved sideways")
    s:type(keys.home)
    tap.ok(s:finds "> #'abcdefghij[a-j]*$", "both ways")
    s:type "\r"
    tap.ok(s:shows "80", "and is whole")
    tap.is(s.raw:find "\27", nil, "without any sequence")
end)

tap.done()
