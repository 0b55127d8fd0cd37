-- 56-check.t.lua - the race checker in the program: --check, its reports, the REPL, plain Lua.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local run, sh = shell.run, shell.sh

local folder = shell.folder()

-- A script whose race goes wrong on the simulator: the spin lets the write come late.
local script = shell.write(folder .. "/race.lua", [[
local producer, consumer = lab.stream{name = "producer"}, lab.stream{name = "consumer"}
local x = lab.zeros(4, 4)
lab.spin(0.01) lab.mul(x, x)
lab.synchronize()
lab.spin(1, {stream = producer})
x:fill_(7, {stream = producer})
local y = lab.mul(x, x, {stream = consumer})
if arg[1] then os.exit(tonumber(arg[1])) end
print(y:get(1, 1))
]])
local report = [[
streamlab: race: stream "consumer" reads at race.lua:7 what stream "producer" may still be writing
  first   race.lua:6  fill_f32 writes  in stream "producer"
          | x:fill_(7, {stream = producer})
  second  race.lua:7  mul_f32 reads    in stream "consumer"
          | local y = lab.mul(x, x, {stream = consumer})
  memory  tensor 1 (4x4 float32 on the device), made at race.lua:2
  fix     insert consumer:wait_stream(producer) before race.lua:7
  here    the stale value was read
]]
local closing = "streamlab: 1 race (streamlab --check; lab.races() lists them)\n"

-- ---- warn -----------------------------------------------------------------------------------

local out, err, code = run { "--check", "--backend=sim", script }
tap.is(err, report .. closing, "--check reports the race, and says how many there were")
tap.is(out .. code, "0.0\n0", "the script runs as without it")
out, err = run { "--check=warn", "--backend=sim", script }
tap.is(out .. err, "0.0\n" .. report .. closing, "--check=warn is the same")
out, err = run { "--backend=sim", script }
tap.is(out .. err, "0.0\n", "without it nothing is said")
_, err, code = run { "--check", "--backend=sim", script, "3" }
tap.is(err .. code, report .. closing .. "3", "os.exit leaves no race unsaid")
_, err, code = run { "--check", "--backend=sim", "-e", "local x = lab.zeros(4)" }
tap.is(err .. code, "0", "without races there is no closing line")
_, err = run { "--check", "--color=always", "--backend=sim", script }
tap.like(err, "^streamlab: \27%[1;31mrace:\27%[0m stream", "--color=always colours the headline")
out, err = sh("cd " .. folder .. " && \"$P\" --check --backend=sim - < race.lua")
tap.like(err, "stdin:6  fill_f32 writes", "a script on stdin is named so")
tap.like(err, "| x:fill_%(7", "and its lines are quoted, too")

-- What a host function does stands like what the host does.
_, err = run { "--check", "--backend=sim", shell.write(folder .. "/func.lua", [[
local copies, after = lab.stream{name = "copies"}, lab.stream{name = "after"}
local there, here = lab.ones(4), lab.zeros(4, {device = "cpu", pinned = true})
lab.synchronize()
here:copy_(there, {non_blocking = true, stream = copies})
after:launch_host_func(function() here:get(1) end)
lab.synchronize()
]]) }
tap.like(err, '\n  second  func.lua:5  reads  +by a host function in stream "after"\n',
    "a report says once what a host function does, and that it was one")

-- Nodes of graphs have two lines: of the capture, and of the launch.
_, err = run { "--check", "--backend=sim", shell.write(folder .. "/graph.lua", [[
local s, side = lab.stream{name = "s"}, lab.stream{name = "side"}
local m, n = lab.cuda.malloc(64), lab.cuda.malloc(64)
local x = lab.empty(4)
local g = lab.graph(function()
    side:wait_stream(s)
    x:fill_(1, s)
    x:fill_(2, side)
    s:wait_stream(side)
    lab.cuda.memset_async(m, 0, 64, s)
    lab.cuda.memset_async(n, 0, 64, s)
end, {stream = s, name = "step"})
lab.cuda.free(m) lab.cuda.free(n)
g:launch(s)
]]) }
tap.like(err, [[
streamlab: race: graph "step" in stream "side %(graph%)" writes at graph.lua:7 what graph "step" in
    stream "s" may still be writing
  first   graph.lua:6  fill_f32 writes  in graph "step" in stream "s"
          | x:fill_%(1, s%)
          launched at graph.lua:13
  second  graph.lua:7  fill_f32 writes  in graph "step" in stream "side %(graph%)"
          | x:fill_%(2, side%)
          launched at graph.lua:13
  memory  tensor %d+ %(4 float32 on the device%), made at graph.lua:3
  fix     insert side:wait_stream%(s%) before graph.lua:7
]], "a race inside a graph is mended in the capture")
tap.like(err, [[
streamlab: use after free: graph "step" in stream "s" writes at graph.lua:9 what cudaFree has freed
  first   graph.lua:12  cudaFree frees          by the host
          | lab.cuda.free%(m%) lab.cuda.free%(n%)
  second  graph.lua:9   Memset %(Device%) writes  in graph "step" in stream "s"
          | lab.cuda.memset_async%(m, 0, 64, s%)
          launched at graph.lua:13
]], "a launch that uses freed memory is a use after free")
tap.like(err, "\nstreamlab: 1 race, 2 uses after free %(", "the closing line counts them apart")

