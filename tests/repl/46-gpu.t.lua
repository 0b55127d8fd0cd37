-- 46-gpu.t.lua - what the program does on a real GPU alone: Ctrl-C in a wait, and a device
-- that fails.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local session = require "session"

tap.open_real()
shell.environment = "export STREAMLAB_BACKEND=cuda"
local folder = shell.folder()
local trace = folder .. "/t.json"

local function script(text)
    return shell.write(folder .. "/s.lua", text)
end

-- ---- Ctrl-C ----------------------------------------------------------------------

-- A kernel that is still running when Ctrl-C comes; the program waits for it at its end.
local busy = "io.stdout:setvbuf('no')\nlocal s = lab.stream{}\nlocal t = lab.ones(4)\n"
    .. "lab.spin(0) lab.synchronize()\nlab.spin(2000, {stream = s})\n"
local waits = {
    { "lab.synchronize()", "the device's synchronize" },
    { "s:synchronize()", "a stream's synchronize" },
    { "s:record_event():synchronize()", "an event's synchronize" },
    { "t:to('cpu', {pinned = true, stream = s})", "a blocking copy" },
    { "lab.host_work(1500)", "the host's work" },
}
for _, wait in ipairs(waits) do
    local name = wait[2]
    local code, err, out = shell.interrupted(script(busy .. "print('go') " .. wait[1]
        .. "\nprint('on')"))
    tap.is(code, 130, "Ctrl-C ends " .. name .. " with status 130")
    tap.like(err, "s%.lua:6: interrupted!", "at its position: " .. name)
    tap.is(out, "", "and nothing runs after it: " .. name)
end

local code, err, out = shell.interrupted(script(busy
    .. "print('go') local ok, why = pcall(lab.synchronize)\nprint(ok, why, s:query())"))
tap.is(code .. err, "0", "a script may catch Ctrl-C")
tap.like(out, "^false\t[^\n]*interrupted!\tfalse\n$",
         "then the wait has ended and the work goes on")

-- At the prompt the next entry waits for the same work.
local s = session.open {
    arguments = { "--norc" }, env = { STREAMLAB_BACKEND = "cuda", STREAMLAB_CUDA_PLUGIN = false },
}
tap.ok(s:wait "lab[1]> ", "there is a prompt")
s:ask "s = lab.stream() lab.spin(0) lab.synchronize() lab.spin(2000, {stream = s})"
s:type "print('go' .. 1) lab.synchronize()\r"
tap.ok(s:shows "go1", "a wait is typed")
s:type "\3"
tap.ok(s:finds "interrupted!\nlab%[3%]>$", "Ctrl-C ends it, and the prompt is back")
tap.is(s:ask "s:query()", "false\n", "the work goes on")
tap.is(s:ask "s:synchronize() print(s:query(), lab.ones(3):sum():item())", "true    3.0\n",
    "and the device works as before")
tap.is(s:leave(), 0, "and the session ends well")
s:close()
code = shell.interrupted(script(busy .. "print('go')\n"
    .. "coroutine.wrap(function() lab.synchronize() end)()"))
tap.is(code, 130, "Ctrl-C ends a wait in a coroutine")

-- ---- a lost device -----------------------------------------------------------------

-- The kernel before it keeps the trap from being found before the last call.
local lost = "local a = lab.ones(64, 64)\nlab.matmul(a, a)\nlab.synchronize()\n"
    .. "lab.spin(200)\nlab.cuda.trap()\n"
out, err, code = shell.run({ script(lost .. "lab.synchronize()\nprint('on')") })
tap.is(code, 1, "a device that fails ends the script with status 1")
tap.like(err, "s%.lua:6: synchronize: ", "at the call that finds it")
tap.like(err, "trap at s%.lua:5", "which names the operation in flight with its position")
tap.is(out, "", "nothing runs after it")
out, err, code = shell.run({ script(lost .. "local ok, e = pcall(lab.synchronize)\n"
    .. "local ok2, e2 = pcall(lab.ones, 2)\nprint(e.code, e2.code, e2.op)\n"
    .. "lab.open{backend = 'sim'} print(lab.ones(5):sum():item())") })
