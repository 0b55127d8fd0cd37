-- 47-changes.t.lua - streamlab diff --by, and --by step of show: against sums of an independent
-- program (tests/timeline/sums.py), as JSON, Markdown and JUnit XML, and as a test.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh, quote = shell.sh, shell.quote

local folder = shell.folder()

-- ---- two traces ----------------------------------------------------------------------------

local slice <const> = '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%d,"dur":%d,'
    .. '"args":{%s}}'

-- Steps of operators that launch kernels into three streams, all random; the seed is the trace.
local function write_trace(path, seed)
    local events, at, id, ends = {}, 1000, 0, { 1000, 1000, 1000 }
    local function random(n)
        seed = (seed * 1103515245 + 12345) % 2147483648
        return seed // 65536 % n + 1
    end
    local function put(...) events[#events + 1] = slice:format(...) end
    local function launch()
        local stream, call = random(3), at
        id, at = id + 1, at + random(9) + 2
        local start = math.max(ends[stream], at)
        ends[stream] = start + random(40)
        put("cuda_runtime", "cudaLaunchKernel", 9, 9, call, at - call - 1,
            ('"correlation":%d'):format(id))
        put("kernel", "kernel" .. random(4) .. "(float*)", 0, stream + 6, start,
            ends[stream] - start, ('"device":0,"stream":%d,"correlation":%d,"grid":[1,1,1],'
            .. '"block":[64,1,1]'):format(stream + 6, id))
    end
    for step = 1, 5 do
        local began = at
        for _ = 1, random(4) do
            local start = at
            at = at + 1
            for _ = 1, random(5) do launch() end
            put("cpu_op", "aten::op" .. random(3), 9, 9, start, at - start, "")
            at = at + random(5)
        end
        put("user_annotation", "ProfilerStep#" .. step, 9, 9, began, at - began, "")
    end
    shell.write(path, '{"traceEvents":[\n' .. table.concat(events, ",\n") .. "\n]}\n")
end

local a, b = folder .. "/a.json", folder .. "/b.json"
write_trace(a, 1)
write_trace(b, 20)

local function run(line)
    return sh('"$P" ' .. line:gsub("%f[%w]A%f[%W]", quote(a)):gsub("%f[%w]B%f[%W]", quote(b)))
end

local function table_of(line)
    local out, err, code = run(line)
    if code ~= 0 then tap.diag(err) end
    return json.read(out)
end

-- ---- the independent program ---------------------------------------------------------------

-- "kernel\tNAME": the numbers behind that.
local function sums(path)
    local found = {}
    for line in sh("python3 tests/timeline/sums.py " .. quote(path)):gmatch("[^\n]+") do
        local key, first, second = line:match("^(%a+\t[^\t]*)\t(%d+)\t?(%d*)$")
        found[key] = { tonumber(first), tonumber(second) }
    end
    return found
end

local function us(ns) return ns / 1000 end

local function compare_sums(key, of_a, of_b)
    local rows, n, wrong = table_of("diff --json --by " .. key .. " A B").rows, 0, {}
    for _, row in ipairs(rows) do
        local id = key .. "\t" .. row.full_name:gsub("^%(no %a+%)$", "")
        local was, is = of_a[id] or { 0, 0 }, of_b[id] or { 0, 0 }
        local times = key == "step" and { us((of_a["took\t" .. row.name] or { 0 })[1]),
                                          us((of_b["took\t" .. row.name] or { 0 })[1]) }
            or { us(was[2]), us(is[2]) }
        n = n + 1
        if row.count[1] ~= was[1] or row.count[2] ~= is[1] or row.time_us[1] ~= times[1]
            or row.time_us[2] ~= times[2] then
            wrong[#wrong + 1] = id
        end
    end
    tap.is(table.concat(wrong, " "), "",
        ("all %d by %s are as the other program says"):format(n, key))
    tap.ok(n >= 3, "and there are several")
end

if sh "command -v python3" == "" then
    tap.skip("there is no python3", 8)
else
    local of_a, of_b = sums(a), sums(b)
    for _, key in ipairs { "kernel", "operator", "step" } do compare_sums(key, of_a, of_b) end
    local wrong = {}
    for _, row in ipairs(table_of("show --json --by step A").rows) do
        local took = of_a["took\t" .. row.name]
        if row.wall_us ~= us(took[1]) or row.ran_us ~= us(took[2]) then
            wrong[#wrong + 1] = row.name
        end
    end
    tap.is(table.concat(wrong, " "), "", "so is how long steps took, and how long the GPU worked")
    for _, row in ipairs(table_of("show --json --by kernel A").rows) do
        local part = of_a["part\t" .. row.full_name]
        if math.abs(row.part_us - us(part[1])) > 0.0011 then wrong[#wrong + 1] = row.name end
    end
    tap.is(table.concat(wrong, " "), "", "and each kernel's part of the makespan")
end

-- ---- what is printed -----------------------------------------------------------------------

local changes = table_of("diff --json --by kernel A B")
local sum = changes.idle_us[2] - changes.idle_us[1]
for _, row in ipairs(changes.rows) do sum = sum + row.part_us[2] - row.part_us[1] end
tap.ok(math.abs(sum - (changes.makespan_us[2] - changes.makespan_us[1])) < 0.01,
    "the parts' changes add up to that of the makespan")
local out, err, code = run("diff --by kernel A B")
tap.is(err .. code, "0", "a table is printed")
tap.like(out, "^A  [^\n]*a%.json: .*\nB  [^\n]*b%.json: .*\n  change    share .*"
    .. "\nshare: of the change of the makespan\nB takes ", "below the names of the two")
tap.like(run("diff --markdown --by operator A B"), "\n| `aten::op%d` | ", "Markdown is a table")

-- ---- as a test -----------------------------------------------------------------------------

local longer = changes.makespan_us[2] > changes.makespan_us[1]
local slow, fast = longer and "A B" or "B A", longer and "B A" or "A B"
out, err, code = run("diff --by kernel --fail-above 0% " .. slow)
tap.is(code, 1, "a longer makespan fails")
tap.like(err, "^streamlab: diff: makespan [%d.]+ us %-> [%d.]+ us: longer by [%d.]+ us, which is "
    .. "more than 0 %% of A's makespan\n$", "with a sentence")
tap.like(out, "B takes ", "behind the table")
for _, line in ipairs { "--fail-above 900% " .. slow, "--fail-above 0 " .. fast,
                        "--no-chart --fail-above 900% " .. slow } do
    out, err, code = run("diff " .. line)
    tap.is(err .. code, "0", line:match("^[^AB]*") .. "passes")
end
local xml = folder .. "/x.xml"
out, err, code = run("diff --by kernel --fail-above 0.1% --junit " .. quote(xml) .. " " .. slow)
tap.is(code, 1, "JUnit XML is written before it fails")
local text = shell.read(xml)
tap.like(text, '<testcase classname="kernel" name="makespan">\n.-<failure type="failed" '
    .. 'message="[%d.]+ us %-&gt; [%d.]+ us: longer by ', "with the makespan as a test")
local _, cases = text:gsub("<testcase ", "")
tap.is(cases, 1 + #changes.rows, "and one for each kernel")

for _, case in ipairs {
    { "diff --by stream A B", "%-%-by needs kernel, operator, module, line or step, got 'stream'" },
    { "diff --by kernel --from 1us A B", "%-%-from goes with the charts, " },
    { "diff --by kernel --json --markdown A B", "%-%-json and %-%-markdown do not go together" },
    { "diff --markdown A B", "%-%-markdown [^\n]*%-%-by" },
    { "diff --by kernel --junit x A B", "%-%-junit needs %-%-fail%-above" },
    { "diff --fail-above much A B", "%-%-fail%-above needs a part like 3%% or 0.5%%, got 'much'" },
} do
    out, err, code = run(case[1])
    tap.is(out .. code, "2", case[1] .. " is wrong usage")
    tap.like(err, "^streamlab: diff: " .. case[2], "which a sentence says")
end

shell.remove(folder)
tap.done()
