-- lines.lua - gives the program lines on a stdin that is no terminal, in an environment that
-- does not depend on who runs the tests: 80 columns, UTF-8, the textbook GPU.
local shell = require "shell"

local lines = {}

-- What the program writes to stdout, to stderr, and its status. `environment`: variables
-- to set, as the shell writes them; the rest are options of the program.
function lines.run(text, environment, ...)
    local words = {}
    for _, word in ipairs { ... } do words[#words + 1] = shell.quote(word) end
    return shell.sh(("unset LC_CTYPE LANG NO_COLOR CLICOLOR_FORCE; "
        .. "export STREAMLAB_PROFILE=textbook TERM=xterm COLUMNS=80 LC_ALL=C.UTF-8 %s; "
        .. "printf '%%s\\n' %s | \"$P\" -i --backend=sim %s"):format(
        environment or "", shell.quote(text), table.concat(words, " ")))
end

-- The widest line, in bytes.
function lines.widest(text)
    local widest = 0
    for line in text:gmatch("[^\n]+") do widest = math.max(widest, #line) end
    return widest
end

return lines
