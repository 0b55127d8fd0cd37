-- 47-show.t.lua - streamlab show and streamlab diff: what they print, write and refuse.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local session = require "session"
local shell = require "shell"
local sh, read = shell.sh, shell.read

local folder = shell.folder()

-- Runs a command line in the folder, with the traces in it.
local function cli(line)
    return sh("P=$(cd \"$(dirname \"$P\")\" && pwd)/$(basename \"$P\")\n"
        .. "cd " .. folder .. "\n" .. line)
end

-- Two runs of the same work on an ideal GPU, so that the figures can be worked out: a copy of
-- 1 ms, then kernels of 2 and 1 ms in another stream. In a.json the copy blocks the host, and
-- all of it takes 4 ms; in b.json.gz it overlaps the first kernel, and all takes 3 ms.
local script = [[
local ideal = dofile("tests/lua/ideal.lua")
local function run(path, non_blocking)
    ideal.open{h2d_gb_per_s = 1}
    local work, copies = lab.stream{name = "work", non_blocking = true},
        lab.stream{name = "copies", non_blocking = true}
    local host = lab.empty(250000, {device = "cpu", pinned = true})
    local there = lab.empty(250000)
    lab.synchronize()
    lab.profile(function()
        there:copy_(host, {non_blocking = non_blocking, stream = copies})
        lab.spin(2, {stream = work})
        lab.spin(1, {stream = work})
    end):save(path)
end
run(arg[1] .. "/a.json", false)
run(arg[1] .. "/b.json.gz", true)
lab.profile(function() end):save(arg[1] .. "/none.json")
]]
local out, err, code = shell.run { "--backend=sim", shell.write(folder .. "/make.lua", script),
    folder }
assert(code == 0, err)

-- ---- show ----------------------------------------------------------------------------

