-- overlap.lua N - records N operations on eight streams of which each has kernels and
-- copies; prints the real seconds that each question about their overlap takes, a line
-- each: the question, then the seconds. A work-load for bench.lua, not a test.
local n = tonumber(arg[1]) or 1000000

lab.open { backend = "sim", profile = "textbook" }
local streams = {}
for i = 1, 8 do
    local stream = lab.stream { non_blocking = true, name = "s" .. i }
    streams[i] = {
        device = lab.empty(65536 * i),
        host = lab.empty(65536 * i, { device = "cpu", pinned = true }),
        kernel = { stream = stream, blocks = 1 + i % 3 },
        copy = { stream = stream, non_blocking = true },
    }
end

local tl = lab.record()
for round = 1, n // 24 do
    for i, s in ipairs(streams) do
        s.device:copy_(s.host, s.copy)
        lab.spin(0.01 * ((round + i) % 7), s.kernel)
        s.host:copy_(s.device, s.copy)
    end
end
tl:stop()

local questions = {
    { "busy time", function() return tl:busy_us() end },
    { "overlap of two", function() return tl:overlap_us("compute", "h2d") end },
    { "overlap of three", function() return tl:overlap_us("compute", "h2d", "d2h") end },
    { "kernels at once", function() return tl:concurrency("kernels")[2] end },
    { "engines at once", function() return tl:concurrency("engines")[3] end },
    { "streams at once", function() return tl:concurrency("streams")[2] end },
    { "spans at once", function() return tl:concurrency("spans")[2] end },
    { "gaps", function() return #tl:gaps("compute") end },
    { "figures and causes as JSON", function() return #tl:json() end },
}
for _, question in ipairs(questions) do
    local began = os.clock()
    assert(question[2]() > 0, question[1])
    print(("%-16s %.6f"):format(question[1], os.clock() - began))
end
assert(tl.span_count == n // 24 * 24)
