-- 20-passes.t.lua - the passes of a calibration: when its parts run, what they say together, and
-- what they free.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local measured = require "measure.measured"
local shell = require "shell"

local passes = measured.import("scripts/measure/calibrate/passes.lua")

-- ---- when ---------------------------------------------------------------------------------

-- Parts in capitals have passes, X many and others four.
local function order(words, n)
    local parts, list = {}, {}
    for name in words:gmatch("%S+") do
        local own = name == "X" and 7 or 4
        parts[#parts + 1] = { name = name, passes = name:find("^[A-Z]") and own or nil }
    end
    for i, step in ipairs(passes.steps(parts, n)) do
        list[i] = step.part.name .. step.pass
    end
    return table.concat(list, " ")
end

tap.is(order("a b C d E f", 1), "a1 b1 C1 d1 E1 f1", "one pass goes in order")
tap.is(order("a b C d E f", 3), "a1 b1 C1 d1 E1 f1 C2 E2 C3 E3",
    "all parts come once before one comes again")
tap.is(order("a b", 3), "a1 b1", "none has passes")
tap.is(order("C", 2), "C1 C2", "all have")
tap.is(order("a C d"), "a1 C1 d1 C2 C3 C4", "as many passes as a part wants")
tap.is(order("C X d"), "C1 X1 d1 X2 C2 X3 X4 C3 X5 X6 C4 X7",
    "the fewer ones of a part are spread over the rounds")
local steps = passes.steps({ { passes = 2 }, { passes = 3 }, {} })
local counts = {}
for i, step in ipairs(steps) do
    counts[i] = step.of
end
tap.is(table.concat(counts, " "), "2 3 1 3 2 3", "each step knows of how many")

-- ---- what ---------------------------------------------------------------------------------

local function show(value)
    if type(value) ~= "table" then
        return tostring(value)
    end
    local words = {}
    for i, item in ipairs(value) do
        words[i] = show(item)
    end
    return "{" .. table.concat(words, " ") .. "}"
end

local function combines(samples, want, name)
    tap.is(show((passes.combine(samples))), want, name)
end

combines({ 3.5, 100, 1.5 }, "3.5", "the number in the middle")
combines({ 1.0, 2.0 }, "1.5", "or between the two")
combines({ 7, 3, 4, 9 }, "4", "counts stay whole")
combines({ "sm", "copy", "copy" }, "copy", "most say so")
combines({ false, false, true }, "false", "and that it is not")
combines({ { { 64, 1.5 }, { 128, 9.5 } }, { { 64, 2.5 }, { 128, 7.5 } },
           { { 64, 3.5 }, { 128, 8.5 } } }, "{{64 2.5} {128 8.5}}", "tables point by point")
combines({ { { 64, 1.5 } }, { { 64, 1.5 }, { 256, 4.5 } }, { { 64, 3.5 }, { 128, 2.5 } } },
         "{{64 1.5} {128 2.5} {256 4.5}}", "each point by the tables that have it")
combines({ { { 64, 8, 1.5 }, { 64, 16, 2.5 } }, { { 64, 8, 2.5 }, { 64, 16, 3.5 },
           { 128, 8, 5.5 }, { 128, 16, 6.5 } } },
         "{{64 8 2.0} {64 16 3.0} {128 8 5.5} {128 16 6.5}}", "in grids as well")
combines({ { 9, 0 }, { 9, 0 }, { 8, 0 } }, "{9 0}", "a list number by number")
local _, spread = passes.combine { { { 1, 10.0 }, { 2, 10.0 } }, { { 1, 10.0 }, { 2, 11.0 } },
                                   { { 1, 10.0 }, { 2, 12.0 } } }
tap.ok(math.abs(spread - 2 / 11) < 1e-9, "the spread is that of the worst point")

-- ---- keys ---------------------------------------------------------------------------------

local context = measured.import("scripts/measure/calibrate/context.lua")
local c = context.new({ device = function() return { backend = "sim" } end }, print, {})

-- A pass of a part that does what f says.
local function pass(place, number, f)
    local ok, failure = c:run { part = { run = f }, i = place, pass = number, of = 3 }
    tap.ok(ok, ("pass %d of part %d: %s"):format(number, place, failure or "it ran"))
end

for number, us in ipairs { 5.5, 9.5, 6.5 } do
    pass(1, number, function()
        c:set("a_us", 1, "not yet", 0)
        c:set("a_us", us, "how", 0.5)
        c:set("both_us", us, "first")
        tap.is(c.values.a_us, us, "within a pass its own value counts")
        tap.is(c.pass .. c.passes, number .. "3", "it knows which of how many it is")
        if number == 1 then
            c:set("rare_us", us, "once", 0)
            c:lack("mostly_us")
        else
            c:lack("rare_us")
            c:set("mostly_us", us, "twice", 0)
        end
        c:find("a_us", "pass " .. number)
    end)
    if number == 1 then
        pass(2, 1, function() c:set("both_us", 3.5, "second") end)
    end
end
tap.is(c.values.a_us, 6.5, "afterwards the median of the passes")
tap.is(c.notes.a_us.passes, 3, "which are counted")
tap.ok(math.abs(c.notes.a_us.spread - 4 / 6.5) < 1e-9, "with their spread")
tap.is(c.values.both_us, 3.5, "the later part's value stays")
tap.is(c.values.rare_us, nil, "what most passes lack is none")
tap.is(c.absent.rare_us, true, "which is known")
tap.is(c.absent.mostly_us, nil, "and not of what only one lacks")
tap.is(c.values.mostly_us, 8.0, "what most have is one")
tap.is(#c.findings .. c.findings[1].text, "1pass 1", "findings are the first pass's")

-- ---- how fast the host was ----------------------------------------------------------------

tap.is(#c.references, 0, "a simulated host has no speed of its own")
local reference = measured.import("scripts/measure/calibrate/reference.lua")
local report = measured.import("scripts/measure/calibrate/report.lua")
local difference = measured.import("scripts/measure/calibrate/difference.lua")

-- The profile's text when the reference took so many ms in turn.
local function report_of(ms)
    local at_us, calls = 0, 0
    local fake = {
        device = function() return { backend = "cuda", name = "A GPU" } end,
        now_us = function()
            calls = calls + 1
            at_us = at_us + (calls % 2 == 0 and ms[calls // 2] * 1000 or 0)
            return at_us
        end,
    }
    local host = context.new(fake, print, {})
    for i in ipairs(ms) do
        host:run { part = { run = function() host:set("wake_us", 8 + i, "how", 0) end }, i = 1,
                   pass = i, of = #ms }
    end
    return report.text(host, { name = "x", sm_count = 3 }, "base", "here", 5)
end
local slow, fast = report_of { 9, 8, 30 }, report_of { 6 }
tap.like((slow:gsub("\n%-%- +", " ")), " Measured by streamlab calibrate in 5 s: here%. "
    .. "host%.reference_ms 9%.000, spread [%d.]+ %%: a loop of 1000000 steps in Lua, the median of "
    .. "3 times", "the head says it")
slow, fast = load(slow)(), load(fast)()
tap.is(reference.in_note(fast.note), "host.reference_ms 6.000, spread 0.0 %", "the note as well")
tap.ok(report.is_unmeasured(slow, "sm_count") and not report.is_unmeasured(slow, "wake_us"),
    "which still says what is not measured")
local both = difference.text(slow, fast, { "slow.lua", "fast.lua" })
tap.like(both, "\nA: slow%.lua; host%.reference_ms 9%.000, spread [%d.]+ %%\n"
    .. "B: fast%.lua; host%.reference_ms 6%.000, spread 0%.0 %%\n", "a difference has both")
tap.ok(reference.ms(os.clock) > 0, "the loop takes its time")

-- ---- a calibration ------------------------------------------------------------------------

local folder = shell.folder()
local profile, found = folder .. "/cold.lua", folder .. "/found.lua"
local text = shell.read("scripts/profiles/a100.lua"):gsub("\nreturn {", "\nlocal t = {")
shell.write(profile, text .. [[
t.host_cold = {bytes = 1000000, first = 0, launch_us = 7, matmul_us = 11, memcpy_async_us = 5}
return t
]])
local out, err, code = shell.sh(('"$P" calibrate --backend sim --profile %s --passes 3 '
    .. '--only device,queue,latencies,host,memory -o %s'):format(profile, found))
tap.is(out .. code, "0", "a calibration in three passes")
tap.like(err, "^part 1 of 5, host: .*\npass 2 of 3, host\npass 3 of 3, host\npart 2 of 5, device: "
    .. ".*\npart 5 of 5, memory: [^\n]*\n.*\npass 2 of 3, latencies\npass 2 of 3, memory\n"
    .. "pass 3 of 3, latencies\npass 3 of 3, memory\n[^\n]*\n$",
    "and its progress: first what nothing may have been recorded before")
local made, truth = dofile(found), shell.profile(profile)
local function near(got, wanted, tolerance, name)
    local good = type(got) == "number" and math.abs(got / wanted - 1) <= tolerance
    if not tap.ok(good, name) then
        tap.diag(("got %s, wanted %s"):format(tostring(got), wanted))
    end
end
for _, key in ipairs { "stream_gap_us", "submit_us", "wake_us", "cross_stream_us" } do
    near(made[key], truth[key], 0.01, key .. " is found again")
end
for _, key in ipairs { "launch_us", "matmul_us", "memcpy_async_us", "memset_us", "record_us",
                       "record_untimed_us", "wait_us", "tensor_alloc_us" } do
    near(made.host[key], truth.host[key], 0.02, "host." .. key .. " is found again")
end
for _, key in ipairs { "launch_us", "matmul_us", "memcpy_async_us" } do
    near(made.host_cold[key], truth.host_cold[key], 0.02, "host_cold." .. key .. " is found again")
end
tap.ok(made.host_cold.bytes > 0.5e6 and made.host_cold.bytes < 2e6, "host_cold.bytes about so")
tap.like(shell.read(found), "spread of 3 passes 0%.0 %%", "the spread is that of the passes")

out, err, code = shell.sh(('"$P" calibrate --backend sim --profile a100 --passes 3 --seconds 1 '
    .. '--only device,latencies -o %s'):format(found))
tap.is(out .. code, "0", "a calibration that has no time for a second pass")
tap.like(err, "\nleft out for lack of time: 2 passes\n", "says what it left out")
tap.ok(dofile(found).stream_gap_us, "and has measured each part once")
out, err, code = shell.sh(('"$P" calibrate --backend sim --profile a100 --base %s --only host '
    .. '-o %s --quiet'):format(profile, found))
tap.is(out .. err .. code, "0", "a GPU without such calls")
tap.is(dofile(found).host_cold, nil, "has none of its base, either")

-- ---- what is freed ------------------------------------------------------------------------

local owner = measured.import("scripts/measure/calibrate/owner.lua")
local freed = ""

-- What says that it is freed, and may fail then.
local function thing(name, failure)
    return { free = function()
        freed = freed .. name
        if failure then error(failure, 0) end
    end }
end

local function measure(failure)
    local own <close> = owner.new()
    own(thing "a")
    own(thing("b", "it is in use"))
    own(thing "c")
    if failure then error(failure, 0) end
end

local _, failure = pcall(measure, "interrupted!")
tap.is(failure, "interrupted!", "what ended a measurement is not hidden by what cannot be freed")
tap.is(freed, "abc", "and the rest is freed all the same")
freed = ""
_, failure = pcall(measure)
tap.is(failure, "it is in use", "without an error that of freeing is raised")
tap.is(freed, "abc", "and the rest is freed as well")

shell.remove(folder)
tap.done()
