-- 43-trace.t.lua - --trace FILE: what is recorded, and when it cannot be written.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local run, read = shell.run, shell.read

local folder = shell.folder()
local path = folder .. "/x.json"

local function traced(text, ...)
    os.remove(path)
    local out, err, code = run { "--backend=sim", "--trace", path, "-e", text, ... }
    return read(path), out .. err, code
end

local work = "local a = lab.ones(8, 8) lab.matmul(a, a) "
local json, said, code = traced(work .. "lab.synchronize()")
tap.is(code, 0, "a traced run succeeds")
tap.is(said, "", "and says nothing")
tap.like(json, "matmul", "the trace has its kernels")
tap.like(json, "^{.*}%s*$", "and is one object of JSON")
tap.like(json, "%(command line%):1", "and the script's positions")
local again = traced(work .. "lab.synchronize()")
tap.ok(json == again, "the same run gives the same bytes")
tap.like(traced(work), "matmul", "work that nobody waited for is in it")
json, said, code = traced "print(1)"
tap.is(code, 0, "a script that opens no device is no error")
tap.like(said, "^1\n", "and runs")
tap.like(json, "^{.*\"traceEvents\":%[.*}%s*$", "its trace is one all the same")
tap.ok(not json:find("kernel"), "with nothing in it")
json, _, code = traced "os.exit(0)"
tap.is(code, 0, "os.exit without a device is no error either")
tap.like(json, "traceEvents", "and has its trace")
json, said, code = traced(work, folder .. "/none.lua")
tap.is(code, 1, "a script that is not there is an error")
tap.like(json, "matmul", "of which what ran before has its trace")
local function untraced(what, ...)
    shell.write(path, "old")
    _, _, code = run { "--backend=sim", "--trace", path, ... }
    tap.is(code, 1, what .. " is an error")
    tap.is(read(path), "old", "and without work leaves the trace of an earlier run")
end
untraced("a misspelt script", folder .. "/none.lua")
untraced("a mistake in the first line", "-e", "x = = 1")
untraced("a script that fails before it opens a device", "-e", "error('at once')")
_, said, code = shell.sh("STREAMLAB_PROFILE=nope \"$P\" --trace " .. path .. " -e 'print(1)'")
tap.is(code, 1, "a default device that cannot be opened for it is an error")
tap.like(said, "nope", "with its reason")

local clock = work .. "lab.host_work(1) print(lab.now_us())"
_, said = traced(clock)
tap.is(said, (run { "--backend=sim", "-e", clock }), "recording does not change the host's clock")

json, said, code = traced(work .. "error('later')")
tap.is(code, 1, "an error of the script keeps its status")
tap.like(said, "later", "and its message")
tap.like(json, "matmul", "the trace is saved all the same")
json, _, code = traced(work .. "os.exit(3)")
tap.is(code, 3, "os.exit keeps its status")
tap.like(json, "matmul", "and saves the trace")
json = traced(work .. "coroutine.wrap(function() os.exit(0) end)()")
tap.like(json, "matmul", "also from a coroutine")
json, _, code = traced(work .. "local tl = lab.profile(function() lab.spin(1) end) tl:summary()")
tap.is(code, 0, "lab.profile within a traced run works")
tap.ok(json and json:find("matmul") and json:find("spin"), "and the trace has all")

json, said, code = traced(work .. "lab.current_stream():launch_host_func(function()"
    .. " error('too late', 0) end)")
tap.is(code, 1, "a failure that only the last wait finds is an error")
tap.like(said, "^streamlab: %-%-trace: " .. path:gsub("%p", "%%%0") .. " has only what was recorded"
    .. " before this: stop: a host function failed: too late\n$", "reported in one line")
tap.like(json, "matmul", "and the trace has what was recorded")
json = traced(work .. "lab.open{backend='sim', profile='t4'} lab.spin(1)")
local function has_op(text, name)
    return text and text:find('"name":"' .. name, 1, true) ~= nil
end
tap.ok(has_op(json, "matmul") and not has_op(json, "spin"),
    "the first device's trace has its own work")
json = read(folder .. "/x.2.json")
tap.ok(has_op(json, "spin") and not has_op(json, "matmul"),
    "the second device's is saved beside it")

os.remove(folder .. "/x.2.json")
json = traced(work .. "lab.open{backend='sim', index=1} lab.spin(1)")
tap.ok(has_op(json, "matmul") and has_op(json, "spin"), "all GPUs of a machine are in one trace")
tap.ok(not read(folder .. "/x.2.json"), "which is the only one")

run { "--backend=sim", "--trace", folder .. "/y.json.gz", "-e",
      work .. "lab.open{backend='sim', profile='t4'} lab.spin(1)" }
tap.ok(read(folder .. "/y.json.gz") and read(folder .. "/y.2.json.gz"),
    "compressed traces are numbered before both suffixes")

-- ---- what cannot be written ------------------------------------------------------

