-- 60-races-kernels.t.lua - the race checker and kernels of one's own: what they declare to read and
-- to write counts, whatever they do.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

local h2d <const>, d2h <const> = "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)"

-- Programs find these as globals. They take 1 ms and do nothing.
local function kernel(name, args)
    return lab.kernel { name = name, args = args, cost = { us = 1000 }, cpu = function() end }
end
_G.look = kernel("look", { "in f32*" })
_G.make = kernel("make", { "out f32*" })
_G.change = kernel("change", { "f32", "inout f32*" })
_G.look_twice = kernel("look_twice", { "in f32*", "in f32*" })
_G.make_bytes = kernel("make_bytes", { "out u8*" })
_G.saxpy = kernel("saxpy", { "f32", "in f32*", "inout f32*" })

-- ---- two streams ------------------------------------------------------------------------

right("two that read", [[
local x = lab.ones(4, 4)
lab.synchronize()
look(1, 32, {stream = producer}, x)
look(1, 32, {stream = consumer}, x)
]])

right("one that reads two tensors beside one that writes a third", [[
local x, y, z = lab.ones(4, 4), lab.ones(4, 4), lab.ones(4, 4)
lab.synchronize()
saxpy(1, 32, {stream = producer}, 2, x, y)
make(1, 32, {stream = consumer}, z)
look(1, 32, {stream = consumer}, x)
]])

right("one that waits", [[
local x = lab.empty(4, 4)
make(1, 32, {stream = producer}, x)
consumer:wait_stream(producer)
change(1, 32, {stream = consumer}, 2, x)
consumer:synchronize()
look(1, 32, {stream = third}, x)
]])

wrong("one reads what another one writes", [[
local x = lab.empty(4, 4)                                       --X
make(1, 32, {stream = producer}, x)                             --A
look(1, 32, {stream = consumer}, x)                             --B
]], {
    first = { "A", "write", "make", "producer" }, second = { "B", "read", "look", "consumer" },
    stale = true,
})

wrong("one writes what another one reads", [[
local x = lab.ones(4, 4)                                        --X
lab.synchronize()
look(1, 32, {stream = producer}, x)                             --A
make(1, 32, {stream = consumer}, x)                             --B
]], {
    first = { "A", "read", "look", "producer" }, second = { "B", "write", "make", "consumer" },
})

wrong("two write", [[
local x = lab.empty(4, 4)                                       --X
make(1, 32, {stream = producer}, x)                             --A
make(1, 32, {stream = consumer}, x)                             --B
]], {
    first = { "A", "write", "make", "producer" }, second = { "B", "write", "make", "consumer" },
})

wrong("only one of its tensors", [[
local x, y = lab.ones(4, 4), lab.ones(4, 4)
local z = lab.ones(4, 4)                                        --X
lab.synchronize()
saxpy(1, 32, {stream = producer}, 2, x, z)                      --A
saxpy(1, 32, {stream = consumer}, 2, z, y)                      --B
]], {
    first = { "A", "write", "saxpy", "producer" }, second = { "B", "read", "saxpy", "consumer" },
})

local two_changes <const> = [[
local x = lab.ones(4, 4)                                        --X
lab.synchronize()
change(1, 32, {stream = producer}, 2, x)                        --A
change(1, 32, {stream = consumer}, 2, x)                        --B
]]
C.wrong_somehow("two change it", two_changes,
    { first = { "A", "read", "change", "producer" },
      second = { "B", "write", "change", "consumer" } },
    { first = { "A", "write", "change", "producer" },
      second = { "B", "read", "change", "consumer" } },
    { first = { "A", "write", "change", "producer" },
      second = { "B", "write", "change", "consumer" } })

wrong("a tensor that it has twice", [[
local x = lab.ones(4, 4)                                        --X
lab.synchronize()
look_twice(1, 32, {stream = producer}, x, x)                    --A
make(1, 32, {stream = consumer}, x)                             --B
]], {
    first = { "A", "read", "look_twice", "producer" },
    second = { "B", "write", "make", "consumer" },
})

