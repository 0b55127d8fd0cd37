-- 65-verdicts.t.lua - what is said to be gained, against the same script with the change made, on
-- the simulated GPU: both makespans are known exactly.

local T = require "tap"
local made = require "lua.made"

local allowed <const> = 0.25        -- of what the change gains

lab.open{ profile = "textbook" }

-- A profile of the script as it is, and as it is changed.
local function pair(before, after)
    before() lab.synchronize() after() lab.synchronize()    -- graphs are uploaded, kernels loaded
    return lab.profile(before), lab.profile(after)
end

local function gains(what, cause, before, after)
    local is, mended = pair(before, after)
    local verdict, lead = is:verdict(), is:causes()[1]
    local gained = is.makespan_us - mended.makespan_us
    T.is(lead.cause, cause, what .. ": leads")
    T.ok(not verdict.good and verdict.gain_known, what .. ": there is something to gain")
    T.ok(math.abs((verdict.gain_us or 0) - gained) <= allowed * gained,
        ("%s: %.0f us to gain, and the change gains %.0f"):format(what,
            verdict.gain_us or 0, gained))
    return lead
end

local one, other = lab.stream{ name = "one", non_blocking = true },
    lab.stream{ name = "other", non_blocking = true }

-- ---- kernels beside each other ---------------------------------------------------------------

-- 32 of 132 SMs, and eight waves of short blocks, eight times.
local function rounds(stream)
    return function()
        for _ = 1, 8 do
            lab.spin(0.5, { blocks = 32, stream = one })
            lab.spin(0.05, { blocks = 132 * 16, stream = stream })
        end
    end
end
local lead = gains("a kernel that leaves SMs empty before one of several waves",
    "stream_order", rounds(one),
    rounds(other))
T.like(lead.remedy, "put them into two streams", "two streams are what it takes")
T.like(lead.sentence, "though that leaves SMs empty$", "since there is room")

local function graph_of(branches)
    return lab.graph(function()
        local first, streams, start = lab.current_stream(), { one, other }, lab.event()
        start:record(first)
        for k = 1, branches do
            local stream = branches == 1 and first or streams[k]
            if branches > 1 then stream:wait_event(start) end
            for _ = 1, 40 // branches do lab.spin(0.02, { blocks = 8, stream = stream }) end
            if branches > 1 then
                local done = lab.event()
                done:record(stream)
                first:wait_event(done)
            end
        end
    end)
end
local chain, branches = graph_of(1), graph_of(2)
lead = gains("branches that a graph runs as one chain", "stream_order",
    function() chain:launch() end,
    function() branches:launch() end)
T.like(lead.remedy, "capture them in two streams", "they are captured in two streams")

local function one_wave(stream)
    return function()
        lab.spin(1, { blocks = 132, stream = one })
        lab.spin(1, { blocks = 132, stream = stream })
    end
end
for _, found in ipairs(lab.profile(one_wave(one)):causes()) do
    T.ok(found.cause ~= "stream_order" or found.idle,
         "a kernel with a block for each SM leaves none empty")
end

-- ---- copies that block --------------------------------------------------------------------------

local results = lab.empty(1 << 24)
local host = lab.empty(1 << 24, { device = "cpu", pinned = true })
local batch = lab.rand(1 << 20, { device = "cpu", pinned = true })
local function steps(non_blocking)
    return function()
        for _ = 1, 4 do
            host:copy_(results, { non_blocking = true, stream = one })
            local moved = batch:to("cuda", { non_blocking = non_blocking, stream = one })
            lab.host_work(1)
            lab.spin(2, { stream = one })
            moved:free()
        end
    end
end
lead = gains("a copy of pinned memory that blocks the host", "host_blocked",
             steps(false), steps(true))
T.like(lead.remedy, "non_blocking = true", "the word that ends it is named")
T.like(lead.sentence, "Memcpy HtoD", "and the copy")
T.is(lead.count, 4, "once for each copy")

-- ---- one advice ---------------------------------------------------------------------------------

-- Two lines whose launches the GPU waits for: a graph has both.
local function launches()
    for _ = 1, 100 do
        lab.spin(0.001, { blocks = 132, stream = one })
        lab.spin(0.001, { blocks = 132, stream = one })
    end
end
local tl = lab.profile(launches)
local first = tl:causes()[1]
T.is(first.cause, "host_issuing", "launches keep the GPU waiting")
T.ok(first.gain_us > 0.9 * (tl.makespan_us - 200 * 2.1),
     "the lines of a loop are one cause: all that waits for "
    .. "launches is told")
local verdict = tl:verdict()
local by_graph_us = tl.makespan_us - (first.as_graph_us or tl.makespan_us)
T.is(verdict.sentence:find("; a graph would gain about ", 1, true) ~= nil,
    by_graph_us - verdict.gain_us >= tl.makespan_us / 20,
    "a graph ends latency, too: the verdict tells where "
    .. "that is much more")
for i, found in ipairs(tl:causes()) do
    T.ok(found.cause ~= "latency" or i > 1, "launch latency does not lead")
end

-- Of nodes of 0.5 us half the time of a graph is between them.
local function short_launches()
    for _ = 1, 200 do lab.spin(0.0005, { blocks = 132, stream = one }) end
end
lab.open{ profile = { base = "h200", ["host.launch_us"] = 7.9 } }
one = lab.stream{ name = "one", non_blocking = true }
short_launches() lab.synchronize()
T.like(lab.profile(short_launches):verdict().sentence,
       "by this cause alone: 1.%d+ ms .*; a graph would gain about "
    .. "1.%d+ ms", "what ends one cause and what ends two are told apart")

-- ---- what the trace does not tell ---------------------------------------------------------------

local without_grids = made { { "kernel", 1, 0, 100000 }, { "kernel", 1, 100000, 200000 },
                             wall = { -1000, 200001 } }
T.like(without_grids:verdict().sentence, "^Nothing to gain: .* are not modelled: ",
    "of kernels without grids nobody knows which room they leave")
local single = made { { "kernel", 1, 0, 100000 }, wall = { -1000, 100001 } }
T.ok(not single:verdict().sentence:find("modelled"), "one kernel has nothing to run beside")

one, other, chain, branches, results, host, batch = nil, nil, nil, nil, nil, nil, nil
T.done()