-- A stream without a name is named by the line that made it.
local function remedy_of(first, second)
    local _, said = run { "--check", "--backend=sim", shell.write(folder .. "/names.lua",
        ("local a = lab.stream{%s}\nlocal b = lab.stream{%s}\nlocal x = lab.zeros(4, 4)\n"
        .. "lab.synchronize()\nx:fill_(7, {stream = a})\nlab.mul(x, x, {stream = b})\n"):format(
        first, second)) }
    return (said:match("\n  fix     (.-)\n  here"):gsub("\n *", " "))
end
tap.is(remedy_of("", ""), "insert second:wait_stream(first) before names.lua:6, where second is "
    .. '"stream 2", made at names.lua:2, and first is "stream 1", made at names.lua:1',
    "streams without names are named by the lines that made them")
tap.is(remedy_of("", "name = 'b'"), "insert b:wait_stream(first) before names.lua:6, where first "
    .. "is "
    .. '"stream 1", made at names.lua:1', "the one that has none")
tap.is(remedy_of("", "name = 'first'"), "insert first:wait_stream(other) before names.lua:6, where "
    .. 'other is "stream 1", made at names.lua:1', "and not by the other one's name")
tap.is(remedy_of("name = 'a b'", "name = 'c'"), "insert c:wait_stream(first) before names.lua:6, "
    .. 'where first is "a b", made at names.lua:1', "a name that is no variable is quoted")

-- ---- error ----------------------------------------------------------------------------------

out, err, code = run { "--check=error", "--backend=sim", script }
tap.is(out .. code, "1", "--check=error ends the script where it would race")
tap.like(err, "^streamlab: [^\n]*race.lua:7: mul: [^\n]*race.lua:6",
    "the message names both lines")
tap.like(err, "7 | local y = lab.mul%(x, x", "the second is shown")
tap.is(select(2, err:gsub("fill_f32 writes", "")), 0, "the report is not printed besides")
_, _, code = run { "--check=error", "--backend=sim", "-e", "print(lab.zeros(4):get(1))" }
tap.is(code, 0, "a script without races runs to its end")

-- ---- lines ----------------------------------------------------------------------------------

-- Entries at the console, in the folder.
local function lines(text, options)
    return sh("cd " .. folder .. " && printf '%s' " .. shell.quote(text)
        .. " | HOME=" .. folder .. " COLUMNS=80 \"$P\" -i --backend=sim " .. (options or ""))
end
local entries = [[
a, b, x = lab.stream(), lab.stream(), lab.zeros(4, 4)
lab.synchronize()
x:fill_(7, {stream = a});
lab.mul(x, x, {stream = b});
lab.synchronize()
]]
out, err = lines('lab.check("warn")\n' .. entries .. ".races\n")
tap.like(out, '^"off"\nrace: stream "stream 2" reads at lab%[5%]:1', ".races lists what was found")
tap.like(err, 'streamlab: race: stream "stream 2" reads at lab%[5%]:1 .*| x:fill_%(7',
    "the REPL reports with the lines of its entries")
tap.like(err, "\nstreamlab: 1 race %(", "and says how many at its end")
_, err = lines(entries .. "lab.races()\n", "--check")
tap.like(err, 'streamlab: race: stream "stream 2"', "--check goes with the REPL")
out = lines('lab.check("warn");\n' .. entries .. "lab.races()\nlab.races()[1]\n#lab.races()\n")
tap.is(select(2, out:gsub("\n? *here  ", "")), 2, "a race and the list show as reports")
tap.like(out, "\n1\n$", "and the list is one")
_, err = lines(entries, "--check=error")
tap.like(err, "^streamlab: lab%[4%]:1: mul: ", "in error mode the entry raises")

-- ---- plain Lua ---------------------------------------------------------------------------------

local lua, module = os.getenv("STREAMLAB_LUA"), os.getenv("STREAMLAB_SO")
if (lua or "") == "" or (module or "") == "" or (os.getenv("STREAMLAB_SANITIZE") or "") ~= "" then
    tap.skip("no lua5.4, no module, or a sanitized one", 3)
else
    local text = 'lab = require "streamlab" lab.open{backend = "sim"} lab.check("warn") '
    out, err, code = sh(("LUA_CPATH=%s %s -e %s %s"):format(
        shell.quote(module:gsub("[^/]*$", "?.so")), shell.quote(lua), shell.quote(text), script))
    tap.is(out .. err .. code, "0.0\n" .. report .. "0",
        "under plain lua5.4 the reports are the same, without a closing line")
    local unread = shell.write(folder .. "/unread.lua", shell.read(script):gsub("print.*", ""))
    _, err, code = sh(("LUA_CPATH=%s %s -e %s %s"):format(
        shell.quote(module:gsub("[^/]*$", "?.so")), shell.quote(lua), shell.quote(text), unread))
    tap.like(err, 'race: stream "consumer" reads', "what completes at the end is reported there")
    tap.is(code, 0, "and the state closes well")
end

shell.remove(folder)
tap.done()
