-- races-gpus.t.lua - the race checker where a program has several GPUs: collectives, copies from
-- one to another, events across them.
--
-- In a program @a and @b stand for two ranks: each program runs with the ranks 0 and 1 of two GPUs,
-- with 1 and 0, and with 3 and 1 of four.

require "lua.quiet" ()

local T = require "tap"
local C = require "lua.race_cases"

local first = T.open()
local n_gpus = first.simulated and 4 or 0
for _, device in ipairs(lab.devices()) do
    if device.backend == first.backend and not first.simulated then n_gpus = n_gpus + 1 end
end
if n_gpus < 2 then T.skip_all("this needs two GPUs, and the machine has " .. n_gpus) end

local gpus = { first }
for i = 2, math.min(n_gpus, 4) do gpus[i] = T.open(i - 1) end

local all_reduce <const> = "ncclDevKernel_AllReduce_Sum_f32"

-- A tensor a rank, as most programs have them.
local tensors <const> = [[
local t = {}
for i = 0, n - 1 do
    t[i + 1] = lab.empty(4, 4, {device = "cuda:" .. i})             --X
end
]]

-- Another one on a GPU, which a stream writes.
local page <const> = [[
local page = lab.empty(4, 4, {device = "cuda:@b"})                  --Y
local copy = lab.empty(4, 4, {device = "cuda:@a"})
]]

local pairs_of_ranks <const> = { { 2, 0, 1 }, { 2, 1, 0 }, { 4, 3, 1 } }

local function placed(value, a, b)
    if type(value) == "string" then
        return (value:gsub("@(%l)(%+?)", function(name, plus)
            local rank = name == "a" and a or b
            return plus == "+" and tostring(rank + 1) or tostring(rank)
        end))
    end
    if type(value) ~= "table" then return value end
    local copy = {}
    for key, item in pairs(value) do copy[key] = placed(item, a, b) end
    return copy
end

local function for_all_ranks(f)
    for _, ranks in ipairs(pairs_of_ranks) do
        local n, a, b = table.unpack(ranks)
        if n <= #gpus then
            C.use_gpus(table.move(gpus, 1, n, 1, {}))
            f((" (%d GPUs, ranks %d and %d)"):format(n, a, b), a, b)
        end
    end
end

local function right(name, text)
    for_all_ranks(function(which, a, b) C.right(name .. which, placed(text, a, b)) end)
end

local function wrong(name, text, want)
    want.tensor = want.tensor or "^tensor %d+ %(4x4 float32 on gpu@b%)"
    for_all_ranks(function(which, a, b)
        C.wrong(name .. which, placed(text, a, b), placed(want, a, b))
    end)
end

-- ---- a collective and other streams of its GPU ----------------------------------------------

right("what comes behind a collective in its stream uses the result", tensors .. [[
comm:all_reduce(t, {streams = own})
lab.add(t[@b+], 1, {stream = own@b})
]])

wrong("another stream reads the result of an all-reduce", tensors .. [[
comm:all_reduce(t, {streams = own})                                 --A
lab.add(t[@b+], 1, {stream = side@b})                               --B
]], {
    first = { "A", "write", all_reduce, "own@b" },
    second = { "B", "read", "add_scalar_f32", "side@b" },
})

right("another stream waits for the all-reduce", tensors .. [[
comm:all_reduce(t, {streams = own})
side@b:wait_stream(own@b)
lab.add(t[@b+], 1, {stream = side@b})
]])

wrong("an event from before the all-reduce is too early", tensors .. [[
local early = own@b:record_event()
comm:all_reduce(t, {streams = own})                                 --A
side@b:wait_event(early)
t[@b+]:fill_(9, {stream = side@b})                                  --B
]], {
    first = { "A", "write", all_reduce, "own@b" }, second = { "B", "write", "fill_f32", "side@b" },
})

wrong("the input of an all-reduce is overwritten too early", tensors .. [[
local sums = {}
for i = 0, n - 1 do sums[i + 1] = lab.empty(4, 4, {device = "cuda:" .. i}) end
comm:all_reduce(t, {out = sums, streams = own})                     --A
t[@b+]:fill_(9, {stream = side@b})                                  --B
]], {
    first = { "A", "read", all_reduce, "own@b" }, second = { "B", "write", "fill_f32", "side@b" },
})

