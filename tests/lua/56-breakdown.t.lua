-- 56-breakdown.t.lua - tl:by: operations by kernel, line, stream and communication, for scripts,
-- for people and as JSON.

local T = require "tap"
local json = require "both.json"
local core = debug.getregistry()["streamlab.internals"]

local ideal = require "lua.ideal"
ideal.open{}

-- ms   side |spin 0 ..... 2|
--      main |spin 0 ............ 3|spin 3 .. 4|, the last one by another line
local main, side = lab.stream{ name = "main", non_blocking = true },
    lab.stream{ name = "side", non_blocking = true }
local first_line
local tl = lab.profile(function()
    first_line = debug.getinfo(1, "l").currentline + 1
    for _, run in ipairs{ { 3, main }, { 2, side } } do lab.spin(run[1], { stream = run[2] }) end
    lab.spin(1, { stream = main })
end)

local function row_of(rows, name)
    for _, row in ipairs(rows) do
        if row.name:find(name, 1, true) then return row end
    end
    error("no row of " .. name)
end

local function near(got, want, what) T.near(got, want, 0.01, what) end

local streams = tl:by("stream")
T.is(#streams, 2, "each stream has a row")
T.is(streams[1].name, "main", "the one with the most time comes first")
near(streams[1].time_us, 4000, "3 and 1 ms")
near(row_of(streams, "side").covered_us, 2000, "the other stream covers all of it")
near(row_of(streams, "side").alone_us, 0, "and nothing is alone")
near(row_of(streams, "main").alone_us, 2000, "behind it the first one is alone")
near(row_of(streams, "main").part_us, 3000, "which has that and half of the rest of the makespan")
T.is(row_of(streams, "main").count, 2, "operations are counted")
near(row_of(streams, "main").mean_us, 2000, "and their mean is given")
T.ok(math.abs(streams[1].share - 2 / 3) < 0.01, "a share is of the time of all rows")

local kernels = tl:by("kernel")
T.is(#kernels, 1, "all are of one kernel")
near(kernels[1].time_us, 6000, "whose durations add up")
near(kernels[1].busy_us, 4000, "to more than the time in which it ran")
T.is(kernels[1].covered_us, 0, "and which does not cover itself")
T.is(kernels[1].full_name, "spin", "a kernel has its whole name, too")

local lines = tl:by("line")
T.is(#lines, 2, "two lines have launched work")
near(row_of(lines, (":%d"):format(first_line)).time_us, 5000, "the first of them 3 and 2 ms")
T.is(row_of(lines, (":%d"):format(first_line + 1)).covered_us, 0,
    "the second one after all of that")
T.is(#tl:by("communication"), 0, "there is no communication")
T.is(tl:by("operator")[1].name, "(no operator)", "nor an operator of PyTorch")

-- ---- for people and for programs -----------------------------------------------------------

local words = core.words.breakdown
local rows = {
    { name = "ncclDevKernel_AllReduce", full_name = "ncclDevKernel_AllReduce(x)", count = 2,
      sum = 3000000, busy = 2500000, covered = 1000000, part = 2000000 },
    { name = "", full_name = "", count = 1, sum = 1000000, busy = 1000000, covered = 0,
      part = 1000000 },
}
T.is(words.text("kernel", rows, 80), [[
   time   share   count    mean covered   alone  by kernel
3.00 ms  75.0 %       2 1.50 ms 1.00 ms 1.50 ms  ncclDevKernel_AllReduce
1.00 ms  25.0 %       1 1.00 ms    0 ns 1.00 ms  (no name)
covered: operations of another kernel ran at the same time
]], "a table has a line for each row")
T.is(words.text("kernel", rows, 50):match("^[^\n]*\n([^\n]*\n[^\n]*)\n"),
    "ncclDevKernel_AllReduce\n3.00 ms  75.0 %       2 1.50 ms 1.00 ms 1.50 ms",
    "where it is narrow, a name stands above its values")
T.is(core.clip("vectorized_elementwise_kernel<FillFunctor>", 31), "vectorized_elem...<FillFunctor>",
    "of a template the name is cut, not its arguments")
T.is(core.clip("multi_tensor_apply_kernel<BinaryOpScalarFunctor, multiplies>", 33),
    "multi...<BinaryOpScalar...iplies>", "if these are too long, they are cut, too")
T.is(core.clip("Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>", 31),
    "Kernel2<cutlass_80_...t_align1>", "a short name stays")
local function long(middle, sum)
    local name = "Kernel<cutlass_80_tensorop_s1688gemm_" .. middle .. "_128x128_nt_align1>"
    return { name = name, full_name = name, count = 1, sum = sum, busy = sum, covered = 0 }
end
local alike = words.text("kernel", { long("64", 3000), long("256", 2000), rows[1] }, 80)
T.like(alike, "  Kernel<.*%.%.%..*align1> %(1%)\n.*align1> %(2%)\n.*ncclDevKernel_AllReduce\n",
    "names that are the same when they are cut have their row's number, others have none")
for line in alike:gmatch("[^\n]+") do T.ok(#line <= 80, "and fit: " .. line) end
T.ok(not words.text("kernel", { long("64", 3000), long("256", 2000) }, 160):find "%(1%)",
    "where there is room, none has one")
local unknown = { { name = "", count = 1, sum = 1000, busy = 1000, covered = 0 } }
T.like(words.text("module", unknown, 80), "%(no module%)\nPyTorch's profiler .* with_stack=True\n$",
    "where the timeline has no modules, the last line says what records them")
T.like(words.text("step", unknown, 80), "%(no step%)\nPyTorch's .* step%(%) is called\n$",
    "so for steps")
unknown.writer = "recorder"
T.like(words.text("operator", unknown, 80), "%(no operator%)\nOperators .*\n?.*emit_nvtx%(%)",
    "of a recording it says what the program can do")
T.like(words.text("line", unknown, 80), "\nLines .* streamlab record %-%-python", "or the recorder")
unknown.writer = "other"
T.like(words.text("operator", unknown, 80), "ProfilerActivity.CPU", "else what PyTorch's does")
T.like(words.text("stream", unknown, 80), "\ncovered: ", "a stream needs nothing")
T.is(words.text("communication", {}, 80), "There is no communication.\n", "none is said")
local read = json.read(words.json("kernel", rows))
T.is(read.by, "kernel", "JSON has the key")
T.is(read.time_us, 4000, "and the time of all rows")
T.is(read.rows[1].alone_us, 1500, "and of each")
T.is(read.rows[1].part_us, 2000, "and each one's part of the makespan")
T.is(#json.read(words.json("communication", {})).rows, 0, "which may be none")
T.is(json.read(tl:json{ by = "stream" }).rows[1].name, "main", "tl:json{ by = } gives that")

-- ---- wrong use ------------------------------------------------------------------------------

T.throws_like(function() tl:by("kernels") end,
    'listed by "kernel", "operator", "module", .*, "stream" or "communication", not by "kernels"',
    "a key that is none is refused with those that there are")
T.throws_like(function() tl:by() end, "argument 2 %(key%)", "a key is needed")
T.throws_like(function() tl:json{ by = "x" } end, 'not by "x"', "tl:json refuses one as well")
T.throws_like(function() tl:summary{ by = "x" } end, 'not by "x"', "and tl:summary")
local sums = lab.profile(function() lab.spin(1) end, { keep = "summary" })
T.throws_like(function() sums:by("kernel") end, "keeps only a summary",
    "a summary has no single operations")

main, side = nil, nil
T.done()
