-- What does one forgotten launch on the default stream do to two streams that would overlap?
--
-- Two streams each get four kernels that leave most of the GPU free; then a tiny kernel goes to the
-- NULL stream behind each of them. An often-read answer to a puzzle on streams says: streams block
-- each other if "any CUDA command to the default (a.k.a. NULL) stream" is issued in between; course
-- notes: "CUDA operations must be in different, non-0, streams". Expected: both, but streams made
-- with non_blocking = true are exempt. (PyTorch makes all of its streams so, CUDA none by itself.)
local lab = require "streamlab"

local cases = {
    { case = "two streams", null_launch = false, non_blocking = false },
    { case = "+ NULL-stream launch", null_launch = true, non_blocking = false },
    { case = "+ non_blocking streams", null_launch = true, non_blocking = true },
}
lab.spin(0.01)                                  -- the first launch is different

local function run(case)
    local first = lab.stream{ name = "first", non_blocking = case.non_blocking }
    local second = lab.stream{ name = "second", non_blocking = case.non_blocking }
    case.tl = lab.profile(function()
        for _ = 1, 4 do
            for _, stream in ipairs{ first, second } do
                lab.spin(1, { stream = stream })
                if case.null_launch then
                    lab.spin(0.01, { stream = lab.default_stream() })   -- the forgotten one
                end
            end
        end
    end)
    case.makespan_ms = case.tl.makespan_us / 1000
    case.overlap_ms = case.tl:overlap_us(first, second) / 1000
    case.beside_null_ms = case.tl:overlap_us(first, { stream = 0 }) / 1000
end

for _, case in ipairs(cases) do
    run(case)
    print("\n" .. case.case)
    case.tl:show()
end
print()
lab.table(cases, { columns = { "case", "makespan_ms", "overlap_ms", "beside_null_ms" },
                   title = "Overlap of first and second, and of first and NULL" }):show()

local unnamed = lab.profile(function() for _ = 1, 4 do lab.spin(1) end end)
print(("4 kernels of 1 ms that name no stream take %.1f ms, all in the NULL stream")
    :format(unnamed:busy_us({ stream = 0 }) / 1000))

local plain, null, exempt = table.unpack(cases)
local function verdict(blocking, other, ...)    -- did it do so with blocking streams, with others?
    print("Verdict: " .. (blocking and (other and "holds" or "depends") or "no longer holds")
        .. ": " .. string.format(...))
end
verdict(null.overlap_ms < 0.1 * plain.overlap_ms, exempt.overlap_ms < 0.1 * plain.overlap_ms,
    "NULL-stream commands keep streams apart: they took %.0f %% of the overlap (%.2f times as "
    .. "long); with non_blocking streams %.0f %%", 100 - 100 * null.overlap_ms / plain.overlap_ms,
    null.makespan_ms / plain.makespan_ms, 100 - 100 * exempt.overlap_ms / plain.overlap_ms)
verdict(null.beside_null_ms < 0.01, exempt.beside_null_ms < 0.01, "only non-0 streams overlap: the "
    .. "NULL stream ran beside a blocking one for %.2f ms, beside a non_blocking one for %.2f",
    null.beside_null_ms, exempt.beside_null_ms)
