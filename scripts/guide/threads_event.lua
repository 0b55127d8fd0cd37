-- A loader thread fills a tensor and records an event; the script waits for the event. Too early.
local copies, compute = lab.stream{ name = "copies" }, lab.stream{ name = "compute" }
local x, ready = lab.zeros(1024, 1024), lab.event()
lab.synchronize()

local loader = lab.thread(function(s, data, event)
    lab.host_work(1)                        -- reads a file
    data:fill_(7, s)
    event:record(s)
end, copies, x, ready)
compute:wait_event(ready)                   -- of an event without a record: no wait
local y = lab.mul(x, 2, { stream = compute })
loader:join()
print(y:get(1, 1), "should be 14")