local chart = [[
work   |................#################################|################|  75%
copies |>>>>>>>>>>>>>>>>>.................................................|  25%
       ++-------+-------+-------+--------+-------+-------+-------+--------+ busy
       0.0     0.5     1.0     1.5      2.0     2.5     3.0     3.5 ms
        # kernel  > copy H2D  . idle  | next begins
]]
local title = "textbook GPU (simulated), 3 operations in 2 streams\n"
local whole
whole, err, code = cli('"$P" show a.json')
tap.is(err .. code, "0", "show prints a trace without a word on stderr: no device is opened")
local only_summary = cli('"$P" show --summary a.json')
local only_explain = cli('"$P" show --explain a.json')
local verdict, figures = only_summary:match("^(.-%.\n)\n(.*)$")
local reasons = only_explain:sub(#verdict + 1)
tap.is(only_explain:sub(1, #verdict), verdict, "summary and explanation open with the verdict")
tap.is(whole, "a.json: " .. title .. verdict .. chart .. "\n" .. figures .. "\n" .. reasons,
    "a line on what it is, the verdict, the chart, the summary and the explanation")
tap.is(cli('"$P" show --summary --explain a.json'), only_summary .. "\n" .. reasons,
    "of which one verdict is enough")
tap.is(cli('"$P" show --chart a.json'), chart, "which can be had alone, as the chart")
tap.like(figures, "^makespan +4%.00 ms\n", "the summary")
tap.like(only_explain, "the host was blocked", "and the explanation")
tap.is(cli('"$P" show a.json --summary --chart'), chart .. "\n" .. only_summary,
    "several parts can be chosen, behind the file too")
tap.like(cli('"$P" show --by stream a.json'),
    "\n3%.00 ms +75%.0 %% .* work\n1%.00 ms +25%.0 %% .* copies\n",
    "--by prints a table instead")
tap.like(cli('"$P" show --by stream --summary a.json'), "by stream\n.*\nmakespan ",
    "to which other parts may be added")
tap.is(#json.read(cli('"$P" show --by kernel --json a.json')).rows, 2, "--json gives that table")
tap.like(cli('"$P" show --idle a.json'), "^No kernel ran for .*\nno kernel .* why\n",
    "--idle prints what the GPU waited for")
tap.is(json.read(cli('"$P" show --idle --json a.json')).idle[1].device, 0,
    "and --json gives that table")
tap.like(cli('"$P" show --idle --by kernel a.json 2>&1'), "%-%-by and %-%-idle are two tables",
    "two tables are refused")

-- ---- parts ---------------------------------------------------------------------------

-- Two steps of PyTorch's profiler: a kernel of 10 us in the first, two of 20 in the second, of
-- which a module launched one.
local slice <const> = '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%d,"dur":%d,'
    .. '"args":{%s}}'
local function steps()
    local list = {
        slice:format("user_annotation", "ProfilerStep#7", 9, 9, 100, 100, ""),
        slice:format("user_annotation", "ProfilerStep#8", 9, 9, 200, 100, ""),
        slice:format("python_function", "nn.Module: Linear_0", 9, 9, 215, 10, ""),
        slice:format("cpu_op", "aten::mm", 9, 9, 216, 8, ""),
    }
    for i, at in ipairs{ 110, 220, 230 } do
        list[#list + 1] = slice:format("cuda_runtime", "cudaLaunchKernel", 9, 9, at, 4,
            '"correlation":' .. i)
        list[#list + 1] = slice:format("kernel", "k" .. i, 0, 7, at + 6 * i, i == 1 and 10 or 20,
            '"stream":7,"device":0,"correlation":' .. i)
    end
    return "[" .. table.concat(list, ",") .. "]"
end
shell.write(folder .. "/steps.json", steps())
tap.like(cli('"$P" show --step 8 --summary steps.json'), "\none after the other +40%.0 us\n",
    "--step cuts all that is printed")
tap.like(cli('"$P" show --step 8 steps.json'), "^steps%.json, step 8: .* 2 operations in 1 stream",
    "and the title says so")
tap.like(cli('"$P" show --step 7..8 --by step steps.json'),
    " 100 us 10%.0 us .*ProfilerStep#7\n 100 us 36%.0 us .*ProfilerStep#8\n",
    "several steps are one part")
shell.write(folder .. "/twice.json", (steps():gsub("cpu_op", "python_function"):gsub("aten::mm",
    "nn.Module: Linear_1"):gsub('"ts":216,"dur":8', '"ts":110,"dur":8')))
_, err = cli('"$P" show --range "Linear_*" --by kernel twice.json')
tap.like(err, "^streamlab: show: twice%.json: Between the ranges of this part [^\n]+ are left out",
    "what is left out between ranges is said of a table, too")
tap.like(cli('"$P" show --range "Linear_*" --by kernel steps.json'), "100%.0 %% +1 .* k2\n",
    "--range has what was launched in ranges of that name")
cli('"$P" show --range aten::mm -o mm.json steps.json')
tap.like(cli('"$P" show mm.json'), "1 operation in 1 stream", "also in files that are written")
out, err, code = cli('"$P" show --step 9 steps.json')
tap.is(code .. out .. err, '1streamlab: show: the timeline has no step 9; it has '
    .. '"ProfilerStep#7", "ProfilerStep#8"\n', "a step that is none is refused")
out, err, code = cli('"$P" show --step 2 a.json')
tap.is(code .. out .. err, "1streamlab: show: the timeline has no step 2; steps are marked by the "
    .. "profiler's step(), or by ranges called \"step 3\"\n",
    "where there is none at all, how steps are marked is said")
_, err = cli('"$P" show --step 2..4 steps.json')
tap.like(err, "has no step from 2 to 4; it has ", "several are named from the first to the last")
shell.sh(("mkdir %s/empty %s/jax"):format(folder, folder))
shell.sh(("gzip -c tests/timeline/data/jax.json | tee %s/jax/h.trace.json.gz > "
    .. "%s/jax/perfetto_trace.json.gz"):format(folder, folder))
tap.like(cli('"$P" show --chart --device 0 jax'), "^jax/h%.trace%.json%.gz, GPU 0: ",
    "a folder with one trace stands for it; JAX's second copy of it does not count")
out, err, code = cli('"$P" show empty')
tap.is(code .. out .. err, "1streamlab: show: 'empty': the folder has no recording: streamlab "
    .. "record --spools writes files into one\n", "so is a folder without a recording")
tap.like(cli('"$P" show --skip 1 --count 2 --by kernel steps.json'), "k2\n.* k3\n",
    "--skip and --count have the operations from one to another")
tap.like(cli('"$P" show --skip 1 --summary steps.json'), "\none after the other +40%.0 us\n",
    "without --count up to the last")
tap.like(cli('"$P" show --skip 1 steps.json'), "^steps%.json, operations 2 to 3: ",
    "which the title says")
shell.write(folder .. "/late.json", "[" .. slice:format("kernel", "a", 0, 7, 0, 10, "") .. ","
    .. slice:format("kernel", "b", 0, 7, 250010, 10, "") .. ","
    .. slice:format("kernel", "c", 0, 7, 1000000, 10, "") .. "]")
tap.like(cli('"$P" show late.json'),
    "\nNothing ran for 750 ms at a stretch: %-%-step, %-%-range or %-%-skip prints a part%.\n",
    "where most of it is one pause, how a part is printed is said")
tap.ok(not cli('"$P" show --count 2 late.json'):find "Nothing ran for", "not of a part")
for _, case in ipairs{ "--step 3..2", "--step x", "--step 3..", "--step 1 --range x",
                       "--skip 1 --step 7", "--count 1 --range x", "--count 0" } do
    out, err, code = cli('"$P" show ' .. case .. ' steps.json')
    tap.is(code .. out, "2", case .. " is wrong usage")
end
tap.like(select(2, cli '"$P" show --count 99999999999999999999 steps.json'),
    "^streamlab: show: %-%-count needs a whole number from 1 to 1000000000000000, got '9+'\n",
    "a number that is none any more has a sentence")
tap.like(cli('"$P" show b.json.gz'), "^b%.json%.gz: textbook", "a compressed trace is read as well")

-- 32 cells: 1 ms is 8 of them.
tap.is(cli('"$P" show --chart --rows engines --columns 47 a.json'), [[
compute |........################|#######|  75%
h2d     |>>>>>>>>........................|  25%
        ++-------+-------+-------+-------+ busy
         0       1       2       3 ms
# kernel  > copy H2D  . idle  | next begins
]], "--rows and --columns are the chart's")
out = cli('"$P" show --chart --columns 44 --from 0.5ms --to=1500us a.json')
tap.is(out, [[
work   |...............###############|  50%
copies |>>>>>>>>>>>>>>>...............|  50%
       ++--------------+--------------+ busy
       0.5            1.0 ms
# kernel  > copy H2D  . idle
showing 0.5 to 1.5 ms of 4.00 ms
]], "--from and --to choose a part of the time")
for _, range in ipairs { "--from 500 --to 1500", "--from=500us --to 1.5ms",
    "--from 500000ns --to 0.0015s", "--from .5ms --to 1500us" } do
    tap.is(cli('"$P" show --chart --columns 44 a.json ' .. range), out, "units of time: " .. range)
end
tap.is(cli('NO_COLOR= LC_ALL=C.UTF-8 COLUMNS=30 "$P" show --chart b.json.gz'):match("[^\n]*"),
    "work   │██████████│█████│ 100%", "the terminal decides what no option says")

figures = cli('"$P" show --json a.json')
local object = json.read(figures)
tap.like(figures, "[^\n]\n$", "--json ends its last line")
tap.is_deeply({ object.makespan_us, object.lower_bound_us, object.count.kernel,
    object.busy_us.memcpy_h2d, object.overlap_us["kernel&memcpy_h2d"] },
    { 4000, 4000, 2, 1000, 0 }, "--json gives the figures as one object, and nothing else")

tap.is(cli('cat a.json | "$P" show --chart -'), chart, "- is stdin")
tap.like(cli('"$P" show - < b.json.gz'), "^stdin: textbook", "compressed or not")
tap.is(cli('"$P" show none.json'), "none.json: textbook GPU (simulated), no operations\n"
    .. "The timeline is empty: nothing ran on the device.\n", "an empty timeline is said to be so")

-- What is in doubt is said once: above the verdict, or else on stderr.
shell.write(folder .. "/two.json",
            [[[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2,"dur":1}]
]])
local doubt = "The trace has no launches: when the host issued the operations is not known."
for _, parts in ipairs { "", "--summary", "--explain", "--chart --explain" } do
    out, err = cli('"$P" show two.json ' .. parts)
    tap.like(err .. out, parts == "" and "^two%.json[^\n]+\n" .. doubt .. "\n%u"
        or parts:find("chart") and "\n\n" .. doubt .. "\n%u" or "^" .. doubt .. "\n%u",
        "what is in doubt is said above the verdict: show " .. parts)
    tap.is(select(2, out:gsub(doubt, "")), 1, "once")
end
tap.is(json.read(cli('"$P" show --json two.json')).doubts[1].sentence, doubt, "it is in JSON")
for _, parts in ipairs { "--chart", "-o two.svg" } do
    out, err = cli('"$P" show two.json ' .. parts)
    tap.is(err, "streamlab: show: two.json: " .. doubt .. "\n",
           "and else on stderr: show " .. parts)
    tap.is(out:find(doubt), nil, "alone")
end
os.remove(folder .. "/two.svg")

-- Launches of two processes, of which the second one's has no operation.
shell.write(folder .. "/odd.json", [[[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":50,"dur":4,
"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":10,"ts":70,"dur":4,
"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":80,"dur":9,
"args":{"stream":7,"device":0,"correlation":1}}]
]])
local missing = "Of 2 launches of kernels, one has no operation in the trace: the GPU may have "
    .. "worked where it seems idle."
local processes = "The trace has calls of 2 processes."
local is_about_host <const> = {
    ["--chart"] = true, ["--by kernel"] = false, ["--by kernel --chart"] = true,
    ["--by kernel -o o.svg"] = true,
}
for parts, about_host in pairs(is_about_host) do
    _, err = cli('"$P" show odd.json ' .. parts)
    tap.ok(err:find(missing, 1, true), "stderr has doubts about operations: " .. parts, err)
    tap.is(err:find(processes, 1, true) ~= nil, about_host,
        "and about the host, but not above a table alone: " .. parts)
end
local s = session.open { columns = 50,
    shell = ('cd %s; LC_ALL=C "$P" show --by kernel odd.json >out'):format(folder) }
tap.ok(s:finds("streamlab: show: odd%.json: Of 2 launches of\n  kernels, one has no "
    .. "operation in the trace: the\n  GPU may have worked where it seems idle%."),
    "on a terminal no word is broken")
s:close()

-- ---- files that it writes -------------------------------------------------------------

out, err, code = cli('"$P" show a.json -o one.json --output=two.json.gz -othree.json')
tap.is(out .. err .. code, "0", "-o writes files instead of printing")
tap.is(cli('"$P" show --json one.json'), figures, "a .json that tells the same")
tap.is(cli('"$P" show --json two.json.gz'), figures, "a .json.gz, too")
tap.is(read(folder .. "/three.json") and 1, 1, "and another one")
out, err, code = cli('"$P" show a.json --summary -o one.json')
tap.is(out .. err .. code, only_summary .. "0", "parts that are asked for are printed all the same")
out, err, code = cli('"$P" show a.json --json -o one.json')
tap.is(out .. err .. code, figures .. "0", "as are the figures")
out, err, code = cli('"$P" show a.json -o missing/one.json')
tap.is(out .. code, "1", "a file that cannot be written is an error")
tap.like(err, "^streamlab: show: cannot write [^\n]*missing/one%.json[^\n]*: No such file[^\n]*\n$",
    "with one sentence")
tap.is(cli('"$P" show one.json -o one.json; "$P" show --json one.json'), figures,
    "a file may be written over itself")

-- ---- one stream ------------------------------------------------------------------------

-- The copy is first, and lasts 1 ms; the kernels wait for its call.
tap.is(cli('"$P" show --stream copies a.json'), [[
Stream "copies" ended after 1.00 ms of 4.00 ms: where that time went, from its
last operation backwards
  1.00 ms  Memcpy HtoD (Pinned -> Device) in stream "copies" at make.lua:10
           running
]], "--stream prints where the time went until that stream's last operation ended")
tap.like(cli('"$P" show --stream none a.json 2>&1; echo $?'), 'no stream named "none"; it has '
    .. '.-"copies".-\n1\n$', "one that is not there is an error, which lists them")
tap.like(cli('"$P" show --stream --chart a.json 2>&1; echo $?'),
    "%-%-stream needs a value, and '%-%-chart' is an option.-\n2\n$",
    "an option is no stream's name")
tap.like(cli('"$P" show --strem copies a.json 2>&1; echo $?'),
    "unrecognized option '%-%-strem'; did you mean %-%-stream%?.-\n2\n$",
    "a misspelt option's name is told")
tap.like(cli('"$P" show --xyz a.json 2>&1; echo $?'), "unrecognized option '%-%-xyz'\n",
         "one that resembles none is not")
tap.like(cli('"$P" --profil t4 a.lua 2>&1; echo $?'),
    "unrecognized option '%-%-profil'; did you mean %-%-profile%?\n.-2\n$",
    "so is one of the program's")
tap.like(cli('"$P" --trce=a a.lua 2>&1; echo $?'), "'%-%-trce'; did you mean %-%-trace%?\n",
         "with a letter missing inside")
tap.like(cli('"$P" --chek a.lua 2>&1; echo $?'), "'%-%-chek'; did you mean %-%-check%?\n",
         "and without a value")
tap.like(cli('"$P" --deviceq a.lua 2>&1; echo $?'), "'%-%-deviceq'; did you mean %-%-device%?\n",
         "or with one too many")
tap.like(cli('"$P" --verbose a.lua 2>&1; echo $?'), "'%-%-verbose'\n", "one that is like none")
tap.like(cli('"$P" show --stream=--chart a.json 2>&1; echo $?'), 'no stream named "%-%-chart"',
         "but where = says so")
tap.like(cli('"$P" show --stream copies --json a.json 2>&1; echo $?'),
         "%-%-json goes without .-\n2\n$", "of the figures there are none for it")

-- ---- several GPUs ---------------------------------------------------------------------

-- GPU 0 runs from 0 to 2 ms, and GPU 1 from 2 to 4 ms.
local event = '{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":7,"ts":%d,"dur":2000}'
shell.write(folder .. "/gpus.json", "[" .. event:format(0, 0) .. ","
    .. event:format(1, 2000) .. "]")
local first = [[
gpus.json, GPU 0: GPU 0, 1 operation in 1 stream
stream 7 |################................|  50%
         ++-------+-------+-------+-------+ busy
          0       1       2       3 ms
# kernel  . idle
]]
local second = [[
gpus.json, GPU 1: GPU 1, 1 operation in 1 stream
stream 7 |................################|  50%
         ++-------+-------+-------+-------+ busy
          0       1       2       3 ms
# kernel  . idle
]]
tap.is(cli('"$P" show --chart --columns 48 gpus.json 2>&-'), first .. "\n" .. second,
    "each GPU of a trace has its chart, on the same axis")
tap.is(cli('"$P" show --chart --columns 48 --device 1 gpus.json 2>&-'), second, "or one of them")
tap.is(json.read((cli('"$P" show --json --device 1 gpus.json 2>&-'))).device_index, 1,
    "figures say of which GPU they are")
cli('"$P" show --device 1 gpus.json -o gpus.svg -o gpus.html 2>&-')
tap.like(read(folder .. "/gpus.svg"), "<title>GPU 1: makespan", "a picture says of which GPU")
tap.like(read(folder .. "/gpus.html"), "<title>gpus%.json – GPU 1</title>", "and a page")
tap.is(cli('"$P" show --explain gpus.json 2>&- | grep -c "k in stream 7 running"'), "2\n",
    "each is explained")
out, err, code = cli('"$P" show --device 2 gpus.json')
tap.is(out .. err .. code, "streamlab: show: 'gpus.json': it has no work on GPU 2; it has on "
    .. "0 (1 operation), 1 (1)\n1", "a GPU that the trace has not is an error")

-- ---- diff ------------------------------------------------------------------------------

local table_of_both = [[
                                  A          B    change
makespan                    4.00 ms    3.00 ms   -25.0 %
lower bound                 4.00 ms    3.00 ms   -25.0 %
makespan / bound               1.00       1.00
host wall time              4.00 ms    3.00 ms   -25.0 %

busy                              A          B    change   spans A   spans B
kernel                      3.00 ms    3.00 ms     0.0 %         2         2
memcpy_h2d                  1.00 ms    1.00 ms     0.0 %         1         1

overlap                           A          B    change
kernel & memcpy_h2d               0    1.00 ms       new

the makespan's parts              A          B    change
kernel running              3.00 ms    3.00 ms     0.0 %
host blocked                1.00 ms          0  -100.0 %

what moved
  makespan 4.00 ms -> 3.00 ms (-25.0 %)
  H2D copies now overlap kernels for 1.00 ms (not at all before)
  host blocked: now nothing of the makespan (was 1.00 ms)

what there is to gain
]]
-- Without its last lines, whose sentences belong to the explanation.
local function without_causes(text)
    return text:match("^(.*what there is to gain\n)  A: [^\n]") or text
end

out, err, code = cli('"$P" diff a.json b.json.gz')
tap.is(err .. code, "0", "diff prints two traces without a word on stderr")
tap.is(without_causes(out), "A  a.json: " .. title .. chart .. "\nB  b.json.gz: " .. title .. [[
work   |#################################|################................|  75%
copies |>>>>>>>>>>>>>>>>>.................................................|  25%
       ++-------+-------+-------+--------+-------+-------+-------+--------+ busy
       0.0     0.5     1.0     1.5      2.0     2.5     3.0     3.5 ms
        # kernel  > copy H2D  . idle  | next begins

]] .. table_of_both, "the charts on one scale, the figures, what moved")
tap.is(without_causes(cli('"$P" diff --no-chart a.json b.json.gz')),
    "A  a.json: textbook GPU (simulated)\nB  b.json.gz: textbook GPU (simulated)\n\n"
    .. table_of_both, "--no-chart leaves the charts out")
out = cli('"$P" diff --rows engines --columns 47 --from 3ms a.json b.json.gz')
tap.like(out, "\ncompute |%#+| 100%%\n.*\ncompute |%.+|   0%%\n",
    "options of the charts hold for both, also behind the end of the shorter one")

local both = json.read((cli('"$P" diff --json a.json b.json.gz')))
tap.is_deeply(both.a, object, "--json has the figures of the first one")
tap.is(both.b.overlap_us["kernel&memcpy_h2d"], 1000, "of the second one")
tap.is_deeply(both.change, { makespan_us = -1000, wall_us = -1000, lower_bound_us = -1000,
    busy_us = { kernel = 0, memcpy_h2d = 0 }, overlap_us = { ["kernel&memcpy_h2d"] = 1000 } },
    "and what the second one has more or less")
both = json.read((cli('"$P" diff --json none.json none.json')))
tap.is_deeply(both.change, { makespan_us = 0, wall_us = 0, lower_bound_us = 0, busy_us = {},
    overlap_us = {} }, "of empty timelines, too")
tap.like(cli('"$P" diff none.json a.json'), "\nA is empty: nothing ran on the device%.\n",
    "for an empty timeline a sentence says so")

-- ---- what is refused -------------------------------------------------------------------

-- One sentence; for wrong usage two more lines.
local function refused(line, want, pattern, name)
    local o, e, c = cli(line)
    local command = line:match('"$P" (%l+)')
    tap.is(c, want, name .. (want == 2 and " is wrong usage" or " is an error"))
    tap.is(o, "", name .. " prints nothing else")
    local sentence = "^streamlab: " .. command .. ": " .. pattern .. "\n"
    tap.like(e, want == 1 and sentence .. "$" or sentence .. "usage: streamlab " .. command
        .. " [^\n]+\n%(streamlab " .. command .. " %-%-help has more%)\n$",
        name .. " has a sentence")
end

shell.write(folder .. "/text.json", "once upon a time\n")
shell.write(folder .. "/other.json", '{"name": "no trace"}\n')
shell.write(folder .. "/empty.json", "")
shell.write(folder .. "/short.json", read(folder .. "/a.json"):sub(1, -200))
shell.write(folder .. "/short.json.gz", read(folder .. "/b.json.gz"):sub(1, -20))
for _, case in ipairs {
    { "nosuch.json", "[^\n]*nosuch%.json[^\n]*: No such file or directory", "a missing file" },
    { "empty", "[^\n]*: the folder has no recording: [^\n]*", "a folder" },
    { "text.json", "[^\n]*text%.json[^\n]+", "a text" },
    { "other.json", "[^\n]*other%.json[^\n]+", "JSON that is no trace" },
    { "empty.json", "[^\n]*empty%.json[^\n]+", "an empty file" },
    { "-- -x.json", "[^\n]*%-x%.json[^\n]+", "a missing file behind --" },
    { "'a\nb'", "[^\n]*a\\nb[^\n]+", "a name with a newline" },
} do
    refused('"$P" show ' .. case[1], 1, case[2], case[3])
end
tap.like(cli('"$P" show --from 500us --to 2500us a.json'),
    "^a%.json, 500 us to 2%.50 ms: .* 2 operations in 2 streams\n"
    .. ".*showing 0%.5 to 2%.5 ms of 4%.00 ms\n\nmakespan +2%.00 ms\nhost wall time +2%.00 ms\n"
    .. ".*h2d +500 us +25%.0 %% ",
    "figures are of the time that the chart shows, in which half of the copy ran")
tap.like(cli('"$P" show --to 500us --by stream a.json'), "\n +500 us 100%.0 %% .* copies\ncovered",
    "so are tables")
tap.is(json.read(cli('"$P" show --json --from 1ms --to 2ms a.json')).makespan_us, 1000,
    "JSON")
cli('"$P" show --from 3500us -o part.json a.json')
tap.like(cli('"$P" show --summary part.json'), "makespan +500 us\n", "and files")
local alone = cli('"$P" show --chart --from 1ms --to 2ms a.json')
tap.ok(alone ~= "" and cli('"$P" show --from 1ms --to 2ms a.json'):find(alone, 1, true),
    "the chart is the same as alone")
tap.like(cli('"$P" show --summary --step 8 --from 10us --to 30us steps.json'),
    "makespan +20%.0 us\n", "of a step, time counts from its first operation")
out, err, code = cli('"$P" show --summary --from 15us --to 100us steps.json')
tap.is(code .. out .. err, "1streamlab: show: nothing runs from 15.000 us to 100.000 us; "
    .. "operations run from 0.000 us to 152.000 us\n", "a time in which nothing runs is refused")
tap.like(cli('"$P" show --from 15us --to 100us steps.json'), "|%.+|   0%%\n.*\n\nnothing runs from "
    .. "15%.000 us to 100%.000 us; [^|]+%.\n$", "but a chart shows it")
for _, name in ipairs { "short.json", "short.json.gz" } do
    tap.like(cli('"$P" show ' .. name), "\nThe file cannot be read to its end: it [^.]*\n",
        "what is whole of " .. name .. " is shown, and said to be a part")
end
refused('"$P" diff a.json nosuch.json', 1, "[^\n]*nosuch%.json[^\n]+", "diff with a missing file")
refused('"$P" diff empty.json a.json', 1, "[^\n]*empty%.json[^\n]+", "diff with an empty file")
refused('"$P" show --from 4ms a.json', 1, "%-%-from is behind the end, which is at 4000%.000 us",
    "a part behind the end")
refused('"$P" diff --from 1s a.json b.json.gz', 1,
    "%-%-from is behind the end, [^\n]+ 4000%.000 us", "a part behind both ends")

for _, case in ipairs {
    { "show", "a trace file is needed", "show without a file" },
    { "show --idle a.json b.json.gz",
      "several files are ranks of one program, for which there is no %-%-idle; [^\n]+",
      "what says more of one file, of two" },
    { "show --ranks a.json", "%-%-ranks needs several files, or a folder of them; 'a%.json' is one",
      "ranks of one file" },
    { "show --nosuch a.json", "unrecognized option '%-%-nosuch'", "an unknown option" },
    { "show -x a.json", "unrecognized option '%-x'", "an unknown short option" },
    { "show --o x.svg a.json", "unrecognized option '%-%-o'", "a short option with two dashes" },
    { "show -json a.json", "unrecognized option '%-j'", "a long option with one dash" },
    { "show --chart=1 a.json", "%-%-chart takes no value", "a value for --chart" },
    { "show a.json --from", "%-%-from needs a value", "--from without a time" },
    { "show --from abc a.json", "%-%-from needs a time like 12ms, 3%.5us or 2s, got 'abc'",
      "a word as time" },
    { "show --from=-1 a.json", "%-%-from needs a time [^\n]+, got '%-1'", "a negative time" },
    { "show --to 5min a.json", "%-%-to needs a time [^\n]+, got '5min'", "an unknown unit" },
    { "show --to= a.json", "%-%-to needs a time [^\n]+, got ''", "an empty time" },
    { "show --to 9999999999999s a.json", "%-%-to needs a time of at most 9e9 s, got [^\n]+",
      "a huge time" },
    { "show --from 2ms --to 2ms a.json", "%-%-to must be later than %-%-from", "an empty range" },
    { "show --columns 19 a.json", "%-%-columns needs a whole number from 20 to 4096, got '19'",
      "a narrow chart" },
    { "show --range '' a.json", "%-%-range needs a name, got ''", "a range without a name" },
    { "show --stream= a.json", "%-%-stream needs a name, got ''", "a stream without one" },
    { "show --columns wide a.json", "%-%-columns needs [^\n]+, got 'wide'", "a word as width" },
    { "show --rows kernels a.json", "%-%-rows needs streams or engines, got 'kernels'",
      "unknown rows" },
    { "show --theme blue a.json", "%-%-theme needs light or dark, got 'blue'", "an unknown theme" },
    { "show -o x.png a.json", "%-o needs a file that ends in [^\n]+, got 'x%.png'",
      "an unknown kind of file" },
    { "show -o .svg a.json", "%-o needs a file that ends in [^\n]+, got '%.svg'",
      "a file that is only a suffix" },
    { "show --json --chart a.json", "%-%-json goes without [^\n]+", "--json beside --chart" },
    { "show --theme dark -o x.html a.json", "%-%-theme goes with %-o FILE%.svg",
      "a theme for what is no .svg" },
    { "show --counters -o x.html a.json", "%-%-counters goes with %-o FILE%.svg, [^\n]+",
      "counters for what has them, or has none" },
    { "show --counters a.json b.json.gz", "%-%-counters goes with %-o FILE%.svg, [^\n]+",
      "counters of ranks without a file" },
    { "show --rows engines --by kernel a.json", "%-%-rows goes with the chart: [^\n]+",
      "rows without a chart" },
    { "show --rows engines --json a.json", "%-%-rows goes with the chart: [^\n]+",
      "rows of JSON" },
    { "show --columns 60 --json a.json", "%-%-columns goes with what is printed as text: [^\n]+",
      "columns of JSON" },
    { "show --columns 60 -o x.svg a.json", "%-%-columns goes with what is printed [^\n]+",
      "columns of a file" },
    { "diff --no-chart --rows engines a.json b.json.gz", "%-%-rows goes with the charts, [^\n]+",
      "rows of charts that are not printed" },
    { "diff --json --from 1ms a.json b.json.gz", "%-%-from goes with the charts, [^\n]+",
      "a part of JSON" },
    { "diff --json --columns 60 a.json b.json.gz", "%-%-columns goes with what is printed as text",
      "columns of JSON of two" },
    { "record --quiet --count 3 -- true", "%-%-count goes with %-o FILE, [^\n]+",
      "a part of what is neither printed nor written" },
    { "diff a.json", "two trace files are needed", "diff of one file" },
    { "diff - -", "stdin can be read once, got %- twice", "diff of stdin with itself" },
    { "diff a.json b.json.gz none.json", "two trace files, got also 'none%.json'",
      "diff of three files" },
    { "diff --chart a.json b.json.gz", "unrecognized option '%-%-chart'", "what only show has" },
} do
    refused('"$P" ' .. case[1], 2, case[2], case[3])
end

-- ---- help, scripts of that name, pipes ---------------------------------------------------

for _, name in ipairs { "show", "diff" } do
    out, err, code = cli('"$P" ' .. name .. " --help")
    tap.is(err .. code, "0", name .. " --help is no error")
    tap.like(out, "^usage: streamlab " .. name .. " %[options%] ", "and explains")
    local wide = 0
    for line in out:gmatch("[^\n]+") do
        wide = math.max(wide, #line)
    end
    tap.ok(wide <= 80, "in 80 columns")
    tap.is(cli('"$P" ' .. name .. " nosuch.json -h --nosuch"), out,
        "-h is the same, wherever it stands")
end
shell.write(folder .. "/show", "print('a script', ...)")
tap.is(cli('"$P" ./show x'), "a script\tx\n", "a script of that name runs by its path")
tap.is(cli('"$P" -- show x'), "a script\tx\n", "and behind --")
out, err, code = cli('LUA_INIT="error(1)" "$P" show --chart a.json')
tap.is(out .. err .. code, chart .. "0", "LUA_INIT is for scripts")

-- More than a pipe holds.
local many = "for i in $(seq 300); do \"$P\" show a.json || exit; done"
out, err = cli("{ " .. many .. "; } | head -1")
tap.is(out .. err, "a.json: " .. title, "a reader that closes early is no matter")
out, err = cli("trap '' PIPE; { " .. many .. "; } | head -1")
tap.like(out .. err, "^a%.json: [^\n]+\nstreamlab: cannot write to stdout\n$",
    "where that is no signal it is one sentence")

-- ---- what is no file ---------------------------------------------------------------------------

for _, words in ipairs { "show fifo", "show linked", "diff a.json fifo", "show /dev/zero" } do
    local name = words:match("%S+$")
    out, err = cli('mkfifo fifo; ln -s fifo linked; timeout 20 "$P" ' .. words
        .. "; rm fifo linked")
    tap.is(out .. err, ("streamlab: %s: cannot read '%s': it is no file (- is "
        .. "stdin)\n"):format(words:match("%l+"), name),
        words .. ": nobody may write to it, or it never ends")
end
tap.like(cli 'cat a.json | "$P" show --summary -', "makespan +4.00 ms", "stdin may be a pipe")
tap.like(cli 'cat a.json | "$P" show --summary /dev/fd/0', "makespan +4.00 ms",
         "and what a shell gives")

shell.remove(folder)
tap.done()
