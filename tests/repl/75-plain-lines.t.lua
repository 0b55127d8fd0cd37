-- 75-plain-lines.t.lua - a terminal where lines are not edited: stdout goes elsewhere or is
-- closed.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local shell = require "shell"
local keys, with = session.keys, session.with

local ways = {
    { "stdout is a pipe", shell = 'trap : INT; "$P" --norc | (trap "" INT; cat)' },
    { "stdout is closed", shell = 'trap : INT; "$P" --norc >&-' },
    { "-i on a terminal", arguments = { "-i", "-e", "z = 5", "--norc" } },
}
for _, way in ipairs(ways) do
    local name = way[1]
    with({ name = name, shell = way.shell, program = way.program, arguments = way.arguments },
        function(s)
            s:type("io.stderr:write(6 * 7, '\\n');\r")
            tap.ok(s:finds "\n42\n", name .. ": an entry runs")
            s:wait "lab[2]> "
            s:type("not this")
            s:finds "not this$"
            s:type(keys.interrupt)
            tap.ok(s:finds "not this%^C\nlab%[2%]>$", name .. ": Ctrl-C drops the line")
            s:type("if true then\r")
            tap.ok(s:wait "...> ", name .. ": an entry goes on")
            s:interrupt()
            tap.ok(s:wait "lab[2]> ", name .. ": and is dropped as a whole")
            s:type(keys.eof)
            tap.is(s:ending(), 0, name .. ": Ctrl-D ends")
        end)
end

local out, err, code = shell.sh [[$P -e 'f = io.open("/dev/null", "a"); print "lost"' >&-]]
tap.is(out .. code, "1", "what is written to a closed stdout is lost, and that is an error")
tap.like(err, "cannot write to stdout", "which is said")
local folder = shell.folder()
out, err, code = shell.sh("$P -e 'f = io.open(\"" .. folder
    .. "/file\", \"w\"); print \"lost\"; io.stdout:flush(); f:close()' >&-")
tap.is(shell.read(folder .. "/file"), "", "and does not go into a file that is opened later")
shell.remove(folder)

tap.done()
