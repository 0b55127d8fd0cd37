-- 60-races-memory.t.lua - the race checker: which bytes, and memory that is freed.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

local h2d <const>, d2h <const> = "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)"

-- ---- bytes ------------------------------------------------------------------------------

right("the host writes behind what is being copied", [[
local p, x = lab.ones(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
lab.spin(2, {stream = producer})
lab.cuda.memcpy_async(x, p, 16, producer)
p:set(2, 1, 7)
]])

wrong("the host writes the last of the bytes that are being copied", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
lab.cuda.memcpy_async(x, p, 20, producer)                       --A
p:set(2, 1, 7)                                                  --B
]], {
    first = { "A", "read", h2d, "producer" }, second = { "B", "write", "write", "host" },
    bytes = { 16, 4 }, stale = true,
})

wrong("the race is in those bytes that both touch", [[
local x = lab.empty(4, 4)                                       --X
lab.spin(2, {stream = producer})
lab.cuda.memset_async(x, 0, 40, producer)                       --A
lab.cuda.memset_async(x, 0, 24, consumer)                       --B
]], {
    first = { "A", "write", "Memset (Device)", "producer" },
    second = { "B", "write", "Memset (Device)", "consumer" }, bytes = { 0, 24 }, stale = true,
})

wrong("a part is waited for and the rest is not", [[
local p = lab.zeros(4, 4, {device = "cpu", pinned = true})      --X
local x = lab.empty(4, 4)
lab.cuda.memcpy_async(p, x, 16, third)
third:synchronize()
lab.spin(2, {stream = producer})
p:copy_(x, {non_blocking = true, stream = producer})            --A
p:get(1, 1)                                                     --B
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "read", "read", "host" },
    bytes = { 0, 4 }, stale = true,
})

right("two host functions write elements side by side", [[
local q = lab.zeros(4, 4, {device = "cpu"})
producer:launch_host_func(function() q:set(1, 1, 1) end)
consumer:launch_host_func(function() q:set(1, 2, 2) end)
]])

right("copies of no bytes touch nothing", [[
local x, y = lab.empty(4, 4), lab.empty(4, 4)
lab.spin(2, {stream = producer})
x:fill_(7, producer)
lab.cuda.memcpy_async(y, x, 0, consumer)
lab.cuda.memset_async(x, 0, 0, consumer)
]])

-- ---- cudaFree ---------------------------------------------------------------------------

wrong("cudaFree waits for the kernel that uses the memory, but nobody promises it", [[
local m = lab.cuda.malloc(64)                                   --X
lab.spin(2, {stream = producer})
lab.cuda.memset_async(m, 1, producer)                           --A
lab.cuda.free(m)                                                --B
]], {
    kind = "accident", tensor = "^tensor %d+ %(64 uint8 on the device%)",
    first = { "A", "write", "Memset (Device)", "producer" },
    second = { "B", "free", "cudaFree", "host" }, stale = false,
})

right("the host waits before it calls cudaFree", [[
local m = lab.cuda.malloc(64)
lab.cuda.memset_async(m, 1, producer)
producer:synchronize()
lab.cuda.free(m)
]])

wrong("cudaFree of memory of cudaMallocAsync waits for nobody", [[
local m = lab.cuda.malloc_async(64, producer)                   --X
lab.cuda.memset_async(m, 1, producer)                           --A
lab.spin(2, {stream = producer})
lab.cuda.free(m)                                                --B
]], {
    tensor = "^tensor %d+ %(64 uint8 on the device%)",
    first = { "A", "write", "Memset (Device)", "producer" },
    second = { "B", "free", "cudaFree", "host" }, stale = false,
})

right("the host waits before it calls cudaFree of memory of cudaMallocAsync", [[
local m = lab.cuda.malloc_async(64, producer)
lab.cuda.memset_async(m, 1, producer)
producer:synchronize()
lab.cuda.free(m)
]])

wrong("cudaFree of what is only read", [[
local m, x = lab.cuda.malloc(64), lab.empty(4, 4)               --X
lab.spin(2, {stream = producer})
lab.cuda.memcpy_async(x, m, 64, producer)                       --A
lab.cuda.free(m)                                                --B
]], {
    kind = "accident", tensor = "uint8",
    first = { "A", "read", "Memcpy DtoD (Device -> Device)", "producer" },
    second = { "B", "free", "cudaFree", "host" }, stale = false,
})

wrong("cudaFree of other memory orders by accident", [[
local m, x = lab.cuda.malloc(64), lab.empty(4, 4)               --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                                            --A
lab.cuda.free(m)
lab.add(x, 1, {stream = consumer})                              --B
]], {
    kind = "accident", first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = false,
})

wrong("cudaFreeHost waits for the copy, but nobody promises it", [[
local p = lab.cuda.malloc_host(64)                              --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
lab.cuda.memcpy_async(x, p, 64, producer)                       --A
lab.cuda.free_host(p)                                           --B
]], {
    kind = "accident", tensor = "64 uint8", first = { "A", "read", h2d, "producer" },
    second = { "B", "free", "cudaFreeHost", "host" }, stale = false,
})

