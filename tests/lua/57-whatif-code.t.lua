-- 57-whatif-code.t.lua - changes as code: each edit has what to write in each language, and what
-- that is for scripts gains what is predicted, run on the simulated GPU before and after.
local tap = require "tap"
local lab = require "streamlab"

local core <const> = debug.getregistry()["streamlab.internals"]
local words <const> = core.words

-- ---- the tables --------------------------------------------------------------------------

for _, language in ipairs { "pytorch", "cuda", "cupy", "lua" } do
    local rows, missing, strange = words["code_" .. language], {}, {}
    for _, edit in ipairs(core.edits()) do
        local row = rows[edit.name]
        if not row or not (row.none or row[1] and row[2]) then missing[#missing + 1] = edit.name end
    end
    tap.is(table.concat(missing, " "), "", language .. " has each edit, or says why not")
    for key, row in pairs(rows) do
        for line in (row[2] or ""):gmatch("[^\n]+") do
            if not line:find("^[ +-]") or #line > 76 then
                strange[#strange + 1] = key .. ": " .. line
            end
        end
    end
    tap.is(table.concat(strange, "\n"), "",
        language .. ": each line is before, after, or both, and fits")
end

-- ---- scripts before and after --------------------------------------------------------------

local gpus = {}
for i = 2, 1, -1 do gpus[i] = lab.open { backend = "sim", profile = "textbook", index = i - 1 } end

local n <const> = 2048
local cpu <const>, page_locked <const> = { device = "cpu" }, { device = "cpu", pinned = true }

local function eight(make)
    local list = {}
    for i = 1, 8 do list[i] = make(i) end
    return list
end

local function half(options)
    options.dtype = "float16"
    return lab.zeros(n, n, options)
end

local names = {
    lab = lab, n = n, gpus = gpus, ipairs = ipairs, log = function() end, used = {},
    s = lab.stream { non_blocking = true }, side = lab.stream { non_blocking = true },
    copies = lab.stream { non_blocking = true },
    x = lab.zeros(n, n), y = lab.zeros(n, n), weights = lab.zeros(n, n), total = lab.zeros(1),
    small = lab.zeros(1024), two = { lab.zeros(n, n), lab.zeros(n, n) },
    pinned = lab.zeros(n, n, page_locked), host = lab.zeros(n, n, cpu),
    results = eight(function() return lab.zeros(n, n, page_locked) end),
    patient = eight(function() return lab.stream { non_blocking = true } end),
    half_x = half {}, half_y = half {}, half_weights = half {},
    half_pinned = half { device = "cpu", pinned = true },
    left = lab.zeros(8, n, n), right = lab.zeros(8, n, n), product = lab.zeros(8, n, n),
}
names.comm, names.grads, names.streams = lab.comm { devices = gpus }, {}, {}
for i, gpu in ipairs(gpus) do
    names.grads[i] = lab.zeros(8 << 20, { device = gpu })
    names.streams[i] = lab.stream { device = gpu, non_blocking = true }
end
names.parts = eight(function(k)
    local parts = {}
    for i, grads in ipairs(names.grads) do
        parts[i] = grads:narrow(1, (k - 1 << 20) + 1, 1 << 20)
    end
    return parts
end)
for list, of in pairs { views = "x", pinned_views = "pinned" } do
    names[list] = eight(function(i) return names[of]:narrow(1, (i - 1) * n // 8 + 1, n // 8) end)
end
for list, of in pairs { lefts = "left", rights = "right", products = "product" } do
    names[list] = eight(function(i) return names[of]:narrow(1, i, 1):view(n, n) end)
end

-- The text with the lines of one side alone.
local function side_of(text, side, number)
    local other = side == "before" and "+" or "-"
    return (("\n" .. text):gsub("\n%" .. other .. "[^\n]*", ""):gsub("\n[ +-]", "\n")
        :gsub("%$%a+", number or "2"):sub(2))
end

local function record(key, side, number)
    local program = assert(load(side_of(words.code_lua[key][2], side, number), "=" .. key, "t",
        names))
    if key:find("^pin") then -- the memory is there then
        for _ = 1, 2 do
            lab.with(names.s, program)
            collectgarbage()
        end
    end
    names.used = {}
    lab.synchronize()
    return lab.profile(lab.with, names.s, program)
end

-- Edits of each row, and how far the prediction may be off where it is not 1 %: launches of graphs
-- are assumed to take as long as those of a GPU, one value is still read, and what is made one
-- takes a little less than the sum.
local cases <const> = {
    { "pin", { "pin", "*HtoD*" } },
    { "pin from", { "pin", "*DtoH*" } },
    { "non_blocking", { "non_blocking", "*HtoD*" } },
    { "non_blocking from", { "non_blocking", "*DtoH*" } },
    { "non_blocking value", { "remove", "*DtoH*" }, most = 0.05 },
    { "move", { "move", "line=move:2", "side" } },
    { "move to", { "move", "*HtoD*", "copies" } },
    { "move from", { "move", "*DtoH*", "copies" } },
    { "priority", { "priority", "line=priority:3", -1 } },
    { "drop_sync", { "drop_sync", "cudaDeviceSynchronize" } },
    { "drop_wait", { "drop_wait", "*" } },
    { "prefetch", { "prefetch", "*HtoD*", 1 } },
    { "scale", { "scale", "matmul*", 66.9 / 989.4 }, most = 0.03 }, -- peaks of the profile
    { "scale to", { "scale", "*HtoD*", 0.5 } },
    { "remove", { "remove", "relu*" } },
    { "remove to", { "remove", "*HtoD*" } },
    { "remove from", { "remove", "*DtoH*" } },
    { "remove fill", { "remove", "Memset*" } },
    { "fuse", { "fuse", "spin" } },
    { "graph", { "graph", "*" }, most = 0.1 },
    { "host_scale", { "host_scale", 0.5 } },
    { "batch", { "batch", "*HtoD*" }, most = 0.03 },
    { "threads", { "threads", "*HtoD*" } },
    { "async", { "async", "*" } },
    { "batch kernel", { "batch", "matmul*" }, most = 0.03 },
}

for _, case in ipairs(cases) do
    local key = case[1]
    local before, after = record(key, "before", "0"), record(key, "after", "-1").makespan_us
    local w = lab.whatif(before)
    for i = 2, #case do w[case[i][1]](w, table.unpack(case[i], 2)) end
    local predicted = w:predict().after_us
    tap.ok(math.abs(predicted / after - 1) <= (case.most or 0.01)
        and after < before.makespan_us, key .. ": what to write gains what is predicted")
    if math.abs(predicted / after - 1) > (case.most or 0.01) or after >= before.makespan_us then
        tap.diag(("%.1f us, then %.1f; predicted %.1f"):format(before.makespan_us, after,
            predicted))
    end
end

-- ---- what is said of a change ----------------------------------------------------------------

local tl = record("pin", "before")
local w = lab.whatif(tl):pin("*HtoD*")
local copies_ns = 0
for _, row in ipairs(tl:by("kernel")) do
    copies_ns = copies_ns + (row.name:find("HtoD") and row.time_us * 1000 // 1 or 0)
end
tap.is(w:code(), ([[
pin '*HtoD*'
  pin:3
      8 times, %s: Memcpy HtoD (Pageable -> Device)
  In Lua, by names of an example:
    -local host = lab.rand(n, n, { device = "cpu" })
    +local host = lab.rand(n, n, { device = "cpu", pinned = true })
     for i = 1, 8 do
         x:copy_(host)
         lab.matmul(x, weights, { out = y })
     end
  Check: Pinning takes long: do it once, and not in the loop. Pinned memory is
  not swapped out, so pin what is copied often. Alone it does not let the host
  go on: that is non_blocking.
]]):format(core.duration(copies_ns)), "the lines, what to write there, and what to check")
tap.like(w:code { as = "pytorch" }, "In PyTorch, .*pin_memory=True", "in another language")
tap.like(lab.whatif(tl):code(), "^pin 'Memcpy HtoD.*\nnon%-blocking 'Memcpy HtoD",
    "without changes those of the best remedies")
tap.like(lab.whatif(tl):rank()[1].how, "^pinned = true, non_blocking = true$",
    "rows of rank() have it in a few words")
tap.like(w:json { code = true, as = "cuda" }, '"language": "CUDA C%+%+", .*cudaMallocHost',
    "JSON has it, too")
tap.ok(not w:json():find('"code"', 1, true), "if it is asked for")
tap.like(lab.whatif(tl):priority("matmul*", -3):code(), "priority = %-3 }", "with the argument")

local planted <const> = "tests/timeline/data/planted/"
local loaded = lab.load(planted .. "item_each_step.json.gz")
tap.like(lab.whatif(loaded):drop_sync("cudaStreamSynchronize"):code(),
    "In PyTorch.*total %+= loss", "a trace of PyTorch: the item() that waits")

local alone <const> = lab.profile(lab.spin, 1)
tap.is(lab.whatif(alone):code(), "No change that can be tried gains anything.\n",
    "where nothing gains there is nothing to write")

-- By the names that there are.
local function language(...) return words.code.language(false, { ... }) end
local function line(where, name, operator)
    return { where = where, name = name, operator = operator or "" }
end
tap.is(language(line("train.py:3 in f", "gemm")), "pytorch", "lines of Python: PyTorch")
tap.is(language(line("train.py:3 in f", "cupy_add")), "cupy", "with CuPy's kernels: CuPy")
tap.is(language(line("sum.cu:12 in main", "sum")), "cuda", "neither: CUDA C++")
tap.is(language(line("", "k", "aten::mm")), "pytorch", "operators of PyTorch: PyTorch")

-- What a change is about, by what is chosen and what else the line has.
local function write(edit, chosen, all)
    for _, one in ipairs(all) do
        for key, value in pairs { where = "a.py:1", source = "", operator = "", kind = "kernel",
                                  count = 10, bytes = 0, time = 1, call_time = 1 } do
            one[key] = one[key] or value
        end
    end
    return words.code.of({ name = edit }, { all[chosen] }, all, "pytorch").how
end
local wait <const> = { name = "cudaStreamSynchronize", kind = "call" }
local value <const> = { name = "Memcpy DtoH", kind = "memcpy_d2h", bytes = 40 }
tap.is(write("drop_sync", 1, { wait }), "wait later, for an event", "a wait")
tap.is(write("drop_sync", 1, { wait, value }), "keep the sum on the GPU",
    "a wait in a line that copies 4 bytes: item()")
tap.is(write("drop_sync", 1, { wait, value, { name = "at::native::write_indices<long>" } }),
    "shapes that do not depend on data", "in one that finds elements: a mask")
tap.is(write("remove", 1, { { name = "FillFunctor<float>" }, value }),
    "do not fill what is overwritten", "a fill stays one")
tap.is(write("fuse", 1, { { name = "multi_tensor_apply_kernel" } }), "fused=True", "an optimizer")
tap.is(write("pin", 1, { { name = "Memcpy DtoH", kind = "memcpy_d2h", bytes = 10 << 20 } }),
    "copy into a pinned tensor", "a copy from the GPU")

-- ---- wrong use ---------------------------------------------------------------------------

tap.throws_like(function() w:code { as = "cobol" } end, "code: .*as", "no such language")
tap.throws_like(function() w:code { is = "cuda" } end, "code: .*is", "no such option")
tap.throws_like(function() w:json { code = 1 } end, "json: .*code", "an option of another kind")
tap.throws_like(function() w:code({}, 1) end, "one too many", "an argument too many")

names, w, tl, loaded, gpus = nil, nil, nil, nil, nil
tap.done()
