-- 52-inspect.t.lua - what the program's own code can see without changing anything: values in
-- memory, how objects stand, and which there are.
local tap = require "tap"
local lab = require "streamlab"

local internals = debug.getregistry()["streamlab.internals"]
lab.open { backend = "sim" }

-- Values in memory.
do
    local t = lab.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
    lab.synchronize()
    local now = lab.now_us()
    tap.is_deeply(internals.peek(t, 1, 2, 1), { 2, 3 }, "so many elements from a position on")
    tap.is_deeply(internals.peek(t:narrow(1, 2, 1), 1, 3, 0), { 4, 5, 6 }, "of a view its own")
    lab.spin(1)
    t:fill_(9)
    local calls_us = lab.now_us()
    tap.is_deeply(internals.peek(t, 1, 1, 0), { 1 }, "work in flight has not written them yet")
    tap.is(lab.now_us(), calls_us, "and peeking takes no virtual time")
    tap.ok(now < calls_us, "though the calls did")
    lab.synchronize()
    tap.is_deeply(internals.peek(t, 1, 1, 0), { 9 }, "afterwards it has")
    local host = lab.full(2, 4, { device = "cpu" })
    tap.is_deeply(internals.peek(host, 1, 2, 2), { 2, 2 }, "host memory in the same way")
    local half = lab.full(1.5, 4, { dtype = "bfloat16" })
    lab.synchronize()
    tap.is_deeply(internals.peek(half, 1, 2, 0), { 1.5, 1.5 }, "and every dtype")
end

do
    local a = lab.rand(4096, 4096)
    local product = lab.matmul(a, a)
    lab.synchronize()
    tap.is(internals.peek(product, 0.5, 1, 0), nil, "what takes longer to compute is left alone")
    local nothing, message, code = internals.peek(a, 1, 2, 4096 * 4096 - 1)
    tap.is(nothing, nil, "elements beyond the end")
    tap.like(message, "^2 elements after the first 16777215: the tensor has 16777216$",
        "are refused")
    tap.is(code, "SL_EINVAL", "with a code")
end

-- Operations in flight that use a tensor's memory.
do
    local function in_flight(t) return internals.state(t).in_flight end
    local a, b = lab.ones(2, 2), lab.ones(2, 2)
    local row = a:narrow(1, 1, 1)
    lab.synchronize()
    tap.is(in_flight(a), 0, "none use an idle tensor")
    lab.spin(1)
    lab.matmul(a, a, { out = b })
    tap.is(in_flight(a) .. in_flight(b), "11",
           "an operation counts once, however often it names it")
    lab.add(b, b, { out = b })
    tap.is(in_flight(a) .. in_flight(b), "12", "each that reads or writes counts")
    tap.is(in_flight(row), 1, "for a view those on the memory that it shares")
    lab.synchronize()
    tap.is(in_flight(a) + in_flight(b), 0, "and none when all have ended")
end

-- The objects that are open.
do
    lab.synchronize()
    collectgarbage()
    local before, n_before = internals.objects(1000)
    local stream <close>, event = lab.stream { name = "mine" }, lab.event()
    local tensor = lab.ones(3)
    local objects, n = internals.objects(1000)
    tap.is(n - n_before, 3, "three more are open")
    tap.is(#objects, n, "and in the list")
    tap.is(objects[1].kind .. objects[1].bytes .. objects[1].text,
        "tensor12tensor 3 float32 on cuda", "the latest first")
    tap.is(objects[1].key == internals.key(tensor), true, "by what stands for it")
    tap.is(objects[2].kind .. tostring(objects[2].recorded), "eventfalse", "an event")
    tap.is(objects[3].kind .. objects[3].name, "streammine", "a stream")
    tap.is(#internals.objects(1), 1, "no more than wished")
    event:close()
    tensor:free()
    tap.is(select(2, internals.objects(0)), n_before + 1, "what is closed or freed is not there")
    tap.is(internals.key("x"), nil, "other values have no key")
    tap.is(internals.state(event), nil, "what is closed has no state")
    tap.is(#before, n_before, "the counts agree")
end

-- States, and that asking takes no time.
do
    local stream <close>, event = lab.stream(), lab.event()
    lab.synchronize()
    local now = lab.now_us()
    tap.is(internals.state(event).recorded, false, "an event that was not recorded")
    lab.spin(1, { stream = stream })
    event:record(stream)
    local calls_us = lab.now_us() - now
    tap.is(internals.state(stream).in_flight, 2, "operations in flight are counted")
    tap.is(internals.state(event).happened, false, "an event is to happen")
    tap.is(internals.state(lab.device()).in_flight, 2, "the device's as well")
    tap.is(lab.now_us() - now, calls_us, "asking takes no virtual time")
    lab.host_work(2)
    tap.is(internals.state(stream).in_flight, 0, "what has ended is not in flight")
    tap.is(internals.state(event).happened, true, "and the event has happened")
    event:record(stream)
    tap.is(internals.state(event).happened, false, "a new record is to happen again")
    lab.synchronize()
    event:close()
end

tap.done()
