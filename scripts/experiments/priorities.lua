-- Does an urgent kernel overtake a long one that is already running?
--
-- A long grid (many waves of blocks) fills the GPU. Then, in the middle of a block, a small grid
-- arrives in another stream. An often-read answer to a puzzle on streams says: "The possible values
-- are 1 (high priority) and 0 (low priority)." Expected: lower is more urgent, so 1 becomes 0,
-- and the small grid waits until the long one has no blocks left to place. With -1 or less it gets
-- the next SMs that become free. It is often said to preempt what runs; that does not hold either:
-- no running block is stopped, so it still waits for blocks to end.

local lab = require "streamlab"

local device = lab.device()
local block_ms = 0.25
local wave = device.sm_count * 2            -- blocks of 1024 threads, two to an SM on an H200
local greatest = device.priority_range.greatest
lab.spin(0.01)                              -- the first launch is different

local function run(priority)
    local long = lab.stream{ name = "long", priority = 0 }
    local urgent = lab.stream{ name = "urgent", priority = priority }
    local tl = lab.profile(function()
        lab.spin(block_ms, { blocks = 40 * wave, threads = 1024, stream = long })
        lab.host_work(8.4 * block_ms)           -- in the middle of the ninth wave
        lab.spin(block_ms, { blocks = wave, threads = 1024, stream = urgent })
    end)
    local first, second = table.unpack(tl:spans())
    return { asked = priority, got = urgent.priority, tl = tl,
             urgent_done_ms = (second.end_us - second.host_start_us) / 1000,
             urgent_begins_ms = (second.start_us - second.host_start_us) / 1000,
             long_ms = (first.end_us - first.start_us) / 1000 }
end

local equal, one, minus_one, urgent = run(0), run(1), run(-1), run(greatest)
print(string.format("priority %d beside 0:", greatest))
urgent.tl:show()
print()
lab.table({ equal, one, minus_one, urgent }, { columns = { "asked", "got", "urgent_begins_ms",
          "urgent_done_ms", "long_ms" }, title = "A small grid behind a long one" }):show()

local gain = equal.urgent_done_ms / one.urgent_done_ms
print(string.format("Verdict: %s: 1 is high and 0 is low: done after %.2f ms with priority 0, "
    .. "after %.2f with 1, after %.2f with %d", gain > 1.5 and "holds" or "no longer holds",
    equal.urgent_done_ms, one.urgent_done_ms, urgent.urgent_done_ms, greatest))
print(string.format("Verdict: %s: an urgent kernel preempts: it began %.2f ms after its call, in "
    .. "the middle of blocks of %.2f ms; the long one took %.2f ms more",
    urgent.urgent_begins_ms < 0.2 * block_ms and "holds" or "no longer holds",
    urgent.urgent_begins_ms, block_ms, urgent.long_ms - equal.long_ms))
local default = lab.stream().priority
print(string.format("Verdict: %s: by default streams have priority 0: %d, of %d to %d", default == 0
    and "holds" or "no longer holds", default, device.priority_range.least, greatest))
