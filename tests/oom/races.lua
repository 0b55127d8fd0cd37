-- races.lua - what the failing allocator is tried on beside script.lua: the race checker, its
-- reports, views, sweeps and tables. It races on purpose, and so reports on stderr (runner -r).
-- arg[1] is where it may write.
local first = lab.open { backend = "sim", profile = "textbook" }
lab.open { backend = "sim", profile = "textbook", index = 1 }
first:make_current()

local producer, consumer = lab.stream { name = "producer" }, lab.stream { name = "consumer" }
local event = lab.event()
local on_consumer = { stream = consumer }

-- Ranges, all sorts of order, histories that are kept for a host function.
local function in_order()
    local x, host = lab.zeros(4, 8), lab.ones(8, { device = "cpu", pinned = true })
    lab.synchronize()
    for i = 1, 4 do
        x:narrow(1, i, 1):view(8):copy_(host, { non_blocking = true, stream = producer })
    end
    producer:record_event(event)
    consumer:wait_event(event)
    lab.mul(x, x, { out = x, stream = consumer })
    for _, half in ipairs(x:chunk(2)) do lab.add(half, 1, { out = half }) end   -- the NULL stream
    producer:synchronize()
    host:set(1, host:get(1) + 1)
    local seen
    consumer:launch_host_func(function() seen = host:get(2) end)
    lab.pow(x, 2, on_consumer)
    consumer:synchronize()
    assert(seen == 1 and x:cpu():get(4, 8) == 2)
    local memory = lab.cuda.malloc(64)
    lab.cuda.memset_async(memory, 0, 64, producer)
    producer:synchronize()
    lab.cuda.free(memory)
end

local function race()
    local x <const> = lab.zeros(4, 4)
    lab.synchronize()
    x:fill_(7, { stream = producer })
    return lab.mul(x:narrow(1, 2, 2), 2, on_consumer)
end

-- A graph with two branches, a host function, pageable memory, an update.
local function replays()
    local x, y = lab.zeros(4, 4), lab.zeros(4, 4)
    local host, memory = lab.ones(4, 4, { device = "cpu" }), lab.cuda.malloc(64)
    local function work()
        consumer:wait_stream(producer)
        x:copy_(host, { non_blocking = true, stream = producer })
        lab.cuda.memset_async(memory, 0, 64, consumer)
        consumer:launch_host_func(function() end)
        producer:wait_stream(consumer)
        lab.add(x, 1, { stream = producer, out = y })
    end
    local g <const> = lab.graph(work, { stream = producer })
    lab.synchronize()
    g:launch(producer)
    g:launch(consumer)
    assert(g:update(work, { stream = producer }))
    g:launch(consumer)
    consumer:synchronize()
    lab.cuda.free(memory)
    return g
end

-- Order across the ranks of a collective.
local function ranks()
    local comm = lab.comm { devices = { 0, 1 } }
    local page, copy = lab.empty(4, { device = "cuda:1" }), lab.empty(4)
    local t = { lab.empty(4), lab.empty(4, { device = "cuda:1" }) }
    page:fill_(7)
    comm:all_reduce(t, { name = "sum" })
    copy:copy_(page, { non_blocking = true })
    lab.synchronize()
    comm:free()
end

lab.check("warn")
in_order()
ranks()
replays():free()
assert(#lab.races() == 0)
race()
lab.synchronize()
if lab.check() == "warn" then
    local races = lab.races()
    assert(#races == 1 and tostring(races):find("producer", 1, true))
end

lab.check("error")
local raced, err = pcall(race)
assert(not raced and err.code == "SL_ERACE" or lab.check() == "off", err)
local graph = replays()
raced, err = pcall(graph.launch, graph)             -- of memory that is freed
assert(not raced and err.code == "SL_ERACE" or lab.check() == "off", err)
graph:free()
local many = {}
for i = 1, 40 do
    many[i] = lab.stream()
    lab.spin(0.001, { stream = many[i] })
end
in_order()
lab.check("off")

local results = lab.sweep({ { "n", { 4, 8 } } }, function(point)
    local x = lab.zeros(point.n)
    return function() x:fill_(1) end
end, { warmup = 0, reps = 2 })
results:show()
results:csv(arg[1])
results:jsonl(arg[1])
lab.table({ { n = 1, text = "a" }, { n = 2, text = "b" } }):show()
