-- 46-gpu.t.lua - what the program does on a real GPU alone: Ctrl-C in a wait, and a device
-- that fails.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

tap.open_real()
shell.environment = "export STREAMLAB_BACKEND=cuda"
local folder = shell.folder()
local trace = folder .. "/t.json"

local function script(text)
    return shell.write(folder .. "/s.lua", text)
end

-- ---- Ctrl-C ----------------------------------------------------------------------

-- The longest kernel that a test should wait for if Ctrl-C fails.
local busy = "io.stdout:setvbuf('no')\nlocal s = lab.stream{}\nlab.spin(0)\nlab.synchronize()\n"
    .. "lab.spin(4000, {stream = s})\n"
local waits = {
    ["lab.synchronize()"] = "the device's synchronize",
    ["s:synchronize()"] = "a stream's synchronize",
    ["s:record_event():synchronize()"] = "an event's synchronize",
    ["lab.ones(4):to('cpu', {stream = s})"] = "a blocking copy",
}
for wait, name in pairs(waits) do
    local file = script(busy .. "local from = os.time()\nprint('go') " .. wait .. "\nprint('on')")
    local code, err, out = shell.interrupted(file)
    tap.is(code, 130, "Ctrl-C ends " .. name .. " with status 130")
    tap.like(err, "s%.lua:7: interrupted!", "at its position: " .. name)
    tap.is(out, "", "and nothing runs after it: " .. name)
end

local code, err, out = shell.interrupted(script(busy
    .. "print('go') local ok, why = pcall(lab.synchronize)\n"
    .. "print(ok, why, s:query())\ns:synchronize() print(s:query(), lab.ones(3):sum():item())"))
tap.is(code .. err, "0", "a script may catch Ctrl-C")
tap.like(out, "^false\t[^\n]*interrupted!\tfalse\n", "then the wait has ended and the work goes on")
tap.like(out, "\ntrue\t3%.0\n$", "and the device works as before")
code = shell.interrupted(script(busy .. "print('go')\n"
    .. "coroutine.wrap(function() lab.synchronize() end)()"))
tap.is(code, 130, "Ctrl-C ends a wait in a coroutine")

-- ---- a lost device -----------------------------------------------------------------

local lost = "local a = lab.ones(64, 64)\nlab.matmul(a, a)\nlab.synchronize()\n"
    .. "lab.cuda.trap()\nlab.add(a, a)\n"
out, err, code = shell.run({ script(lost .. "lab.synchronize()\nprint('on')") })
tap.is(code, 1, "a device that fails ends the script with status 1")
tap.like(err, "s%.lua:6: synchronize: ", "at the call that finds it")
tap.like(err, "trap at s%.lua:4", "which names the operation in flight with its position")
tap.is(out, "", "nothing runs after it")
out, err, code = shell.run({ script(lost .. "local ok, e = pcall(lab.synchronize)\n"
    .. "local ok2, e2 = pcall(lab.ones, 2)\nprint(e.code, e2.code, e2.op)\n"
    .. "lab.open{backend = 'sim'} print(lab.ones(5):sum():item())") })
tap.is(code .. err, "0", "a script may catch the failure")
tap.is(out, "SL_EFAULT\tSL_EFAULT\tones\n5.0\n",
    "each later call on the device fails too, and another one can be opened")
out, err, code = shell.run({ "--trace", trace, script(lost .. "lab.synchronize()") })
tap.is(code, 1, "a traced script that loses its device has status 1")
tap.like(err, "streamlab: %-%-trace: [^\n]*t%.json has only what was recorded before this: [^\n]+\n",
    "and one line says what the trace lacks")
tap.like(shell.read(trace), "matmul", "the trace has what ran before")

-- ---- opening ----------------------------------------------------------------------------

out, err, code = shell.run({ script("local d = lab.device()\n"
    .. "print(lab.open{backend = 'cuda', index = d.index} == d, lab.devices()[1].name == d.name)") })
tap.is(out .. err .. code, "true\ttrue\n0", "a GPU that is open is opened once")
out, err = shell.sh("unset STREAMLAB_BACKEND; \"$P\" -e 'print(lab.device().backend)'")
tap.is(out .. err, "cuda\n", "a GPU is taken where one answers, without a word")
local _, two, status = shell.sh("\"$P\" --device 1000 -e 'print(1)'")
tap.is(status, 2, "a GPU that is not there is wrong usage")
tap.like(two, "there is no device 1000", "with a sentence")

shell.remove(folder)
tap.done()