wrong("a part of a tensor", [[
local x = lab.empty(4, 4)                                       --X
make(1, 32, {stream = producer}, x:narrow(1, 1, 2))             --A
look(1, 32, {stream = consumer}, x:narrow(1, 2, 2))             --B
]], {
    first = { "A", "write", "make", "producer" }, second = { "B", "read", "look", "consumer" },
    bytes = { 16, 16 },
})

right("two parts of a tensor", [[
local x = lab.empty(4, 4)
make(1, 32, {stream = producer}, x:narrow(1, 1, 2))
make(1, 32, {stream = consumer}, x:narrow(1, 3, 2))
]])

-- ---- beside other work ------------------------------------------------------------------

wrong("beside another kernel", [[
local x = lab.empty(4, 4)                                       --X
make(1, 32, {stream = producer}, x)                             --A
lab.add(x, 1, {stream = consumer})                              --B
]], {
    first = { "A", "write", "make", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

wrong("a copy to the device that it does not wait for", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})
local x = lab.empty(4, 4)                                       --X
x:copy_(p, {non_blocking = true, stream = producer})            --A
look(1, 32, {stream = consumer}, x)                             --B
]], {
    first = { "A", "write", h2d, "producer" }, second = { "B", "read", "look", "consumer" },
})

wrong("a copy to the host that does not wait for it", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})
local x = lab.empty(4, 4)                                       --X
make(1, 32, {stream = producer}, x)                             --A
p:copy_(x, {non_blocking = true, stream = consumer})            --B
]], {
    first = { "A", "write", "make", "producer" }, second = { "B", "read", d2h, "consumer" },
})

wrong("its memory is freed", [[
local x = lab.cuda.malloc(64)                                   --X
make_bytes(1, 32, {stream = producer}, x)                       --A
lab.cuda.free_async(x, {stream = consumer})                     --B
]], {
    first = { "A", "write", "make_bytes", "producer" },
    second = { "B", "free", "cudaFreeAsync", "consumer" }, tensor = "^tensor %d+ ",
})

-- ---- graphs -----------------------------------------------------------------------------

wrong("two branches of a graph", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function()
    consumer:wait_stream(producer)
    make(1, 32, {stream = producer}, x)                         --A
    look(1, 32, {stream = consumer}, x)                         --B
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = third}                                        --L
]], {
    first = { "A", "write", "make", "third", "L" },
    second = { "B", "read", "look", "consumer (graph)", "L" },
    inside = true, remedy = "consumer:wait_stream(producer)",
})

wrong("a launch beside a kernel", [[
local x = lab.empty(4, 4)                                       --X
local g = lab.graph(function() make(1, 32, {stream = producer}, x) end, {stream = producer}) --A
g:launch{stream = producer}                                     --L
look(1, 32, {stream = consumer}, x)                             --B
]], {
    first = { "A", "write", "make", "producer", "L" }, second = { "B", "read", "look", "consumer" },
})

right("launches of one graph", [[
local x = lab.empty(4, 4)
local g = lab.graph(function() make(1, 32, {stream = producer}, x) end, {stream = producer})
g:launch{stream = producer}
g:launch{stream = consumer}
]])

right("an update that gives a graph other memory", [[
local x, y = lab.empty(4, 4), lab.ones(4, 4)
lab.synchronize()
local g = lab.graph(function() make(1, 32, {stream = producer}, x) end, {stream = producer})
g:launch{stream = producer}
producer:synchronize()
assert(g:update(function() make(1, 32, {stream = producer}, y) end, {stream = producer}))
g:launch{stream = producer}
look(1, 32, {stream = consumer}, x)
]])

-- ---- refused ----------------------------------------------------------------------------

local races, err = C.run([[
local x = lab.empty(4, 4)
make(1, 32, {stream = producer}, x)
look(1, 32, {stream = consumer}, x)
]], "error")
T.is(races, nil, "in error mode the second one is refused")
T.like(tostring(err), "case.lua:3: look: it races with make at case.lua:2 in stream \"producer\"",
       "which says what raced")
T.done()
