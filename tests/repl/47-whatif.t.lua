-- 47-whatif.t.lua - streamlab whatif on a trace of an H200 whose mended twin is known
-- (tests/timeline/data/README.md): 33.465 ms, and 20.279 with the copies in a stream of their own.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh = shell.sh

local file <const> = "tests/timeline/data/planted/copies_in_compute_stream.json.gz"

local function whatif(line) return sh('"$P" whatif ' .. line) end

local out, err, code = whatif(file .. " --prefetch 'Memcpy HtoD*' 1")
tap.is(err .. code, "0", "a change is predicted, and nothing is on stderr")
tap.like(out, "^Played unchanged, it takes 33%.5 ms; measured were 33%.5 ms",
    "first the program as it is")
tap.like(out, "\nprefetch 'Memcpy HtoD%*' 1: 12 changes\n", "then what is changed")
tap.like(out, "\n[%d.]+ ms instead of 33%.5 ms %([%d.]+ x%), between", "and what it gains")

local found = json.read((whatif(file .. " --json --prefetch 'Memcpy HtoD*' 1")))
tap.is(found.measured_us, 33464.555, "JSON has what was measured")
tap.ok(math.abs(found.after_us / 20279 - 1) < 0.03, "and a prediction near the mended program")
tap.ok(found.range_us[1] < 20279 and 20279 < found.range_us[2], "which is in its range")
tap.is(found.edits[1].edit, "prefetch", "with the changes")

tap.like(found.next.sentence, "^Little to gain: ", "and what stands in the way then")
tap.is(found.next.cause, "event_wait", "by its cause")

-- Charts of both: the second is 20.1 of 33.5 ms long, 60 % of its 56 columns.
out = whatif(file .. " --prefetch 'Memcpy HtoD*' 1 --columns 72")
tap.like(out, "\nbefore  33%.5 ms\nstream 7 .-\nafter  20%.1 ms\nstream 7 .-\nprefetch ",
    "both are drawn")
