-- How many kernels run at once, and how many streams does it take?
--
-- An often-read answer: "At most 128 kernels can run concurrently on the P100, V100, A100 and H100
-- GPUs", and if each is in a stream of its own that is "the number of streams that can run
-- concurrently". A kernel of one block leaves the GPU nearly empty, so that room is no limit.
-- Expected: 128 run side by side, the 129th waits until one has ended; k streams run k at once.

local lab = require "streamlab"

local kernel_ms <const> = 10
local streams = {}
for i = 1, 160 do
    streams[i] = lab.stream()
    lab.spin(0, { stream = streams[i] })    -- a stream's first kernel is different
end

-- Kernels in turns into so many streams.
local function run(kernels, used)
    local tl = lab.profile(function()
        for i = 1, kernels do lab.spin(kernel_ms, { stream = streams[(i - 1) % used + 1] }) end
    end)
    local spans, first_end, late = tl:spans(), math.huge, 0
    for _, span in ipairs(spans) do first_end = math.min(first_end, span.end_us) end
    for _, span in ipairs(spans) do
        if span.start_us >= first_end then late = late + 1 end
    end
    return { kernels = kernels, streams = used, at_once = tl:concurrency("kernels").max,
             waited = late, makespan_ms = tl.makespan_us / 1000 }
end

local rows, by_streams = {}, {}
for _, n in ipairs{ 1, 16, 64, 127, 128, 129, 160 } do
    rows[#rows + 1] = run(n, n)
    by_streams[n] = rows[#rows]
end
for _, n in ipairs{ 1, 2, 8, 32, 127 } do rows[#rows + 1] = run(128, n) end
local alone = rows[#rows - 4]               -- all 128 in one stream
print(lab.table(rows, { columns = { "kernels", "streams", "at_once", "waited", "makespan_ms" } }))

local most, narrow = 0, 0
for _, row in ipairs(rows) do
    most = math.max(most, row.at_once)
    if row.kernels == 128 and row.at_once == row.streams then narrow = narrow + 1 end
end
print(("\nVerdict: %s: at most 128 kernels at once: %d; of 129, %d waited until one had ended")
    :format(most == 128 and "holds" or "no longer holds", most, by_streams[129].waited))
print(("Verdict: %s: 128 streams run at once: %d did; in %d of 6 cases as many kernels of 128 ran "
    .. "as there were streams"):format(by_streams[128].at_once == 128 and narrow == 6
    and "holds" or "no longer holds", by_streams[128].at_once, narrow))
print(("Verdict: %s: kernels of one stream run one by one: %d at once, 128 of %d ms take %.0f ms")
    :format(alone.at_once == 1 and "holds" or "no longer holds", alone.at_once, kernel_ms,
    alone.makespan_ms))
