-- The four explicit ways to wait for a stream: what does each cost the host and the GPU?
--
-- An often-read answer lists them: cudaDeviceSynchronize "waits until all preceding commands in all
-- streams have completed"; cudaStreamSynchronize waits for one, "allowing other streams to
-- continue"; cudaStreamWaitEvent "makes the stream wait"; cudaStreamQuery asks. A producer works
-- for 2 ms, a bystander for 6, and a consumer must start behind the producer. Expected: as it says;
-- only wait_event leaves the host free, and only the first one waits for everybody.

local lab = require "streamlab"

local producer = lab.stream{ name = "producer" }
local consumer = lab.stream{ name = "consumer" }
local bystander = lab.stream{ name = "bystander" }

local ways = {
    { way = "device", call = lab.synchronize },
    { way = "stream", call = function() producer:synchronize() end },
    { way = "wait_event", call = function() consumer:wait_event(producer:record_event()) end },
    { way = "query", call = function() while not producer:query() do lab.host_work(0.02) end end },
}

for round = 1, 2 do         -- the first one loads the kernel
    for _, row in ipairs(ways) do
        local tl = lab.profile(function()
            lab.spin(6, { stream = bystander })
            lab.spin(2, { stream = producer })
            local before = lab.now_us()
            row.call()
            row.host_held_us = lab.now_us() - before
            row.bystander_done = bystander:query()
            lab.spin(1, { stream = consumer })
        end)
        local spans = tl:spans()
        row.consumer_late_us = spans[3].start_us - spans[2].end_us
        row.makespan_ms = tl.makespan_us / 1000
        local before = lab.now_us()
        for _ = 1, 100 do row.call() end
        row.idle_call_us = (lab.now_us() - before) / 100
    end
end
print(lab.table(ways, { columns = { "way", "host_held_us", "bystander_done", "consumer_late_us",
    "makespan_ms", "idle_call_us" }, title = "Waiting for a producer of 2 ms beside one of 6 ms" }))
print("")

local device, stream, event, query = table.unpack(ways)
local function verdict(holds, text, ...)
    print(("Verdict: %s: " .. text):format(holds and "holds" or "no longer holds", ...))
end
verdict(device.bystander_done and device.host_held_us > 5000, "cudaDeviceSynchronize waits for all "
    .. "streams: the host was held for %.2f of 6 ms", device.host_held_us / 1000)
verdict(not stream.bystander_done and stream.host_held_us > 1500, "cudaStreamSynchronize lets "
    .. "others go on: the host was held for %.2f of 6 ms", stream.host_held_us / 1000)
verdict(event.host_held_us < 1000 and event.consumer_late_us >= 0, "cudaStreamWaitEvent makes a "
    .. "stream wait: it began %.1f us behind the producer, and the host was held for %.1f us",
    event.consumer_late_us, event.host_held_us)
verdict(query.idle_call_us < 100 and query.consumer_late_us >= 0, "cudaStreamQuery asks: an answer "
    .. "takes %.2f us, and the consumer began %.1f us later than with an event",
    query.idle_call_us, query.consumer_late_us - event.consumer_late_us)