tap.is(code .. err, "0", "a script may catch the failure")
tap.is(out, "SL_EFAULT\tSL_EFAULT\tones\n5.0\n",
    "each later call on the device fails too, and another one can be opened")
out, err, code = shell.run({ "--trace", trace, script(lost .. "lab.synchronize()") })
tap.is(code, 1, "a traced script that loses its device has status 1")
tap.like(err, "streamlab: %-%-trace: [^\n]*t%.json has only what was recorded before this: ",
    "and one line says what the trace lacks")
tap.like(shell.read(trace), "matmul", "the trace has what ran before")

out, err, code = shell.run({ script(lost .. "print('end')") })
tap.is(out .. code, "end\n1", "a device that fails after the last call makes the status 1")
tap.like(err, "^streamlab: cuda %d+, at the end: [^\n]*trap at s%.lua:5[^\n]*\n$",
    "and one line tells of it")
out, err, code = shell.run({ script(lost .. "os.exit(0)") })
tap.is(code, 1, "os.exit does not hide it")
tap.like(err, "at the end: [^\n]*trap at s%.lua:5", "nor the line")
out, err, code = shell.run({ script(lost .. "error('mine')") })
tap.is(code, 1, "a script that fails besides has status 1")
tap.like(err, "mine.*at the end: [^\n]*trap at s%.lua:5", "and both are reported")
out, err, code = shell.run({ "--trace", trace, script(lost) })
tap.is(code, 1, "with --trace as well")
tap.ok(not err:find("at the end", 1, true), "where the line about the trace tells it")

-- ---- a wait without an end ---------------------------------------------------------------

for name, words in pairs {
    ["pinned memory"] = "lab.zeros(2, { dtype = 'int32', device = 'cpu', pinned = true })",
    ["device memory"] = "lab.cuda.malloc(8)",
} do
    local open_wait = "local s, words = lab.stream(), " .. words .. "\nlab.cuda.memset(" ..
        (name == "device memory" and "words, 0, 8" or "lab.cuda.malloc(8), 0, 8") .. ")\n"
        .. "lab.spin(0.01, { stream = s }) lab.synchronize()\n"
        .. "s:wait_value(words, 2, 7, { compare = 'eq' })\nlab.spin(0.01, { stream = s })\n"
    out, err, code = shell.run({ script(open_wait .. "print('end')") })
    tap.is(out .. code, "end\n1", "a wait that nothing ends makes the status 1: " .. name)
    tap.like(err, "^streamlab: cuda %d+, at the end: nothing can go on: wait_value in s%.lua:4 "
        .. "waits until element 2 of tensor %d+ %([^)]*%) is equal to 7, it is 0, and [^\n]*\n$",
        "in place of a hang")
    out, err, code = shell.run({ script(open_wait .. "error('mine')") })
    tap.ok(code == 1 and not err:find "nothing can go on", "a script that fails ends as well")
end

-- ---- leaving ----------------------------------------------------------------------------

code, err = shell.interrupted(script(busy .. "print('go') lab.synchronize()"),
    "--trace " .. shell.quote(trace))
tap.is(code, 130, "Ctrl-C ends a traced script")
tap.like(err, "has only what was recorded before this: [^\n]*interrupted",
    "whose trace does not wait for what is still running")

-- ---- opening ----------------------------------------------------------------------------

out, err, code = shell.run({ script("local d = lab.device()\n"
    .. "print(lab.open{backend = 'cuda', index = d.index} == d)\n"
    .. "print(lab.devices()[1].name == d.name)") })
tap.is(out .. err .. code, "true\ntrue\n0", "a GPU is opened once, and named before it is")
out, err = shell.sh("unset STREAMLAB_BACKEND; \"$P\" -e 'print(lab.device().backend)'")
tap.is(out .. err, "cuda\n", "a GPU is taken where one answers, without a word")
local _, two, status = shell.sh("\"$P\" --device 1000 -e 'print(1)'")
tap.is(status, 2, "a GPU that is not there is wrong usage")
tap.like(two, "there is no device 1000", "with a sentence")

shell.remove(folder)
tap.done()
