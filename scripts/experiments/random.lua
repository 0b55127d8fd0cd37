-- random.lua - a script that nobody wrote: an experiment drawn from a seed, the same one on every
-- machine, to see whether the simulator foresees what a GPU makes of it.
--
--   streamlab scripts/experiments/random.lua [--seed N] [--graph] [--list]
--   streamlab compare scripts/experiments/random.lua --seeds 1-20
--
-- It is made of phrases, as scripts are: an upload, a chain of kernels, a download, a piece of a
-- pipeline, kernels on several streams that come together by an event, a step on the NULL stream,
-- host work, an allocation. Streams have flags and priorities; kernels are products (float32, TF32,
-- bfloat16), elementwise ones and spins of many grids; copies are pinned or pageable, from 64 KiB
-- to 64 MiB. No two operations that nothing orders write the same memory. --list prints the streams
-- and each step. With --graph all of it is captured and launched as one CUDA graph: without the
-- NULL stream, host work, waits of the host and allocations, which a capture cannot have, and with
-- few pageable copies.

local lab = require "streamlab"

-- From the folder of this file, also in a script that runs this one.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local program = dofile(folder .. "../lib/random_program.lua")("random", arg or {}, {
    usage = "usage: streamlab scripts/experiments/random.lua [--seed N] [--graph] [--list]",
    flags = { graph = true, list = true }, numbers = { seed = { 0, 0 } },
})
local options, add, kept, wait_for = program.options, program.add, program.kept, program.wait_for
local chance, pick, log_even, random = program.chance, program.pick, program.log_even, math.random

-- The streams ---------------------------------------------------------------------------------

local streams = {}

local function make_streams()
    local urgent, exempt = chance(0.3), pick{ "all", 4, "none", 4, "some", 2 }
    for i = 1, pick{ 1, 1, 2, 4, 3, 4, 4, 3, 6, 1, 8, 1 } do
        local flags = {
            name = "s" .. i,
            priority = urgent and random(0, 5) * -1 or 0,
            non_blocking = exempt == "all" or exempt == "some" and chance(0.5),
        }
        streams[i] = { name = flags.name, flags = flags, stream = lab.stream(flags) }
    end
end

-- The steps -----------------------------------------------------------------------------------
--
-- There is one tensor a size, stream and use.

local function on_gpu(s, use, rows, columns, dtype)
    return kept(table.concat({ s.name, use, rows, columns, dtype or "" }, " "), function()
        return lab.rand(rows, columns, { dtype = dtype })
    end)
end

