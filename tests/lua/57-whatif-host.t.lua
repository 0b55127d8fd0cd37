-- 57-whatif-host.t.lua - lab.whatif: what goes with a call or a copy that is removed, and kernels
-- that are fused: on small traces as PyTorch's profiler writes them, worked out by hand.
local tap = require "tap"

local path <const> = os.tmpname() .. ".json"
local event <const> = '{"ph":"X","cat":"%s","name":"%s","pid":9,"tid":%d,"ts":%.3f,"dur":%.3f,'
    .. '"args":{"correlation":%d%s}}'

local grid <const> = ',"grid":[%d,1,1],"block":[%d,1,1],"registers per thread":32'

-- rows: {call, ts, dur, name, ts, dur, blocks, threads, stream = 7}: a call of the host, and what
-- it launched, if anything.
local function load_trace(rows)
    local events = {}
    for id, row in ipairs(rows) do
        local call, at, dur, name, start, long = table.unpack(row)
        events[#events + 1] = event:format("cuda_runtime", call, 9, at, dur, id, "")
        local is_copy <const> = name and name:find "Memcpy"
        if name then
            local more <const> = is_copy and ',"bytes":4'
                or row[7] and grid:format(row[7], row[8] or 256) or ""
            events[#events + 1] = event:format(is_copy and "gpu_memcpy" or "kernel", name, 7, start,
                long, id, ',"device":0,"stream":' .. (row.stream or 7) .. more)
        elseif call == "cudaStreamSynchronize" then
            events[#events + 1] = event:format("cuda_sync", "Stream Sync", 7, at, dur, id,
                ',"device":0,"stream":7')
        end
    end
    local file <close> = io.open(path, "w")
    file:write('{"deviceProperties":[{"id":0,"name":"H200","numSms":132}],"traceEvents":[',
        table.concat(events, ",\n"), "]}")
    file:close()
    return lab.load(path)
end

local function is_near(found, us, name)
    tap.ok(math.abs(found / us - 1) < 0.01, name)
    if math.abs(found / us - 1) >= 0.01 then tap.diag(("%.2f us"):format(found)) end
end

local launch <const>, copy <const> = "cudaLaunchKernel", "cudaMemcpyAsync"

-- A kernel of 40,000 blocks, by the rules on all SMs until it ends, yet small ones of another
-- stream were recorded to run meanwhile: the second is issued when the first has ended.
local beside <const> = load_trace {
    { launch, 0, 4, "large", 5, 1000, 40000 },
    { launch, 10, 4, "small", 500, 20, 4, stream = 8 },
    { launch, 530, 4, "small", 540, 20, 4, stream = 8 },
}
local played <const> = lab.whatif(beside):timeline():spans()
for i, span in ipairs(beside:spans()) do
    is_near(played[i].start_us, span.start_us, "unchanged, each starts as it did")
    is_near(played[i].end_us - played[i].start_us, span.end_us - span.start_us,
        "and takes as long")
end

-- Twenty launches, each of 4 us and 6 us behind the one before, of kernels of 1 us: the first
-- starts 5 us behind its launch, the last 190 us later.
local rows = {}
for i = 0, 19 do
    rows[#rows + 1] = { launch, 10 * i, 4, i % 2 == 1 and "odd" or "even", 10 * i + 5, 1 }
end
local launches <const> = load_trace(rows)
is_near(lab.whatif(launches):predict().before_us, 191, "as it was: 191 us")
-- Ten are left, 10 us apart, the last of which ends 91 us behind the first's start.
is_near(lab.whatif(launches):remove("odd"):predict().after_us, 91,
    "with a launch the time goes that the host took for it")

-- A kernel of 400 us, which a copy of its result and a synchronisation wait for; then another one.
local item <const> = load_trace {
    { launch, 0, 4, "first", 5, 400 },
    { copy, 10, 4, "Memcpy DtoH (Device -> Pinned)", 406, 2 },
    { "cudaStreamSynchronize", 15, 395 },
    { launch, 440, 4, "second", 445, 50 },
}
is_near(lab.whatif(item):predict().before_us, 490, "a result that the host waits for: 490 us")
-- The second is launched long before the first ends, and follows it within 1 us.
is_near(lab.whatif(item):remove("Memcpy DtoH*"):predict().after_us, 451,
    "with a copy its synchronisation goes")

-- A product of 500 us, while the rest is launched: two passes of three kernels that move data, each
-- 1 us behind the one before.
local names <const> = { "elementwise_kernel<Mul>", "reduce_kernel<Sum>", "elementwise_kernel<Add>" }
rows = { { launch, 0, 4, "sgemm_128x64", 5, 500 } }
local at = 506
for i = 0, 5 do
    local us <const> = ({ 10, 20, 15 })[i % 3 + 1]
    rows[#rows + 1] = { launch, 10 + 6 * i, 4, names[i % 3 + 1], at, us }
    at = at + us + 1
end
local chains <const> = load_trace(rows)
local fused = lab.whatif(chains):fuse("*_kernel*")
is_near(fused:predict().after_us, 500 + 2 * 21,
    "kernels that move data take as long as the longest")
tap.is(fused:changes()[1].changed, 4, "a run ends when its first kernel comes again")
is_near(lab.whatif(chains):fuse("*"):predict().after_us, 520,
    "but a product takes its time as well")
local range = fused:predict().range_us
tap.ok(range.low <= 500 + 2 * 21 and range.high >= 500 + 2 * 21 + 5,
    "the range has what other data may take")

-- ---- SMs that kernels share -------------------------------------------------------------

-- Of kernels of 100 us, one behind the other, one is moved: of 132 SMs both have room for 66 blocks
-- each. 100 and 66 share SMs: where a block of 1024 threads fills one, both run at 0.6 of their
-- speed. Where there is room for all their blocks at once, the large one takes 100 SMs, and the
-- small one has 32 of its 66 until that ends: it does 48.5 of its 100 us.
local function moved(blocks, threads)
    return lab.whatif(load_trace {
        { launch, 0, 4, "large", 20, 100, blocks, threads },
        { launch, 12, 4, "small", 121, 100, 66, threads },
    }):move("small", "side"):predict().after_us
end
is_near(moved(66), 100, "kernels that have SMs of their own take nothing of each other")
is_near(moved(100, 1024), 100 / 0.6, "those that share SMs are slower")
is_near(moved(100), 100 + (1 - 32 / 66) * 100, "unless the SMs have room for all blocks of both")

-- ---- what is missing ------------------------------------------------------------------------

-- Three hundred launches, of which the first n have no operation.
local function lacking(n)
    local all = {}
    for i = 0, 299 do
        all[#all + 1] = i < n and { launch, 10 * i, 4 } or { launch, 10 * i, 4, "k", 10 * i + 5, 1 }
    end
    return lab.whatif(load_trace(all)):scale("k", 2):predict().refused
end
tap.is(lacking(1), nil, "one launch of three hundred without an operation matters little")
tap.is(lacking(4), "launches have no operation", "four are too many")

os.remove(path)
tap.done()
