-- 60-races-graphs.t.lua - the race checker and graphs: between the nodes of a launch, between
-- launches and streams, the host, and memory that has been freed.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

local h2d <const>, d2h <const> = "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)"
local staged <const> = "Memcpy HtoD (Pageable -> Device)"
local unstaged <const> = "Memcpy DtoH (Device -> Pageable)"

-- ---- the nodes of one launch ------------------------------------------------------------

wrong("two branches write the same tensor", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function()
    consumer:wait_stream(producer)
    lab.spin(2, {stream = producer})
    x:fill_(1, producer)                                        --A
    x:fill_(2, consumer)                                        --B
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = third}                                        --L
]], {
    first = { "A", "write", "fill_f32", "third", "L" },
    second = { "B", "write", "fill_f32", "consumer (graph)", "L" },
    inside = true, remedy = "consumer:wait_stream(producer)", stale = true,
})

wrong("a branch forks before the write that it reads", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function()
    lab.spin(1, {stream = producer})
    local e = producer:record_event()
    x:fill_(1, producer)                                        --A
    consumer:wait_event(e)
    lab.add(x, 1, {stream = consumer})                          --B
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = producer}                                     --L
]], {
    first = { "A", "write", "fill_f32", "producer", "L" },
    second = { "B", "read", "add_scalar_f32", "consumer (graph)", "L" },
    inside = true, remedy = "consumer:wait_stream(producer)",
})

wrong("the join comes behind the read", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function()
    consumer:wait_stream(producer)
    lab.spin(2, {stream = consumer})
    x:fill_(1, consumer)                                        --A
    lab.add(x, 1, {stream = producer})                          --B
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = third}                                        --L
g:launch{stream = third}
]], {
    first = { "A", "write", "fill_f32", "consumer (graph)", "L" },
    second = { "B", "read", "add_scalar_f32", "third", "L" },
    inside = true, remedy = "producer:wait_stream(consumer)", stale = true, count = 2,
})

wrong("a host function in a branch writes what the other one copies", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
local x = lab.empty(4, 4)
local g = lab.graph(function()
    consumer:wait_stream(producer)
    x:copy_(p, {non_blocking = true, stream = producer})        --A
    consumer:launch_host_func(function() p:set(1, 1, 7) end)    --B
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = producer}                                     --L
]], {
    first = { "A", "read", h2d, "producer", "L" },
    second = { "B", "write", "write", "host_func consumer (graph)", "L" },
    inside = true, remedy = "consumer:wait_stream(producer)", bytes = { 0, 4 }, lasting = true,
})

right("branches that wait for each other", [[
local x, y = lab.empty(4, 4), lab.empty(4, 4)
local g = lab.graph(function()
    x:fill_(1, producer)
    consumer:wait_stream(producer)
    lab.add(x, 1, {stream = consumer, out = y})
    producer:wait_stream(consumer)
    lab.add(y, 1, {stream = producer, out = x})
end, {stream = producer})
g:launch{stream = producer}
g:launch{stream = third}
]])

right("branches that read the same tensor and write others", [[
local x, y, z = lab.ones(4, 4), lab.empty(4, 4), lab.empty(4, 4)
lab.synchronize()
local g = lab.graph(function()
    consumer:wait_stream(producer)
    lab.add(x, 1, {stream = producer, out = y})
    lab.add(x, 2, {stream = consumer, out = z})
    producer:wait_stream(consumer)
end, {stream = producer})
for _ = 1, 3 do g:launch{stream = producer} end
]])

right("a chain through three streams", [[
local x = lab.empty(4, 4)
local g = lab.graph(function()
    x:fill_(1, producer)
    consumer:wait_stream(producer)
    lab.add(x, 1, {stream = consumer, out = x})
    third:wait_stream(consumer)
    lab.add(x, 1, {stream = third, out = x})
    producer:wait_stream(third)
    lab.add(x, 1, {stream = producer, out = x})
end, {stream = producer})
g:launch{stream = consumer}
g:launch{stream = consumer}
]])

