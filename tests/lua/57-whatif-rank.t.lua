-- 57-whatif-rank.t.lua - w:rank: which single changes are tried, in which order, and which pairs.
-- The programs run on the simulated GPU; what a row says is compared with that change made by hand.
local tap = require "tap"
local lab = require "streamlab"
local ideal = require "lua.ideal"
package.path = "tests/both/?.lua;" .. package.path
local json = require "json"

ideal.textbook()
local s, side = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
local n <const> = 4 << 20 -- 16 MiB: a copy of 0.31 ms from pinned memory, a kernel of 1 ms
local a = lab.zeros(n)
local pageable = lab.zeros(n, { device = "cpu" })
local pinned = lab.zeros(n, { device = "cpu", pinned = true })

local function record(count, f)
    lab.synchronize()
    return lab.profile(function()
        for i = 1, count do f(i) end
    end)
end

local function spin(ms) lab.with(s, lab.spin, ms) end

local function copy(from, non_blocking)
    lab.with(s, a.copy_, a, from, { non_blocking = non_blocking ~= false })
end

-- What the row, or both of a pair, says by hand: the makespan.
local function by_hand(tl, ...)
    local w = lab.whatif(tl)
    for _, row in ipairs { ... } do
        w[row.edit](w, row.selection, row.argument)
        if row.also then w[row.also](w, row.selection) end
    end
    return w:predict().after_us
end

local function edits_of(rows)
    local list = {}
    for i, row in ipairs(rows) do list[i] = row.edit end
    return table.concat(list, " ")
end

local function find(rows, edit)
    for _, row in ipairs(rows) do
        if row.edit == edit then return row end
    end
end

-- ---- which comes first ---------------------------------------------------------------------

-- Pageable: slower, and the host waits for each copy.
local rows = lab.whatif(record(6, function() copy(pageable) spin(1) end)):rank()
tap.is(rows[1].edit .. " " .. rows[1].also, "pin non_blocking", "pageable copies: to pin them")

-- The kernel of a step waits for its copy, and the host for the kernel. The copy could be earlier.
rows = lab.whatif(record(6, function() copy(pinned) spin(1) s:synchronize() end)):rank()
tap.is(rows[1].edit, "prefetch", "copies that the host issues late: to prefetch them")

-- 1 ms of the GPU and a wait, then 1 ms of the host: without the wait both go on at once.
local waiting = record(6, function() spin(1) s:synchronize() lab.host_work(1) end)
rows = lab.whatif(waiting):rank()
tap.is(rows[1].edit, "drop_sync", "a wait for nothing: to drop it")

-- 200 launches of 2 us, each of which takes the host longer.
local launches = record(200, function() spin(0.002) end)
rows = lab.whatif(launches):rank()
tap.ok(find(rows, "graph") and find(rows, "fuse"), "many short kernels: a graph, or one kernel")
tap.is(find(rows, "fuse").selection, find(rows, "fuse").selection:match "^line=.*",
    "which are chosen by their line")

-- A fill of 16 MiB before a kernel of 1 ms.
rows = lab.whatif(record(6, function() lab.with(s, a.zero_, a) spin(1) end)):rank()
local filled = find(rows, "remove")
tap.ok(filled and filled.selection:find "Memset", "fills: to do without them")

rows = lab.whatif(record(6, function() spin(1) end)):rank()
tap.is(edits_of(rows), "", "kernels without a gap: there is nothing to gain")

-- ---- rows ----------------------------------------------------------------------------------

