-- A producer in one stream, a consumer in another: what is read, and what makes it wait?
--
-- The producer works for 1 ms and then writes 7 over the 1 in x; the consumer squares x. An
-- often-read answer on PyTorch streams says that without an order "we would get a runtime error or
-- incorrect behavior". CUDA's manual says: waits "are not affected by later calls to
-- cudaEventRecord()", and before the first one "an event represents an empty set of work".
-- Expected: without an event no error, but 1 * 1 = 1. With record and wait 7 * 7 = 49, also if the
-- event is recorded again behind more work. With the wait before the record 1 again.

local lab = require "streamlab"
local producer, consumer = lab.stream{ name = "producer" }, lab.stream{ name = "consumer" }

local function run(case)
    local x, squares = lab.full(1, 4, 4), lab.zeros(4, 4)
    local event = lab.event{ timing = false }
    case.tl = lab.profile(function()
        if case.early then consumer:wait_event(event) end
        lab.spin(1, { stream = producer })
        x:fill_(7, { stream = producer })
        event:record(producer)
        if case.wait then consumer:wait_event(event) end
        if case.again then
            lab.spin(2, { stream = producer })
            event:record(producer)
        end
        lab.mul(x, x, { out = squares, stream = consumer })
    end)
    local spans = case.tl:spans()               -- in the order of issue: the mul is the last
    case.began_ms = (spans[#spans].start_us - spans[1].start_us) / 1000
    return squares:get(1, 1)
end

local cases = { { case = "no event" }, { case = "record, wait", wait = true },
                { case = "record, wait, record again", wait = true, again = true },
                { case = "wait, record", early = true } }
run{}                                           -- the first launches are different
for _, case in ipairs(cases) do
    case.read, case.fresh = "", 0
    for _ = 1, 5 do
        local value = run(case)
        case.read = string.format("%s %g", case.read, value)
        if value == 49 then case.fresh = case.fresh + 1 end
    end
    case.read = case.read:sub(2)
    print("\n" .. case.case)
    case.tl:show()
end
print("\n5 runs of each")
lab.table(cases, { columns = { "case", "read", "fresh", "began_ms" } }):show()

local none, _, again, early = table.unpack(cases)
print(string.format("Verdict: %s: without an order a wrong result: %d of 5 runs read an old value",
    none.fresh == 0 and "holds" or "depends", 5 - none.fresh))
print(string.format("Verdict: %s: a later record does not count: %d of 5 runs read 49, after %.2f "
    .. "ms", again.fresh == 5 and again.began_ms < 2 and "holds" or "no longer holds",
    again.fresh, again.began_ms))
print(string.format("Verdict: %s: before its first record an event is empty: the consumer began "
    .. "after %.2f ms, and %d of 5 runs read 49", early.began_ms < 0.5 and "holds"
    or "no longer holds", early.began_ms, early.fresh))