wrong("an all-reduce does not wait for what writes its input", tensors .. [[
local sums = {}
for i = 0, n - 1 do sums[i + 1] = lab.empty(4, 4, {device = "cuda:" .. i}) end
lab.spin(2, {stream = side@b})
t[@b+]:fill_(1, {stream = side@b})                                  --A
comm:all_reduce(t, {out = sums, streams = own})                     --B
]], {
    first = { "A", "write", "fill_f32", "side@b" }, second = { "B", "read", all_reduce, "own@b" },
    stale = true,
})

wrong("another stream reads what an all-gather writes", tensors .. [[
local all = {}
for i = 0, n - 1 do
    all[i + 1] = lab.empty(n * 4, 4, {device = "cuda:" .. i})       --Y
end
comm:all_gather(t, {out = all, streams = own})                      --A
lab.add(all[@b+]:narrow(1, 1, 4), 1, {stream = side@b})             --B
]], {
    first = { "A", "write", "ncclDevKernel_AllGather", "own@b" },
    second = { "B", "read", "add_scalar_f32", "side@b" }, made = "Y", tensor = "^tensor %d+ %(",
})

wrong("the input of a reduce-scatter is overwritten too early", [[
local t = {}
for i = 0, n - 1 do
    t[i + 1] = lab.empty(n * 4, 4, {device = "cuda:" .. i})         --X
end
comm:reduce_scatter(t, {streams = own})                             --A
t[@b+]:narrow(1, 1, 4):fill_(9, {stream = side@b})                  --B
]], {
    first = { "A", "read", "ncclDevKernel_ReduceScatter_Sum_f32", "own@b" },
    second = { "B", "write", "fill_f32", "side@b" }, tensor = "^tensor %d+ %(",
})

wrong("another stream reads what a broadcast brings", tensors .. [[
comm:broadcast(t, {root = @a, streams = own})                       --A
lab.add(t[@b+], 1, {stream = side@b})                               --B
]], {
    first = { "A", "write", false, "own@b" }, second = { "B", "read", "add_scalar_f32", "side@b" },
})

wrong("the root's tensor is overwritten while it is broadcast", tensors .. [[
comm:broadcast(t, {root = @b, streams = own})                       --A
t[@b+]:fill_(9, {stream = side@b})                                  --B
]], {
    first = { "A", "read", false, "own@b" }, second = { "B", "write", "fill_f32", "side@b" },
})

wrong("another stream reads what a recv brings", tensors .. [[
comm:group(function()
    comm:send(t[@a+], {dst = @b, stream = own@a})
    comm:recv(t[@b+], {src = @a, stream = own@b})                   --A
end)
lab.add(t[@b+], 1, {stream = side@b})                               --B
]], {
    first = { "A", "write", false, "own@b" }, second = { "B", "read", "add_scalar_f32", "side@b" },
})

wrong("a tensor is overwritten while it is sent", tensors .. [[
comm:group(function()
    comm:send(t[@b+], {dst = @a, stream = own@b})                   --A
    comm:recv(t[@a+], {src = @b, stream = own@a})
end)
t[@b+]:fill_(9, {stream = side@b})                                  --B
]], {
    first = { "A", "read", false, "own@b" }, second = { "B", "write", "fill_f32", "side@b" },
})

-- ---- asynchronous collectives -------------------------------------------------------------------

wrong("nobody waits for an asynchronous all-reduce", tensors .. [[
comm:all_reduce(t, {streams = own, async = true})                   --A
lab.add(t[@b+], 1, {stream = own@b})                                --B
]], {
    first = { "A", "write", all_reduce, "comm @b" },
    second = { "B", "read", "add_scalar_f32", "own@b" },
    remedy = "work:wait()", remedy_where = ", where work is what case.lua:5 gave", lasting = true,
})

wrong("an asynchronous all-reduce does not wait for a stream that is not its caller", tensors .. [[
local sums = {}
for i = 0, n - 1 do sums[i + 1] = lab.empty(4, 4, {device = "cuda:" .. i}) end
t[@b+]:fill_(1, {stream = side@b})                                  --A
comm:all_reduce(t, {out = sums, streams = own, async = true})       --B
]], {
    first = { "A", "write", "fill_f32", "side@b" }, second = { "B", "read", all_reduce, "comm @b" },
    remedy = "caller:wait_stream(side@b)",
    remedy_where = ", where caller is the stream of that call", lasting = true,
})

