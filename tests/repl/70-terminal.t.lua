-- 70-terminal.t.lua - somebody types at the REPL: keys, characters, Ctrl-C, Ctrl-D, the
-- terminal's size and type.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local keys, with = session.keys, session.with

with({ name = "keys" }, function(s)
    tap.like(s:text(), "^streamlab %d+%.%d+%.%d+.*`lab`", "a terminal gets a banner")
    s:type("1 + 1\r")
    tap.ok(s:shows "2", "an expression's value is shown")
    s:wait "lab[2]> "
    s:type("x = 13" .. keys.left .. "2" .. keys.home .. "y, " .. keys["end"] .. ", 4" .. "\r")
    s:wait "lab[3]> "
    s:type("y, x\r")
    tap.ok(s:finds "\n123 +4\n", "arrows, Home and End move in a line")
    s:wait "lab[4]> "
    s:type("xx5" .. keys.home .. keys.delete .. keys.delete .. "2" .. keys["end"] .. "99"
        .. keys.backspace .. keys.backspace .. "\r")
    tap.ok(s:shows "25", "Delete and Backspace take characters away")
    s:wait "lab[5]> "
    s:type("wrong\21" .. "6 * 7 + nonsense\23" .. "0\r")
    tap.ok(s:shows "42", "Ctrl-U drops the line, Ctrl-W a word")
    s:wait "lab[6]> "
    s:type("1000\1" .. "2 * \5 + 5\r")
    tap.ok(s:shows "2005", "Ctrl-A and Ctrl-E go to the ends")
    s:wait "lab[7]> "
    s:type("'one two'" .. "\27b" .. "and " .. "\r")
    tap.ok(s:shows '"one and two"', "Alt-B goes back a word")
    s:wait "lab[8]> "
    s:type(keys.up .. keys.up .. keys.up .. keys.down .. " - 5\r")
    tap.ok(s:shows "2000", "the arrows go through what was typed before")
    tap.is(s:wait "lab[9]> " and s:leave(), 0, "Ctrl-D on an empty line leaves")
    tap.is(s.terminal:state(), "ended", "and that is the end")
end)

with({ name = "strict globals" }, function(s)
    s:type("setmetatable(_G, {__index = function(_, k) error('no ' .. k, 2) end});\r")
    tap.ok(s:wait "lab[2]> ", "globals that must be declared cost no prompt")
    s:type("zzz\r")
    tap.ok(s:finds "no zzz" and s:wait "lab[3]> ", "an unknown one is the entry's error")
    s:type("for i = 1, 2 do\r")
    tap.ok(s:wait "...> ", "further lines have their prompt")
    s:type("end\r")
    tap.is(s:wait "lab[4]> " and s:leave(), 0, "and all ends well")
end)

with({ name = "entries" }, function(s)
    s:type("for i = 1, 2 do\r")
    tap.ok(s:wait "...> ", "an unfinished entry has a prompt of its own")
    s:type("\t" .. "print(i + 40)\r")
    tap.ok(s:wait "...> ", "and goes on until it is complete")
    tap.ok(s:shows "...>     print(i + 40)", "Tab indents where nothing is typed yet")
    s:type("end\r")
    tap.ok(s:shows "42" and s:wait "lab[2]> ", "then it runs as one")
    s:type(keys.up)
    tap.ok(s:finds "lab%[2%]> for i = 1, 2 do\n    print%(i %+ 40%)\nend$",
        "it is recalled as a whole")
    s:type(keys.up .. keys["end"] .. keys.left .. " + 5\r")
    tap.ok(s:shows "47" and s:wait "lab[3]> ", "and can be edited in any line")
    s:type(keys.up .. keys.up .. keys.up .. keys.up .. keys.down .. keys.down .. keys.home
        .. "print(0) " .. "\r")
    tap.ok(s:finds "\nlab%[3%]> print%(0%)\n0\nlab%[4%]>$",
        "up and down go through its lines before they go to other entries")
    s:type("_PROMPT2 = '.' .. '.. more '\r")
    s:wait "lab[5]> "
    s:type("_PROMPT = 'li' .. 'ke> '\r")
    tap.ok(s:wait "like> ", "_PROMPT is the prompt")
    s:type("x =\r")
    tap.ok(s:wait "... more ", "_PROMPT2 that of the other lines")
    s:type("3\r")
    s:wait "like> "
    s:type("_PROMPT = '\\27[1;35mred>\\27[0m '\r")
    tap.ok(s:wait "red> ", "a prompt may have colours of its own")
    s:type("1234" .. keys.left .. keys.left .. "x")
    tap.ok(s:shows "red> 12x34", "which do not disturb editing")
    local row = s.screen:cursor()
    tap.ok(s:cursor_at(row, 9), "take no room")
    tap.is(s.screen:colour(row, 1), "1;35", "and are seen")
end)