local mixed = record(6, function()
    copy(pinned, false)
    spin(0.4)
    s:synchronize()
    lab.host_work(0.2)
    lab.with(s, a.zero_, a)
    spin(0.3)
    s:synchronize()
end)
local both
rows, both = lab.whatif(mixed):rank()
tap.ok(#rows >= 3, "a program with several flaws has several rows")

local sorted, once, same, under = true, { n = 0 }, true, true
local function check_row(row)
    same = same and math.abs(by_hand(mixed, row) - row.after_us) < 0.001
end
for i, row in ipairs(rows) do
    sorted = sorted and (i == 1 or rows[i - 1].after_us <= row.after_us)
    once.n, once[row.edit] = once.n + (once[row.edit] and 0 or 1), true
    check_row(row)
    for _, more in ipairs(row.more or {}) do
        check_row(more)
        under = under and (more.edit == row.edit or more.after_us == row.after_us)
            and more.after_us >= row.after_us
    end
end
tap.ok(sorted, "the shortest makespan comes first")
tap.ok(#rows == once.n, "each edit has one row")
tap.ok(under, "what stands under a row is of its edit, or gains the same")
tap.ok(same, "each row gains what the same change gains by hand, with the selection that it prints")

local syncs = find(rows, "drop_sync")
tap.ok(syncs and syncs.more and #syncs.more >= 1, "each line that waits is tried")

-- ---- pairs ---------------------------------------------------------------------------------

local more, sums = true, true
for _, pair in ipairs(both) do
    more = more and pair.after_us < math.min(pair.first.after_us, pair.second.after_us)
        - pair.before_us / 100
    sums = sums and math.abs(by_hand(mixed, pair.first, pair.second) - pair.after_us) < 0.001
end
tap.ok(#both > 0 and more, "pairs gain more than either alone, by 1 % of the makespan")
tap.ok(sums, "each as both changes gain by hand")

-- A copy whose call waits: prefetched it also has not to wait, which is all that there is to gain.
rows = lab.whatif(record(6, function() copy(pinned, false) lab.host_work(1) spin(0.2) end)):rank()
tap.ok(find(rows, "non_blocking") and not find(rows, "prefetch"),
    "a change that gains hardly more than a part of it is left out")

local again, pairs_again = lab.whatif(mixed):rank()
rows, both = lab.whatif(mixed):rank()
tap.is(edits_of(again), edits_of(rows), "the same program has the same rows")
tap.is(#pairs_again, #both, "and the same pairs")

local w = lab.whatif(mixed)
w:rank()
tap.is(w:predict().after_us, w:predict().before_us, "afterwards the program is as it was")
tap.like(lab.whatif(mixed):text(), "\nTwo of them, which gain more.- drop%-sync",
    "pairs are printed")

local listed = json.read(waiting:json()).remedies
tap.is(listed[1].edit, "drop_sync", "JSON of a timeline has the rows")
tap.is(#listed, #lab.whatif(waiting):rank(), "all of them")
local predicted = lab.whatif(waiting):drop_sync("*Synchronize*"):timeline()
tap.is(#json.read(predicted:json()).remedies, 0, "but of a prediction there are none")

-- ---- what the makespan follows --------------------------------------------------------------

local function gain_of(slopes, name)
    for _, row in ipairs(slopes) do
        if row.host and name == "host" or row.name == name then return row.gain, row end
    end
end

-- A copy of 0.31 ms and two kernels of 1 and 0.5 ms, one behind the other: each has its part of the
-- makespan, but for the copy's latency.
local chain = record(6, function() copy(pinned) spin(1) lab.with(s, a.zero_, a) end)
local slopes = lab.whatif(chain):derivative()
local of_spin, spins = gain_of(slopes, "spin")
tap.ok(math.abs(of_spin - 6000 / chain.makespan_us) < 0.001,
    "1 % of a kernel in a chain is its part of the makespan")
tap.is(spins.count .. " " .. spins.time_us, "6 6000.0", "with how often it ran, and how long")
tap.ok(gain_of(slopes, "host") == 0, "the host, which is ahead, gains nothing")
local largest_first = true
for i = 2, #slopes do largest_first = largest_first and slopes[i - 1].gain >= slopes[i].gain end
tap.ok(largest_first, "the largest gain comes first")
local faster = lab.whatif(chain):scale("spin", 0.99):predict()
tap.ok(math.abs(100 * (1 - faster.after_us / faster.before_us) - of_spin) < 0.001,
    "it is what a kernel that takes 1 % less time gains")

slopes = lab.whatif(launches):derivative "kernel"
tap.ok(gain_of(slopes, "host") > 0.9 and gain_of(slopes, "spin") < 0.01,
    "where the host issues too slowly, it is the host")
local changed = lab.whatif(chain)
changed:remove "spin"
tap.is(gain_of(changed:derivative(), "spin"), nil, "what was removed gains nothing")
local without = changed:predict().after_us
changed:derivative()
tap.is(changed:predict().after_us, without, "and the changes are still there afterwards")
tap.like(lab.whatif(chain):text(), "\n +0%.76 %%  spin %(6 x, 6.00 ms%)", "they are printed")
tap.throws_like(function() lab.whatif(chain):derivative "colour" end,
    "by kernel, operator, module or line, got 'colour'", "a key that there is not")
tap.throws_like(function() lab.whatif(chain):derivative "stream" end, "got 'stream'",
    "nor by what is no work")

-- ---- collectives ---------------------------------------------------------------------------

-- A rank whose all-reduce each step waits for (pair 43).
local ranked = lab.load "tests/timeline/data/pairs/all_reduce_async-before.json.gz"
tap.ok(find(lab.whatif(ranked):rank(), "async"), "collectives: later work need not wait")

-- ---- names ---------------------------------------------------------------------------------

-- Two launches with a synchronisation and 1 ms of the host between them.
local function load_with(name)
    local path = os.tmpname()
    local file <close> = assert(io.open(path, "w"))
    local events = {}
    for i = 0, 1 do
        local at = i * 1200
        events[#events + 1] = ([[{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,
"tid":1,"ts":%d,"dur":5,"args":{"correlation":%d}},{"ph":"X","cat":"kernel","name":"%s","pid":0,
"tid":7,"ts":%d,"dur":100,"args":{"correlation":%d,"device":0,"stream":7,"grid":[264,1,1],
"block":[256,1,1]}}]]):format(at, i + 1, name, at + 10, i + 1)
    end
    file:write('{"traceEvents":[' .. table.concat(events, ",") .. "]}")
    file:close()
    local tl = lab.load(path)
    os.remove(path)
    return tl
end

-- Six short kernels of one operator, of which PyTorch has one kernel for each call.
local function of_operator(operator)
    local path = os.tmpname()
    local file <close> = assert(io.open(path, "w"))
    local events = {}
    for i = 1, 6 do
        events[i] = ([[{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,"ts":%d,"dur":18},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":5,
"args":{"correlation":%d}},{"ph":"X","cat":"kernel","name":"small","pid":0,"tid":7,"ts":%d,"dur":4,
"args":{"correlation":%d,"device":0,"stream":7,"grid":[264,1,1],"block":[256,1,1]}}]]):format(
            operator, 20 * i, 20 * i + 5, i, 20 * i + 12, i)
    end
    file:write('{"traceEvents":[' .. table.concat(events, ",") .. "]}")
    file:close()
    local tl = lab.load(path)
    os.remove(path)
    return tl
end
tap.ok(find(lab.whatif(of_operator "aten::mul"):rank(), "fuse"), "short kernels can be one kernel")
tap.ok(not find(lab.whatif(of_operator "aten::mm"):rank(), "fuse"), "but products cannot")

local long <const> = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor"
    .. "<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>)"
local tl = load_with(long)
tap.is(lab.whatif(tl):scale("vectorized_elementwise_kernel*", 2):changes()[1].changed, 2,
    "a selection is also of the short name that charts show")
tap.is(lab.whatif(load_with("k[1]")):scale("k\\[1]", 2):changes()[1].changed, 2,
    "a bracket behind \\ is itself")

tap.is(lab.whatif(load_with("k")):scale("no*|k", 2):changes()[1].changed, 2,
    "a|b chooses either")
tap.is(lab.whatif(load_with("k")):scale("stream=no|*7", 2):changes()[1].changed, 2,
    "behind a key, too")
-- Of 1.3 ms, 0.2 are two products in float32: 100 us each, of which three quarters go. The GPU
-- waits for the host, so that only the last one counts.
local floats = lab.whatif(load_with("cutlass_80_simt_sgemm_64x64")):rank()
tap.is(floats[1] and floats[1].edit, "scale", "products in float32: to take the tensor cores")
tap.is(floats[1] and floats[1].before_us - floats[1].after_us, 75.0,
    "a quarter of their time is left where they are waited for")
tap.is(#lab.whatif(load_with("nvjet_hsh_64x64")):rank(), 0, "those that take them stay")

s, side, a, pageable, pinned = nil, nil, nil, nil, nil
tap.done()
