-- 73-start-file.t.lua - the REPL's start file.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local shell = require "shell"

local home = shell.folder()
shell.sh("mkdir -p " .. home .. "/.config/streamlab " .. home .. "/config/streamlab")

-- What is on the screen of a session that printed the global `from` and left.
local function seen(options)
    options.home = home
    options.arguments = options.arguments or {}
    local s = session.open(options)
    s:wait "lab[1]> "
    s:type("'from ' .. tostring(from)\r")
    s:wait "lab[2]> "
    s:leave()
    local text = s:text()
    s:close()
    return text
end

local function from(options)
    return seen(options):match '\n"from (%w+)"\n'
end

tap.is(from {}, "nil", "without a file none is run")
shell.write(home .. "/.streamlabrc", "from = 'streamlabrc'")
tap.is(from {}, "streamlabrc", "~/.streamlabrc is run before the first prompt")
shell.write(home .. "/.streamlabrc", "from = lab.stream().id")
tap.like(seen {}, "\nGPU: textbook GPU, simulated %(profile textbook%)\n",
    "the banner names a GPU that the file has opened as it names one that is not open yet")
shell.write(home .. "/.streamlabrc", "from = 'streamlabrc'")
shell.write(home .. "/.config/streamlab/rc.lua", "from = 'home'")
tap.is(from {}, "home", "~/.config/streamlab/rc.lua comes before it")
shell.write(home .. "/config/streamlab/rc.lua", "from = 'config'")
tap.is(from { env = { XDG_CONFIG_HOME = home .. "/config" } }, "config",
       "XDG_CONFIG_HOME is obeyed")
tap.is(from { env = { XDG_CONFIG_HOME = home .. "/other" } }, "streamlabrc",
    "with nothing in it, ~/.streamlabrc is next")
shell.write(home .. "/mine.lua", "from = 'mine'")
tap.is(from { env = { STREAMLAB_RC = home .. "/mine.lua" } }, "mine", "STREAMLAB_RC names the file")
tap.is(from { env = { STREAMLAB_RC = "" } }, "nil", "an empty one means none")
tap.is(from { arguments = { "--norc" } }, "nil", "--norc runs none")
tap.is(from { arguments = { "-E" } }, "nil", "-E neither")
tap.is(from { arguments = { "-i", "-e", "x = 1" } }, "home", "-i on a terminal runs it")

local text = seen { env = { STREAMLAB_RC = home .. "/no-such.lua" } }
tap.like(text, "streamlab: cannot open [^\n]*no%-such%.lua",
         "a named file that is missing is reported")
tap.like(text, '\n"from nil"\n', "and the session begins")
shell.write(home .. "/bad.lua", "from = 'start'\nerror 'my fault'")
text = seen { columns = 200, env = { STREAMLAB_RC = home .. "/bad.lua" } }
tap.like(text, "streamlab: [^\n]*bad%.lua:2: my fault", "an error in it is reported, with its line")
tap.like(text, '\n"from start"\n', "and the session begins with what it did")
shell.write(home .. "/bad.lua", "x = = 1")
tap.like(seen { columns = 200, env = { STREAMLAB_RC = home .. "/bad.lua" } },
    "bad%.lua:1: unexpected symbol", "so is a syntax error")

-- Never for scripts, -e and pipes.
shell.write(home .. "/script.lua", "print(from)")
local command = "HOME=" .. shell.quote(home) .. "; export HOME; "
tap.is(shell.sh(command .. "$P " .. home .. "/script.lua"), "nil\n", "a script does without")
tap.is(shell.sh(command .. "$P -e 'print(from)'"), "nil\n", "so does -e")
tap.is(shell.sh(command .. "echo 'print(from)' | $P"), "nil\n", "and a script from a pipe")
tap.is(shell.sh(command .. "echo 'print(from)' | $P -i"), "nil\n", "and lines from one")

shell.remove(home)
tap.done()
