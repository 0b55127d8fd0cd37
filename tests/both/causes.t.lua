-- causes.t.lua - each script of scripts/causes/ plants one cause of lost time: the
-- explanation's first finding names it, with the lines on both sides. On the simulator the
-- loss is what one works out by hand from the textbook profile; on a GPU causes are inferred from
-- the records, and only the cause and the lines are held against what was planted.

local T = require "tap"

local device = T.open()
if T.launches_block then T.skip_all("with launches that block no two operations overlap") end
local simulated = device.simulated

-- The textbook profile's times, in us.
local submit_us <const>, gap_us <const>, wake_us <const> = 2.6, 1.1, 1.9
local launch_us <const>, memcpy_us <const>, synchronize_us <const> = 3.8, 1.4, 0.39
local graph_us <const>, kernel_us <const>, upload_us <const> = 2, 0.003, 1.2    -- of a launch
local copy_us <const> = 1.0                     -- before a copy's first byte
local piece_bytes <const>, pieces <const> = 524288, 128         -- 64 MiB in staging buffers
local h2d_piece_us <const> = piece_bytes / 8.07e3               -- the host's part
local d2h_piece_us <const> = piece_bytes / 16.4e3

-- file: the script; cause, engine, idle; waiter, by: what stands in their lines of the script;
-- lost_us on the simulator; gpus: how many it needs; either: two findings lose nearly the same, and
-- differ in the waiter.
local cases = {
    { file = "01-stream-order", cause = "stream_order", engine = "d2h", idle = true,
      waiter = "results:to", by = "lab.spin(4", lost_us = 4000 },
    { file = "02-event-wait", cause = "event_wait", engine = "d2h", idle = true,
      waiter = "results:to", by = "lab.spin(3", lost_us = 3000 },
    -- As long as the large copy takes, less the time between the two calls.
    { file = "03-engine-busy", cause = "engine_busy", engine = "compute",
      idle = true, either = true,
      waiter = "lab.spin(4", by = "copy_(large", lost_us = copy_us + 2^28 / 55e3 - memcpy_us },
    -- Four waves, less the time between the two launches.
    { file = "04-no-room", cause = "no_sm_room", engine = "compute", idle = false,
      waiter = "stream = second", by = "lab.spin(1, grid)", lost_us = 4000 - launch_us },
    { file = "05-priority", cause = "priority", engine = "compute", idle = false,
      waiter = "stream = patient", by = "stream = urgent }", lost_us = 3000 },
    { file = "06-null-stream", cause = "null_stream", engine = "d2h", idle = true,
      waiter = "results:to", by = "lab.spin(4", lost_us = 4000 },
    -- The 33rd launch is the ninth stream's first; the fourth kernel of the first stream starts
    -- after three and their gaps.
    { file = "07-channel-alias", cause = "channel_alias", engine = "compute", idle = false,
      waiter = "lab.spin(1", by = "lab.spin(1",
      lost_us = launch_us + submit_us + 3 * (1000 + gap_us) - 33 * launch_us },
    -- Launch 1104 is the first that finds 1022 unfinished kernels before it: 82 would have to
    -- be done, and are not. The last launch waits for kernel 978.
    { file = "08-launch-queue-full", cause = "launch_queue_full", engine = "d2h", idle = true,
      waiter = "host:copy_", by = "lab.spin(0.05",
      lost_us = launch_us + submit_us + 977 * (50 + gap_us) + 50 - 1103 * launch_us },
    -- From the copy's start, when the first piece is staged, until the last one is; and what the
    -- launch behind it takes to the GPU.
    { file = "09-pageable-h2d", cause = "host_blocked", engine = "compute", idle = true,
      waiter = "lab.spin(4", by = "batch:to", lost_us = (pieces - 1) * h2d_piece_us + submit_us },
    { file = "10-pageable-d2h", cause = "host_blocked", engine = "compute", idle = true,
      waiter = "lab.spin(4", by = "results:to",
      lost_us = copy_us + piece_bytes / 55.3e3 + pieces * d2h_piece_us + submit_us },
    { file = "11-cuda-free", cause = "host_blocked", engine = "d2h", idle = true,
      waiter = "results:to", by = "lab.cuda.free", lost_us = submit_us + 4000 + wake_us + 40 },
    { file = "12-synchronize", cause = "host_blocked", engine = "h2d", idle = true,
      waiter = "batch:to", by = "work:synchronize", lost_us = submit_us + 4000 + wake_us },
    -- The four bytes themselves take no time worth mentioning.
    { file = "13-item", cause = "host_blocked", engine = "h2d", idle = true,
      waiter = "batch:to", by = "loss:item",
      lost_us = submit_us + 4000 + wake_us + memcpy_us + submit_us + copy_us },
    { file = "14-host-work", cause = "host_work", engine = "compute", idle = true,
      waiter = "lab.spin(2", by = "lab.host_work", lost_us = 5000 - 2000 },
    { file = "15-launch-bound", cause = "host_issuing", engine = "compute", idle = true,
      waiter = "lab.spin(1", by = "lab.spin(1", lost_us = 999 * (launch_us - 1) },
    { file = "16-latency", cause = "latency", engine = "compute", idle = true,
      waiter = "lab.spin(0.8", lost_us = 800 * gap_us },
    { file = "17-graph-turns", cause = "graph_busy", engine = "compute", idle = false,
      waiter = "lab.spin(2", by = "lab.spin(2", lost_us = 2000 },
    -- The launch of a graph of one kernel comes after that of the long kernel.
    { file = "18-graph-priority", cause = "no_sm_room", engine = "compute", idle = false,
      waiter = "lab.spin(0.5", by = "lab.spin(0.2", lost_us = 2000 - graph_us - kernel_us },
    -- The call begins with the kernel's, and the kernel runs for 100.
    { file = "19-graph-upload", cause = "host_blocked", engine = "compute", idle = true,
      waiter = "lab.spin(0.001", by = "table.remove(graphs)",
      lost_us = graph_us + 1000 * (kernel_us + upload_us) - 100 },
    -- Rank 1 has four milliseconds to do, rank 0 one, which was launched before.
    { file = "20-late-rank", cause = "late_rank", engine = "compute", idle = true, gpus = 2,
      waiter = "comm:all_reduce", by = "lab.spin(before",
      lost_us = launch_us + 3000 },
    { file = "21-value-wait", cause = "value_wait", engine = "d2h", idle = true,
      waiter = "results:to", by = "lab.spin(3", lost_us = 3000 },
}

