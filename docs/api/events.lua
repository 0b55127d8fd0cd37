return {
    title = "Events",
    class = "event",
    order = 30,
    about = [[
An event is a mark in a stream: it happens when the work that the stream held at its record has completed. Other streams can wait for it on the device
(`stream:wait_event`), the host can query it or wait for it, and two timed events measure the time between them.]],
    entries = {
        {
            name = "lab.event",
            brief = "makes an event",
            options = {
                { "timing", "boolean", "whether it measures time; an event that does not is cheaper", default = "true; after `lab.torch_defaults()` false" },
                { "enable_timing", "boolean", "the same by PyTorch's name", default = "as `timing`" },
            },
            returns = { { "event", "a new event of the current device, not recorded yet" } },
            errors = { { "SL_EINVAL", "both names of the one option are given" } },
            example = [[
local start, stop = lab.event(), lab.event()
start:record()
lab.spin(2)
stop:record()
stop:synchronize()
print(start:elapsed_time(stop) >= 2)  --> true]],
            cuda = "cudaEventCreateWithFlags, cudaEventCreate",
            pytorch = "torch.cuda.Event",
            differs = [[It measures time unless `timing = false` is given or `lab.torch_defaults()` was called; PyTorch's does so only with `enable_timing=True`. There is no `blocking`.]],
            see = { "event:record", "stream:record_event", "event:elapsed_time" },
        },
        {
            name = "event:record",
            brief = "records the event in a stream",
            arguments = {
                { "stream", "stream", "the stream; the event happens when its work so far is done", default = "the current stream" },
            },
            returns = { { "event", "the event itself" } },
            errors = { { "SL_ECLOSED", "the event or the stream is closed" }, { "SL_EDEVICE", "the stream is another device's" } },
            about = [[
If it is recorded again, the new record counts. Waits that were enqueued before still wait for the record that was the latest then.]],
            example = [[
local s = lab.stream()
local e = lab.event()
lab.spin(1, { stream = s })
e:record(s)
print(e:query())  --> false
s:synchronize()
print(e:query())  --> true]],
            cuda = "cudaEventRecord",
            pytorch = "torch.cuda.Event.record",
            see = { "stream:record_event", "stream:wait_event" },
        },
        {
            name = "event:query",
            brief = "asks whether the event has happened",
            returns = { { "boolean", "true if the latest record has completed, or there is none" } },
            example = [[
local e = lab.event()
print(e:query())  --> true
lab.spin(1)
e:record()
print(e:query())  --> false]],
            cuda = "cudaEventQuery",
            pytorch = "torch.cuda.Event.query",
        },
        {
            name = "event:synchronize",
            brief = "waits until the event has happened",
            blocks = "until the latest record has completed; not at all if there is none",
            example = [[
local e = lab.event()
lab.spin(1)
e:record():synchronize()
print(e:query())  --> true]],
            cuda = "cudaEventSynchronize",
            pytorch = "torch.cuda.Event.synchronize",
            see = { "stream:synchronize", "lab.synchronize" },
        },
        {
            name = "event:elapsed_time",
            brief = "the time between two events",
            arguments = { { "other", "event", "the later one" } },
            returns = { { "number", "milliseconds from this event to the other one" } },
            errors = { { "SL_ESTATE", "one of the two has no time, was not recorded or has not happened yet" } },
            example = [[
local start, stop = lab.event():record(), lab.event()
lab.host_work(1)
lab.spin(3)
stop:record():synchronize()
print(start:elapsed_time(stop) > 4)  --> true]],
            about = [[An event has no time if it was made with `timing = false`, or after `lab.torch_defaults()` without `timing = true`.]],
            cuda = "cudaEventElapsedTime",
            pytorch = "torch.cuda.Event.elapsed_time",
        },
        {
            name = "event:close",
            brief = "ends the event",
            about = [[
Waits that were enqueued for it stay. The garbage collector closes an event that nothing refers to any more; `local e <close> = lab.event()` closes it at the end of the
block.]],
            example = [[
local e = lab.event()
e:close()
print(e)  --> event (closed)]],
            cuda = "cudaEventDestroy",
        },
        { name = "event.timing", type = "boolean", brief = "whether it measures time" },
        { name = "event.recorded", type = "boolean", brief = "whether it was recorded at least once" },
    },
}