right("a host function behind the copy that it reads", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})
local x = lab.ones(4, 4)
lab.synchronize()
local g = lab.graph(function()
    p:copy_(x, {non_blocking = true, stream = producer})
    producer:launch_host_func(function() p:set(1, 1, p:get(1, 1) + 1) end)
    x:copy_(p, {non_blocking = true, stream = producer})
end, {stream = producer})
for _ = 1, 3 do g:launch{stream = producer} end
producer:synchronize()
p:totable()
]])

-- ---- launches and streams ---------------------------------------------------------------

wrong("new data is copied in by another stream", [[
local x, y, new = lab.ones(4, 4), lab.empty(4, 4), lab.ones(4, 4)       --X
lab.synchronize()
local g = lab.graph(function() lab.add(x, 1, {stream = producer, out = y}) end,   --B
                    {stream = producer})
x:copy_(new, {non_blocking = true, stream = consumer})          --A
g:launch{stream = producer}                                     --L
]], {
    first = { "A", "write", false, "consumer" },
    second = { "B", "read", "add_scalar_f32", "producer", "L" },
})

wrong("the result is read in another stream", [[
local x, y = lab.ones(4, 4), lab.empty(4, 4)                    --X
lab.synchronize()
local g = lab.graph(function()
    lab.spin(2, {stream = producer})
    lab.add(x, 1, {stream = producer, out = y})                 --A
end, {stream = producer})
g:launch{stream = producer}                                     --L
lab.add(y, 1, {stream = consumer})                              --B
]], {
    first = { "A", "write", "add_scalar_f32", "producer", "L" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
})

wrong("the event is recorded before the launch", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})   --A
local e = producer:record_event()
g:launch{stream = producer}                                     --L
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})                              --B
]], {
    first = { "A", "write", "fill_f32", "producer", "L" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

wrong("a stream waits for one that was captured, not for that of the launch", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function()
    consumer:wait_stream(producer)
    lab.spin(2, {stream = consumer})
    x:fill_(1, consumer)                                        --A
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = producer}                                     --L
third:wait_stream(consumer)
lab.add(x, 1, {stream = third})                                 --B
]], {
    first = { "A", "write", "fill_f32", "consumer (graph)", "L" },
    second = { "B", "read", "add_scalar_f32", "third" },
    remedy = "third:wait_stream(producer)", stale = true,
})

wrong("two graphs with the same memory in two streams", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})   --A
local h = lab.graph(function() x:fill_(2, producer) end, {stream = producer})   --B
lab.spin(2, {stream = producer})
g:launch{stream = producer}                                     --L
h:launch{stream = consumer}                                     --M
]], {
    first = { "A", "write", "fill_f32", "producer", "L" },
    second = { "B", "write", "fill_f32", "consumer", "M" }, stale = true,
})

wrong("what follows the first of two launches of one graph", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})   --B
g:launch{stream = producer}
lab.add(x, 1, {stream = producer})                              --A
g:launch{stream = consumer}                                     --L
]], {
    first = { "A", "read", "add_scalar_f32", "producer" },
    second = { "B", "write", "fill_f32", "consumer", "L" },
})

wrong("the graph has been updated to other memory", [[
local x = lab.empty(4, 4)
local y = lab.empty(4, 4)                                       --X
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})
assert(g:update(function() y:fill_(1, producer) end, {stream = producer}))                   --B
y:fill_(2, consumer)                                            --A
x:fill_(2, consumer)
g:launch{stream = producer}                                     --L
]], {
    first = { "A", "write", "fill_f32", "consumer" },
    second = { "B", "write", "fill_f32", "producer", "L" },
})

wrong("a launch in the NULL stream waits for blocking streams alone", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})   --B
x:fill_(2, one)
g:launch{stream = null}
x:fill_(3, two)
two:synchronize()
x:fill_(4, third)                                               --A
g:launch{stream = null}                                         --L
]], {
    first = { "A", "write", "fill_f32", "third" },
    second = { "B", "write", "fill_f32", "default", "L" },
    remedy = "lab.default_stream():wait_stream(third)",
})

right("new data is copied in by the stream of the launch", [[
local x, y, new = lab.ones(4, 4), lab.empty(4, 4), lab.ones(4, 4)
lab.synchronize()
local g = lab.graph(function() lab.add(x, 1, {stream = producer, out = y}) end,
                    {stream = producer})
for _ = 1, 3 do
    x:copy_(new, {non_blocking = true, stream = consumer})
    g:launch{stream = consumer}
    lab.add(y, 1, {stream = consumer})
end
]])