local function on_host(s, use, bytes, pinned)
    return kept(table.concat({ s.name, use, bytes, pinned and "pinned" or "pageable" }, " "),
        function() return lab.ones(bytes // 4, { device = "cpu", pinned = pinned }) end)
end

local function gpu_bytes(s, use, bytes)
    return kept(table.concat({ s.name, use, bytes }, " "), function()
        return lab.zeros(bytes // 4)
    end)
end

local kinds <const> = { "float32", 6, "tf32", 3, "bfloat16", 2 }
local sizes <const> = { 128, 1, 256, 2, 512, 3, 768, 2, 1024, 4, 1536, 2, 2048, 3,
                        3072, 1, 4096, 1 }

local function matmul(s)
    local kind, n = pick(kinds), pick(sizes)
    local m, k = n, n
    if chance(0.25) then m = pick(sizes) end
    if chance(0.15) then k = pick(sizes) end
    local dtype = kind == "bfloat16" and kind or nil
    local a, b = on_gpu(s, "a", m, k, dtype), on_gpu(s, "b", k, n, dtype)
    local out = not chance(0.3) and on_gpu(s, "out", m, n, dtype) or nil
    add("%s: matmul %s %d x %d x %d%s", s.name, kind, m, n, k, out and "" or ", a new result",
        function() lab.matmul(a, b, { out = out, tf32 = kind == "tf32", stream = s.stream }) end)
end

local function elementwise(s)
    local n = pick{ 256, 1, 512, 2, 1024, 4, 2048, 4, 4096, 3, 8192, 1 }
    local a, out = on_gpu(s, "a", n, n), on_gpu(s, "out", n, n)
    local what = pick{ "pow", 4, "add", 3, "softmax", 1, "sum", 1 }
    local exponent = pick{ 3, 3, 2, 2, 2.5, 1 }
    local c = what == "add" and on_gpu(s, "c", n, n)
    local opts = { out = out, stream = s.stream }
    local run = {
        pow = function() lab.pow(a, exponent, opts) end,
        add = function() lab.add(a, c, opts) end,
        softmax = function() lab.softmax(a, opts) end,
        sum = function() lab.with(s.stream, a.sum, a) end,
    }
    add("%s: %s %d x %d", s.name, what == "pow" and "pow " .. exponent or what, n, n, run[what])
end

local function spin(s)
    local blocks = pick{ 1, 3, 16, 2, 66, 2, 132, 3, 264, 2, 528, 1, 1056, 1, 2640, 1 }
    local threads = pick{ 32, 1, 128, 2, 256, 3, 512, 2, 1024, 2 }
    local ms = log_even(0.02, 2) / (blocks > 500 and 4 or 1)
    add("%s: spin %.3f ms, %d blocks of %d", s.name, ms, blocks, threads, function()
        lab.spin(ms, { blocks = blocks, threads = threads, stream = s.stream })
    end)
end

local function kernel(s)
    pick{ matmul, 5, elementwise, 4, spin, 3 }(s)
end

local pinned_share      -- drawn once: a script's author pins or does not

local function copy(s, direction, bytes)
    bytes = bytes or math.floor(log_even(65536, 64 << 20)) // 4096 * 4096
    local pinned = chance(pinned_share)
    local host, gpu = on_host(s, direction, bytes, pinned), gpu_bytes(s, direction, bytes)
    local opts = { non_blocking = pinned or chance(0.7) or options.graph, stream = s.stream }
    add("%s: %s %.3f MiB, %s%s", s.name, direction == "h2d" and "upload" or "download",
        bytes / 2^20, pinned and "pinned" or "pageable", opts.non_blocking and "" or ", blocking",
        function()
            if direction == "h2d" then gpu:copy_(host, opts) else host:copy_(gpu, opts) end
        end)
end

local function within(s)
    local bytes = math.floor(log_even(1 << 20, 256 << 20)) // 4096 * 4096
    local a, b = gpu_bytes(s, "from", bytes), gpu_bytes(s, "to", bytes)
    if chance(0.5) then
        add("%s: copy within the GPU %.3f MiB", s.name, bytes / 2^20,
            function() b:copy_(a, { non_blocking = true, stream = s.stream }) end)
    else
        add("%s: zero %.3f MiB", s.name, bytes / 2^20,
            function() lab.with(s.stream, b.zero_, b) end)
    end
end

-- The phrases ---------------------------------------------------------------------------------

local function any_stream() return streams[random(#streams)] end

local phrases = {}

function phrases.upload()
    local s = any_stream()
    for _ = 1, random(1, 3) do copy(s, "h2d") end
end

function phrases.download()
    local s = any_stream()
    for _ = 1, random(1, 3) do copy(s, "d2h") end
end

function phrases.chain()
    local s = any_stream()
    for _ = 1, random(1, 8) do kernel(s) end
end

-- Kernels in turns over the streams.
function phrases.spread()
    for _ = 1, random(1, 3) do
        for _, s in ipairs(streams) do kernel(s) end
    end
end

function phrases.pipeline()
    local bytes, piece = math.floor(log_even(1 << 20, 32 << 20)) // 4096 * 4096, pick{ matmul, 2,
        elementwise, 2, spin, 1 }
    for i = 1, random(2, 6) do
        local s = streams[(i - 1) % #streams + 1]
        copy(s, "h2d", bytes)
        piece(s)
        copy(s, "d2h", bytes)
    end
end

-- A stream for copies feeds one for kernels.
function phrases.feed()
    local from, to = any_stream(), any_stream()
    for _ = 1, random(1, 4) do
        copy(from, "h2d")
        if from ~= to then wait_for(to, from) end
        kernel(to)
    end
end

function phrases.join()
    local s = any_stream()
    for _, other in ipairs(streams) do
        if other ~= s then wait_for(s, other) end
    end
    kernel(s)
end

phrases["within"] = function() within(any_stream()) end

phrases["null stream"] = function()
    kernel{ name = "NULL", stream = lab.default_stream() }
end

function phrases.host()
    local ms = log_even(0.02, 2)
    add("host: works %.3f ms", ms, function() lab.host_work(ms) end)
end

function phrases.wait()
    program.host_waits(any_stream(), lab.synchronize)
end

function phrases.allocate()
    local bytes = math.floor(log_even(1 << 20, 256 << 20))
    if chance(0.3) then
        add("host: cudaMalloc and cudaFree %.3f MiB", bytes / 2^20,
            function() lab.cuda.free(lab.cuda.malloc(bytes)) end)
    else
        local s = any_stream()
        add("%s: a new tensor of %.3f MiB, filled", s.name, bytes / 2^20, function()
            lab.with(s.stream, function() lab.zeros(bytes // 4):free() end)
        end)
    end
end

local weights <const> = {
    "upload", 3, "download", 2, "chain", 6, "spread", 4, "pipeline", 4, "feed", 4, "join", 2,
    "within", 1, "null stream", 0.7, "host", 1.5, "wait", 1.5, "allocate", 0.7,
}

-- What a capture can have.
local graph_weights <const> = {
    "upload", 3, "download", 2, "chain", 6, "spread", 4, "pipeline", 4, "feed", 4, "join", 2,
    "within", 1,
}

local function draw()
    make_streams()
    pinned_share = options.graph and pick{ 1, 9, 0.9, 1 } or pick{ 1, 5, 0.8, 3, 0.3, 1, 0, 1 }
    local wanted, from = log_even(12, 120), options.graph and graph_weights or weights
    while #program.steps < wanted do phrases[pick(from)]() end
end

-- The run -------------------------------------------------------------------------------------

-- All streams fork from the first one, and join it at the end.
local function captured()
    local first = streams[1].stream
    for i = 2, #streams do streams[i].stream:wait_stream(first) end
    program.run()
    for i = 2, #streams do first:wait_stream(streams[i].stream) end
end

-- What is measured: all steps, or a launch of their graph.
local function measured()
    if not options.graph then return program.run end
    local first = streams[1].stream
    local graph = lab.graph(captured, { stream = first, priorities = true })
    return function() graph:launch{ stream = first } end
end

local function list()
    for _, s in ipairs(streams) do
        print(("     %s: priority %d%s"):format(s.name, s.flags.priority,
            s.flags.non_blocking and ", does not wait for the NULL stream" or ""))
    end
    program.list()
end

draw()
if options.list then list() end
lab.synchronize()               -- the tensors are filled on the NULL stream
program.run()                   -- warm-up
lab.synchronize()
local experiment = measured()
if options.graph then           -- the first launch uploads the graph
    experiment()
    lab.synchronize()
end
collectgarbage()
program.show(lab.profile(experiment), streams)
