-- random_gpus.lua - a script that nobody wrote, for several GPUs: the same one for a seed on every
-- machine, to see whether the simulator foresees what real GPUs make of it.
--
--   streamlab scripts/experiments/random_gpus.lua [--seed N] [--devices N] [--apart] [--list]
--   streamlab compare scripts/experiments/random_gpus.lua --seeds 1-20
--   streamlab compare "scripts/experiments/random_gpus.lua --apart" --seeds 1-20
--
-- It is random.lua's sister: streams on each GPU with products, elementwise kernels, spins, uploads
-- and downloads; between the GPUs copies in both directions (64 KiB to 256 MiB, in a stream of
-- either end), events of one that the other waits for, and collectives: in the streams of the
-- kernels, or in streams of their own beside them. GPUs that can reach each other's memory do; with
-- --apart they do not, and copies go through the host's memory. No two operations that nothing
-- orders write the same memory. --list prints the streams and each step. Collectives need NCCL on
-- real GPUs.

local lab = require "streamlab"

-- From the folder of this file, also in a script that runs this one.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local program = dofile(folder .. "../lib/random_program.lua")("random_gpus", arg or {}, {
    usage = "usage: streamlab scripts/experiments/random_gpus.lua [--seed N] [--devices N] "
        .. "[--apart] [--list]",
    flags = { apart = true, list = true }, numbers = { seed = { 0, 0 }, devices = { 2, 2, 8 } },
})
local options, add, kept, wait_for = program.options, program.add, program.kept, program.wait_for
local chance, pick, log_even, random = program.chance, program.pick, program.log_even, math.random

-- The GPUs ------------------------------------------------------------------------------------

local gpus = {}

local function open()
    for i = 1, options.devices do gpus[i] = lab.open{ index = i - 1 } end
    gpus[1]:make_current()
end

-- Each GPU has access to the memory of the others, if it can, or none has; it may be so already,
-- from an earlier run or from NCCL.
local function connect()
    local set = options.apart and lab.cuda.device_disable_peer_access
        or lab.cuda.device_enable_peer_access
    for _, gpu in ipairs(gpus) do
        for _, peer in ipairs(gpus) do
            if peer ~= gpu and lab.cuda.device_can_access_peer(gpu, peer) then
                local fine, failure = pcall(set, peer, { device = gpu })
                if not fine and failure.code ~= "SL_ESTATE" then error(failure, 0) end
            end
        end
    end
end

local function synchronize()
    for i = #gpus, 1, -1 do
        gpus[i]:make_current()
        lab.synchronize()
    end
end

-- The streams ---------------------------------------------------------------------------------
--
-- As many for kernels on each GPU, on[gpu][i], and one for collectives.

local streams, on, own = {}, {}, {}

