-- A producer in one stream, a consumer in another, and nothing between them: what is read?
--
-- The producer works for 1 ms and then writes 7 over the 1 in x; the consumer squares x. Expected:
-- without an event the consumer runs at once and reads the old value, 1 * 1 = 1, every time. On a
-- real GPU such a race goes well or badly by chance; here it goes by the clock, so it can be
-- studied. With record_event and wait_event the consumer starts after the producer: 7 * 7 = 49.

local lab = require "streamlab"

local producer = lab.stream{name = "producer"}
local consumer = lab.stream{name = "consumer"}

local function run(with_event)
    local x = lab.full(1, 4, 4)
    local squares = lab.zeros(4, 4)
    local tl = lab.profile(function()
        lab.spin(1, {stream = producer})
        lab.with(producer, function() x:fill_(7) end)
        if with_event then
            consumer:wait_event(producer:record_event())
        end
        lab.mul(x, x, {out = squares, stream = consumer})
    end)
    return squares:get(1, 1), tl
end

local cases = {{name = "no event", with_event = false}, {name = "wait_event", with_event = true}}
for _, case in ipairs(cases) do
    case.values = {}
    for i = 1, 5 do
        case.values[i], case.tl = run(case.with_event)
    end
    print("\n" .. case.name)
    case.tl:show()
end

print("\ncase         5 runs read            makespan")
for _, case in ipairs(cases) do
    local texts = {}
    for i, value in ipairs(case.values) do texts[i] = string.format("%g", value) end
    print(string.format("%-12s %-20s %8.2f ms", case.name, table.concat(texts, " "),
                        case.tl.makespan_us / 1000))
end

-- "all 5 runs read 1", or "of 5 runs 2 read 1 and 3 read 49"; `runs` is the noun.
local function told(values, runs)
    local counts, parts = {}, {}
    for _, value in ipairs(values) do counts[value] = (counts[value] or 0) + 1 end
    for value, count in pairs(counts) do
        parts[#parts + 1] = string.format("%d read %g", count, value)
    end
    if #parts == 1 then return string.format("all %d%s read %g", #values, runs, values[1]) end
    table.sort(parts)
    return string.format("of %d%s %s", #values, runs, table.concat(parts, " and "))
end

print(string.format("\nWithout the event %s, with it %s.", told(cases[1].values, " runs"),
                    told(cases[2].values, "")))
