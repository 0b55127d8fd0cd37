-- events.lua - pairs about events.

return {
    {
        name = "an event's time",
        rows = { "`torch.cuda.Event()`" },
        of = "lab.event",
        plain = {
            "the time between two: true", "the time between one with a time and one without: true",
        },
        python = [=[
a, b = torch.cuda.Event(), torch.cuda.Event()
a.record()
b.record()
torch.cuda.synchronize()
show("the time between two", outcome(lambda: a.elapsed_time(b) >= 0))
timed = torch.cuda.Event(enable_timing=True)
timed.record()
torch.cuda.synchronize()
show("the time between one with a time and one without", outcome(lambda: a.elapsed_time(timed) >= 0))
]=],
        lua = [=[
local a, b = lab.event(), lab.event()
a:record()
b:record()
lab.synchronize()
show("the time between two", outcome(function() return a:elapsed_time(b) >= 0 end))
local timed = lab.event{enable_timing = true}
timed:record()
lab.synchronize()
show("the time between one with a time and one without", outcome(function() return a:elapsed_time(timed) >= 0 end))
]=],
    },
    {
        name = "a recorded event's time",
        rows = { "`s.record_event()`" },
        of = "stream:record_event",
        plain = { "the time between two: true" },
        python = [=[
s = torch.cuda.Stream()
a = s.record_event()
b = s.record_event()
s.synchronize()
show("the time between two", outcome(lambda: a.elapsed_time(b) >= 0))
e = torch.cuda.Event(enable_timing=True)
show("given an event, it gives that", s.record_event(e) == e)
]=],
        lua = [=[
local s = lab.stream()
local a = s:record_event()
local b = s:record_event()
s:synchronize()
show("the time between two", outcome(function() return a:elapsed_time(b) >= 0 end))
local e = lab.event{enable_timing = true}
show("given an event, it gives that", s:record_event(e) == e)
]=],
    },
    {
        name = "timed events",
        rows = { "`torch.cuda.Event(enable_timing=True)`", "`e.elapsed_time(f)`" },
        of = "event:elapsed_time",
        python = [=[
a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
show("the time between two that were not recorded", outcome(lambda: a.elapsed_time(b)))
a.record()
busy()
b.record()
show("before the second has happened", outcome(lambda: a.elapsed_time(b)))
b.synchronize()
show("the time is in milliseconds", 100 < a.elapsed_time(b) < 400)
show("backwards it is negative", b.elapsed_time(a) < 0)
show("to itself", a.elapsed_time(a))
]=],
        lua = [=[
local a, b = lab.event{enable_timing = true}, lab.event{enable_timing = true}
show("the time between two that were not recorded", outcome(function() return a:elapsed_time(b) end))
a:record()
busy()
b:record()
show("before the second has happened", outcome(function() return a:elapsed_time(b) end))
b:synchronize()
show("the time is in milliseconds", 100 < a:elapsed_time(b) and a:elapsed_time(b) < 400)
show("backwards it is negative", b:elapsed_time(a) < 0)
show("to itself", a:elapsed_time(a))
]=],
    },
    {
        name = "other options of events",
        rows = { "`torch.cuda.Event()`" },
        of = "lab.event",
        here = { "blocking: refused" },
        python = [=[
show("blocking", outcome(lambda: torch.cuda.Event(blocking=True).query()))
]=],
        lua = [=[
show("blocking", outcome(function() return lab.event{blocking = true}:query() end))
]=],
    },
    {
        name = "asking events",
        rows = { "`e.query()`", "`e.synchronize()`" },
        of = "event:query event:synchronize",
        python = [=[
e = torch.cuda.Event()
show("not recorded, it has happened", e.query())
e.synchronize()
busy()
e.record()
busy()
show("behind a spin", e.query())
e.synchronize()
show("when synchronised", e.query())
show("and what came behind it", torch.cuda.current_stream().query())
]=],
        lua = [=[
local e = lab.event()
show("not recorded, it has happened", e:query())
e:synchronize()
busy()
e:record()
busy()
show("behind a spin", e:query())
e:synchronize()
show("when synchronised", e:query())
show("and what came behind it", lab.current_stream():query())
]=],
    },
    {
        name = "recording an event",
        rows = { "`e.record(s)`" },
        of = "event:record",
        python = [=[
s, e = torch.cuda.Stream(), torch.cuda.Event()
busy(s)
e.record()
e.synchronize()
show("without a stream it is the current one's", not s.query())
e.record(s)
show("with one it is that one's", not e.query())
with torch.cuda.stream(s):
    e.record()
show("and within a block the block's", not e.query())
]=],
        lua = [=[
local s, e = lab.stream{non_blocking = true}, lab.event()
busy(s)
e:record()
e:synchronize()
show("without a stream it is the current one's", not s:query())
e:record(s)
show("with one it is that one's", not e:query())
lab.with(s, function()
    e:record()
end)
show("and within a block the block's", not e:query())
]=],
    },
}
