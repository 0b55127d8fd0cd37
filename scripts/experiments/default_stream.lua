-- What does one forgotten launch on the default stream do to two streams that would overlap?
--
-- Two streams each get four kernels that leave most of the GPU free. Expected: the streams overlap.
-- With a tiny kernel on the NULL stream behind each of them they do not: the NULL stream waits for
-- all earlier work in the other streams, and they wait for it. Streams made with
-- non_blocking = true are exempt from that rule and overlap again.

local lab = require "streamlab"

local cases = {
    {name = "two streams", null_launch = false, non_blocking = false},
    {name = "+ NULL-stream launch", null_launch = true, non_blocking = false},
    {name = "+ non_blocking streams", null_launch = true, non_blocking = true},
}

local function run(case)
    local first = lab.stream{name = "first", non_blocking = case.non_blocking}
    local second = lab.stream{name = "second", non_blocking = case.non_blocking}
    case.tl = lab.profile(function()
        for _ = 1, 4 do
            for _, stream in ipairs{first, second} do
                lab.spin(1, {stream = stream})
                if case.null_launch then
                    lab.spin(0.01, {stream = lab.default_stream()})     -- the forgotten one
                end
            end
        end
    end)
    case.overlap_ms = case.tl:overlap_us(first, second) / 1000
    case.makespan_ms = case.tl.makespan_us / 1000
end

for _, case in ipairs(cases) do
    run(case)
    print("\n" .. case.name)
    case.tl:show()
end

print("\ncase                        makespan   overlap of first and second")
for _, case in ipairs(cases) do
    print(string.format("%-24s %8.2f ms %21.2f ms", case.name, case.makespan_ms, case.overlap_ms))
end

local plain, null, exempt = cases[1], cases[2], cases[3]
print(string.format("\nThe NULL-stream launches took away %.0f %% of the overlap and made it all "
    .. "%.2f\ntimes as long; non_blocking streams kept %.0f %% of the overlap.",
    100 * (1 - null.overlap_ms / plain.overlap_ms), null.makespan_ms / plain.makespan_ms,
    100 * exempt.overlap_ms / plain.overlap_ms))
