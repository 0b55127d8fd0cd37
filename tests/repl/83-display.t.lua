-- 83-display.t.lua - the option --display FILE: what a script shows, as events, beside what it
-- prints.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local json = require "both.json"

local folder <const> = shell.folder()
local events <const> = folder .. "/events"

-- Runs the script with and without the option; gives what it prints, and the events.
local function run(script)
    local path = folder .. "/s.lua"
    do
        local file <close> = assert(io.open(path, "w"))
        file:write('local lab = require "streamlab"\n', script)
    end
    local plain, plain_errors, plain_code = shell.sh(("cd %s && %s --backend sim s.lua"):format(
        shell.quote(folder), shell.quote(shell.program)))
    local out, err, code = shell.sh(("cd %s && %s --backend sim --display %s s.lua"):format(
        shell.quote(folder), shell.quote(shell.program), shell.quote(events)))
    tap.is(out, plain, "stdout is the same with the option")
    tap.is(err .. code, plain_errors .. plain_code, "so are stderr and the exit status")
    local list = {}
    for line in io.lines(events) do list[#list + 1] = json.read(line) end
    return list, out
end

local work <const> = 'local tl = lab.profile(function() lab.spin(1) end)\n'

local list = run(work .. 'tl:show() print("x") tl:explain() tl:summary()')
tap.is(#list, 1, "a timeline is sent once, however often it is shown")
tap.is(list[1].event, "display", "as a display")
tap.like(list[1].data["text/html"], "^<!DOCTYPE html>.*<script.*</html>%s*$",
    "as a whole page")
tap.ok(list[1].data["text/plain"]:find("timeline", 1, true), "with a text beside it")

list = run(work .. 'tl:explain()')
tap.is(#list, 1, "also where it is only explained")
list = run('local tl = lab.profile(function() lab.spin(1) end, {keep = "summary"}) '
    .. 'tl:summary() print(tl.keep)')
tap.is(#list, 0, "one that keeps a summary has none either")
list = run('local tl = lab.profile(function() end) tl:show()')
tap.is(#list, 0, "an empty one has no page")
list = run('lab.table({{n = 1, us = 2}, {n = 2, us = 3}}):plot{x = "n", y = "us"}')
tap.is(#list, 1, "a plot is sent")
tap.like(list[1].data["image/svg+xml"], "^<svg", "as a picture")
list = run('print(1)')
tap.is(#list, 0, "what is only printed is not")
local _, out = run(work .. 'tl:show{bad = 1}')
tap.is(out, "", "a wrong option is refused as without, with the script's line")
list = run(work .. 'tl:show() error("no")')
tap.is(#list, 1, "what was shown before an error is there")

local out2, err, code = shell.sh(shell.quote(shell.program)
    .. " --display /no/such/file -e 'print(1)'")
tap.is(out2, "", "nothing runs where the file cannot be written")
tap.like(err .. code, "^streamlab: .-%-%-display: cannot write /no/such/file: .*1$",
         "which is said")
_, err, code = shell.sh(shell.quote(shell.program) .. " --display '' -e 'print(1)'")
tap.like(err .. code, "%-%-display needs a name or a file, got ''.*2$",
    "a name that is empty is wrong usage")

-- ---- at the prompt and in a notebook --------------------------------------------------------

out2 = shell.sh([[printf '%s\n' 'lab.profile(function() lab.spin(1) end, {keep = "summary"})' |
"$P" --backend sim -i 2>&1]])
tap.like(out2, "timeline of 1 span, .*_:summary%(%) has what is kept",
         "a timeline that keeps a summary is a value")
local summary <const> = [[lab.profile(function() lab.spin(1) end, {keep = \\"summary\\"})]]
out2 = shell.sh([[printf '{"request":"run","code":"]] .. summary .. [["}\n' ]]
    .. [[| "$P" --backend sim --server=0,4 4>&1]])
tap.like(out2, '"event":"result".*"ok":true', "also for a notebook")

tap.done()
