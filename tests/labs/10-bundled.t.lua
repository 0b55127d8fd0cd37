-- 10-bundled.t.lua - the labs of scripts/labs: the solution and two others that are built otherwise
-- have all points, each starter at most a fifth, and each wrong solution fails exactly the tests
-- that its first line names. And the starter runs by itself, as a student runs it.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local labs = {}
for name in shell.sh("ls scripts/labs"):gmatch("(%d%d[^\n]*)\n") do
    labs[#labs + 1] = name
end
tap.is(#labs, 9, "there are nine labs")

-- "alice  85/100  failed 1.2 2.1" -> score, points, "1.2 2.1"; `all` where a sentence says why
-- there are no points.
local function read_line(line, all)
    local student, score, points, rest = line:match("^(%S+)%s+([%d.]+)/([%d.]+)%s+(.*)$")
    return student, tonumber(score), tonumber(points), rest == "all passed" and ""
        or (rest or ""):match("^failed (.*)$") or all
end

-- The numbers of all tests of a lab: "1.1 1.2 2.1".
local function all_tests(folder)
    local numbers = {}
    for part, file in ipairs{"visible", "hidden"} do
        local _, count = ("\n" .. shell.read(("%s/tests/%s.lua"):format(folder, file)))
            :gsub("\ntest%(", "")
        for i = 1, count do numbers[#numbers + 1] = part .. "." .. i end
    end
    return table.concat(numbers, " ")
end

-- The files of a lab that can be handed in, as name -> {path =, fails = or nil}.
local function submissions(folder)
    local list = { solution = { path = folder .. "/solution.lua", fails = "" },
        starter = { path = folder .. "/starter.lua" } }
    for name in shell.sh("ls " .. folder .. "/right"):gmatch("([^\n]+)%.lua\n") do
        list["right-" .. name] = { path = ("%s/right/%s.lua"):format(folder, name), fails = "" }
    end
    for name in shell.sh("ls " .. folder .. "/wrong"):gmatch("([^\n]+)%.lua\n") do
        local path = ("%s/wrong/%s.lua"):format(folder, name)
        list["wrong-" .. name] = { path = path,
            fails = shell.read(path):match("^%-%- fails: ([%d. ]+)\n") }
    end
    return list
end

local function grade(name)
    local folder, class = "scripts/labs/" .. name, shell.folder()
    local list, wrong, right = submissions(folder), 0, 0
    for student, entry in pairs(list) do
        shell.sh(("cp %s %s/%s.lua"):format(entry.path, class, student))
    end
    local out, err, code = shell.sh(('"$P" lab grade %s %s'):format(folder, class))
    tap.is(err .. code, "0", name .. ": the class is graded")
    for line in out:gmatch("[^\n]+") do
        local student, score, points, failed = read_line(line, all_tests(folder))
        local entry = list[student] or {}
        if student == "starter" then
            tap.ok(score <= points / 5, name .. ": the starter has at most a fifth of the points")
            tap.diag(("%s: starter %g/%g"):format(name, score, points))
        else
            wrong = wrong + (student:find("^wrong") and 1 or 0)
            right = right + (student:find("^right") and 1 or 0)
            tap.is(failed, entry.fails, ("%s: %s fails the tests that it should, no others")
                :format(name, tostring(student)))
        end
        if entry.fails == "" then
            tap.is(score, points, ("%s: %s has all points"):format(name, student))
        end
    end
    tap.ok(wrong >= 3, name .. ": there are three wrong solutions")
    tap.ok(right >= 2, name .. ": there are two right ones besides the lab's own")
    shell.remove(class)
end

-- What it says of races goes to stderr.
local function run_starter(name)
    local out, _, code = shell.sh(('"$P" --backend sim scripts/labs/%s/starter.lua'):format(name))
    tap.is(code, 0, name .. ": the starter runs by itself")
    tap.like(out, " busy\n", name .. ": the starter shows a chart")
end

for _, name in ipairs(labs) do
    grade(name)
    run_starter(name)
end

-- The results of a lab's solution in which something is replaced.
local class = shell.folder()
local function grade_changed(lab, pattern, replacement)
    local solution = shell.read(("scripts/labs/%s/solution.lua"):format(lab))
    shell.write(class .. "/mine.lua", (solution:gsub(pattern, replacement)))
    return (shell.sh(('"$P" lab grade scripts/labs/%s %s/mine.lua --format tap'):format(lab, class)))
end

local out = grade_changed("07-racy-pipeline", "    down:synchronize%(%)[^\n]*\n", "")
tap.like(out, '"value 1 is %-1 %(its value before: not copied into yet%)"',
    "lab 7 says which value was read before the copy arrived")
out = grade_changed("05-implicit-synchronisation", "slot%.gradient:zero_%(%)",
    "lab.cuda.memset(slot.gradient, 0)")
tap.like(out, "Memset %(Device%) at mine%.lua:%d+ could have begun", "lab 5 names the memset's wait")
tap.ok(not out:find("waited%s*#?%s*for%s*#?%s*cudaEventRecord"),
    "and the copy that it was for, not the event behind that")
shell.remove(class)

out = shell.sh('"$P" lab grade scripts/labs/06-priorities --format tap '
    .. "scripts/labs/06-priorities/wrong/stream_for_each_request.lua")
tap.like(out, "%d+ streams were used, and CUDA has 8 hardware queues",
    "lab 6 says so where a request waits because streams share a hardware queue")
out = shell.sh('"$P" lab grade scripts/labs/06-priorities --format tap '
    .. "scripts/labs/06-priorities/wrong/priority_only.lua")
tap.ok(not out:find("hardware queues", 1, true), "and not where there are few streams")

local function grade_wrong(lab, name)
    return (shell.sh(('"$P" lab grade scripts/labs/%s --format tap scripts/labs/%s/wrong/%s.lua'):format(
        lab, lab, name)))
end
for name, sentence in pairs{
    captured_frame = "That is the result of frame 1%.",
    own_model = "what the model would give with its values before it was loaded",
    one_chain = "No two kernels ran at the same time: the graph is a chain",
    captures_each_time = "20 graphs ran, one for each frame",
    without_a_graph = "kernels were launched one by one, outside of graphs",
    forgets_the_join = 'stream "head 2" has captured work at forgets_the_join%.lua:8',
    reads_inside = "reads_inside%.lua:29: item: .*cudaErrorStreamCaptureUnsupported",
    allocates_inside = "allocates_inside%.lua:19: cuda%.malloc: .*call it before the capture",
    waits_inside = "waits_inside%.lua:18: wait_event: .*cudaErrorStreamCaptureIsolation",
    frames_beside = "race: .*graph 1",
} do
    tap.like(grade_wrong("09-graphs", name), sentence, "lab 9 says what is wrong with " .. name)
end

tap.done()
