-- streams.lua - pairs about streams.

return {
    {
        name = "a stream and the default stream",
        rows = { "`torch.cuda.Stream()`" },
        of = "lab.stream",
        plain = {
            "it runs beside the default stream: false", "the default stream runs beside it: false",
        },
        python = [=[
s, default = torch.cuda.Stream(), torch.cuda.default_stream()
show("it runs beside the default stream", beside(default, s))
show("the default stream runs beside it", beside(s, default))
show("it runs beside another one", beside(s, torch.cuda.Stream()))
]=],
        lua = [=[
local s, default = lab.stream(), lab.default_stream()
show("it runs beside the default stream", beside(default, s))
show("the default stream runs beside it", beside(s, default))
show("it runs beside another one", beside(s, lab.stream()))
]=],
    },
    {
        name = "33 streams",
        rows = { "`torch.cuda.Stream()`" },
        of = "lab.stream",
        here = { "the 33rd is the first one again: false" },
        python = [=[
streams = [torch.cuda.Stream() for _ in range(33)]
show("the 33rd is the first one again", streams[32] == streams[0])
]=],
        lua = [=[
local streams = {}
for i = 1, 33 do streams[i] = lab.stream() end
show("the 33rd is the first one again", streams[33] == streams[1])
]=],
    },
    {
        name = "priorities",
        rows = { "`torch.cuda.Stream(priority=-1)`" },
        of = "lab.stream",
        here = { "of -99: -5" },
        python = [=[
show("of none", torch.cuda.Stream().priority)
show("of -1", torch.cuda.Stream(priority=-1).priority)
show("of -99", torch.cuda.Stream(priority=-99).priority)
show("of 1", outcome(lambda: torch.cuda.Stream(priority=1).priority))
]=],
        lua = [=[
show("of none", lab.stream().priority)
show("of -1", lab.stream{priority = -1}.priority)
show("of -99", lab.stream{priority = -99}.priority)
show("of 1", outcome(function() return lab.stream{priority = 1}.priority end))
]=],
    },
    {
        name = "a stream made current",
        rows = { "`with torch.cuda.stream(s): ...`", "`with torch.cuda.stream(s): y = f(x)`" },
        of = "lab.with lab.current_stream",
        python = [=[
s = torch.cuda.Stream()
def fails():
    with torch.cuda.stream(s):
        raise ValueError
show("the default stream is current", torch.cuda.current_stream() == torch.cuda.default_stream())
with torch.cuda.stream(s):
    show("inside", torch.cuda.current_stream() == s)
show("behind", torch.cuda.current_stream() == s)
outcome(fails)
show("behind an error", torch.cuda.current_stream() == s)
def enters():
    with torch.cuda.stream(s):
        pass
show("the host waits for the stream", waits(enters, s))
]=],
        lua = [=[
local s = lab.stream()
local function fails()
    lab.with(s, error)
end
show("the default stream is current", lab.current_stream() == lab.default_stream())
lab.with(s, function()
    show("inside", lab.current_stream() == s)
end)
show("behind", lab.current_stream() == s)
outcome(fails)
show("behind an error", lab.current_stream() == s)
local function enters()
    lab.with(s, function() end)
end
show("the host waits for the stream", waits(enters, s))
]=],
    },
    {
        name = "no stream made current",
        rows = { "`with torch.cuda.stream(s): ...`", "`with torch.cuda.stream(s): y = f(x)`" },
        of = "lab.with",
        here = { "with None: refused" },
        python = [=[
def no_stream():
    with torch.cuda.stream(None):
        return 1
show("with None", outcome(no_stream))
]=],
        lua = [=[
local function no_stream()
    return lab.with(nil, function() return 1 end)
end
show("with None", outcome(no_stream))
]=],
    },
    {
        name = "a stream set",
        rows = { "`torch.cuda.set_stream(s)`" },
        of = "lab.use",
        python = [=[
s = torch.cuda.Stream()
torch.cuda.set_stream(s)
show("it is current", torch.cuda.current_stream() == s)
x = torch.ones(4, device="cuda")
busy()
show("work goes to it", not s.query())
]=],
        lua = [=[
local s = lab.stream()
lab.use(s)
show("it is current", lab.current_stream() == s)
local x = lab.ones(4)
busy()
show("work goes to it", not s:query())
]=],
    },
    {
        name = "a stream waits for a stream",
        rows = { "`s.wait_stream(t)`", "`s.wait_stream(r)`" },
        of = "stream:wait_stream",
        python = [=[
a, b = torch.cuda.Stream(), torch.cuda.Stream()
def wait():
    b.wait_stream(a)
show("the host waits", waits(wait, a))
busy(a)
b.wait_stream(a)
busy(a)
b.synchronize()
show("it waits for what came later as well", a.query())
torch.cuda.synchronize()
busy(a)
b.wait_stream(a)
busy(b)
a.synchronize()
show("its own work begins afterwards", not b.query())
]=],
        lua = [=[
local a, b = lab.stream(), lab.stream()
local function wait()
    b:wait_stream(a)
end
show("the host waits", waits(wait, a))
busy(a)
b:wait_stream(a)
busy(a)
b:synchronize()
show("it waits for what came later as well", a:query())
lab.synchronize()
busy(a)
b:wait_stream(a)
busy(b)
a:synchronize()
show("its own work begins afterwards", not b:query())
]=],
    },
    {
        name = "a stream waits for an event",
        rows = { "`s.wait_event(e)`" },
        of = "stream:wait_event",
        python = [=[
a, b = torch.cuda.Stream(), torch.cuda.Stream()
never = torch.cuda.Event()
busy(a)
b.wait_event(never)
b.synchronize()
show("it waits for an event that was not recorded", a.query())
torch.cuda.synchronize()
busy(a)
e = a.record_event()
b.wait_event(e)
busy(a, 3)
e.record(a)
busy(b)
b.synchronize()
show("it waits for a later record of the event", a.query())
]=],
        lua = [=[
local a, b = lab.stream(), lab.stream()
local never = lab.event()
busy(a)
b:wait_event(never)
b:synchronize()
show("it waits for an event that was not recorded", a:query())
lab.synchronize()
busy(a)
local e = a:record_event()
b:wait_event(e)
busy(a, 3)
e:record(a)
busy(b)
b:synchronize()
show("it waits for a later record of the event", a:query())
]=],
    },
    {
        name = "an event that a stream waits for",
        rows = { "`e.wait(s)`" },
        of = "stream:wait_event",
        python = [=[
a, b = torch.cuda.Stream(), torch.cuda.Stream()
busy(a)
e = a.record_event()
e.wait(b)
show("the host has waited", a.query())
b.synchronize()
show("the stream has waited", a.query())
]=],
        lua = [=[
local a, b = lab.stream(), lab.stream()
busy(a)
local e = a:record_event()
b:wait_event(e)
show("the host has waited", a:query())
b:synchronize()
show("the stream has waited", a:query())
]=],
    },
    {
        name = "synchronising a stream",
        rows = { "`s.synchronize()`", "`s.query()`" },
        of = "stream:synchronize stream:query",
        python = [=[
a, b = torch.cuda.Stream(), torch.cuda.Stream()
show("done without any work", a.query())
busy(a)
busy(b, 3)
show("done at once", a.query())
a.synchronize()
show("done when synchronised", a.query())
show("others are, too", b.query())
]=],
        lua = [=[
local a, b = lab.stream(), lab.stream()
show("done without any work", a:query())
busy(a)
busy(b, 3)
show("done at once", a:query())
a:synchronize()
show("done when synchronised", a:query())
show("others are, too", b:query())
]=],
    },
    {
        name = "asking the default stream",
        rows = { "`torch.cuda.default_stream()`" },
        of = "lab.default_stream",
        plain = {
            "idle while another one is busy: false",
            "waiting for it waits for the other one: true",
        },
        python = [=[
s = torch.cuda.Stream()
busy(s)
show("idle while another one is busy", torch.cuda.default_stream().query())
torch.cuda.default_stream().synchronize()
show("waiting for it waits for the other one", s.query())
]=],
        lua = [=[
local s = lab.stream()
busy(s)
show("idle while another one is busy", lab.default_stream():query())
lab.default_stream():synchronize()
show("waiting for it waits for the other one", s:query())
]=],
    },
    {
        name = "synchronising the device",
        rows = { "`torch.cuda.synchronize()`" },
        of = "lab.synchronize",
        python = [=[
a, b = torch.cuda.Stream(), torch.cuda.Stream()
busy(a)
busy(b, 2)
torch.cuda.synchronize()
show("all streams are done", a.query() and b.query())
]=],
        lua = [=[
local a, b = lab.stream(), lab.stream()
busy(a)
busy(b, 2)
lab.synchronize()
show("all streams are done", a:query() and b:query())
]=],
    },
    {
        name = "a spin",
        rows = { "`torch.cuda._sleep(cycles)`" },
        of = "lab.spin",
        here = { "a spin of 1 lasts a millisecond: true" },
        python = [=[
a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
torch.cuda._sleep(1)
torch.cuda.synchronize()
a.record()
torch.cuda._sleep(1)
b.record()
torch.cuda.synchronize()
show("a spin of 1 lasts a millisecond", a.elapsed_time(b) >= 1)
show("the host waits for it", waits(lambda: torch.cuda._sleep(1)))
]=],
        lua = [=[
local a, b = lab.event{enable_timing = true}, lab.event{enable_timing = true}
lab.spin(1)
lab.synchronize()
a:record()
lab.spin(1)
b:record()
lab.synchronize()
show("a spin of 1 lasts a millisecond", a:elapsed_time(b) >= 1)
show("the host waits for it", waits(function() lab.spin(1) end))
]=],
    },
    {
        name = "a profile",
        rows = { "`torch.profiler.profile()`", "`with torch.profiler.profile(): f(x)`" },
        of = "lab.profile",
        python = [=[
x = torch.ones(4, device="cuda")
y = x + 1
torch.cuda.synchronize()
def profiled():
    with torch.profiler.profile() as p:
        busy()
        y = x + 1
        y = x + 1
    return p
profiled()
p = profiled()
show("the GPU is done at its end", torch.cuda.current_stream().query())
names = [e.name for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA]
note(names)
show("kernels it has", len([n for n in names if "memset" not in n.lower() and "memcpy" not in n.lower()]))
]=],
        lua = [=[
local x = lab.ones(4)
local y = x + 1
lab.synchronize()
local function profiled()
    return lab.profile(function()
        busy()
        y = x + 1
        y = x + 1
    end)
end
profiled()
local p = profiled()
show("the GPU is done at its end", lab.current_stream():query())
local n = 0
for _, span in ipairs(p:spans()) do
    if span.kind == "kernel" then n = n + 1 end
end
show("kernels it has", n)
]=],
    },
    {
        name = "the range of priorities",
        rows = { "`torch.cuda.Stream.priority_range()`" },
        of = "device.priority_range",
        here = { "least and greatest: [0, -5]" },
        python = [=[
show("least and greatest", outcome(lambda: list(torch.cuda.Stream.priority_range())))
]=],
        lua = [=[
local range = lab.device().priority_range
show("least and greatest", {range.least, range.greatest})
]=],
    },
    {
        name = "work of a stream that nobody waits for",
        rows = { "`torch.cuda.Stream()`" },
        of = "lab.stream",
        plain = { "what the default stream has read: 5.0" },
        python = [=[
s, x = torch.cuda.Stream(), torch.zeros(4, device="cuda")
torch.cuda.synchronize()
with torch.cuda.stream(s):
    busy()
    x.fill_(5)
y = x + 0
torch.cuda.synchronize()
show("what the default stream has read", y[0].item())
show("what is there in the end", x[0].item())
]=],
        lua = [=[
local s, x = lab.stream(), lab.zeros(4)
lab.synchronize()
lab.with(s, function()
    busy()
    x:fill_(5)
end)
local y = x + 0
lab.synchronize()
show("what the default stream has read", y:get(1))
show("what is there in the end", x:get(1))
]=],
    },
    {
        name = "work of a stream that is waited for",
        rows = { "`s.wait_stream(t)`", "`s.wait_stream(r)`" },
        of = "stream:wait_stream",
        python = [=[
s, x = torch.cuda.Stream(), torch.zeros(4, device="cuda")
s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    busy()
    x.fill_(5)
torch.cuda.current_stream().wait_stream(s)
y = x + 0
show("the host has waited", s.query())
show("what the default stream has read", y[0].item())
]=],
        lua = [=[
local s, x = lab.stream(), lab.zeros(4)
s:wait_stream(lab.current_stream())
lab.with(s, function()
    busy()
    x:fill_(5)
end)
lab.current_stream():wait_stream(s)
local y = x + 0
show("the host has waited", s:query())
show("what the default stream has read", y:get(1))
]=],
    },
    {
        name = "fields of streams",
        rows = {},
        of = "stream.priority stream.device",
        python = [=[
s = torch.cuda.Stream(priority=-2)
show("the priority", s.priority)
show("the number of its GPU", s.device.index)
show("that of the default stream", torch.cuda.default_stream().priority)
]=],
        lua = [=[
local s = lab.stream{priority = -2}
show("the priority", s.priority)
show("the number of its GPU", s.device.index)
show("that of the default stream", lab.default_stream().priority)
]=],
    },
    {
        name = "numbers of streams",
        rows = {},
        of = "stream.id",
        python = [=[
show("that of the default stream", torch.cuda.default_stream().stream_id)
show("two streams have different ones", torch.cuda.Stream().stream_id != torch.cuda.Stream().stream_id)
]=],
        lua = [=[
show("that of the default stream", lab.default_stream().id)
show("two streams have different ones", lab.stream().id ~= lab.stream().id)
]=],
    },
    {
        name = "a profile that is started and stopped",
        rows = {},
        of = "lab.record timeline:stop timeline:spans",
        python = [=[
x = torch.ones(4, device="cuda")
y = x + 1
torch.cuda.synchronize()
p = torch.profiler.profile()
p.start()
busy()
y = x + 1
p.stop()
show("the GPU is done at its end", torch.cuda.current_stream().query())
show("kernels it has", len([e for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA and "mem" not in e.name.lower()]))
]=],
        lua = [=[
local x = lab.ones(4)
local y = x + 1
lab.synchronize()
local p = lab.record()
busy()
y = x + 1
p:stop()
show("the GPU is done at its end", lab.current_stream():query())
local n = 0
for _, span in ipairs(p:spans()) do
    if span.kind == "kernel" then n = n + 1 end
end
show("kernels it has", n)
]=],
    },
}