right("the host waits before it calls cudaFreeHost", [[
local p, x = lab.cuda.malloc_host(64), lab.empty(4, 4)
lab.cuda.memcpy_async(x, p, 64, producer)
producer:record_event():synchronize()
lab.cuda.free_host(p)
]])

-- ---- cudaFreeAsync ----------------------------------------------------------------------

wrong("cudaFreeAsync in another stream than the one that uses the memory", [[
local m = lab.cuda.malloc_async(64, producer)                   --X
lab.spin(2, {stream = producer})
lab.cuda.memset_async(m, 1, producer)                           --A
lab.cuda.free_async(m, consumer)                                --B
]], {
    tensor = "uint8", first = { "A", "write", "Memset (Device)", "producer" },
    second = { "B", "free", "cudaFreeAsync", "consumer" },
})

right("cudaFreeAsync in the stream that uses the memory", [[
local m = lab.cuda.malloc_async(64, producer)
lab.cuda.memset_async(m, 1, producer)
lab.cuda.free_async(m, producer)
]])

right("cudaFreeAsync in a stream that waits", [[
local m = lab.cuda.malloc_async(64, producer)
lab.cuda.memset_async(m, 1, producer)
consumer:wait_stream(producer)
lab.cuda.free_async(m, consumer)
]])

-- ---- cudaMallocAsync --------------------------------------------------------------------

wrong("memory of cudaMallocAsync in a stream that does not wait for the allocation", [[
local m = lab.cuda.malloc_async(64, producer)                   --X --A
lab.cuda.memset_async(m, 1, consumer)                           --B
]], {
    tensor = "uint8", first = { "A", "allocate", "cudaMallocAsync", "producer" },
    second = { "B", "write", "Memset (Device)", "consumer" },
})

wrong("read there", [[
local x = lab.cuda.malloc(64)
local m = lab.cuda.malloc_async(64, producer)                   --X --A
lab.cuda.memcpy_async(x, m, 64, consumer)                       --B
]], {
    tensor = "uint8", first = { "A", "allocate", "cudaMallocAsync", "producer" },
    second = { "B", "read", "Memcpy DtoD (Device -> Device)", "consumer" },
})

wrong("freed there, without any use", [[
local m = lab.cuda.malloc_async(64, producer)                   --X --A
lab.cuda.free_async(m, consumer)                                --B
]], {
    tensor = "uint8", first = { "A", "allocate", "cudaMallocAsync", "producer" },
    second = { "B", "free", "cudaFreeAsync", "consumer" },
})

wrong("a part of it", [[
local m = lab.cuda.malloc_async(64, producer)                   --X --A
lab.cuda.memset_async(m, 1, 16, consumer)                       --B
]], {
    tensor = "uint8", first = { "A", "allocate", "cudaMallocAsync", "producer" },
    second = { "B", "write", "Memset (Device)", "consumer" }, bytes = { 0, 16 },
})

wrong("an event that was recorded before the allocation does not order it", [[
local before = producer:record_event()
local m = lab.cuda.malloc_async(64, producer)                   --X --A
consumer:wait_event(before)
lab.cuda.memset_async(m, 1, consumer)                           --B
]], {
    tensor = "uint8", first = { "A", "allocate", "cudaMallocAsync", "producer" },
    second = { "B", "write", "Memset (Device)", "consumer" },
})

wrong("two streams use it, of which one waits", [[
local x = lab.cuda.malloc(64)
local m = lab.cuda.malloc_async(64, producer)                   --X --A
third:wait_stream(producer)
lab.cuda.memcpy_async(x, m, 64, third)
lab.cuda.memset_async(x, 1, third)
lab.cuda.memcpy_async(m, m, 0, consumer)
lab.cuda.free_async(m, third)
local n = lab.cuda.malloc_async(64, producer)                   --C
lab.cuda.memset_async(n, 1, consumer)                           --B
]], {
    tensor = "uint8", first = { "C", "allocate", "cudaMallocAsync", "producer" }, made = "C",
    second = { "B", "write", "Memset (Device)", "consumer" },
})

right("a stream that waits for the stream of the allocation", [[
local m = lab.cuda.malloc_async(64, producer)
consumer:wait_stream(producer)
lab.cuda.memset_async(m, 1, consumer)
lab.cuda.free_async(m, consumer)
]])

right("one that waits for an event behind the allocation", [[
local m = lab.cuda.malloc_async(64, producer)
local e = producer:record_event()
lab.spin(2, {stream = producer})
consumer:wait_event(e)
lab.cuda.memset_async(m, 1, consumer)
]])

right("the host waits between the allocation and the use", [[
local m = lab.cuda.malloc_async(64, producer)
producer:synchronize()
lab.cuda.memset_async(m, 1, consumer)
]])

