-- 43-plans.t.lua - a class that is graded by several processes: what merge delivers is what `lab
-- grade` delivers, byte for byte, whatever the processes met.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local folder = shell.folder()
local root = shell.sh "pwd":match "[^\n]+"

local function sh(command)
    return shell.sh("cd " .. folder .. "; " .. command)
end

-- The lab, and a class with right, wrong and hopeless submissions.
sh(("mkdir class; cp -r %s/scripts/labs/01-first-streams lab"):format(root))
sh [[cp lab/solution.lua class/right.lua; cp lab/starter.lua class/starter.lua
mkdir class/folder class/none; cp lab/solution.lua class/folder/mine.lua
for file in lab/wrong/*; do name=${file##*/}; "$P" lab print $file > class/${name%.*}.lua; done
echo 'x = = 1' > class/syntax.lua; printf '\033Lua' > class/compiled.lua; ln -s right.lua class/link.lua
head -c 2000000 /dev/zero > class/large.lua; echo 'error("\27[31m\xff")' > class/bytes.lua]]

local alone, err, code = sh [["$P" lab grade lab class -o alone.csv
"$P" lab grade lab class -o alone.xml >/dev/null
"$P" lab grade lab class -o alone >/dev/null]]
tap.is(err .. code, "0", "lab grade grades the class")
local out
out, err, code = sh '"$P" lab grade lab class --plan class.jsonl; wc -l < class.jsonl'
local count = tonumber((sh "ls class | wc -l"))
tap.is(out, ("%d submissions are in class.jsonl\n%d\n"):format(count, count + 1),
       "--plan writes a point for each")
tap.is(err .. code, "0", "and grades nothing")
out, err, code = sh '"$P" work class.jsonl --shard 1/2 & "$P" work class.jsonl --shard 2/2 -j 2; \z
    wait; ls class.results | wc -l'
tap.is(out, count .. "\n", "two workers grade it")
tap.ok(not err:find "streamlab: work", "and none complains")
out, err, code = sh '"$P" merge class.jsonl -o merged.csv'
tap.is(out, alone, "merge prints the lines that lab grade prints")
tap.is(err .. code, "0", "and has no complaint")
out, err, code = sh [["$P" merge class.jsonl -o merged.xml >/dev/null
"$P" merge class.jsonl -o merged >/dev/null
cmp alone.csv merged.csv && cmp alone.xml merged.xml && diff -r alone merged && echo same]]
tap.is(out .. err, "same\n", "its files are the same")

out, err, code = sh 'rm -r class.results; timeout --preserve-status -s TERM 0.5 "$P" work \z
    class.jsonl --shard 1/1; exit $?'
tap.ok(code == 143 or code == 0, "SIGTERM ends a worker")
out, err, code = sh '"$P" work class.jsonl -j 2; "$P" merge class.jsonl'
tap.is(out, alone, "another one goes on")

out, err, code = sh 'echo "-- later" >> class/right.lua; rm -r class.results; "$P" work \z
    class.jsonl -j 2'
tap.like(err .. code, "streamlab: work: point %d+ %(right%): class/right.lua has changed since the "
    .. "plan was written\n.* 1 failed, 0 left\n1$", "a submission that has changed is not graded")

-- A result that is there was of another submission.
sh 'cp lab/solution.lua class/right.lua; "$P" work class.jsonl --quiet; cp lab/starter.lua \z
    class/right.lua'
out, err, code = sh '"$P" work class.jsonl'
tap.like(err .. code, "work: point %d+ %(right%): class/right.lua has changed since the plan was "
    .. "written\n.* 0 done now, %d+ before, 1 failed, 0 left\n1$",
    "nor is its earlier result counted")
out, err, code = sh 'rm -f late.csv; "$P" merge class.jsonl -o late.csv; ls late.csv'
tap.like(err, "merge: point %d+ %(right%) has a result that is not taken: class/right.lua has "
    .. "changed since the plan was written\n", "or merged")
tap.is(out, "", "and without it there is no table")
out, err, code = sh '"$P" merge class.jsonl --partial -o late.csv; grep -c ^right, late.csv'
tap.like(out, "\n0\n$", "--partial does without it")
out, err, code = sh '"$P" lab grade lab class --plan class.jsonl >/dev/null; "$P" work class.jsonl'
tap.like(err .. code, " 1 done now, %d+ before, 0 failed, 0 left\n0$",
    "a plan that is written again has the results of all others")
out, err, code = sh 'mv class away; "$P" merge class.jsonl; mv away class'
tap.is(err .. code, "0", "results are merged where the submissions are not")
out, err, code = sh 'echo "-- later" >> lab/tests/hidden.lua; "$P" work class.jsonl; "$P" merge \z
    class.jsonl --partial'
tap.like(err .. code, "work: the lab lab has changed since the plan was written.*merge: the lab "
    .. "lab has changed.*1$",
    "nor anything by a lab that has changed")
for _, words in ipairs { "-o x.csv", "--format csv", "-j 2" } do
    out, err, code = sh('"$P" lab grade lab class --plan x.jsonl ' .. words)
    tap.like(err .. code, "if there is a %-%-plan\n.*2$", "a plan does not go with " .. words)
end
tap.like(select(2, sh '"$P" lab grade lab class --plan x.json'),
         "%-%-plan needs a file that ends in .jsonl", "it ends in .jsonl")

shell.remove(folder)
tap.done()
