-- 50-predicted.t.lua - the table and the figures that predicted.lua and identity.lua print, on a
-- folder of three pairs made by hand: programs of five steps, whose kernels take 100 us one behind
-- the other.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder <const> = shell.folder()

-- ---- programs -----------------------------------------------------------------------------------

-- The numbers of pairs by name: their order in the lists of both sets.
local number_of, n = {}, 0
for _, list in ipairs { "pairs", "pairs_more" } do
    for _, row in ipairs(dofile(("tests/record/programs/%s.lua"):format(list))) do
        n = n + 1
        number_of[row[1]] = n
    end
end

local function event(cat, name, ts, dur, args)
    return ('{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}')
        :format(cat, name, cat == "kernel" and 0 or 1, cat == "kernel" and 7 or 1, ts, dur, args)
end

-- One after the other in a stream, launched at once within a range: each takes 100 us.
local function add_loop(events, step, start, kernels)
    events[#events + 1] = event("user_annotation", "step " .. step, start, 2 * #kernels, "")
    for i, name in ipairs(kernels) do
        local id = 1000 * step + i
        local of = ('"correlation":%d,"stream":7,"device":0'):format(id)
        events[#events + 1] = event("cuda_runtime", "cudaLaunchKernel", start + 2 * (i - 1), 1,
            '"correlation":' .. id)
        events[#events + 1] = event("kernel", name, start + 10 + 100 * (i - 1), 100,
            of .. ',"grid":[2000,1,1],"block":[256,1,1]')
    end
end

local function five(...)
    local names = { ... }
    local all = {}
    for _ = 1, 5 do
        table.move(names, 1, #names, #all + 1, all)
    end
    return all
end

local fill <const>, mul <const> = "FillFunctor", "MulFunctor"
local events, start = {}, 1000
local function add_pair(name, before, after)
    add_loop(events, number_of[name], start, before)
    add_loop(events, number_of[name] + 100, start + 5000, after)
    start = start + 10000
end
add_pair("empty_not_zeros", five(fill, mul), five(mul))
add_pair("tf32_products", five("sgemm", mul), five("sgemm", mul))
add_pair("rms_norm_by_library", five(mul, mul), five(mul))
shell.write(folder .. "/program.json", ('{"traceEvents":[%s]}'):format(table.concat(events, ",\n")))
shell.sh(("mkdir -p %s/pairs/spools/one; mv %s/program.json %s/pairs/spools/one"):format(folder,
    folder, folder))

-- The truth: of the fills 0.3, where 0.5 is predicted; of the products as long as before.
shell.write(folder .. "/pairs/walls.tsv", (([[
empty_not_zeros before 1 5 0.0011
empty_not_zeros after 1 5 0.0003
empty_not_zeros before 2 5 0.0009
empty_not_zeros after 2 5 0.0003
empty_not_zeros before 3 5 0.0010
empty_not_zeros after 3 5 0.0009
tf32_products before 1 5 0.0008
tf32_products after 1 5 0.0008
]]):gsub(" ", "\t")))

local function predicted(words)
    return shell.sh(('"$P" tests/record/predicted.lua %s/pairs %s'):format(folder, words or ""))
end

-- ---- the table ----------------------------------------------------------------------------------

local out, err, code = predicted()
tap.is(err .. code, "0", "the folder is read")
local function row_of(name) return out:match("[^\n]* " .. name .. "[^\n]*") or out end
tap.like(row_of "empty_not_zeros", "1%.0 ms +0%.300 +0%.500 +%+66%.7%% +0%.%d+ to 0%.%d+ +place 1",
    "without the fills half the time is predicted, more than the medians of the turns")
tap.like(row_of "tf32_products", " 1%.000 +1%.000 +[+-]0%.0%% ",
    "a factor is that of the recording after: here none")
tap.like(out, "\n 3 prefetch_stream: it was not recorded or not timed\n",
    "a pair that is missing is named")
tap.ok(not out:find "rms_norm_by_library", "but not those of a set that has no walls")

-- ---- figures ------------------------------------------------------------------------------------

tap.like(out, "\nfirst set: 2 pairs measured, 2 predicted\n", "figures are of what was measured")
tap.like(out, "\ntime after against %a+ walls: median 33%.3 %%, p90 66%.7 %%, worst 66%.7 %%\n",
    "errors are 0 and 67 %: medians of two are their mean")
tap.like(out, "\n  from the recording alone: +median 45%.8 %%, p90 66%.7 %%",
    "500 us are predicted of 300, and 1000 of 800")
tap.like(out, "\nsign right in 1 of 1 that change by more than 3 %%\n",
    "one changes, for the better")
tap.like(out, "\ntruth in the range in 1 of 2; ", "0.3 is outside of what is said of a removal")
tap.like(out, "\namong the first three changes tried: in 2 of 2, with that gain in 1\n",
    "fills are tried, and products in a quarter of the time: that gains more")
tap.like(out, "\nplayed unchanged: median 0%.0 %%", "and the identity")

-- ---- the second set -----------------------------------------------------------------------------

local walls <const> = shell.read(folder .. "/pairs/walls.tsv")
shell.write(folder .. "/pairs/walls.tsv", walls .. (([[
rms_norm_by_library before 1 5 0.001
rms_norm_by_library after 1 5 0.0005
]]):gsub(" ", "\t")))
out = predicted "second"
tap.like(out, "\nsecond set: 1 pairs measured", "the second set by itself")
tap.ok(not out:find "first set", "without the first")

-- ---- played unchanged ---------------------------------------------------------------------------

out = shell.sh(('"$P" tests/record/identity.lua %s/pairs/spools/one/program.json README.md'):format(
    folder))
tap.like(out, "program.json, step 36 +1%.0 ms +[+-]0%.00 %%", "each loop before a change is played")
tap.like(out, "\nREADME.md +[^\n]*load", "a file that is no trace is named")
tap.like(out, "\n3 programs: median 0%.00 %%, p90 0%.00 %%, worst 0%.00 %%; 0 carry no prediction",
    "then the spread")

shell.remove(folder)
tap.done()
