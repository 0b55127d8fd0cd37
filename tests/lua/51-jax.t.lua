-- 51-jax.t.lua - a trace of XLA's profiler, as JAX and TensorFlow write it. The file has the form
-- that XLA writes (trace_events_to_json.cc, cupti_collector.cc); its values were made up by hand.
local T = require "tap"
local foreign_sums = require "lua.foreign_sums"

local path <const> = "tests/timeline/data/jax.json"
local tl = lab.load(path, { device = 0 })

local function row_of(key, name)
    for _, row in ipairs(tl:by(key)) do
        if row.full_name == name or row.name == name then return row end
    end
    return {}
end

-- ---- operations ----

local spans = tl:spans()
T.is(#spans, 7, "the operations of a GPU are those of its streams, and count once")
T.is(lab.load(path, { device = 1 }).span_count, 1, "the other GPU has its own")
T.is(tl.span_count, lab.load(path).span_count, "that with the most is taken")
local copy, add, gemm, first, second, reduce, back = table.unpack(spans)
T.is(copy.kind, "memcpy_h2d", "a copy to the GPU is one")
T.is(copy.bytes, 4096, "with its bytes")
T.is(copy.host_start_us, 105 - 90, "the call of the same correlation launched it")
T.is(copy.start_us, 110.25 - 90, "times count from the first event")
T.is(copy.end_us, 116.75 - 90, "in microseconds")
T.is(add.name, "loop_add_fusion", "a kernel has its name")
T.is(add.blocks, 16, "its grid, 8 x 2")
T.is(add.threads, 256, "its block, 128 x 2")
T.is(add.registers, 32, "its registers")
T.is(add.shared_bytes, 1024, "and its shared memory")
T.is(add.stream, "stream 14", "streams have CUPTI's numbers")
T.is(gemm.host_start_us, 126 - 90, "each kernel has its own launch")
T.is(first.graph, second.graph, "what a graph ran is of it")
T.is(first.host_start_us, 310 - 90, "and was launched with it")
T.is(reduce.kind, "collective", "a kernel of NCCL is a collective")
T.is(back.host_waited, true, "a copy to pageable memory blocks the host")
T.is(tl:busy_us("kernel"), 40 + 60 + 20 + 30, "what XLA's other rows tell again does not count")
T.is(tl:overlap_us({ kind = "kernel" }, { kind = "collective" }), 30, "overlaps follow")

-- ---- what they were for ----

T.is(row_of("operator", "add_fusion").time_us, 40, "an operation of XLA is an operator")
T.is(row_of("operator", "custom-call.5").time_us, 60, "by its whole name")
T.is(row_of("operator", "(no operator)").count, 4, "what graphs and copies ran has none")
T.is(row_of("module", "Net/Dense_0").time_us, 100, "a module has its forward and backward pass")
T.is(row_of("module", "jit_step").time_us, 50, "where there is none, what was compiled is one")
T.is(row_of("phase", "backward").time_us, 60, "transpose(jvp()) is the backward pass")
T.is(row_of("phase", "forward").time_us, 90, "all else with an operator the forward one")
T.is(row_of("line", "train.py(40): main").count, 6, "the innermost function is not one of JAX")
T.is(row_of("line", "core.py(113): invars").count, nil, "nor one that JAX calls")
local steps = tl:by("step")
T.is(#steps, 2, "a range with a step_num is a step")
T.is(steps[1].name, "train 0", "called by its name and number")
T.is(steps[2].wall_us, 200, "as long as it took")
T.is(steps[1].busy_us, 106.5, "with the GPU's time in it: 6.5 and 100")

-- ---- what cannot be ----

local function load_changed(change)
    local changed = os.tmpname()
    local from <close> = assert(io.open(path))
    local to <close> = assert(io.open(changed, "w"))
    to:write((change(from:read("a"))))
    to:close()
    local fine, found = pcall(lab.load, changed, { device = 0 })
    os.remove(changed)
    return fine, found
end

local _, odd = load_changed(function(text)
    return text:gsub("size:4096", "size:18446744073709551615")
end)
T.is(odd:spans()[1].bytes, 0, "a size that cannot be is none")

local rows = {}
for i = 1, 2049 do
    rows[i] = ('{"ph": "M", "pid": 1, "tid": %d, "name": "thread_name", '
        .. '"args": {"name": "Stream #%d"}},'):format(i + 1000, i)
end
local is_read, why = load_changed(function(text) -- behind the line with the GPU's name
    return text:gsub("\n", function() return "\n" .. table.concat(rows) end, 1)
end)
T.ok(not is_read, "a file of too many rows is refused")
T.like(tostring(why), "more than 2048 rows of threads and streams", "which says so")

-- ---- an independent program ----

foreign_sums(path, row_of, 14)
T.done()