local function read(path)
    local file <close> = assert(io.open(path))
    return file:read("a")
end

-- "NAME.lua:LINE" of the line with this text, the first that is no comment.
local function where(name, text, plain)
    local number = 0
    for line in text:gmatch("([^\n]*)\n") do
        number = number + 1
        if not line:find("^%-%-") and line:find(plain, 1, true) then
            return name .. ":" .. number
        end
    end
    return plain .. " is not in " .. name
end

-- Runs the script in here, without its printing: its lines stay where they are.
local function timeline_of(name, text)
    local silent = text:gsub("tl:show%(%)\ntl:explain%(%)\n$", "return tl\n")
    return assert(load(silent, "@scripts/causes/" .. name))()
end

local function check(case)
    local name = case.file .. ".lua"
    local text = read("scripts/causes/" .. name)
    local found = timeline_of(name, text):causes()[1] or {}
    collectgarbage()
    T.is(found.cause, case.cause, name .. ": the largest loss is to what the script is about")
    if case.by then
        T.is(found.by_where, where(name, text, case.by), name .. ": what was waited for")
    end
    if simulated or not case.either then
        T.is(found.waiter_where, where(name, text, case.waiter), name .. ": what waited")
        T.is(found.engine, case.engine, name .. ": for this engine")
    end
    if simulated then
        T.is(found.idle, case.idle, name .. ": whether the engine stood still")
        T.near(found.lost_us, case.lost_us, 0.002, name .. ": for as long as one works out")
    end
    T.is(found.inferred, not simulated, name .. ": inferred on a GPU, reported by the simulator")
    T.ok(#(found.sentence or "") > 40, name .. ": it is reported in a sentence")
    T.ok(#(found.remedy or "") > 20, name .. ": there is a remedy")
    local _, lines = text:gsub("\n", "")
    T.ok(lines <= 25, name .. ": at most 25 lines")
end

local function count_gpus()
    local n = 0
    for _, other in ipairs(lab.devices()) do
        n = n + (other.backend == device.backend and 1 or 0)
    end
    return simulated and math.huge or n -- as many as are opened
end

for _, case in ipairs(cases) do
    if (case.gpus or 1) <= count_gpus() then check(case) end
end

-- The puzzler, without what it prints. Gives the timeline of a variant.
local function puzzler(variant)
    local tl
    local text = read("scripts/puzzler.lua"):gsub("r%.tl:show%(%)", "take(r.tl)")
    local env = setmetatable({ print = function() end, take = function(it) tl = it end,
                               arg = { "--variant=" .. variant } }, { __index = _G })
    assert(load(text, "@scripts/puzzler.lua", "t", env))()
    return tl
end

local function line_of(plain) return where("puzzler.lua", read("scripts/puzzler.lua"), plain) end

-- Where the two functions' copies are: the first has non_blocking = true, the other false.
local copies = { d2h_pinned = line_of('to("cpu", { non_blocking = true })'),
                 d2h_pageable = line_of('to("cpu", { non_blocking = false })'),
                 h2d_async = line_of('to("cuda", { non_blocking = true })'),
                 h2d_blocking = line_of('to("cuda", { non_blocking = false })') }

local function finding(tl, cause, by_where)
    for i, found in ipairs(tl:causes()) do
        if found.cause == cause and found.by_where == by_where then return found, i end
    end
    return { lost_us = 0, sentence = "", remedy = "" }
end

local function parts_by(tl, cause, by_where)
    local sum = 0
    for _, part in ipairs(tl:makespan_parts()) do
        if part.cause == cause and part.by_where == by_where then sum = sum + part.lost_us end
    end
    return sum
end

local function spans_at(tl, line)
    local list = {}
    for _, span in ipairs(tl:spans()) do
        if span.where == line then list[#list + 1] = span end
    end
    return list
end

local function sum_of_parts(tl)
    local sum = 0
    for _, part in ipairs(tl:makespan_parts()) do sum = sum + part.lost_us end
    return sum
end

local function the_blocking_puzzler()
    local tl = puzzler("blocking")
    local found, rank = finding(tl, "host_blocked", copies.d2h_pageable)
    -- Both directions' copies block. Which of them gains more is known of the simulated GPU alone.
    T.ok(rank == 1 or not simulated and rank == 2,
         "puzzler, blocking: what gains most is the host's, blocked in the D2H copies")
    T.is(found.engine, "h2d", "puzzler, blocking: no H2D copy ran meanwhile")
    T.is(found.waiter_where, copies.h2d_blocking, "puzzler, blocking: which are issued behind them")
    T.like(found.remedy, "`data_on_gpu`", "puzzler, blocking: the remedy names the tensors")
    T.like(found.remedy, "pinned memory", "puzzler, blocking: and what to do with them")
    T.near(sum_of_parts(tl), tl.makespan_us, 0.01, "puzzler, blocking: the makespan's parts add up")
    if not simulated then return end
    -- A copy is two calls of CUDA, itself and a synchronisation, which finds nothing to wait for.
    local d2h = spans_at(tl, copies.d2h_pageable)
    local held = 0
    for _, span in ipairs(d2h) do held = held + span.host_end_us - span.host_start_us end
    T.is(#d2h, 100, "puzzler, blocking: there are 100 of them")
    T.near(found.lost_us, held, 0.01, "puzzler, blocking: for as long as the calls took")
    T.near(parts_by(tl, "host_blocked", copies.d2h_pageable), held + 100 * synchronize_us, 0.01,
           "puzzler, blocking: and as long it is in the makespan, with the synchronisations")
end

local function the_non_blocking_puzzler()
    local tl = puzzler("nonblocking")
    local found = finding(tl, "host_blocked", copies.h2d_async)
    T.is(found.engine, "h2d",
         "puzzler, nonblocking: the host is held by the H2D copies from pageable memory")
    T.is(found.count, 100, "puzzler, nonblocking: by each of them")
    T.like(found.remedy, "Pin `data_on_cpu`", "puzzler, nonblocking: the remedy names the tensors")
    T.is(finding(tl, "host_blocked", copies.d2h_pinned).engine, nil,
         "puzzler, nonblocking: the D2H copies hold nobody")
    T.near(sum_of_parts(tl), tl.makespan_us, 0.01,
           "puzzler, nonblocking: the makespan's parts add up")
    if not simulated then return end
    local kernels = tl:busy_us("kernel")
    T.is(tl:makespan_parts()[1].cause, "running", "puzzler, nonblocking: kernels are most of it")
    T.near(tl:makespan_parts()[1].lost_us, kernels, 0.01,
           "puzzler, nonblocking: all of the kernels' time")
    T.near(tl.makespan_us - kernels, 999 * gap_us, 0.01,
           "puzzler, nonblocking: and the rest are the gaps between them")
end

the_blocking_puzzler()
the_non_blocking_puzzler()
T.done()
