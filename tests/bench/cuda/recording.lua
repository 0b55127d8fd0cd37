-- recording.lua - what a recording adds to a call, beside what CUPTI alone adds to a raw one, and
-- that nothing of it remains. A section of bench.lua.

local calls_a_batch, batches = 200, 100

-- us a call of pow, from C and from Lua by turns, on a GPU that was idle.
local function measure(b, raw)
    local pow, now, synchronize = b.lab.pow, b.raw.now_ns, b.lab.synchronize
    local x, options = b.lab.rand(4096), { out = b.lab.empty(4096) }
    local theirs, ours = {}, {}
    for i = -9, batches do
        local raw_ns, began = raw:batch("pow", calls_a_batch), now()
        for _ = 1, calls_a_batch do pow(x, 3, options) end
        local held = now() - began
        synchronize()
        if i >= 1 then
            theirs[i], ours[i] = raw_ns / calls_a_batch / 1000, held / calls_a_batch / 1000
        end
    end
    return b.report.summary(theirs, 0.1), b.report.summary(ours, 0.1)
end

return function(b)
    b.table:section("What recording adds to a call", ([[
pow of 4096 elements in batches of %d, Lua and raw by turns; median of %d (10 %% and 90 %% of them). While
lab.record is on, CUPTI sees the raw calls as well: what it adds to them is not ours. After: 0.2 s later,
when a lab.synchronize has let CUPTI leave the process.]])
        :format(calls_a_batch, batches), "raw CUDA C", "streamlab from Lua")
    local raw <close> = b.closing(b.raw.enqueue())
    local raw_before, before = measure(b, raw.object)
    local timeline = b.lab.record()
    local raw_recorded, recorded = measure(b, raw.object)
    timeline:stop()
    os.execute("sleep 0.2")
    b.lab.synchronize() -- with which CUPTI leaves the process
    local raw_after, after = measure(b, raw.object)
    b.table:difference("before", raw_before, before, "us", 0.2)
    b.table:difference("recorded", raw_recorded, recorded, "us", nil)
    b.table:difference("after the recording", raw_after, after, "us", 0.2)
    local cupti = raw_recorded.median - raw_before.median
    local all = recorded.median - before.median
    b.table:row("recording adds", ("%+.2f us"):format(cupti), ("%+.2f us"):format(all),
                ("%+.2f us"):format(all - cupti), "<= +0.20 us", all - cupti <= 0.2)
    b.table:ratio("a call before, and after", before, after, "us", 1.02)
end
