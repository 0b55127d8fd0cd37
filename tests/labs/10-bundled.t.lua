-- 10-bundled.t.lua - the labs of scripts/labs: the solution and two others that are built otherwise
-- have all points, each starter at most a fifth, and each wrong solution fails exactly the tests
-- that its first line names. And the starter runs by itself, as a student runs it. Lab 10, whose
-- kernels take longer, is for 12-bundled-kernels.t.lua, 13-wrong- and 14-right-kernels.
package.path = "tests/labs/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local bundled = require "bundled"

-- What wrong solutions are told, by lab; true where it is looked at further down. In make check
-- lab 11, whose tests take longest, has two, and lab 9 those that take least.
local says <const> = {
    ["06-priorities"] = { stream_for_each_request = true, priority_only = true },
    ["09-graphs"] = {
        captured_frame = "That is the result of frame 1%.",
        own_model = "what the model would give with its values before it was loaded",
        one_chain = "No two kernels ran at the same time: the graph is a chain",
        captures_each_time = "20 graphs ran, one for each frame",
        without_a_graph = "kernels were launched one by one, outside of graphs",
        forgets_the_join = 'stream "head 2" has captured work at wrong%-forgets_the_join%.lua:8',
        reads_inside = "wrong%-reads_inside%.lua:29: item: .*cudaErrorStreamCaptureUnsupported",
        allocates_inside = "wrong%-allocates_inside%.lua:19: cuda%.malloc: .*call it before the "
            .. "capture",
        waits_inside = "wrong%-waits_inside%.lua:18: wait_event: .*cudaErrorStreamCaptureIsolation",
        frames_beside = "race: .*graph 1",
    },
    ["11-bucket-size"] = {
        orders_differ = "all_reduce of rank 1 is for %d+ elements, and all_reduce of rank 0 "
            .. "for %d+",
        one_gpu_alone = "rank 0 waits in wrong%-one_gpu_alone%.lua:55, rank 1 has not called it",
        sums_too_early = 'stream "gpu0: stream 1"%s+#?%s*reads at',
        never_waits = "race: the default stream of gpu0 reads",
        forgets_the_last = "It is the gradient of this GPU alone: was the layer's bucket summed",
        host_waits = "seen%s+%d+ us in cudaEventSynchronize",
        waits_at_once = "matmuls run beside the all%-reduces of the first GPU%s+#%s+seen%s+0%.0 %%",
        four_layers = "as with the best%s+#?%s*bucket size",
        fixed_size = "prepare%(%)[%s#]+can[%s#]+measure",
        waits_for_the_first = "race: ",
    },
}
if not tap.sized(false, true) then
    local all, graphs = says["11-bucket-size"], says["09-graphs"]
    says["11-bucket-size"] = {
        orders_differ = all.orders_differ, one_gpu_alone = all.one_gpu_alone,
    }
    graphs.captures_each_time, graphs.without_a_graph, graphs.frames_beside = nil, nil, nil
end

-- In make check those of which something is said here, in check-long all of them.
local function wanted(lab)
    return not tap.sized(false, true) and function(student)
        local wrong = student:match("^wrong%-(.*)")
        return student == "solution" or student == "starter" or wrong and (says[lab] or {})[wrong]
    end
end

local labs, texts = {}, {}
for name in shell.sh("ls scripts/labs"):gmatch("(%d%d[^\n]*)\n") do
    labs[#labs + 1] = name
end
tap.is(#labs, 11, "there are eleven labs")

for _, name in ipairs(labs) do
    if name ~= "10-kernels" then
        texts[name] = bundled.grade(name, wanted(name))
        bundled.run_starter(name)
    end
end

-- The results of a lab's solution in which something is replaced.
local class = shell.folder()
local function grade_changed(lab, pattern, replacement)
    local solution = shell.read(("scripts/labs/%s/solution.lua"):format(lab))
    shell.write(class .. "/mine.lua", (solution:gsub(pattern, replacement)))
    return (shell.sh(('"$P" lab grade scripts/labs/%s %s/mine.lua --format tap'):format(lab,
        class)))
end

local out = grade_changed("07-racy-pipeline", "    down:synchronize%(%)[^\n]*\n", "")
tap.like(out, '"value 1 is %-1 %(its value before: not copied into yet%)"',
    "lab 7 says which value was read before the copy arrived")
out = grade_changed("05-implicit-synchronisation", "slot%.gradient:zero_%(%)",
    "lab.cuda.memset(slot.gradient, 0)")
tap.like(out, "Memset %(Device%) at mine%.lua:%d+ could have begun",
         "lab 5 names the memset's wait")
tap.ok(not out:find("waited%s*#?%s*for%s*#?%s*cudaEventRecord"),
    "and the copy that it was for, not the event behind that")
out = grade_changed("06-priorities", "(    request%.output:copy_[^\n]*\n)",
                    "%1    lab.synchronize()\n")
tap.like(out, "answer%(%) held the host for [%d.]+ ms with request 1: it waited",
    "lab 6 says that answer() waits")
tap.ok(not out:find("to be issued by start", 1, true), "and not of start(), which issues all")
out = grade_changed("06-priorities", "(part, of, kernels%) end\n)", "%1        lab.synchronize()\n")
tap.like(out, "start%(%) held the host for [%d.]+ ms: it waited", "or that start() does")
shell.write(class .. "/mine.lua", [[
    function side_by_side(first, second)
        local one = lab.stream{name = "one"}
        return lab.with(one, first), lab.with(one, second)
    end
    function beside_library(library, own) return library(), own() end
    function fetch(x, background) return lab.mul(x, x):to("cpu") end]])
out = shell.sh(('"$P" lab grade scripts/labs/01-first-streams %s/mine.lua --format '
    .. 'tap'):format(class))
tap.like(out, 'are%s*#?%s*both in stream "one", where one operation runs after the '
    .. 'other%s*#?%s*%-> Put',
    "lab 1 says that one stream has both parts")
tap.ok(not out:find("fewer and larger", 1, true), "and gives no advice about gaps of some us")
shell.remove(class)

tap.like(texts["06-priorities"]["wrong-stream_for_each_request"],
    "%d+ streams were used, and CUDA has 8 hardware queues",
    "lab 6 says so where a request waits because streams share a hardware queue")
tap.ok(not texts["06-priorities"]["wrong-priority_only"]:find("hardware queues", 1, true),
    "and not where there are few streams")

for _, lab in ipairs{ "09-graphs", "11-bucket-size" } do
    for name, sentence in pairs(says[lab]) do
        tap.like(texts[lab]["wrong-" .. name], sentence, lab .. " says what is wrong with " .. name)
    end
end

tap.done()