local function refused(file, name)
    local out, err, c = run { "--backend=sim", "--trace", file, "-e", "print('ran')" }
    tap.is(out .. c, "2", name .. " is found out before the script runs")
    tap.ok(err:find(file, 1, true), name .. " is named")
end
refused(folder .. "/none/x.json", "a trace in a missing folder")
os.execute("mkdir " .. folder .. "/d.json")
refused(folder .. "/d.json", "a folder as trace")
tap.is(read(folder .. "/y.json"), nil, "no file before the run")
shell.write(path, "old")
run { "--backend=sim", "--trace", path, "-e", "x = 1" }
tap.like(read(path), "^{.*traceEvents", "an old file is replaced, also by an empty trace")

-- Where the trace can be put is found out as saving does it; each of these holds for a
-- user without privileges, so that root becomes one, with a program it can reach.
local as_user = "cd " .. folder .. " && chmod 777 . && cp \"$P\" p && "
    .. [[perl -e 'if ($> == 0) { $) = "65534 65534"; $( = 65534; $< = $> = 65534 } exec @ARGV' ]]
    .. "./p --backend=sim -e 'print(1)' --trace "
local function as_told(name, file, wanted, setup)
    os.execute("cd " .. folder .. " && rm -rf t && mkdir -m 777 t && cd t && " .. setup
        .. " && { [ $(id -u) != 0 ] || chown -R 65534 . ; }")
    local out, e, c = shell.sh(as_user .. file)
    tap.is(out .. c, wanted and "1\n0" or "2", name .. (wanted and " works" or " is refused"))
    tap.ok((e == "") == wanted, "with a sentence only if refused: " .. name)
    os.execute("chmod -R u+w " .. folder .. "/t")
end
as_told("a trace in the place of a file that is read-only", "t/x.json", false,
    "touch x.json && chmod 444 x.json")
as_told("a trace through a link in a read-only folder", "t/ro/x.json", true,
    "mkdir ro && touch y.json && ln -s ../y.json ro/x.json && chmod 555 ro")
tap.like(read(folder .. "/t/y.json"), "traceEvents", "and lands where the link leads")
as_told("a trace through a link to a read-only folder", "t/x.json", false,
    "mkdir ro && touch ro/y.json && ln -s ro/y.json x.json && chmod 555 ro")
as_told("a trace through a link to nothing", "t/x.json", true,
    "mkdir sub && ln -s sub/y.json x.json")
tap.like(read(folder .. "/t/sub/y.json"), "traceEvents", "and makes the file that it names")
as_told("a trace through a link into no folder", "t/x.json", false, "ln -s none/y.json x.json")
as_told("a new trace in a read-only folder", "t/ro/x.json", false, "mkdir ro && chmod 555 ro")
as_told("a trace with the longest name", "t/" .. ("n"):rep(250) .. ".json", true, "true")
as_told("a trace with a name too long", "t/" .. ("n"):rep(251) .. ".json", false, "true")
local deep = ("/" .. ("n"):rep(200)):rep(4)
local _, err = run { "--trace", folder .. deep .. "/x.json", "-e", "print('ran')" }
tap.like(err, "No such file", "a long path leaves room for the reason")

_, err, code = run { "--backend=sim", "--trace", folder .. "/x.svg", "-e", work }
tap.is(code .. err, "0", "a run can be saved as a picture")
tap.like(read(folder .. "/x.svg"), "^<%?xml.*matmul.*</svg>\n$", "that has its kernels")
_, err, code = run { "--backend=sim", "--trace", folder .. "/x.svg", "-e", "x = 1" }
tap.is(code .. err, "0", "so can one without any")
tap.like(read(folder .. "/x.svg"), "nothing ran on the device", "and says so")

local script = shell.write(folder .. "/s.lua", "print('ran')")
os.remove(path)
_, _, code = run { "--backend=sim", "--trace", path, "-e", work .. "arg = nil", script }
tap.is(code, 1, "a script that cannot be given its arguments is an error")
tap.like(read(path), "matmul", "and the trace is saved all the same")

os.execute("mkdir " .. folder .. "/gone")
local status
_, err, status = run { "--backend=sim", "--trace", folder .. "/gone/x.json", "-e",
    "lab.spin(1) os.execute('rm -r " .. folder .. "/gone')" }
tap.is(status, 1, "a folder that vanished during the run is an error at the end")
tap.like(err, "gone/x.json", "that names the file")

-- ---- the same bytes in another build ----------------------------------------------

local plain = "build/streamlab"
local sanitized = os.getenv("STREAMLAB_SANITIZE")
if sanitized and sanitized ~= "" and read(plain) then
    json = traced(work .. "lab.synchronize()")
    local own = shell.program
    shell.program = plain
    again = traced(work .. "lab.synchronize()")
    shell.program = own
    tap.ok(json == again, "the sanitized build gives the plain build's bytes")
else
    tap.skip("this is no sanitized build beside a plain one")
end

shell.remove(folder)
tap.done()
