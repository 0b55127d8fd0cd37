-- 74-plans.t.lua - plans of lab.sweep: streamlab work, merge and sbatch. What a plan gives is
-- compared with the same sweep in one process, whose points open a GPU of their own, so that no
-- point finds what another one left.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()

local function sh(command)
    return shell.sh("cd " .. folder .. "; export STREAMLAB_BACKEND=sim; " .. command)
end

local function write(name, text)
    return shell.write(folder .. "/" .. name, text)
end

local function read(name)
    return shell.read(folder .. "/" .. name)
end

-- The plan's folder is made empty again.
local function forget(name)
    sh("rm -rf " .. name .. ".results")
end

local sweep = [[
local plan = arg[1] ~= "-" and arg[1] or nil
local r, why = lab.sweep({{"kib", {1, 64, 1.5}}, {"pinned", {false, true}}, {"s", {"a", "b c,\"\xff"}}},
    function(point)
        if point.kib == 64 and point.pinned then return nil end
        lab.open{profile = "textbook"}
        local x = lab.ones(math.floor(point.kib * 256), {device = "cpu", pinned = point.pinned})
        if point.s == "a" then return function() x:to("cuda") end end
        return {us = lab.measure(function() x:to("cuda") end).median_us, whole = 3.0, text = "\n" .. point.s,
                n = 1 / 0, nan = 0 / 0, f = point.pinned and print or 1, list = {1, {a = 2}}, bool = point.pinned}
    end, {title = "a title", plan = plan})
if not r then print(why) return end
r:show()
io.write(r:csv(), r:jsonl(), #r.rows, " ", #(r.rows[1].samples_us or {}), "\n")
]]
write("s.lua", sweep)

-- ---- a plan -------------------------------------------------------------------------------------

local alone, err, code = sh '"$P" s.lua -'
tap.is(err .. code, "0", "the sweep runs in one process")
local out
out, err, code = sh '"$P" s.lua p.jsonl'
tap.is(out, "12 points are in p.jsonl: streamlab work p.jsonl measures them, streamlab merge "
    .. "p.jsonl makes the table\n", "with a plan lab.sweep gives nil, and says what is next")
tap.is(err .. code, "0", "which is no error")
local lines = {}
for line in read "p.jsonl":gmatch "[^\n]+" do
    lines[#lines + 1] = line
end
tap.is(#lines, 13, "a plan has a line for each point and one before them")
tap.like(lines[2], '^{"point":"%x+","values":%[1,false,"a"%]}$', "with the values of the axes")
tap.is(sh([[head -n 2 p.jsonl | sed -n '1s/^{"identity":"[^"]*","plan":\(.*\)}$/\1/p' |
    tr -d '\n' | sha256sum]])
    :match "^%x+", lines[1]:match '^{"identity":"(%x+)"',
    "the first line's digest is that of what is to be done")
tap.is(sh(([[printf '%%s\n%%s' %s '[1,false,"a"]' | sha256sum]]):format(
    lines[1]:match '^{"identity":"(%x+)"'))
    :match "^%x+", lines[2]:match '^{"point":"(%x+)"',
    "a point's is that of this digest and its values")
tap.is(sh '"$P" s.lua p.jsonl >/dev/null; "$P" s.lua q.jsonl >/dev/null; cmp p.jsonl p.jsonl && \z
    wc -l < q.jsonl',
    "13\n", "the same script writes the same plan")

-- ---- missing points -----------------------------------------------------------------------------

out, err, code = sh '"$P" merge p.jsonl -o t.csv; echo $?; ls t.csv p.results'
tap.is(out, "1\n", "merge fails where points are missing, and writes nothing")
tap.like(err, "streamlab: merge: point 1 %(kib=1 pinned=no s=a%) has no result\n", "it names them")
tap.like(err, "merge: and 2 more\nstreamlab: merge: 12 of 12 points have no result: streamlab work "
    .. "p%.jsonl\n",
    "the first ten")

-- ---- work ---------------------------------------------------------------------------------------

out, err, code = sh '"$P" work p.jsonl --shard 2/3'
tap.is(out .. err .. code,
    "p.jsonl, shard 2/3: 4 points: 4 done now, 0 before, 0 failed, 0 left\n0",
    "a worker does its shard")
local first = lines[3]:match '^{"point":"(%x+)"'
tap.like(read("p.results/" .. first .. ".json"),
    '^{"point":"' .. first .. '","seconds":[%d.e-]+,"values":%[%[',
    "the results go into a file each, by the points' digests")
out, err = sh 'SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_STEP=2 \z
    SLURM_ARRAY_TASK_COUNT=3 "$P" work p.jsonl'
tap.like(err, "shard 2/3: 4 points: 0 done now, 4 before",
         "in a task of a Slurm array the task is the shard")
out, err, code = sh 'SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3 \z
    "$P" work p.jsonl'
tap.like(err .. code, "task 7 of 3 in this Slurm array is no shard by itself.*2$",
         "unless the array has gaps")
out, err, code = sh '"$P" merge p.jsonl --partial | wc -l; "$P" merge p.jsonl --partial \z
    2>/dev/null >/dev/null'
tap.is(out .. code, "5\n1", "--partial does without the missing points, and fails as well")
out, err, code = sh '"$P" work p.jsonl & "$P" work p.jsonl --quiet & "$P" work \z
    p.jsonl --quiet; wait'
tap.is(code, 0, "several workers may have the same points")
tap.is(sh 'ls p.results | wc -l', "12\n",
       "each point has one result, and nothing else is in the folder")
out, err, code = sh '"$P" merge p.jsonl --run'
tap.is(out, alone, "with --run the script goes on with the table: it prints what it prints in one "
    .. "process")
tap.is(err .. code, "0", "without an error")
sh '"$P" merge p.jsonl -o t.csv; "$P" merge p.jsonl -o t.jsonl; "$P" merge p.jsonl > t.txt'
local table_text = alone:match "^(a title\n.-\n)kib,"
tap.is(read "t.txt" .. read "t.csv" .. read "t.jsonl", alone:gsub("[^\n]*\n$", ""),
    "merge gives the same text, CSV and JSON lines")
tap.is(read "t.txt", table_text, "the text is that of the table")
out, err, code = sh '"$P" work p.jsonl'
tap.like(err, "0 done now, 12 before, 0 failed, 0 left", "what has a result is not done again")

for _, case in ipairs {
    { "", "a plan is needed" }, { "p.jsonl q.jsonl", "one plan is needed, got 'q.jsonl' as well" },
    { "p.json", "a plan ends in .jsonl, got 'p.json'" },
    { "--shard 3/2 p.jsonl", "%-%-shard needs a shard as 1/8" },
    { "--shard 0/2 p.jsonl", "%-%-shard needs a shard" },
    { "p.jsonl --shard", "%-%-shard needs a value" },
} do
    out, err, code = sh('"$P" work ' .. case[1])
    tap.like(err .. code, case[2] .. ".*2$", "work refuses: " .. case[1])
end
for _, case in ipairs {
    { "p.jsonl -o t.png", "%-o needs a file that ends in .csv, .jsonl or .svg" },
    { "p.jsonl --json", "%-%-json is not for a plan of this kind" },
    { "p.jsonl -o t.svg -x nosuch", "there is no column 'nosuch'" },
} do
    out, err, code = sh('"$P" merge ' .. case[1])
    tap.like(err .. code, case[2] .. ".*2$", "merge refuses: " .. case[1])
end
out, err, code = sh '"$P" merge p.jsonl -o t.svg -y whole --log x'
tap.ok(code == 0 and read "t.svg":find "^<%?xml", "merge draws a plot")

-- ---- failures -----------------------------------------------------------------------------------

write("f.lua", [[
lab.sweep({{"n", {1, 2, 3, 4}}}, function(point)
    if point.n == 2 and not io.open("fixed") then error("not yet", 0) end
    if point.n == 3 and not io.open("fixed") then os.exit(3) end
    return point.n
end, {plan = "f.jsonl"})
]])
out, err, code = sh '"$P" f.lua; "$P" work f.jsonl --shard 1/1'
tap.is(code, 1, "work fails if a point did")
tap.like(err, "streamlab: work: point 2 %(n=2%): not yet %(at n=2%)\n", "it says which, and why")
tap.like(err, "point 3 %(n=3%): os%.exit%(3%).*4 points: 2 done now, 0 before, 2 failed, 0 left",
         "and goes on")
out, err, code = sh '"$P" merge f.jsonl'
tap.like(err .. code, "^streamlab: merge: point 2 %(n=2%) failed: not yet %(at n=2%)\n.*1$",
    "merge says which failed, and why")
out, err, code = sh 'touch fixed; "$P" work f.jsonl --skip-failed'
tap.like(err .. code, "0 done now, 2 before, 2 failed, 0 left\n1$", "--skip-failed leaves them")
out, err, code = sh '"$P" work f.jsonl; ls f.results | wc -l; "$P" merge f.jsonl'
tap.is(out, "4\nn  value\n1      1\n2      2\n3      3\n4      4\n",
       "the next worker tries them again")
tap.is(code, 0, "and then all is well")

-- ---- SIGTERM, and an end in the middle ----------------------------------------------------------

write("slow.lua", [[
lab.sweep({{"n", {1, 2, 3, 4, 5}}}, function(point)
    if point.n == 2 then os.execute("touch begun; while [ ! -e go ]; do sleep 0.02; done") end
    return point.n
end, {plan = "slow.jsonl"})
]])
out, err, code = sh [["$P" slow.lua; "$P" work slow.jsonl --shard 1/1 & pid=$!
while [ ! -e begun ]; do sleep 0.02; done; kill $pid; touch go; wait $pid]]
tap.like(err .. code, "5 points: 2 done now, 0 before, 0 failed, 3 left\n143$",
    "SIGTERM ends a worker behind the point that it works on")
out, err, code = sh [[rm begun go; rm -r slow.results; "$P" work slow.jsonl --shard 1/1 & pid=$!
while [ ! -e begun ]; do sleep 0.02; done; kill $pid; sleep 0.1; kill $pid; wait $pid; code=$?; touch go; exit $code]]
tap.is(code, 143, "a second one at once")
tap.is(sh 'ls slow.results | wc -l', "1\n", "without the point")

-- ---- what has changed, and what is no plan ------------------------------------------------------

write("s.lua", sweep .. "-- changed\n")
forget "p"
out, err, code = sh '"$P" work p.jsonl'
tap.like(err .. code, "s.lua has changed since the plan was written: run the script again, which "
    .. "writes a new one\n1$",
    "a plan of a script that has changed is refused")
out, err, code = sh 'mkdir sub; cp p.jsonl sub; cd sub; "$P" work p.jsonl'
tap.like(err .. code, "cannot read s.lua: .*: streamlab work runs where the plan was written\n1$",
         "or of one elsewhere")
write("s.lua", sweep)
write("mine.lua", 'return {base = "textbook"}')
out, err, code = sh [[rm q.jsonl; "$P" --profile mine.lua s.lua q.jsonl
echo 'return {base = "h200"}' > mine.lua
"$P" work q.jsonl]]
tap.like(err .. code, "the profile mine.lua has changed since the plan was written\n1$",
         "or of a profile")

local head, body = read "p.jsonl":match "^([^\n]*\n)(.*)$"
for name, text in pairs {
    ["an empty file"] = "", ["another text"] = "x\n",
    ["a changed head"] = head:gsub("s.lua", "t.lua") .. body,
    ["a changed point"] = head .. body:gsub("%[64,", "[65,"),
    ["half a line"] = head .. body:sub(1, -10),
    ["a line of megabytes"] = head .. ("x"):rep(2000000),
    ["a line in the middle"] = head .. "{}\n" .. body,
} do
    write("bad.jsonl", text)
    out, err, code = sh '"$P" work bad.jsonl'
    tap.like(err .. code, "^streamlab: work: bad.jsonl: [^\n]*\n1$", "no plan: " .. name)
end

-- The plan p.jsonl as another version of streamlab would have written it, as other.jsonl.
local function sha256(text)
    write("text", text)
    return sh "sha256sum text":match "^%x+"
end
local version <const> = sh '"$P" --version':match "%S+ (%S+)"
local function plan_of(wrote, form)
    local text = head:match ',"plan":(.*)}\n$':gsub('("streamlab":")[^"]*', "%1" .. wrote)
        :gsub('("version":)%d+', "%1" .. (form or 1))
    local identity = sha256(text)
    local points = { ('{"identity":"%s","plan":%s}\n'):format(identity, text) }
    for values in body:gmatch '"values":(.-)}\n' do
        points[#points + 1] = ('{"point":"%s","values":%s}\n'):format(sha256(identity .. "\n"
            .. values), values)
    end
    return write("other.jsonl", table.concat(points))
end
plan_of(version)
tap.is(read "other.jsonl", read "p.jsonl",
       "a plan of this version is made here as the program makes it")
local major <const> = version:match "^%d+"
for _, minor in ipairs { ".0.7", ".987.0" } do
    forget "other"
    plan_of(major .. minor)
    out, err, code = sh '"$P" work other.jsonl --quiet'
    tap.is(err, ("streamlab: work: other.jsonl: the plan is of streamlab %s%s, this is %s: its "
        .. "simulated times may differ, so let one version work on all "
        .. "points\n"):format(major, minor, version),
        "a plan of minor version " .. minor .. " is worked on, with a word")
    out, err, code = sh '"$P" merge other.jsonl 2>/dev/null'
    tap.is(out, sh '"$P" work p.jsonl --quiet; "$P" merge p.jsonl', "and gives the same table")
end
for wrote, form in pairs { [major + 1 .. ".0.0"] = 1, ["0.1.0"] = 1, [version] = 2,
                           ["1.0"] = 1, ["x"] = 1 } do
    plan_of(wrote, form)
    out, err, code = sh '"$P" work other.jsonl'
    tap.is(err .. code, ("streamlab: work: other.jsonl: the plan is of streamlab %s, this is %s: "
        .. "run what wrote it again (line 1)\n1"):format(wrote, version),
        ("one of version %s and form %d is refused"):format(wrote, form))
end
sh "rm -rf other.jsonl other.results p.results"
out, err, code = sh 'truncate -s 300M big.jsonl; "$P" work big.jsonl; "$P" work nosuch.jsonl'
tap.like(err .. code, "cannot read big.jsonl: it has %d+ bytes, more than %d+\n.*cannot read "
    .. "nosuch.jsonl: No such file",
    "nor a file that is too large or missing")
sh 'rm big.jsonl'
local digest = body:match '"point":"(%x+)"'
sh 'rm -rf p.results; "$P" work p.jsonl --quiet'
write("p.results/" .. digest .. ".json", '{"point":"' .. digest)
out, err, code = sh '"$P" merge p.jsonl'
tap.like(err .. code, "point 1 %(.*%) has no result that can be read, which is to be removed: "
    .. "p.results/" .. digest
    .. ".json is no result: it is no JSON at byte %d+\n.*1$", "a result that breaks off is none")
write("p.results/" .. digest .. ".json", '{"point":"' .. digest .. '","values":3}')
out, err, code = sh '"$P" merge p.jsonl'
tap.like(err .. code, digest .. ".json is no result: it has no values\n.*1$", "nor is another's")

-- ---- where there is no plan ---------------------------------------------------------------------

out, err, code = sh [["$P" -e 'print(lab.sweep({{"n", {1}}}, print, {plan = "e.jsonl"}))']]
tap.like(err .. code, "sweep: option 'plan' needs a script's file, which streamlab work runs "
    .. "again.*1$",
    "a plan needs a script")
write("two.lua", 'for _ = 1, 2 do lab.sweep({{"n", {1}}}, print, {plan = "two.jsonl"}) end')
out, err, code = sh '"$P" two.lua'
tap.like(err .. code, "two.lua:1: sweep: another sweep of this script has the plan two.jsonl.*1$",
         "of its own")
out, err, code = sh [["$P" -e 'lab.sweep({{"n", {1}}}, print, {plan = "e.json"})']]
tap.like(err .. code, "option 'plan' must be a file's name that ends in .jsonl, got \"e.json\".*1$",
         "and a name")
write("none.lua", 'if not io.open("off") then lab.sweep({{"n", {1}}}, print, {plan = '
    .. '"none.jsonl"}) end')
out, err, code = sh '"$P" none.lua; touch off; "$P" work none.jsonl'
tap.like(err .. code, "point 1 %(n=1%): the script ended without the sweep of none.jsonl\n.*1$",
    "a script that does not come to its sweep has failed")

-- ---- sbatch -------------------------------------------------------------------------------------

out, err, code = sh [["$P" sbatch p.jsonl --per-point 90s --per-task 6m --at-a-time 2]]
tap.is(err .. code, "0", "sbatch writes a script")
tap.is(out:gsub("exec '[^']*'", "exec '...'"), [[
#!/bin/sh
#SBATCH --job-name=p
#SBATCH --array=0-2%2
#SBATCH --cpus-per-task=1
#SBATCH --nodes=1
#SBATCH --time=00:12:00
#SBATCH --signal=B:TERM@30
#SBATCH --open-mode=append
#SBATCH --output=p_%a.out
# 12 points in 3 tasks; a point takes 90 s (given).
exec '...' work 'p.jsonl' --shard "$((SLURM_ARRAY_TASK_ID + 1))/3"
]], "12 points of 90 s are three tasks of 6 minutes, which may take 12")
out = sh [[rm -rf f.results
"$P" sbatch f.jsonl --per-task 1h -o f.sh && SLURM_ARRAY_TASK_ID=0 sh f.sh; ls f.results | wc -l]]
tap.is(out, "4\n", "the script works on its shard; without a time some points are measured before")
tap.like(read "f.sh", "# 4 points in 1 tasks; a point takes [%d.]+ s %(the mean of 4%)%.\n",
         "the mean counts")
for _, case in ipairs { "--per-task 10", "--per-task x", "--per-point 0s", "--most 0" } do
    out, err, code = sh('"$P" sbatch p.jsonl ' .. case)
    tap.like(err .. code, "needs .*2$", "refused: " .. case)
end

-- ---- GNU parallel -------------------------------------------------------------------------------

if sh "parallel --version 2>/dev/null":find "GNU parallel" then
    sh [[rm -rf f.results fixed; printf '2/:\n' > nodes.txt
parallel --sshloginfile nodes.txt --workdir . --joblog p.log "$P" work f.jsonl --shard {}/2 ::: 1 2 2>/dev/null]]
    out, err, code = sh [[awk 'NR > 1 { print $7 }' p.log | sort; touch fixed
parallel --sshloginfile nodes.txt --workdir . --joblog p.log --resume-failed "$P" work f.jsonl --shard {}/2 ::: 1 2 2>/dev/null; "$P" merge f.jsonl | wc -l]]
    tap.is(out, "1\n1\n5\n", "GNU parallel runs workers, and those that failed again")
else
    tap.ok(true, "workers under GNU parallel # SKIP it is not here")
end

shell.remove(folder)
tap.done()
