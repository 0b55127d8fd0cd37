-- Which priority has a kernel in a replay?
--
-- It is often said that "a captured kernel keeps its stream's priority". A kernel is captured in a
-- stream of priority 0 or the greatest one, with and without `priorities = true`
-- (cudaGraphInstantiateFlagUseNodePriority), and launched in a stream of either, while a long grid
-- of many waves has the GPU. Expected: with the flag its priority is that of the captured stream,
-- without it that of the stream of the launch, so that capturing in an urgent one is in vain.
local lab = require "streamlab"
local device = lab.device()
local block_ms <const>, greatest <const> = 0.25, device.priority_range.greatest
local wave <const> = device.sm_count * 2            -- blocks of 1024 threads, two to an SM
local long, usual = lab.stream{ name = "long" }, lab.stream{ name = "usual" }
local urgent = lab.stream{ name = "urgent", priority = greatest }

local function done_ms(launch, stream)
    lab.synchronize()
    lab.spin(block_ms, { blocks = 40 * wave, threads = 1024, stream = long })
    lab.host_work(2.1)                              -- in the middle of the ninth wave
    local start_us = lab.now_us()
    launch(stream)
    stream:synchronize()
    return (lab.now_us() - start_us) / 1000
end

local function kernel(stream)
    lab.spin(block_ms, { blocks = wave, threads = 1024, stream = stream })
end

local function replay(captured, priorities, launched)
    local g = lab.graph(function() kernel(captured) end,
                        { stream = captured, priorities = priorities })
    g:launch{ stream = launched }                   -- the first launch is different
    return done_ms(function() g:launch{ stream = launched } end, launched)
end

kernel(long)
local rows = {}
for i, captured in ipairs{ usual, urgent } do
    for k, launched in ipairs{ usual, urgent } do
        rows[2 * i + k - 2] = { captured = captured.priority, launched = launched.priority,
            without_ms = replay(captured, false, launched),
            with_ms = replay(captured, true, launched) }
    end
end
lab.table(rows, { columns = { "captured", "launched", "without_ms", "with_ms" },
    title = "Done after so many ms, without and with the flag, by the two streams' "
        .. "priorities" }):show()
local plain, soon, row = done_ms(kernel, usual), done_ms(kernel, urgent), rows[3]
local without, with = row.without_ms < plain / 2, row.with_ms < plain / 2
print(("Verdict: %s: a captured kernel keeps its stream's priority: captured with %d and launched "
    .. "in a stream with 0, done after %.2f ms, with the flag after %.2f; a plain one after %.2f "
    .. "with 0, %.2f with %d"):format(without and "holds" or with and "depends"
    or "no longer holds",
    greatest, row.without_ms, row.with_ms, plain, soon, greatest))
