-- 60-races-threads.t.lua - the race checker and threads of the host: each comes before what it
-- enqueues itself; a join, and what streams and events hand on, order two of them; who comes first
-- does not.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

local d2h <const> = "Memcpy DtoH (Device -> Pinned)"

-- ---- streams and events -----------------------------------------------------------------

right("each thread works on a tensor of its own", [[
local function work(s, x)
    x:fill_(7, s)
    lab.add(x, 1, {stream = s})
end
local one, two = lab.thread(work, producer, lab.empty(4, 4)), lab.thread(work, consumer, lab.empty(4, 4))
one:join()
two:join()
]])

wrong("two threads use one tensor in two streams", [[
local x = lab.empty(4, 4)                                                   --X
local th = lab.thread(function(s, x) x:fill_(7, s) end, producer, x)        --A
lab.host_work(1)
lab.add(x, 1, {stream = consumer})                                          --B
th:join()
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

right("a join, and then a wait for the stream", [[
local x = lab.empty(4, 4)
local th = lab.thread(function(s, x) x:fill_(7, s) end, producer, x)
th:join()
consumer:wait_stream(producer)
lab.add(x, 1, {stream = consumer})
]])

wrong("a join alone", [[
local x = lab.empty(4, 4)                                                   --X
local th = lab.thread(function(s, x) x:fill_(7, s) end, producer, x)        --A
th:join()
lab.add(x, 1, {stream = consumer})                                          --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

right("a thread comes after what its starter has done and waited for", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
producer:synchronize()
local th = lab.thread(function(s, x) lab.add(x, 1, {stream = s}) end, consumer, x)
th:join()
]])

wrong("but not after what it does later", [[
local x = lab.empty(4, 4)                                                   --X
local th = lab.thread(function(s, x) lab.host_work(1) lab.add(x, 1, {stream = s}) end, consumer, x) --B
x:fill_(7, producer)                                                        --A
producer:synchronize()
th:join()
]], {
    lasting = true,
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

right("work of two threads in one stream is in the order of the stream", [[
local x = lab.empty(4, 4)
local th = lab.thread(function(s, x) x:fill_(7, s) end, producer, x)
lab.add(x, 1, {stream = producer})
th:join()
]])

right("a thread's done() that gave true is as good as a join", [[
local x = lab.empty(4, 4)
local th = lab.thread(function(s, x) x:fill_(7, s) s:synchronize() end, producer, x)
while not th:done() do lab.host_work(0.01) end
lab.add(x, 1, {stream = consumer})
]])

right("a thread of a thread", [[
local x = lab.empty(4, 4)
local th = lab.thread(function(s, x)
    local inner = lab.thread(function(s, x) x:fill_(7, s) end, s, x)
    inner:join()
    s:synchronize()
end, producer, x)
th:join()
lab.add(x, 1, {stream = consumer})
]])

-- ---- events that another thread records --------------------------------------------------

local early <const> = [[
local x, e = lab.empty(4, 4), lab.event()                                   --X
local th = lab.thread(function(s, x, e)
    lab.host_work(1)
    x:fill_(7, s)                                                           --B
    e:record(s)
end, producer, x, e)
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})                                          --A
th:join()
]]
wrong("a stream waits for an event that the other thread records later", early, {
    lasting = true,
    first = { "A", "read", "add_scalar_f32", "consumer" },
    second = { "B", "write", "fill_f32", "producer" },
})

local late <const> = [[
local x, e = lab.empty(4, 4), lab.event()                                   --X
local th = lab.thread(function(s, x, e)
    x:fill_(7, s)                                                           --A
    e:record(s)
end, producer, x, e)
lab.host_work(1)
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})                                          --B
th:join()
]]
wrong("or happens to have recorded", late, {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

local unrecorded <const> = [[
local x, e = lab.empty(4, 4), lab.event()
lab.spin(1, {stream = producer})
x:fill_(7, producer)
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})
e:record(producer)
]]
local function words_of(text) return C.run(text)[1].message:gsub("%s+", " ") end
T.like(words_of(early), "wait +stream \"consumer\" waits for an event that has no record yet, "
    .. "which is no wait " ..
       "%(another thread may record it later%) %(case.lua:7%)",
       "the report says that the wait was none")
T.like(words_of(late), "wait +stream \"consumer\" waits for an event that another thread has "
    .. "recorded; " ..
       "nothing makes that thread record it first %(case.lua:7%)",
       "the report says what the wait lacks")
T.like(words_of(unrecorded),
       "wait +stream \"consumer\" waits for an event that has no record yet, which is no wait " ..
       "%(another thread may record it later%) %(case.lua:4%)",
       "also of an event that nobody had recorded")
local again <const> = unrecorded:gsub("lab.add", "e:record(third) consumer:wait_event(e) lab.add")
T.is(words_of(again):find(" wait ", 1, true), nil,
     "not if a later wait for the event finds a record")

right("the other thread's event, behind a join", [[
local x, e = lab.empty(4, 4), lab.event()
local th = lab.thread(function(s, x, e) x:fill_(7, s) e:record(s) end, producer, x, e)
th:join()
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})
]])