right("a stream waits for the stream of the launch", [[
local x = lab.empty(4, 4)
local g = lab.graph(function()
    consumer:wait_stream(producer)
    x:fill_(1, consumer)
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = producer}
third:wait_stream(producer)
lab.add(x, 1, {stream = third})
]])

right("an event behind the launch", [[
local x, e = lab.empty(4, 4), lab.event()
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})
g:launch{stream = producer}
e:record(producer)
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})
]])

right("one graph in three streams runs once at a time", [[
local x = lab.empty(4, 4)
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})
g:launch{stream = producer}
g:launch{stream = consumer}
g:launch{stream = third}
lab.add(x, 1, {stream = third})
]])

right("two graphs with memory of their own", [[
local g, x = lab.graph(function() return lab.ones(4, 4, {stream = producer}) end,
                       {stream = producer})
local h, y = lab.graph(function() return lab.ones(4, 4, {stream = producer}) end,
                       {stream = producer})
g:launch{stream = producer}
h:launch{stream = consumer}
]])

right("a capture reads and writes nothing", [[
local x = lab.empty(4, 4)
x:fill_(1, consumer)
local g = lab.graph(function() x:fill_(2, producer) end, {stream = producer})
x:fill_(3, consumer)
consumer:synchronize()
g:launch{stream = producer}
]])

right("a launch in the NULL stream between blocking streams", [[
local x = lab.empty(4, 4)
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})
x:fill_(2, one)
g:launch{stream = null}
x:fill_(3, two)
g:launch{stream = two}
x:fill_(4, null)
]])

right("an update leaves what was launched before as it was", [[
local x, y = lab.empty(4, 4), lab.empty(4, 4)
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})
g:launch{stream = producer}
assert(g:update(function() y:fill_(1, producer) end, {stream = producer}))
x:fill_(2, producer)
g:launch{stream = consumer}
lab.add(y, 1, {stream = consumer})
]])

-- ---- launches and the host --------------------------------------------------------------

wrong("the host refills pinned memory while a launch may copy it", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
local x = lab.empty(4, 4)
local g = lab.graph(function()
    lab.spin(2, {stream = producer})
    x:copy_(p, {non_blocking = true, stream = producer})        --A
end, {stream = producer})
g:launch{stream = producer}                                     --L
p:fill_(2)                                                      --B
]], {
    first = { "A", "read", h2d, "producer", "L" }, second = { "B", "write", "write", "host" },
    stale = true,
})

wrong("the host reads what a launch may not have copied yet", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
local x = lab.empty(4, 4)
local g = lab.graph(function()
    consumer:wait_stream(producer)
    lab.spin(2, {stream = consumer})
    p:copy_(x, {non_blocking = true, stream = consumer})        --A
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = third}                                        --L
p:get(1, 1)                                                     --B
]], {
    first = { "A", "write", d2h, "consumer (graph)", "L" },
    second = { "B", "read", "read", "host" },
    remedy = "third:synchronize()", bytes = { 0, 4 }, stale = true,
})

wrong("a host function in a graph, and the host", [[
local p = lab.zeros(4, 4, {device = "cpu", pinned = true})      --X
local g = lab.graph(function()
    lab.spin(2, {stream = producer})
    producer:launch_host_func(function() p:set(1, 1, 7) end)    --A
end, {stream = producer})
g:launch{stream = producer}                                     --L
p:get(1, 1)                                                     --B
]], {
    first = { "A", "write", "write", "host_func producer", "L" },
    second = { "B", "read", "read", "host" }, bytes = { 0, 4 }, stale = true,
})

wrong("a host function of the second launch, and the host", [[
local p = lab.zeros(4, 4, {device = "cpu", pinned = true})      --X
local g = lab.graph(function()
    lab.spin(2, {stream = producer})
    producer:launch_host_func(function() p:set(1, 1, 7) end)    --A
end, {stream = producer})
g:launch{stream = producer}
producer:synchronize()
g:launch{stream = producer}                                     --L
p:get(1, 1)                                                     --B
]], {
    first = { "A", "write", "write", "host_func producer", "L" },
    second = { "B", "read", "read", "host" }, bytes = { 0, 4 }, stale = true,
})