right("blocking streams and the default stream wait for one another", [[
local m = lab.cuda.malloc_async(64, one)
lab.cuda.memset_async(m, 1, null)
lab.cuda.memset_async(m, 1, two)
]])

wrong("two blocking streams do not", [[
local m = lab.cuda.malloc_async(64, one)                        --X --A
lab.cuda.memset_async(m, 1, two)                                --B
]], {
    tensor = "uint8", first = { "A", "allocate", "cudaMallocAsync", "one" },
    second = { "B", "write", "Memset (Device)", "two" }, remedy = "two:wait_stream(one)",
})

wrong("an allocation in the default stream puts no work there that would keep others apart", [[
local x = lab.empty(4, 4)                                       --X
lab.spin(2, {stream = one})
x:fill_(7, one)                                                 --A
local m = lab.cuda.malloc_async(64, null)
lab.add(x, 1, {stream = two})                                   --B
]], {
    first = { "A", "write", "fill_f32", "one" }, second = { "B", "read", "add_scalar_f32", "two" },
    stale = true, remedy = "two:wait_stream(one)",
})

right("but its memory is there for blocking streams, and it is freed there behind their work", [[
local m = lab.cuda.malloc_async(64, null)
lab.cuda.memset_async(m, 1, one)
lab.cuda.free_async(m, null)
]])

right("cudaMalloc's memory is there at once, for every stream", [[
local m = lab.cuda.malloc(64)
lab.cuda.memset_async(m, 1, consumer)
]])

wrong("a graph's node uses it in another stream", [[
local m = lab.cuda.malloc_async(64, producer)                   --X --A
local g = lab.graph(function() lab.cuda.memset_async(m, 1, consumer) end, {stream = consumer}) --B
g:launch{stream = consumer}                                     --L
]], {
    tensor = "uint8", first = { "A", "allocate", "cudaMallocAsync", "producer" },
    second = { "B", "write", "Memset (Device)", "consumer", "L" },
})

local refused, why = C.run([[
local m = lab.cuda.malloc_async(64, producer)
lab.cuda.memset_async(m, 1, consumer)
]], "error")
T.is(refused, nil, "in error mode the use is refused")
T.like(tostring(why), "case.lua:2: cuda.memset_async: it races with cudaMallocAsync at case.lua:1 "
    .. "in stream \"producer\"",
       "which names the allocation")
local races = C.run([[
local m = lab.cuda.malloc_async(64, producer)
lab.cuda.memset_async(m, 1, consumer)
]])
T.like(races[1].message, "what stream \"producer\" may still be%s+allocating",
       "the report says what may still happen")
T.like(races[1].message, "cudaMallocAsync allocates +in stream \"producer\"",
       "and which call did it")

-- ---- the laboratory's own ---------------------------------------------------------------

right("t:free sees to the order itself", [[
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
x:fill_(7, producer)
x:free()
]])

right("so does the collector", [[
do
    local x = lab.empty(4, 4)
    lab.spin(2, {stream = producer})
    x:fill_(7, producer)
end
collectgarbage()
collectgarbage()
]])

right("new memory has no history", [[
for i = 1, 20 do
    local x = lab.empty(4, 4)
    x:fill_(i, producer)
    x:free()
    local y = lab.empty(4, 4)
    y:fill_(i, consumer)
    y:free()
end
]])

right("a stream's next tensor has the memory of the one before, at once", [[
lab.spin(2, {stream = producer})
for i = 1, 5 do
    lab.with(producer, function() lab.full(i, 4, 4):free() end)
    local memory = lab.cuda.malloc_async(64, producer)
    lab.cuda.memset_async(memory, i, 64, producer)
    lab.cuda.free_async(memory, producer)
end
local x = lab.with(producer, lab.empty, 4, 4)
x:fill_(7, consumer)
]])

wrong("which has races of its own", [[
lab.spin(2, {stream = producer})
lab.with(producer, function() lab.full(1, 4, 4):free() end)
local x = lab.with(producer, lab.empty, 4, 4)                               --X
x:fill_(7, producer)                                                        --A
lab.add(x, 1, {stream = consumer})                                          --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
})

-- ---- objects that close -----------------------------------------------------------------

right("the host waits for the device, and so for a stream that was closed", [[
local x, s = lab.empty(4, 4), lab.stream{name = "s", non_blocking = true}
x:fill_(7, s)
s:close()
lab.synchronize()
lab.add(x, 1, {stream = consumer})
]])

wrong("a stream that was closed still has its work to do", [[
local x, s = lab.empty(4, 4), lab.stream{name = "s", non_blocking = true}   --X
lab.spin(2, {stream = s})
x:fill_(7, s)                                                               --A
s:close()
lab.add(x, 1, {stream = consumer})                                          --B
]], {
    first = { "A", "write", "fill_f32", "s" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
})

T.done()