with({ name = "Ctrl-C" }, function(s)
    s:type("this is not")
    s:finds "this is not$"
    s:type(keys.interrupt)
    tap.ok(s:finds "this is not%^C\nlab%[1%]>$", "Ctrl-C drops the line and gives a new prompt")
    s:type("x = {1,\r")
    s:wait "...> "
    s:type("2,")
    s:finds "2,$"
    s:type(keys.interrupt)
    tap.ok(s:finds "2,%^C\nlab%[1%]>$", "in the middle of an entry it drops the whole")
    for _ = 1, 5 do
        s:interrupt()
    end
    tap.ok(s:run("7"), "it never ends the program at the prompt, however often")
    s:type("x = {1,\r")
    s:wait "...> "
    s:type(keys.eof)
    tap.ok(s:wait "lab[2]> ", "Ctrl-D in the middle of an entry drops it too")
    s:run("x")
    tap.ok(s:finds "x\nnil\n", "and nothing of it was run")
    s.terminal:signal("INT")
    tap.ok(s:finds "lab%[3%]> %^C\nlab%[3%]>$", "SIGINT from elsewhere is the same")
    s:type("exit\r")
    tap.is(s:ending(), 0, "exit leaves")
end)

for _, word in ipairs { "quit", "quit()", " exit() " } do
    with({ name = word }, function(s)
        s:type(word .. "\r")
        tap.is(s:ending(), 0, "'" .. word .. "' leaves")
    end)
end

with({ name = "words alone" }, function(s)
    s:type("help\r")
    tap.ok(s:finds "help%(lab%.matmul%)" and s:wait "lab[2]> ", "help alone shows the overview")
    s:run("x = lab.ones(2)")
    s:type("who\r")
    tap.ok(s:finds "memory: " and s:wait "lab[4]> ", "who alone lists the values")
    s:run("local help = 3")
    s:type("print(help)\r")
    tap.ok(s:finds "function: ", "within a call help is the function")
end)

with({ name = "a notice's words", columns = 40 }, function(s)
    s:type("s = lab.stream{priority = -1000}\r")
    tap.ok(s:finds "streamlab: priority %-1000 is outside\n  0", "a notice is folded between words")
end)

with({ name = "modes" }, function(s)
    tap.is(s.terminal:modes().canonical, false, "at the prompt keys come one by one")
    tap.is(s.screen.modes["2004"], true, "and pasted blocks between brackets")
    s:type("io.write('no newline');\r")
    tap.ok(s:finds "no newline\nlab%[2%]>$", "a prompt begins on a fresh row")
    s:type("error 'oh'\r")
    s:wait "lab[3]> "
    s:type("os.exit(7)\r")
    tap.is(s:ending(), 7, "os.exit leaves with its status")
    tap.is(s.terminal:modes().canonical and s.terminal:modes().echo, true,
        "the terminal's modes are as before then")
    tap.is(s.screen.modes["2004"], false, "in all respects")
    local _, column = s.screen:cursor()
    tap.is(column, 1, "and the cursor is on a fresh row")
end)

with({ name = "globals that raise" }, function(s)
    s:type("setmetatable(_G, { __index = function(_, k) error('no ' .. k) end });\r")
    tap.ok(s:wait "lab[2]> ", "a prompt needs no global")
    s:run("40 + 2")
    tap.ok(s:shows "42", "and the REPL works as ever")
    tap.is(s:leave(), 0, "up to its end")
end)

with({ name = "a finalizer at the end" }, function(s)
    s:run("setmetatable({}, { __gc = function() print 'last' while true do end end });")
    s:type("os.exit()\r")
    s:shows "last"
    s:type(keys.interrupt)
    tap.is(s:ending(), 130, "Ctrl-C ends what os.exit has begun")
end)

-- In a shell with jobs, as people have it.
with({
    name = "jobs", arguments = {},
    shell = [[set -m; "$P" --norc; printf "stopped %s\n" $?; read line; fg >/dev/null
        echo "end $?"]],
}, function(s)
    s:type("1 + 2")
    s:finds "1 %+ 2$"
    s:type("\26")
    tap.ok(s:finds "stopped %d+", "Ctrl-Z stops the program")
    tap.is(s.terminal:modes().canonical, true, "and gives the terminal back")
    s:type("\n")
    tap.ok(s:finds "stopped.*lab%[1%]> 1 %+ 2$", "fg brings it back with what was typed")
    s:type("\r")
    tap.ok(s:shows "3" and s:wait "lab[2]> ", "which goes on")
    s:type("\4")
    tap.ok(s:finds "end 0", "until it ends")
end)

with({ name = "TERM" }, function(s)
    s.terminal:signal "TERM"
    tap.is(s:ending(), 128 + 15, "SIGTERM ends the program")
    tap.is(s.terminal:modes().echo, true, "with the terminal as it was")
    tap.is(s.screen.modes["2004"], false, "in all respects again")
end)