right("one that was recorded before the thread was started", [[
local x, e = lab.empty(4, 4), lab.event()
x:fill_(7, producer)
e:record(producer)
local th = lab.thread(function(s, x, e) s:wait_event(e) lab.add(x, 1, {stream = s}) end, consumer, x, e)
th:join()
]])

wrong("the host waits for an event that the other thread happens to have recorded", [[
local x, e = lab.empty(4, 4), lab.event()
local p = lab.empty(4, 4, {device = "cpu", pinned = true})                  --X
local th = lab.thread(function(s, x, e, p)
    p:copy_(x, {non_blocking = true, stream = s})                           --A
    e:record(s)
end, producer, x, e, p)
lab.host_work(1)
e:synchronize()
p:get(1, 1)                                                                 --B
th:join()
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "read", "read", "host" },
    bytes = { 0, 4 }, lasting = true,
})

-- ---- the host's own memory ---------------------------------------------------------------

right("a thread fills a buffer, and whoever has joined it copies it", [[
local p, x = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
local th = lab.thread(function(p) p:fill_(3) end, p)
th:join()
x:copy_(p, {non_blocking = true, stream = producer})
]])

right("what a thread does behind a stream's work comes after who has enqueued it", [[
local p, x = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
p:fill_(1)
x:copy_(p, {non_blocking = true, stream = producer})
local th = lab.thread(function(s, p) s:synchronize() p:fill_(2) end, producer, p)
th:join()
p:get(1, 1)
]])

wrong("a thread fills a buffer that is being copied", [[
local p = lab.zeros(4, 4, {device = "cpu", pinned = true})                  --X
local x = lab.empty(4, 4)
local th = lab.thread(function(p) lab.host_work(1) p:fill_(3) end, p)       --B
x:copy_(p, {non_blocking = true, stream = producer})                        --A
th:join()
]], {
    lasting = true,
    first = { "A", "read", "Memcpy HtoD (Pinned -> Device)", "producer" },
    second = { "B", "write", "write", "host" },
})

local races = C.run([[
local p = lab.zeros(4, 4, {device = "cpu", pinned = true})
local th = lab.thread(function(p) lab.host_work(1) p:set(1, 1, 3) end, p)
p:get(1, 1)
p:get(2, 1)
th:join()
]])
T.is(#races, 1, "one thread reads what another one writes")
T.like(races[1].message, "the host %(thread %d+%) writes at case.lua:2 what the host %(thread 0%) "
    .. "may still", "which names them")
T.is(("%s %s"):format(races[1].first.where, races[1].second.where), "case.lua:3 case.lua:2",
     "and the lines")
T.is(races[1].first.thread, 0, "with the number of the first")
T.is(races[1].remedy, "th:join()", "a join would order them")
T.is(races[1].remedy_where,
     "between case.lua:3 and case.lua:2, where th is the thread that does one of the two",
     "and where")

right("two threads read", [[
local p = lab.zeros(4, 4, {device = "cpu", pinned = true})
local function read(p) p:get(1, 1) end
local one, two = lab.thread(read, p), lab.thread(read, p)
p:get(1, 1)
one:join()
two:join()
p:set(1, 1, 2)
]])

right("one after the other, each joined", [[
local p = lab.zeros(4, 4, {device = "cpu", pinned = true})
for i = 1, 20 do
    local th = lab.thread(function(p, i) p:set(1, 1, i) end, p, i)
    th:join()
    p:set(1, 1, 0)
end
]])

-- ---- modes -------------------------------------------------------------------------------

local list, err = C.run([[
local x = lab.empty(4, 4)
x:fill_(7, producer)
local th = lab.thread(function(s, x) lab.add(x, 1, {stream = s}) end, consumer, x)
th:join()
]], "error")
T.is(list, nil, "in error mode the call of a thread is refused")
T.like(tostring(err), "case.lua:3: add: it races with fill_f32 at case.lua:2 in stream "
    .. "\"producer\"", "with the same words")

T.done()