local busy = out:match("\nafter.-\nstream 7 |(.-)|")
tap.is(busy and #busy:gsub("%.+$", ""), 34, "on the same axis")
out = whatif(file .. " --prefetch 'Memcpy HtoD*' 1 --no-chart --diff kernel")
tap.ok(not out:find("before  ", 1, true), "or not")
tap.like(out, "\nB takes 13%.4 ms less", "and compared, by kernel")

local picture = os.tmpname() .. ".svg"
whatif(file .. (" --prefetch 'Memcpy HtoD*' 1 -o %s -o %s.json"):format(picture, picture))
local svg = shell.read(picture)
tap.like(svg, ">Before: NVIDIA H200<.->After: NVIDIA H200<", "a picture has both")
out, err = sh(('"$P" show --chart %s.json'):format(picture))
tap.like(out, "\nprefetch ", "what is predicted can be kept as a trace")
tap.like(err, "The times are not measured", "which is said of it")
os.remove(picture)
os.remove(picture .. ".json")

-- What the host does takes half as long, then half of that: each change counts, in its place.
local three <const> = " --host-scale 0.5 --scale 'kernel=*' 2 --host-scale 0.5"
found = json.read((whatif(file .. three .. " --json")))
local names = {}
for i, edit in ipairs(found.edits) do names[i] = edit.edit end
tap.is(table.concat(names, " "), "host_scale scale host_scale", "changes are in the order given")

out = whatif(file)
tap.like(out, "Single changes, by what they would gain:\n.-\n[^\n]*prefetch and non%-blocking",
    "without changes single ones are listed")
found = json.read((whatif(file .. " --json")))
tap.is(found.remedies[1].edit .. " " .. found.remedies[2].edit, "fuse prefetch", "in JSON, too")

-- A part: what was launched in step 8 takes the GPU 1.1 ms from its first operation to its last.
local steps <const> = "tests/timeline/data/training_steps.json.gz"
found = json.read((whatif(steps .. " --step 8 --json")))
tap.is(found.measured_us, 1126.657, "one step is played by itself")
_, err, code = whatif(steps .. " --step 99")
tap.is(code, 1, "a step that there is not: status 1")
tap.like(err, "no step 99", "which is named")
_, err, code = whatif(steps .. " --step 3 --range 'step 3'")
tap.is(code, 2, "a step and a range: status 2")
tap.like(err, "%-%-step and %-%-range do not go together", "which says why")

-- ---- beside the losses ----------------------------------------------------------------------

out = sh('"$P" show ' .. file)
tap.like(out, "\nThe best changes that can be tried; streamlab whatif has more of them:\n\n"
    .. " +after[^\n]+change\n.-\n +20%.%d ms[^\n]+ prefetch and non%-blocking",
    "show ends with the best changes")
out = sh('"$P" show --explain ' .. file)
tap.like(out, "The best changes that can be tried", "so do the losses alone")
out = sh('"$P" show --summary ' .. file)
tap.ok(not out:find "The best changes", "but not figures alone")

-- ---- what to write ------------------------------------------------------------------------

out = whatif(file .. " --prefetch 'Memcpy HtoD*' 1 --no-chart --code")
tap.like(out, "\n\nprefetch 'Memcpy HtoD%*' 1\n.*12 times, .*\n  In PyTorch, .*\n    %+copies = "
    .. "torch.cuda.Stream%(%)\n.*\n  Check: ", "--code: the lines, what to write, what to check")
tap.like(whatif(file .. " --code --as cuda"), "\n  In CUDA C%+%+, ", "--as: in another language")
tap.like(whatif(file), "What to write for the best three: %-%-code\n$", "and a hint without")
found = json.read((whatif(file .. " --prefetch 'Memcpy HtoD*' 1 --json --code")))
tap.is(found.code[1].lines[1].count, 12, "JSON has it as a list")

-- ---- a trace that carries no prediction: of two launches one has no operation --------------

local lost = os.tmpname()
local launch <const> = [[{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,
"ts":%d,"dur":5,"args":{"correlation":%d}},]]
shell.write(lost, '{"traceEvents":[' .. launch:format(0, 1) .. launch:format(10, 2) .. [[
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":100,
"args":{"correlation":1,"device":0,"stream":7}}]}]])
out, err, code = whatif(lost .. " --scale k 2")
tap.like(out, "\nNo change is predicted: launches have no operation%.\n$",
    "why nothing is predicted")
tap.is(code, 1, "with status 1")
found = json.read((whatif(lost .. " --json --scale k 2")))
tap.is(found.refused, "launches have no operation", "JSON says so, too")
tap.is(found.after_us, nil, "and has no prediction")
os.remove(lost)

-- ---- wrong use ------------------------------------------------------------------------------

local function refused(line, pattern, name)
    local _, message, status = whatif(line)
    tap.is(status, 2, name .. ": status 2")
    tap.like(message, pattern, name)
end
refused("", "a trace file is needed", "no file")
refused(file .. " " .. file, "one trace file, got also", "two files")
refused(file .. " --scale '*'", "%-%-scale needs a number from 0 on behind '%*'",
    "a change that lacks its argument")
refused(file .. " --scale '*' x", "got 'x'", "an argument that is no number")
refused(file .. " --host-scale x", "%-%-host%-scale needs a number from 0 on, got 'x'",
    "a factor of the host that is no number")
refused(file .. " --diff kernel", "need a change", "a comparison with itself")
refused(file .. " --as cuda", "%-%-as goes with %-%-code", "a language of nothing")
refused(file .. " --code --as cobol", "pytorch, cuda, cupy or lua, got 'cobol'",
    "a language that there is not")
refused(file .. " --remove 'no such'", "no operation or call matches 'no such'",
    "a selection of nothing")
_, err, code = whatif "/no/such.json"
tap.is(code, 1, "a file that cannot be read: status 1")
tap.like(err, "cannot read '/no/such.json'", "which is named")
tap.done()