with({ name = "40 columns", columns = 40, rows = 10 }, function(s)
    local long = ("abcdefghij"):rep(8)
    s:type("#'" .. long .. "'")
    tap.ok(s:finds("^.*lab%[1%]> #'" .. long:sub(1, 30) .. "\n" .. long:sub(31, 70) .. "\n"
        .. long:sub(71) .. "'$"), "a long line is wrapped")
    s:type(keys.home .. keys.right .. keys.right .. "12" .. keys["end"] .. "\r")
    tap.ok(s:shows "82", "and edited over its rows")
    s:wait "lab[2]> "
    s:type("'" .. ("x"):rep(30))
    s:finds "x$"
    s.screen:resize(60, 10)
    s.terminal:resize(60, 10)
    s:type("yyyyy'")
    tap.ok(s:shows("lab[2]> '" .. ("x"):rep(30) .. "yyyyy'"), "a larger window is used")
    s:type("\21" .. "2\r")
    s:wait "lab[3]> "
    s.screen:resize(20, 10)
    s.terminal:resize(20, 10)
    s:type("'12345678901234567890")
    tap.ok(s:finds("lab%[3%]> '12345678901\n234567890$"), "so is a narrower one")
end)

with({ name = "an entry of more lines than the screen", rows = 6 }, function(s)
    local lines = {}
    for i = 1, 12 do
        lines[i] = ("y%d = %d"):format(i, i)
    end
    s:type(session.pasted(table.concat(lines, "\n")))
    tap.ok(s:finds "y12 = 12$", "its end is on the screen")
    s:type("\r")
    s:wait "lab[2]> "
    s:type("y1 + y12\r")
    tap.ok(s:finds "\n13\nlab%[3%]>$", "and it runs as a whole")
end)

-- ---- characters ---------------------------------------------------------------------

for _, locale in ipairs { "C.UTF-8", "C" } do
    with({ name = "LC_ALL=" .. locale, env = { LC_ALL = locale } }, function(s)
        s:type("s = 'aé日x" .. keys.left .. keys.backspace .. "ü" .. keys["end"] .. "b'\r")
        s:wait "lab[2]> "
        tap.ok(s:finds "s = 'aéüxb'\n", "LC_ALL=" .. locale .. ": UTF-8 is typed and edited")
        s:type("print(#s, s)\r")
        tap.ok(s:finds "\n7 +aéüxb\n", "LC_ALL=" .. locale .. ": and taken as it is")
        s:wait "lab[3]> "
        s:type("print(('é'):find('%a'), 1.5)\r")
        tap.ok(s:finds "\nnil +1.5\n", "LC_ALL=" .. locale .. ": Lua's own rules stay those of C")
        s:wait "lab[4]> "
        s:type("print('\xff\xc3é')\r")
        tap.ok(s:finds "\né\n", "LC_ALL=" .. locale .. ": bytes that are no character are dropped")
    end)
end

-- ---- kinds of terminals ----------------------------------------------------------------

for _, type in ipairs { "xterm", "xterm-256color", "vt100", "dumb", "linux", "screen" } do
    with({ name = "TERM=" .. type, env = { TERM = type } }, function(s)
        s:type("x = 12345" .. keys.left .. keys.left .. "0" .. keys.backspace .. keys["end"]
            .. "6\r")
        s:wait "lab[2]> "
        s:type("x, " .. ("'abcdefgh', "):rep(8) .. "2\r")
        tap.ok(s:finds "\n123456%s+\"abcdefgh", "TERM=" .. type .. ": lines can be edited")
        s:wait "lab[3]> "
        s:type(keys.up .. keys.up .. "7\r")
        s:wait "lab[4]> "
        s:type("x\r")
        tap.ok(s:finds "\n1234567\n", "TERM=" .. type .. ": and recalled")
        tap.is(s.screen.modes["2004"] ~= nil, type ~= "dumb", "TERM=" .. type
            .. ": only what the terminal knows is sent")
    end)
end

with({ name = "unknown TERM", env = { TERM = "no-such-terminal" } }, function(s)
    s:type("6" .. keys.left .. "5\r")
    tap.ok(s:finds "\n56\n", "a terminal of unknown type is taken for one like xterm")
end)
with({ name = "no TERM", env = { TERM = false } }, function(s)
    s:type("6" .. keys.left .. "5\r")
    tap.ok(s:finds "\n56\n", "one without a type gets no sequences")
end)

local function prompt_colour(name, env, arguments)
    local colour
    with({ name = name, env = env, arguments = arguments }, function(s)
        colour = s.screen:colour(s.screen:cursor(), 1)
    end)
    return colour
end
tap.is(prompt_colour("colour", { NO_COLOR = false }), "32", "prompts have a colour")
tap.is(prompt_colour("NO_COLOR", { NO_COLOR = "1" }), "", "but with NO_COLOR")
tap.is(prompt_colour("--color", {}, { "--norc", "--color=always" }), "32",
    "unless --color=always wants it")
tap.is(prompt_colour("never", { NO_COLOR = false }, { "--norc", "--color=never" }), "",
    "and with --color=never")
tap.is(prompt_colour("dumb", { NO_COLOR = false, TERM = "dumb" }), "",
    "and where the terminal has none")

tap.done()
