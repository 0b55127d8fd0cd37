-- One stream hands over to another: by an event, by a number in memory, or by the host?
--
-- Streams write numbers and wait for them without a kernel (cuStreamWriteValue32,
-- cuStreamWaitValue32): "Work ordered after the operation will block until the condition is
-- satisfied". Such a wait may be enqueued before the write. Often said: so a value hands over
-- sooner than an event. Expected: no, since both streams have one more thing to do.

local lab = require "streamlab"

local producer = lab.stream{ name = "producer", non_blocking = true }
local consumer = lab.stream{ name = "consumer", non_blocking = true }
local untimed = lab.event{ timing = false }
local word, step = lab.zeros(1, { dtype = "int32", device = "cpu", pinned = true }), 0

local function produce() lab.spin(1, { stream = producer }) end
local function consume() lab.spin(0.1, { stream = consumer }) end
local function write() producer:write_value(word, 1, step) end
local function wait() consumer:wait_value(word, 1, step) end

local function record_and_wait(event)
    return function() consumer:wait_event(producer:record_event(event)) end
end
local function synchronize() producer:synchronize() end

local ways = {
    { way = "event", calls = { produce, record_and_wait(untimed), consume } },
    { way = "event with a time", calls = { produce, record_and_wait(nil), consume } },
    { way = "value", calls = { produce, write, wait, consume } },
    { way = "value, waited for first", calls = { wait, consume, produce, write } },
    { way = "host", calls = { produce, synchronize, consume } },
}

-- From the producer's end to the consumer's begin, the median of 7; before them one that loads
-- the kernel.
local function hop_us(calls)
    local all = {}
    for i = 0, 7 do
        step = step + 1
        local at = {}
        local tl = lab.profile(function() for _, call in ipairs(calls) do call() end end)
        for _, span in ipairs(tl:spans()) do at[span.stream] = span end
        all[i] = at.consumer.start_us - at.producer.end_us
    end
    table.sort(all)
    return all[4]
end

for _, way in ipairs(ways) do way.hop_us = hop_us(way.calls) end
print(lab.table(ways, { columns = { "way", "hop_us" },
                        title = "From a kernel's end to another stream's kernel" }))

-- What a wait holds, and what not: the producer's work meanwhile.
step = step + 1
local before_us <const> = lab.now_us()
wait()
consume()
produce()
produce()
producer:synchronize()
local others_us <const> = lab.now_us() - before_us
local held <const> = not consumer:query()
write()
lab.synchronize()

local event, timed, value = ways[1].hop_us, ways[2].hop_us, ways[3].hop_us
local first, host = ways[4].hop_us, ways[5].hop_us
local function verdict(holds, text, ...)
    print(("Verdict: %s: " .. text):format(holds and "holds" or "no longer holds", ...))
end
print("")
verdict(held and first >= 0, "work behind a wait for a value blocks until it is there: it did for "
    .. "%.2f ms, in which another stream did 2 ms of work; enqueued before the write it began %.1f "
    .. "us behind it", others_us / 1000, first)
verdict(value < event, "a value hands over sooner than an event: after %.1f us, by an event after "
    .. "%.1f, by one with a time after %.1f, by the host after %.1f", value, event, timed, host)
