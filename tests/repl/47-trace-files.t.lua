-- 47-trace-files.t.lua - the traces of whole scripts keep to what their readers need, depend
-- on nothing but the script, and are there whole or not at all, whatever ends the program.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local kineto_check = require "kineto_check"
local read, quote = shell.read, shell.quote

local folder = shell.folder()
local path = folder .. "/x.json"

-- ---- scripts ----------------------------------------------------------------------

local scripts <const> = {
    "scripts/puzzler.lua --n 256 --matmuls 60 --copies 12",
    "scripts/experiments/default_stream.lua", "scripts/experiments/events_race.lua",
    "scripts/experiments/async_with_host.lua", "scripts/experiments/priorities.lua",
    "scripts/experiments/callbacks.lua",
}

local function traced(script, file, before)
    local out, err, code = shell.sh((before or "") .. " \"$P\" --backend sim --trace "
        .. quote(file) .. " " .. script)
    return read(file), out .. err, code
end

for i, script in ipairs(scripts) do
    local text, said, code = traced(script, path)
    local name = script:match("[%w_]+%.lua")
    tap.is(code, 0, name .. " runs traced")
    if code ~= 0 then tap.diag(said) end
    tap.is_deeply(kineto_check.complaints(text or ""), {}, "and its trace is one")
    local again = traced(script, folder .. "/another name.json",
        "TZ=Pacific/Kiritimati LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 COLUMNS=" .. 20 + i)
    tap.ok(again == text, "the same bytes elsewhere in the world, under another name")
end

-- ---- ended in mid-save -------------------------------------------------------------

local function files()
    local list = shell.sh("ls -A " .. quote(folder))
    return (list:gsub("\n", " "))
end

-- More than a megabyte of trace.
local large <const> = quote "for _ = 1, 3000 do lab.spin(0) end"
local function saves(before, file)
    return shell.sh(before .. "; exec \"$P\" --backend sim --trace " .. quote(file) .. " -e "
        .. large)
end

local function emptied()
    os.execute("rm -f " .. quote(folder) .. "/*")
    shell.write(path, "old")
end

emptied()
local _, said, code = saves("trap '' XFSZ; ulimit -f 200", path)
tap.is(code, 1, "a save that the system refuses to go on with is an error")
tap.like(said, "cannot write '" .. path:gsub("%p", "%%%0") .. "': File too large",
    "with its reason")
tap.is(read(path), "old", "the old file is whole")
tap.is(files(), "x.json ", "and alone")

emptied()
_, _, code = saves("ulimit -c 0; ulimit -f 200", path)
tap.ok(code > 128, "a program that the system ends in mid-save is ended by a signal")
tap.is(read(path), "old", "the old file is whole then, too")

emptied()
if shell.sh("[ -c /dev/full ] && echo yes") ~= "" then
    os.execute("ln -s /dev/full " .. quote(folder) .. "/full.json")
    _, said, code = saves("true", folder .. "/full.json")
    tap.is(code, 1, "a trace for which the device has no room is an error")
    tap.like(said, "full.json': No space left", "with its reason")
else
    tap.skip("there is no /dev/full")
end

-- Ended as soon as something is written; should it be quicker than the signal, its file is
-- there, and whole.
local function ended_by(signal)
    emptied()
    shell.sh("\"$P\" --backend sim --trace " .. quote(path) .. " -e "
        .. quote "for _ = 1, 40000 do lab.spin(0) end" .. " & "
        .. "for i in $(seq 2000); do set -- " .. quote(folder) .. "/*.tmp; "
        .. "if [ -s \"$1\" ]; then break; fi; sleep 0.005; done; kill -" .. signal .. " $!; wait")
    local text = read(path)
    tap.ok(text == "old" or text:find("^{.*\"traceName\":\"streamlab\"\n}\n$"),
        "a program ended by SIG" .. signal .. " in mid-save leaves the old file or the new one, "
            .. "whole")
end

for _, signal in ipairs { "TERM", "HUP" } do
    ended_by(signal)
    tap.is(files(), "x.json ", "and nothing beside it")
end
ended_by "KILL"
shell.sh("sh -c ': >" .. folder .. "/streamlab-$$-0.tmp'")
tap.like(files(), "%.tmp ", "one that is killed leaves what it has begun")
local script = shell.write(folder .. "/list.lua", "os.execute('ls -A " .. folder .. "')")
tap.is(shell.sh("\"$P\" --backend sim --trace " .. quote(path) .. " " .. quote(script)),
    "list.lua\nx.json\n", "which the next start removes")
_, _, code = shell.sh("trap '' TERM; \"$P\" --backend sim -e 'os.execute(\"kill -TERM $PPID\")'")
tap.is(code, 0, "SIGTERM that is ignored stays so")
_, _, code = shell.sh("\"$P\" --backend sim -e 'os.execute(\"kill -TERM $PPID\")'; exit $?")
tap.is(code, 128 + 15, "else it ends the program, as ever")

emptied()
_, _, code = saves("true", path)
tap.is(code, 0, "saving once more works")
tap.like(read(path), "\"traceName\":\"streamlab\"\n}\n$", "and replaces the old file")
tap.is(files(), "x.json ", "leaving nothing beside it")

shell.remove(folder)
tap.done()