local function make_stream(gpu, name, priority)
    local flags = { name = name, priority = priority, non_blocking = true, device = gpu }
    local s = { name = ("gpu%d %s"):format(gpu.index, name), gpu = gpu, priority = priority,
                stream = lab.stream(flags) }
    streams[#streams + 1] = s
    return s
end

local function make_streams()
    local n, urgent = pick{ 1, 3, 2, 4, 3, 2 }, chance(0.3)
    for g, gpu in ipairs(gpus) do
        on[g] = {}
        for i = 1, n do on[g][i] = make_stream(gpu, "s" .. i, 0) end
        own[g] = make_stream(gpu, "comm", urgent and -5 or 0)
    end
end

-- The steps -----------------------------------------------------------------------------------
--
-- There is one tensor a size, stream and use, on the stream's GPU or on the other one of a copy.

local function tensor(s, use, gpu, dtype, ...)
    local key = table.concat({ s.name, use, gpu.index, dtype, ... }, " ")
    local sizes = table.pack(...)
    sizes[#sizes + 1] = { dtype = dtype, device = gpu }
    return kept(key, function() return lab.ones(table.unpack(sizes)) end)
end

local function on_host(s, use, bytes, pinned)
    return kept(table.concat({ s.name, use, bytes, pinned and "pinned" or "pageable" }, " "),
        function() return lab.ones(bytes // 4, { device = "cpu", pinned = pinned }) end)
end

local sizes <const> = { 256, 1, 512, 2, 1024, 4, 2048, 4, 4096, 2 }

local function matmul(s)
    local dtype, n = pick{ "float32", 1, "bfloat16", 1 }, pick(sizes)
    local m = chance(0.25) and pick(sizes) or n
    local a, b = tensor(s, "a", s.gpu, dtype, m, n), tensor(s, "b", s.gpu, dtype, n, n)
    local out = tensor(s, "out", s.gpu, dtype, m, n)
    add("%s: matmul %s %d x %d x %d", s.name, dtype, m, n, n,
        function() lab.matmul(a, b, { out = out, stream = s.stream }) end)
end

local function elementwise(s)
    local n, what = pick{ 512, 1, 1024, 3, 2048, 4, 4096, 3, 8192, 1 },
        pick{ "add", 3, "mul", 3, "pow", 2, "softmax", 1 }
    local a, out = tensor(s, "a", s.gpu, "float32", n, n), tensor(s, "out", s.gpu, "float32", n, n)
    local other = what == "softmax" and {}
        or { what == "pow" and 3 or tensor(s, "b", s.gpu, "float32", n, n) }
    other[#other + 1] = { out = out, stream = s.stream }
    add("%s: %s %d x %d", s.name, what, n, n, function() lab[what](a, table.unpack(other)) end)
end

local function spin(s)
    local blocks, ms = pick{ 1, 2, 16, 2, 66, 2, 132, 3, 264, 1 }, log_even(0.02, 1)
    add("%s: spin %.3f ms, %d blocks", s.name, ms, blocks,
        function() lab.spin(ms, { blocks = blocks, threads = 256, stream = s.stream }) end)
end

local function kernel(s) pick{ matmul, 5, elementwise, 5, spin, 2 }(s) end

local pinned_share      -- drawn once: a script's author pins or does not

local function host_copy(s, direction, bytes)
    bytes = bytes or math.floor(log_even(64 << 10, 64 << 20)) // 4096 * 4096
    local pinned = chance(pinned_share)
    local host, gpu = on_host(s, direction, bytes, pinned),
        tensor(s, direction, s.gpu, "float32", bytes // 4)
    local opts = { non_blocking = true, stream = s.stream }
    add("%s: %s %.3f MiB, %s", s.name, direction == "h2d" and "upload" or "download", bytes / 2^20,
        pinned and "pinned" or "pageable", function()
            if direction == "h2d" then gpu:copy_(host, opts) else host:copy_(gpu, opts) end
        end)
end

-- From the stream's GPU to the other one, or from there. The memory on both ends belongs to the
-- stream.
local function peer_copy(s, other, pulls, bytes)
    bytes = bytes or math.floor(log_even(64 << 10, 256 << 20)) // 4096 * 4096
    local from, to = pulls and other or s.gpu, pulls and s.gpu or other
    local a = tensor(s, "from", from, "float32", bytes // 4)
    local b = tensor(s, "to", to, "float32", bytes // 4)
    local opts = { non_blocking = true, stream = s.stream }
    add("%s: copy from gpu%d to gpu%d %.3f MiB", s.name, from.index, to.index, bytes / 2^20,
        function() b:copy_(a, opts) end)
end

-- The collectives -----------------------------------------------------------------------------

local comm

-- How many elements of `bytes` a rank puts in, and how many it gets.
local function elements(what, bytes, width)
    local n = #gpus
    local part = math.max(1, bytes // width // n)
    return what == "all_gather" and part or part * n, what == "reduce_scatter" and part or part * n
end

-- `at`: a stream of each GPU.
local function collective(at, bytes, what)
    what = what or pick{ "all_reduce", 5, "all_gather", 2, "reduce_scatter", 2, "broadcast", 1 }
    bytes = bytes or math.floor(log_even(4 << 10, 256 << 20))
    local dtype = pick{ "float32", 1, "bfloat16", 1 }
    local n_in, n_out = elements(what, bytes, dtype == "float32" and 4 or 2)
    local t, opts = {}, { streams = {} }
    local has_out = what == "all_gather" or what == "reduce_scatter"
    opts.out = has_out and {} or nil
    for g, s in ipairs(at) do
        t[g], opts.streams[g] = tensor(s, what .. " in", s.gpu, dtype, n_in), s.stream
        if has_out then opts.out[g] = tensor(s, what .. " out", s.gpu, dtype, n_out) end
    end
    add("%s: %s %s %.3f MiB", at[1].name:gsub("^gpu0 ", "gpus "), what, dtype, bytes / 2^20,
        function() comm[what](comm, t, opts) end)
end

-- The phrases ---------------------------------------------------------------------------------

local function any_gpu() return random(#gpus) end
local function any_stream(g) return on[g or any_gpu()][random(#on[1])] end
local function another_gpu(g) return (g + random(#gpus - 1) - 1) % #gpus + 1 end

-- Stream i of each GPU.
local function row(i)
    local list = {}
    for g = 1, #gpus do list[g] = on[g][i] end
    return list
end

local function any_row() return row(random(#on[1])) end

local phrases = {}

function phrases.chain()
    local s = any_stream()
    for _ = 1, random(1, 6) do kernel(s) end
end

-- The same kernels on each GPU, as data parallelism has them.
function phrases.both()
    local kind = pick{ matmul, 3, elementwise, 2 }
    for _ = 1, random(1, 3) do
        for _, s in ipairs(any_row()) do kind(s) end
    end
end

function phrases.upload()
    local s = any_stream()
    for _ = 1, random(1, 2) do host_copy(s, "h2d") end
end

function phrases.download()
    local s = any_stream()
    for _ = 1, random(1, 2) do host_copy(s, "d2h") end
end

function phrases.copies()
    local g = any_gpu()
    local s, other, pulls = any_stream(g), gpus[another_gpu(g)], chance(0.4)
    for _ = 1, random(1, 3) do peer_copy(s, other, pulls) end
end

-- Each GPU sends to the next one, at the same time.
function phrases.exchange()
    local bytes = math.floor(log_even(64 << 10, 256 << 20)) // 4096 * 4096
    for g, s in ipairs(any_row()) do peer_copy(s, gpus[g % #gpus + 1], false, bytes) end
end

-- Stages of a pipeline: a GPU computes and sends, the next one waits and computes.
function phrases.stages()
    local bytes = math.floor(log_even(64 << 10, 64 << 20)) // 4096 * 4096
    local g, piece = any_gpu(), pick{ matmul, 2, elementwise, 2, spin, 1 }
    for _ = 1, random(2, 5) do
        local next_one = another_gpu(g)
        local s, t = any_stream(g), any_stream(next_one)
        piece(s)
        peer_copy(s, gpus[next_one], false, bytes)
        wait_for(t, s)
        piece(t)
        g = next_one
    end
end

-- All streams of one row wait for a stream.
function phrases.join()
    local s = any_stream()
    for _, other in ipairs(any_row()) do
        if other ~= s then wait_for(s, other) end
    end
    kernel(s)
end

-- In the streams of the kernels.
function phrases.collective()
    local at = any_row()
    for _ = 1, random(1, 2) do
        if chance(0.5) then for _, s in ipairs(at) do kernel(s) end end
        collective(at)
    end
end

-- A backward pass: behind each layer its gradients are reduced in other streams, while the kernels
-- go on.
function phrases.buckets()
    local at, bytes = any_row(), math.floor(log_even(256 << 10, 128 << 20))
    local what = pick{ "all_reduce", 3, "reduce_scatter", 1, "all_gather", 1 }
    for _ = 1, random(2, 4) do
        for g, s in ipairs(at) do
            kernel(s)
            wait_for(own[g], s)
        end
        collective(own, bytes, what)
    end
    for g, s in ipairs(at) do wait_for(s, own[g]) end
end

function phrases.host()
    local ms = log_even(0.02, 1)
    add("host: works %.3f ms", ms, function() lab.host_work(ms) end)
end

function phrases.wait()
    program.host_waits(any_stream(), synchronize)
end

local weights <const> = {
    "chain", 4, "both", 4, "upload", 2, "download", 1.5, "copies", 3, "exchange", 2,
    "stages", 3, "join", 1, "collective", 3, "buckets", 2, "host", 1, "wait", 1,
}

local function draw()
    make_streams()
    pinned_share = pick{ 1, 8, 0.8, 2 }
    local wanted = log_even(12, 80)
    while #program.steps < wanted do phrases[pick(weights)]() end
end

-- The run -------------------------------------------------------------------------------------

local function list()
    for _, s in ipairs(streams) do print(("     %s: priority %d"):format(s.name, s.priority)) end
    program.list()
end

open()
connect()
draw()
if options.list then list() end
comm = lab.comm{ devices = gpus }
synchronize()                   -- the tensors are filled on the NULL streams
program.run()                   -- warm-up
synchronize()
collectgarbage()
local tl = lab.profile(program.run)
synchronize()
comm:free()
program.show(tl, streams)