wrong("pageable memory is read in the call of a launch, but nobody promises it", [[
local q = lab.ones(4, 4, {device = "cpu"})                      --X
local x = lab.empty(4, 4)
local g = lab.graph(function()
    lab.spin(2, {stream = producer})
    x:copy_(q, {non_blocking = true, stream = producer})        --A
end, {stream = producer})
g:launch{stream = producer}                                     --L
q:fill_(2)                                                      --B
]], {
    kind = "accident",
    first = { "A", "read", staged, "producer", "L" }, second = { "B", "write", "write", "host" },
})

wrong("a launch waits for its copies to pageable memory, but nobody promises it", [[
local q = lab.ones(4, 4, {device = "cpu"})                      --X
local x = lab.empty(4, 4)
local g = lab.graph(function()
    q:copy_(x, {non_blocking = true, stream = producer})        --A
end, {stream = producer})
g:launch{stream = producer}                                     --L
q:totable()                                                     --B
]], {
    kind = "accident",
    first = { "A", "write", unstaged, "producer", "L" }, second = { "B", "read", "read", "host" },
})

right("the host waits for the launch", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})
local x = lab.empty(4, 4)
local g = lab.graph(function() x:copy_(p, {non_blocking = true, stream = producer}) end,
                    {stream = producer})
for i = 1, 3 do
    p:fill_(i)
    g:launch{stream = producer}
    producer:synchronize()
end
]])

right("a host function of each launch reads what that has copied", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})
local x = lab.ones(4, 4)
lab.synchronize()
local g = lab.graph(function()
    p:copy_(x, {non_blocking = true, stream = producer})
    producer:launch_host_func(function() p:totable() end)
end, {stream = producer})
g:launch{stream = producer}
lab.add(x, 1, {stream = producer, out = x})
g:launch{stream = producer}
g:launch{stream = consumer}
lab.synchronize()
p:totable()
]])

-- ---- memory that is gone ----------------------------------------------------------------

wrong("cudaFree behind the capture", [[
local m = lab.cuda.malloc(64)                                   --X
local g = lab.graph(function() lab.cuda.memset_async(m, 0, 64, producer) end,   --B
                    {stream = producer})
g:launch{stream = producer}
producer:synchronize()
lab.cuda.free(m)                                                --A
g:launch{stream = producer}                                     --L
g:launch{stream = producer}                                     --M
]], {
    kind = "use after free", tensor = "^tensor %d+ %(64 uint8 ",
    first = { "A", "free", "cudaFree", "host" },
    second = { "B", "write", "Memset (Device)", "producer", "L" },
    remedy = "g:update(f)", lasting = true,
}, {
    kind = "use after free", tensor = "^tensor %d+ %(64 uint8 ",
    first = { "A", "free", "cudaFree", "host" },
    second = { "B", "write", "Memset (Device)", "producer", "M" },
    remedy = "g:update(f)",
})

wrong("cudaFreeAsync in the stream of the launch", [[
local m = lab.cuda.malloc_async(64, producer)                   --X
local g = lab.graph(function() lab.cuda.memset_async(m, 0, 64, producer) end,   --B
                    {stream = producer})
g:launch{stream = producer}
lab.cuda.free_async(m, producer)                                --A
local n = lab.cuda.malloc_async(64, producer)
g:launch{stream = producer}                                     --L
]], {
    kind = "use after free", tensor = "^tensor %d+ %(64 uint8 ",
    first = { "A", "free", "cudaFreeAsync", "host" },
    second = { "B", "write", "Memset (Device)", "producer", "L" },
    remedy = "g:update(f)", lasting = true,
})

wrong("cudaFreeHost of a copy's source", [[
local m = lab.cuda.malloc_host(64)                              --X
local x = lab.empty(4, 4)
local g = lab.graph(function() lab.cuda.memcpy_async(x, m, 64, producer) end,   --B
                    {stream = producer})
lab.cuda.free_host(m)                                           --A
g:launch{stream = producer}                                     --L
]], {
    kind = "use after free", tensor = "^tensor %d+ %(64 uint8 ",
    first = { "A", "free", "cudaFreeHost", "host" },
    second = { "B", "read", h2d, "producer", "L" },
    remedy = "g:update(f)", lasting = true,
})