right("work:wait() lets the callers' streams wait", tensors .. [[
local work = comm:all_reduce(t, {streams = own, async = true})
work:wait()
lab.add(t[@b+], 1, {stream = own@b})
]])

right("an asynchronous all-reduce comes behind its callers' streams", tensors .. [[
t[@b+]:fill_(1, {stream = own@b})
comm:all_reduce(t, {streams = own, async = true}):wait()
]])

right("work:wait() behind a group lets them wait as well", tensors .. [[
local work
comm:group(function() work = comm:all_reduce(t, {streams = own, async = true}) end)
work:wait()
lab.add(t[@b+], 1, {stream = own@b})
]])

right("work:synchronize() lets the host wait", tensors .. [[
comm:all_reduce(t, {streams = own, async = true}):synchronize()
lab.add(t[@b+], 1, {stream = side@b})
]])

right("work:query() that gives true is a wait", tensors .. [[
local work = comm:all_reduce(t, {streams = own, async = true})
repeat until work:query()
lab.add(t[@b+], 1, {stream = side@b})
]])

-- ---- from one rank to another -----------------------------------------------------------------

wrong("a copy from another GPU does not wait for what writes there", page .. [[
page:fill_(7, {stream = own@b})                                     --A
copy:copy_(page, {non_blocking = true, stream = own@a})             --B
]], {
    first = { "A", "write", "fill_f32", "own@b" },
    second = { "B", "read", false, "own@a" }, made = "Y",
})

right("a copy from another GPU waits for a stream of that one", page .. [[
page:fill_(7, {stream = own@b})
own@a:wait_stream(own@b)
copy:copy_(page, {non_blocking = true, stream = own@a})
]])

right("an event of another GPU orders as well", page .. [[
page:fill_(7, {stream = own@b})
local written = own@b:record_event()
side@a:wait_event(written)
copy:copy_(page, {non_blocking = true, stream = side@a})
]])

for name, call in pairs{
    all_reduce = "comm:all_reduce(t, {streams = own})",
    all_gather = "comm:all_gather(t, {streams = own})",
    reduce_scatter = [[
local rows = {}
for i = 0, n - 1 do rows[i + 1] = lab.empty(n, 4, {device = "cuda:" .. i}) end
comm:reduce_scatter(rows, {streams = own})]],
    broadcast = "comm:broadcast(t, {root = @b, streams = own})",
    send = [[
comm:group(function()
    comm:send(t[@b+], {dst = @a, stream = own@b})
    comm:recv(t[@a+], {src = @b, stream = own@a})
end)]],
} do
    right("what a rank has done before its " .. name .. " comes before what another has behind it",
          tensors .. page .. [[
page:fill_(7, {stream = own@b})
]] .. call .. [[

copy:copy_(page, {non_blocking = true, stream = own@a})
]])
end

wrong("a broadcast does not wait for those that receive it", tensors .. page .. [[
page:fill_(7, {stream = own@b})                                     --A
comm:broadcast(t, {root = @a, streams = own})
copy:copy_(page, {non_blocking = true, stream = own@a})             --B
]], {
    first = { "A", "write", "fill_f32", "own@b" },
    second = { "B", "read", false, "own@a" }, made = "Y",
})

wrong("a send does not wait for the work of the rank that receives", tensors .. page .. [[
page:fill_(7, {stream = own@b})                                     --A
comm:group(function()
    comm:send(t[@a+], {dst = @b, stream = own@a})
    comm:recv(t[@b+], {src = @a, stream = own@b})
end)
copy:copy_(page, {non_blocking = true, stream = own@a})             --B
]], {
    first = { "A", "write", "fill_f32", "own@b" },
    second = { "B", "read", false, "own@a" }, made = "Y",
})

wrong("an all-reduce orders the ranks' streams alone", tensors .. page .. [[
page:fill_(7, {stream = side@b})                                    --A
comm:all_reduce(t, {streams = own})
copy:copy_(page, {non_blocking = true, stream = own@a})             --B
]], {
    first = { "A", "write", "fill_f32", "side@b" },
    second = { "B", "read", false, "own@a" }, made = "Y",
})

wrong("the end of an all-reduce on one rank is not its end on another", tensors .. [[
comm:all_reduce(t, {streams = own})                                 --A
lab.empty(4, 4, {device = "cuda:@a"}):copy_(t[@b+], {non_blocking = true, stream = own@a})  --B
]], {
    first = { "A", "write", all_reduce, "own@b" }, second = { "B", "read", false, "own@a" },
})

