-- summary.lua - a recording that keeps only a summary, for the failing allocator. Every error ends
-- it, as it would a user's script.
lab.open { backend = "sim", profile = "textbook" }
local streams, event = {}, lab.event()
for i = 1, 4 do streams[i] = lab.stream { name = "s" .. i } end
local tl = lab.profile(function()
    for i = 1, 40 do
        local s = streams[i % #streams + 1]
        lab.spin(0.001 * (i % 7), { stream = s })
        s:record_event(event)
        streams[(i + 1) % #streams + 1]:wait_event(event)
        lab.spin(0.002, { stream = streams[(i + 2) % #streams + 1] })
    end
end, { keep = "summary" })
assert(tl.span_count == 80 and tl.stream_count == 4)
assert(#tl:totals() == 1 and #tl:totals("streams") == 4)
assert(tl:overlap_us(streams[1], streams[2]) <= tl:busy_us(streams[1]))
tl:summary()