wrong("cudaFree while a launch may run", [[
local m = lab.cuda.malloc(64)                                   --X
local g = lab.graph(function()
    lab.spin(2, {stream = producer})
    lab.cuda.memset_async(m, 0, 64, producer)                   --A
end, {stream = producer})
g:launch{stream = producer}                                     --L
lab.cuda.free(m)                                                --B
]], {
    kind = "accident", tensor = "^tensor %d+ %(64 uint8 ",
    first = { "A", "write", "Memset (Device)", "producer", "L" },
    second = { "B", "free", "cudaFree", "host" },
})

right("a graph holds tensors, also those that a script frees", [[
local x = lab.empty(4, 4)
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})
x:free()
local y = lab.empty(4, 4)
y:fill_(2, consumer)
g:launch{stream = producer}
]])

right("a tensor whose memory another one still used when it was captured", [[
local x = lab.with(producer, lab.empty, 4, 4)
lab.spin(2, {stream = producer})
x:fill_(1, producer)
x:free()
local y = lab.with(producer, lab.empty, 4, 4)
local g = lab.graph(function() y:fill_(2, producer) end, {stream = producer})
g:launch{stream = consumer}
]])

right("the memory of a tensor that a graph holds goes to no other one", [[
local x = lab.with(producer, lab.empty, 4, 4)
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})
lab.spin(2, {stream = producer})
x:fill_(2, producer)
x:free()
local y = lab.with(producer, lab.empty, 4, 4)
y:fill_(3, producer)
producer:synchronize()
g:launch{stream = consumer}
assert(y:get(1, 1) == 3)
]])

right("memory is freed behind the last launch", [[
local m = lab.cuda.malloc_async(64, producer)
local g = lab.graph(function() lab.cuda.memset_async(m, 0, 64, producer) end,
                    {stream = producer})
g:launch{stream = producer}
lab.cuda.free_async(m, producer)
local n = lab.cuda.malloc_async(64, producer)
lab.cuda.memset_async(n, 0, 64, producer)
]])

right("the graph is updated before its memory is freed", [[
local m, n = lab.cuda.malloc(64), lab.cuda.malloc(64)
local g = lab.graph(function() lab.cuda.memset_async(m, 0, 64, producer) end,
                    {stream = producer})
g:launch{stream = producer}
producer:synchronize()
assert(g:update(function() lab.cuda.memset_async(n, 0, 64, producer) end,
                {stream = producer}))
lab.cuda.free(m)
g:launch{stream = producer}
]])

-- ---- error mode -------------------------------------------------------------------------

local function refusal(text) return select(2, C.run(text, "error")) end

T.like(tostring(refusal [[
local x = lab.empty(4, 4)
local g = lab.graph(function()
    consumer:wait_stream(producer)
    x:fill_(1, producer)
    x:fill_(2, consumer)
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = producer}
]]), "its node fill_f32 at case.lua:5 races with its node fill_f32 at case.lua:4: no edge orders "
.. "them; insert consumer:wait_stream%(producer%) before case.lua:5",
"error mode refuses a launch whose nodes race")

T.like(tostring(refusal [[
local x = lab.empty(4, 4)
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})
x:fill_(2, consumer)
g:launch{stream = producer}
]]), "it races with fill_f32 at case.lua:3 in stream \"consumer\": nothing orders them; wait for "
.. "consumer", "error mode refuses a launch that races with other work")

T.like(tostring(refusal [[
local x = lab.empty(4, 4)
local g = lab.graph(function() x:fill_(1, producer) end, {stream = producer})
g:launch{stream = producer}
x:fill_(2, consumer)
]]), "it races with fill_f32 at case.lua:2 in stream \"producer\": nothing orders them; wait for "
.. "producer", "error mode refuses other work that races with a launch")

T.like(tostring(refusal [[
local m = lab.cuda.malloc(64)
local g = lab.graph(function() lab.cuda.memset_async(m, 0, 64, producer) end,
                    {stream = producer})
lab.cuda.free(m)
g:launch{stream = producer}
]]), "its node Memset %(Device%) at case.lua:2 uses memory that cudaFree at case.lua:4 has freed$",
"error mode refuses a launch that uses freed memory")

T.done()