wrong("collectives of a group have no order among each other", tensors .. page .. [[
comm:group(function()
    comm:send(page, {dst = @a, stream = own@b})                     --A
    comm:recv(copy, {src = @b, stream = own@a})
    for i = 1, n do comm:all_reduce(t[i], {stream = own[i]}) end
end)
page:copy_(copy, {non_blocking = true, stream = own@a})             --B
]], {
    first = { "A", "read", false, "own@b" }, second = { "B", "write", false, "own@a" }, made = "Y",
})

right("but one behind the group orders them", tensors .. page .. [[
comm:group(function()
    comm:send(page, {dst = @a, stream = own@b})
    comm:recv(copy, {src = @b, stream = own@a})
end)
comm:all_reduce(t, {streams = own})
page:copy_(copy, {non_blocking = true, stream = own@a})
]])

wrong("a copy to another GPU and the all-reduce there", tensors .. page .. [[
lab.spin(2, {stream = side@a})
t[@b+]:copy_(copy, {non_blocking = true, stream = side@a})          --A
comm:broadcast(t, {root = @b, streams = own})                       --B
]], {
    first = { "A", "write", false, "side@a" },
    second = { "B", "read", false, "own@b" }, stale = true,
})

right("a rank overwrites behind an all-reduce what another has read before it",
      tensors .. page .. [[
copy:copy_(page, {non_blocking = true, stream = own@a})
comm:all_reduce(t, {streams = own})
page:fill_(7, {stream = own@b})
]])

right("an event behind an all-reduce stands for what all ranks had before it", tensors .. page .. [[
page:fill_(7, {stream = own@b})
comm:all_reduce(t, {streams = own})
side@b:wait_event(own@a:record_event())
lab.add(page, 1, {stream = side@b})
]])

right("the host waits for one rank, and so for what all had before", tensors .. [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})
p:copy_(t[@b+], {non_blocking = true, stream = own@b})
comm:all_reduce(t, {streams = own})
own@a:synchronize()
p:fill_(7)
]])

right("two all-reduces of a group, and their results", tensors .. [[
local u = {}
for i = 0, n - 1 do u[i + 1] = lab.empty(4, 4, {device = "cuda:" .. i}) end
comm:group(function()
    for i = 1, n do comm:all_reduce(t[i], {stream = own[i]}) end
    for i = 1, n do comm:all_reduce(u[i], {stream = own[i]}) end
end)
lab.add(t[@b+], u[@b+], {stream = own@b})
]])

-- ---- memory that goes ---------------------------------------------------------------------------

right("a tensor is freed while it is reduced, and its memory serves again", tensors .. [[
comm:all_reduce(t, {streams = own})
t[@b+]:free()
lab.empty(4, 4, {device = "cuda:@b"}):fill_(7, {stream = side@b})
]])

wrong("cudaFree waits for the all-reduce of its GPU by chance", tensors .. [[
comm:all_reduce(t, {streams = own})                                 --A
lab.cuda.free(t[@b+])                                               --B
]], {
    kind = "accident",
    first = { "A", "write", all_reduce, "own@b" }, second = { "B", "free", "cudaFree", "host" },
})

wrong("nobody waits for what an aborted communicator has begun", tensors .. [[
comm:all_reduce(t, {streams = own})                                 --A
comm:abort()
t[@b+]:fill_(9, {stream = side@b})                                  --B
]], {
    first = { "A", "write", all_reduce, "own@b" }, second = { "B", "write", "fill_f32", "side@b" },
})

-- ---- ranks that call alone, which real GPUs do not have in one process ------------------------

if first.simulated then
    local in_turn <const> = tensors .. page .. [[
page:fill_(7, {stream = own@b})                                     --A
comm:all_reduce(t[@a+], {stream = own@a})
]]
    local others <const> = [[
for i = 1, n do
    if i ~= @a+ then comm:all_reduce(t[i], {stream = own[i]}) end
end
]]
    local use <const> = [[
copy:copy_(page, {non_blocking = true, stream = own@a})             --B
]]
    right("the last rank to call completes the order", in_turn .. others .. use)
    wrong("before that there is none", in_turn .. use .. others, {
        first = { "A", "write", "fill_f32", "own@b" }, second = { "B", "read", false, "own@a" },
        made = "Y",
    })
end

C.use_gpus{}
T.done()
