-- 74-jobs.t.lua - lab.sweep{jobs =}: a sweep in several processes gives the table of one, says what
-- went wrong in a point, and leaves no process and no file behind.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()

local function sh(command)
    return shell.sh("cd " .. folder .. "; mkdir -p tmp; export STREAMLAB_BACKEND=sim "
        .. "TMPDIR=$PWD/tmp; "
        .. command)
end

local function write(name, text)
    return shell.write(folder .. "/" .. name, text)
end

-- What a script has left in the folder for temporary files.
local function left()
    return (sh "ls tmp")
end

-- ---- the table ----------------------------------------------------------------------------------

-- Two sweeps, of which the second needs the table of the first; a point is left out, and a value is
-- infinite.
write("s.lua", [[
local jobs = math.tointeger(arg[1]) or arg[1]
if jobs == "none" then jobs = nil end
local first = lab.sweep({{"kib", {1, 64, 1.5, 7}}, {"pinned", {false, true}}}, function(point)
    lab.open{profile = "textbook"}
    if point.kib == 7 and point.pinned then return nil end
    local x = lab.ones(math.floor(point.kib * 256), {device = "cpu", pinned = point.pinned})
    return function() x:to("cuda") end
end, {jobs = jobs, title = "first"})
local second = lab.sweep({{"row", {1, 2, 3, 4, 5}}}, function(point)
    return {twice = first.rows[point.row].median_us * 2, inf = 1 / 0, list = {point.row}}
end, {jobs = jobs, columns = {"twice", "inf"}})
local third = lab.sweep({{"i", {1, 2}}}, function(point)
    return #first.rows * 100 + #second.rows * 10 + second.rows[point.i].list[1]
end, {jobs = jobs})
io.write(tostring(first), first:jsonl(), second:csv(), third:csv(), #first.rows[1].samples_us, "\n")
]])
local one, err, code = sh '"$P" s.lua none'
tap.is(err .. code, "0", "the sweeps run in this process")
for _, jobs in ipairs { "1", "2", "3", "50", "all" } do
    local out
    out, err, code = sh('"$P" s.lua ' .. jobs)
    tap.is(err .. code, "0", "with jobs = " .. jobs .. " as well")
    tap.is(out, one, "and the tables are the same, byte for byte")
end
tap.is(left(), "", "nothing is left")

-- A shared GPU and random numbers: each point begins as the first would, whatever the number.
write("shared.lua", [[
lab.open{profile = "textbook"}
io.write(lab.sweep({{"i", {1, 2, 3, 4, 5, 6}}}, function(point)
    local x = lab.rand(1000 * point.i, {device = "cpu", pinned = true})
    local tl = lab.profile(function() x:to("cuda", {non_blocking = true}) end)
    return {makespan_us = tl.makespan_us, wall_us = tl.wall_us, now_us = lab.now_us(), first = x:get(1),
            drawn = math.random(), given = arg[2], home = os.getenv "A_TEXT"}
end, {jobs = math.tointeger(arg[1])}):csv())
]])
local shared = sh 'A_TEXT=of-mine "$P" shared.lua 1 word'
tap.like(shared, ",word,of%-mine,", "points have the script's arguments and its environment")
tap.is(sh 'A_TEXT=of-mine "$P" shared.lua 2 word', shared, "two processes give the table of one")
tap.is(sh 'A_TEXT=of-mine "$P" shared.lua 4 word', shared, "so do four")

-- ---- what goes wrong in a point -----------------------------------------------------------------

write("wrong.lua", [[
lab.sweep({{"i", {1, 2, 3, 4}}}, function(point)
    if point.i == 3 then lab.matmul(lab.zeros(2, 3), lab.zeros(2, 3)) end
    return point.i
end, {jobs = 2})
]])
local out
out, err, code = sh '"$P" wrong.lua'
tap.is(out .. code, "1", "an error in a point ends the script")
tap.like(err, "^streamlab: wrong%.lua:2: matmul: .*%(at i=3%)\n", "with its line and the point")
tap.is(left(), "", "and leaves nothing")
write("caught.lua", [[
local ok, why = pcall(lab.sweep, {{"i", {1, 2, 3, 4}}}, function(point)
    if point.i % 2 == 0 then error("no " .. point.i, 0) end
    return point.i
end, {jobs = 4})
print(ok, why == "no 2 (at i=2)" or why == "no 4 (at i=4)" or why)
print(lab.sweep({{"i", {5}}}, function(point) return point.i end, {jobs = 2}):csv())
]])
out, err = sh '"$P" caught.lua'
tap.is(out .. err, "false\ttrue\ni,value\r\n5,5\r\n\n",
       "it can be caught, and the next sweep works")
write("killed.lua", [[
lab.sweep({{"i", {1, 2, 3}}}, function(point)
    if point.i == 2 then os.execute "kill -KILL $PPID" end
    if point.i == 3 then os.execute "echo $PPID > other; sleep 30" end
    return point.i
end, {jobs = 3})
]])
out, err, code = sh 'timeout 20 "$P" killed.lua'
tap.is(out .. code, "1", "so does a process that is killed")
tap.like(err, "sweep: a process of the sweep was ended by signal 9", "which is said")
tap.is(left(), "", "nothing is left of it")

-- ---- Ctrl-C -------------------------------------------------------------------------------------

write("long.lua", [[
lab.sweep({{"i", {1, 2}}}, function(point)
    os.execute(("echo $PPID > pid%d; sleep 30"):format(point.i))
end, {jobs = 2})
]])
out = sh [[
exec 2>err
perl -e '$SIG{INT} = "DEFAULT"; open F, ">main"; print F $$; close F; exec @ARGV' "$P" long.lua &
for i in 1 2; do while [ ! -s pid$i ]; do sleep 0.05; done; done
kill -INT "$(cat main)"
wait $!
echo $?
for i in 1 2; do
    n=0
    while kill -0 "$(cat pid$i)" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.05; n=$((n + 1)); done
    kill -0 "$(cat pid$i)" 2>/dev/null && echo "pid$i is alive"
done
cat err
]]
tap.like(out, "^130\n", "Ctrl-C ends a sweep that waits for its processes, and them")
tap.like(out, "interrupted!", "and says so")
tap.is(out:match "pid%d is alive", nil, "no process is left")
tap.is(left(), "", "nor a file")

-- ---- what is refused ----------------------------------------------------------------------------

local function refusal(options)
    local _, text = sh(('"$P" -e "lab.sweep({{\\"i\\", {1}}}, print, {%s})"'):format(options))
    return text
end
tap.like(refusal "jobs = 0",
    "sweep: option 'jobs' must be a whole number from 1 to 1024, or \"all\", got 0",
    "jobs are at least one")
tap.like(refusal "jobs = 1.5", "option 'jobs' must be a whole number", "and whole")
tap.like(refusal [[jobs = 2, plan = \"p.jsonl\"]], "options 'plan' and 'jobs' exclude each other",
    "other processes work on a plan")
tap.like(refusal "jobs = 2", "option 'jobs' needs a script's file, which streamlab work runs again",
         "a script's file is needed")

shell.remove(folder)
tap.done()
