-- Does an urgent kernel overtake a long one that is already running?
--
-- A long grid (many waves of blocks) fills the GPU. Two milliseconds later a small grid arrives in
-- another stream. Expected: with equal priority it waits until the long grid has no blocks left to
-- place. With a more urgent priority (a lower number) it gets the next SMs that become free: no
-- running block is stopped, so it still waits for a block to end. A positive number is no more
-- urgent than 0: CUDA clamps it.

local lab = require "streamlab"

local device = lab.device()
local block_ms = 0.25
local wave = device.sm_count * 2            -- blocks of 1024 threads, two to an SM on an H200
local range = device.priority_range

local function run(priority)
    local long = lab.stream{name = "long", priority = 0}
    local urgent = lab.stream{name = "urgent", priority = priority}
    local tl = lab.profile(function()
        lab.spin(block_ms, {blocks = 40 * wave, threads = 1024, stream = long})
        lab.host_work(2)
        lab.spin(block_ms, {blocks = wave, threads = 1024, stream = urgent})
    end)
    local result = {priority = priority}
    for _, span in ipairs(tl:spans()) do
        if span.stream_id == urgent.id then
            result.urgent_ms = (span.end_us - span.host_start_us) / 1000
        else
            result.long_ms = (span.end_us - span.start_us) / 1000
        end
    end
    return result, tl
end

local equal = run(0)
local urgent, tl = run(range.greatest)
print(string.format("priority %d beside 0:", range.greatest))
tl:show()

print("\npriority   urgent grid done after   long grid takes")
local results = {equal, run(-1), urgent}
for _, r in ipairs(results) do
    print(string.format("%8d %21.2f ms %14.2f ms", r.priority, r.urgent_ms, r.long_ms))
end

local gain, cost = equal.urgent_ms / urgent.urgent_ms, urgent.long_ms - equal.long_ms
print(string.format("\nPriority %d %s: the small grid is done %.1f times as soon, and "
    .. "the long\none takes %.2f ms more. A block lasts %.2f ms; the urgent grid took %.2f ms.",
    range.greatest, gain > 1.5 and "overtakes" or "does not overtake", gain, cost, block_ms,
    urgent.urgent_ms))
