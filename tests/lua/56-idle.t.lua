-- 56-idle.t.lua - tl:idle: what the GPU waited for while no kernel ran, for scripts, for people and
-- as JSON.

local T = require "tap"
local json = require "both.json"
local core = debug.getregistry()["streamlab.internals"]

local ideal = require "lua.ideal"
ideal.open{}

local function near(got, want, what) T.near(got, want, 0.01, what) end
local function cause_of(gpu, cause)
    for _, row in ipairs(gpu.causes) do
        if row.cause == cause then return row end
    end
    error("no row of " .. cause)
end

-- ms   |spin 0 .. 1|  host_work 2  |spin 3 .. 4|  host_work 1  |spin 5 .. 6|
local tl = lab.profile(function()
    for _, pause in ipairs{ 2, 1, 0 } do
        lab.spin(1)
        lab.synchronize()
        lab.host_work(pause)
    end
end)
local gpus = tl:idle()
T.is(#gpus, 1, "each GPU is listed")
T.is(gpus[1].device, 0, "by its number")
near(gpus[1].no_kernel_us, 3000, "2 and 1 ms no kernel ran")
near(gpus[1].nothing_us, 3000, "and nothing else")
T.is(gpus[1].causes[1].cause, "host_work", "the largest cause comes first")
near(gpus[1].causes[1].no_kernel_us, 3000, "the host worked")
T.is(gpus[1].causes[1].count, 2, "twice")
T.is(gpus[1].causes[1].sentence, "the host issued no work", "in words, too")
T.ok(not gpus[1].causes[1].call, "no call held it")

-- ms   copies |h2d 0 .. 2|
--      kernels            |spin 2 .. 3|, which waits for the copy
local source = lab.zeros(4 * 1024 * 1024, { device = "cpu", pinned = true })
local target = lab.zeros(4 * 1024 * 1024)
lab.synchronize()
local copies = lab.profile(function()
    target:copy_(source, { non_blocking = true })
    lab.spin(1)
end)
local copy_us = copies:busy_us{ kind = "memcpy_h2d" }
near(cause_of(copies:idle()[1], "copy").no_kernel_us, copy_us, "kernels wait for a copy")
T.is(cause_of(copies:idle()[1], "copy").nothing_us, 0, "in which the GPU is not idle")

-- ---- what traces of other programs have: the rows' sums are the idle time -------------------

for _, name in ipairs{ "pytorch.json", "torch_events.json.gz", "torch_puzzler_blocking.json.gz" } do
    local trace = lab.load("tests/timeline/data/" .. name)
    local gpu = trace:idle()[1]
    local no_kernel_us, nothing_us = 0, 0
    for _, row in ipairs(gpu.causes) do
        no_kernel_us = no_kernel_us + row.no_kernel_us
        nothing_us = nothing_us + row.nothing_us
    end
    T.near(no_kernel_us, trace.makespan_us - trace:busy_us{ engine = "compute" }, 1e-9,
        name .. ": the sum is the makespan without what the SMs did")
    T.near(nothing_us, trace.makespan_us - trace:busy_us(), 1e-9, name .. ": or without all work")
end

-- ---- for people and for programs -----------------------------------------------------------

local words = core.words.idle
local made = { device = 0, prefix = "", makespan = 10000000, no_kernel = 6000000, nothing = 2000000,
               rows = {
    { kind = "copy", call = "", no_kernel = 4000000, nothing = 0, count = 3 },
    { kind = "host_call", call = "cudaStreamCreateWithPriority", no_kernel = 2000000,
      nothing = 2000000, count = 12 },
} }
T.is(words.text({ made }, 80), [[
No kernel ran for 6.00 ms (60.0 %) of 10.0 ms, and nothing at all for 2.00 ms
(20.0 %).
no kernel   share   nothing   share times  why
  4.00 ms  66.7 %      0 ns   0.0 %     3  waiting for a copy
  2.00 ms  33.3 %   2.00 ms 100.0 %    12  host in cudaStreamCreateWithPriority
]], "a table has a line for each cause")
T.like(words.text({ made }, 50), "\nwaiting for a copy\n  4.00 ms ",
    "where it is narrow, the cause stands above its values")
T.is(words.text({}, 80), "The timeline is empty: nothing ran on the device.\n", "none is said")
local busy = { device = 1, prefix = "gpu1: ", makespan = 5000, no_kernel = 0, nothing = 0,
               rows = {} }
T.is(words.text({ busy }, 80), "Kernels of gpu1 ran all the time: 5.00 us.\n",
    "and that a GPU was never idle")
local read = json.read(words.json{ made }).idle[1]
T.is(read.no_kernel_us, 6000, "JSON has the sums")
T.is(read.causes[2].call, "cudaStreamCreateWithPriority", "and the calls")
T.is(#json.read(words.json{}).idle, 0, "of no GPU, none")
T.is(json.read(tl:json{ idle = true }).idle[1].causes[1].cause, "host_work",
    "tl:json{ idle = true } gives that")

-- ---- wrong use ------------------------------------------------------------------------------

T.throws_like(function() tl:idle(1) end, "idle: ", "there are no arguments")
T.throws_like(function() tl:json{ by = "kernel", idle = true } end, "give one of them",
    "two tables are refused")
T.throws_like(function() tl:summary{ by = "kernel", idle = true } end, "give one of them",
    "by tl:summary as well")
local sums = lab.profile(function() lab.spin(1) end, { keep = "summary" })
T.throws_like(function() sums:idle() end, "keeps only a summary",
    "a summary has no single operations")

source, target = nil, nil
T.done()
