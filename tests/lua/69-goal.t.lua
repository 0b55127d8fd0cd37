-- 69-goal.t.lua - programs in GOAL: small ones by hand, and random ones whose longest chain is the
-- timeline's critical path.

require "lua.quiet" ()

local T = require "tap"
local check = require "goal_check"
local ideal = require "lua.ideal"

local MS <const> = 1000000 -- ns
local model <const> = { L = 10000, o = 0, g = 0, G = 1, S = math.huge }
local rendezvous <const> = { L = 10000, o = 0, g = 0, G = 1, S = 0 }
local function hop(bytes) return model.L + bytes - 1 end

local GPUS <const> = 4
local gpu, stream = {}, {}
for i = 1, GPUS do
    gpu[i] = lab.open{ backend = "sim", profile = "textbook", index = i - 1,
                       overrides = ideal.no_latency }
    stream[i] = lab.stream{ device = gpu[i], non_blocking = true }
end
gpu[2]:make_current()
local null_1 = lab.default_stream()
gpu[1]:make_current()

local function tensors(n, elements)
    local list = {}
    for i = 1, n do list[i] = lab.empty(elements, { device = "cuda:" .. i - 1 }) end
    return list
end

local path = os.tmpname()
local function saved(tl)
    tl:save(path .. ".goal")
    local file <close> = assert(io.open(path .. ".goal"))
    return file:read("a")
end

local function goal(f)
    local text = saved(lab.profile(f))
    T.is_deeply(check.complaints(text), {}, "nothing is wrong with the program")
    return text
end

local function is(text, expected, name)
    for kind, how in pairs{ eager = model, rendezvous = rendezvous } do
        local ends, why = check.replay(text, how)
        T.is(ends and math.max(table.unpack(ends)) or why, expected, name .. ", " .. kind)
    end
end

-- ---- by hand ----------------------------------------------------------------------------

local function communicator(devices, f)
    local comm = lab.comm{ devices = devices }
    f(comm)
    comm:free()
end

-- A ring of two: two steps, each of half of the bytes.
communicator({ 0, 1 }, function(comm)
    local t = tensors(2, 1000)
    local on = { streams = { stream[1], stream[2] } }
    local text = goal(function()
        for i = 1, 2 do lab.spin(1, { stream = stream[i] }) end
        comm:all_reduce(t, on)
        for i = 1, 2 do lab.spin(2, { stream = stream[i] }) end
    end)
    T.is(text, [[
num_ranks 2

rank 0 {
t1: calc 1000000 cpu 0
t3s: calc 0 cpu 0
t3r0: recv 2000b from 1 tag 1 cpu 0 nic 0
t3r0 requires t3s
t3s0: send 2000b to 1 tag 1 cpu 0 nic 0
t3s0 requires t3s
t3r1: recv 2000b from 1 tag 1 cpu 0 nic 0
t3r1 requires t3r0
t3s1: send 2000b to 1 tag 1 cpu 0 nic 0
t3s1 requires t3s0
t3s1 requires t3r0
t3: calc 0 cpu 0
t3 requires t3s1
t3 requires t3r1
t3s requires t1
t5: calc 2000000 cpu 0
t5 requires t3
}

rank 1 {
t2: calc 1000000 cpu 0
t4s: calc 0 cpu 0
t4r0: recv 2000b from 0 tag 1 cpu 0 nic 0
t4r0 requires t4s
t4s0: send 2000b to 0 tag 1 cpu 0 nic 0
t4s0 requires t4s
t4r1: recv 2000b from 0 tag 1 cpu 0 nic 0
t4r1 requires t4r0
t4s1: send 2000b to 0 tag 1 cpu 0 nic 0
t4s1 requires t4s0
t4s1 requires t4r0
t4: calc 0 cpu 0
t4 requires t4s1
t4 requires t4r1
t4s requires t2
t6: calc 2000000 cpu 0
t6 requires t4
}
]], "a kernel, an all_reduce, a kernel")
    is(text, MS + 2 * hop(2000) + 2 * MS, "a ring of two takes two steps")
end)

-- A copy runs on the GPU that it copies from, and the other one waits for it.
do
    local t = tensors(2, 1000)
    local text = goal(function()
        lab.spin(1)
        t[2]:copy_(t[1])
        lab.spin(1, { stream = null_1 })
    end)
    is(text, MS + hop(4000) + MS, "a copy to another GPU is a message")
    T.like(text, "\nt%d: send 4000b to 1 tag 1 ", "which one sends")
    T.like(text, "\nt%d: recv 4000b from 0 tag 1 ", "and the other receives")
end

-- Three stages, two batches: each stage begins when the batch is there, and when it is free.
communicator({ 0, 1, 2 }, function(comm)
    local t = tensors(3, 1000)
    local text = goal(function()
        for _ = 1, 2 do
            for i = 1, 3 do
                if i > 1 then
                    comm:group(function()
                        comm:send(t[i - 1], { dst = i - 1, stream = stream[i - 1] })
                        comm:recv(t[i], { src = i - 2, stream = stream[i] })
                    end)
                end
                lab.spin(1, { stream = stream[i] })
            end
        end
    end)
    local ends = check.replay(text, model)
    T.is_deeply(ends, { 2 * MS, 3 * MS + hop(4000), 4 * MS + 2 * hop(4000) },
                "a pipeline of three stages and two batches")
    T.ok(check.replay(text, rendezvous), "it ends also where a send waits for its receive")
end)

-- Both send, then receive, in one kernel: neither may wait for its own send.
communicator({ 0, 1 }, function(comm)
    local t, r = tensors(2, 1000), tensors(2, 1000)
    local text = goal(function()
        comm:group(function()
            for i = 1, 2 do
                comm:send(t[i], { dst = 2 - i, stream = stream[i] })
                comm:recv(r[i], { src = 2 - i, stream = stream[i] })
            end
        end)
        for i = 1, 2 do lab.spin(1, { stream = stream[i] }) end
    end)
    is(text, hop(4000) + MS, "send and receive of a group run at once")
end)

-- 3 steps of a quarter, or of a part; a chain of 3 hops, in two pieces of 524288 bytes.
communicator({ 0, 1, 2, 3 }, function(comm)
    local large, small = tensors(4, 4000), tensors(4, 1000)
    local function with(out) return { streams = stream, out = out } end
    local on = { streams = stream }
    is(goal(function() comm:all_reduce(large, on) end), 6 * hop(4000), "all_reduce of four")
    is(goal(function() comm:all_gather(small, with(large)) end), 3 * hop(4000), "all_gather")
    is(goal(function() comm:reduce_scatter(large, with(small)) end), 3 * hop(4000),
       "reduce_scatter")
    is(goal(function() comm:broadcast(small, { root = 2, streams = stream }) end), 3 * hop(4000),
       "broadcast")
    local text = goal(function()
        comm:broadcast(tensors(4, 1 << 18), { root = 2, streams = stream })
    end)
    local ends = check.replay(text, model)
    T.is(math.max(table.unpack(ends)), 3 * model.L + 4 * 524287, "a broadcast is in pieces")
    T.is(ends[3], 524287, "of which its root sends the second one behind the first")
end)

-- Ranks of a communicator are not those of the file.
communicator({ 3, 1 }, function(comm)
    local t = { lab.empty(1000, { device = "cuda:3" }), lab.empty(1000, { device = "cuda:1" }) }
    local text = goal(function()
        lab.spin(1)
        lab.spin(1, { stream = stream[3] })
        comm:broadcast(t, { root = 0, streams = { stream[4], stream[2] } })
    end)
    T.like(text, "rank 3 {\nt%ds: calc 0 cpu 0\nt%ds0: send 4000b to 1 ", "rank 0 is GPU 3")
end)

-- ---- what comes behind what ----------------------------------------------------------------

do
    local side = lab.stream{ device = gpu[1], non_blocking = true }
    local function two(wait)
        return goal(function()
            lab.spin(1, { stream = stream[1] })
            if wait then side:wait_stream(stream[1]) end
            lab.spin(1, { stream = side })
        end)
    end
    is(two(false), MS, "two streams are two CPUs")
    is(two(true), 2 * MS, "but an event orders them")
    is(goal(function()
        lab.spin(1, { stream = stream[1] })
        stream[2]:wait_event(stream[1]:record_event())
        lab.spin(1, { stream = stream[2] })
    end), MS + hop(1) + MS, "on another GPU an event is a message of a byte")
    is(goal(function()
        lab.spin(1, { stream = stream[1] })
        stream[1]:synchronize()
        lab.spin(1, { stream = stream[2] })
        lab.spin(1, { stream = stream[2] })
    end), MS + hop(1) + 2 * MS, "and so is what the host had waited for")
    local blocking = lab.stream{}
    is(goal(function()
        lab.spin(1, { stream = blocking })
        lab.spin(1)
        lab.spin(1, { stream = blocking })
    end), 3 * MS, "the NULL stream waits for others, and they for it")
end

-- Events, synchronisations and NULL streams at random. Without a network the replay ends with the
-- longest chain, which bounds.c finds by other means.
local free <const> = { L = 0, o = 0, g = 0, G = 0, S = math.huge }
local lanes = {}
for i = 1, 3 do
    lanes[#lanes + 1] = { i, lab.stream{ device = gpu[i] } }
    lanes[#lanes + 1] = { i, stream[i] }
end
local function random_program(random)
    local events = {}
    for _ = 1, 60 do
        local lane = lanes[random(#lanes)]
        local what = random(10)
        if what <= 5 then
            lab.spin(random(20) / 100, { stream = lane[2] })
        elseif what <= 7 then
            events[#events + 1] = lane[2]:record_event()
        elseif what == 8 and #events > 0 then
            lane[2]:wait_event(events[random(#events)])
        elseif what == 9 and #events > 0 then
            events[random(#events)]:synchronize()
        elseif what == 10 then
            if random(2) == 1 then lab.spin(0.1) else lane[2]:synchronize() end
        end
    end
end

local agree = 0
for seed = 1, 20 do
    math.randomseed(seed)
    local tl = lab.profile(random_program, math.random)
    local text = saved(tl)
    local ends = check.replay(text, free)
    local longest = ends and math.max(table.unpack(ends))
    local expected = math.tointeger(tl:bounds().critical_path_us * 1000 // 1)
    if longest == expected and #check.complaints(text) == 0 then
        agree = agree + 1
    else
        T.diag(("seed %d: %s ns, not %d"):format(seed, longest, expected))
    end
end
T.is(agree, 20, "of random programs the longest chain is the timeline's critical path")

os.remove(path)
os.remove(path .. ".goal")
stream, lanes, null_1 = nil, nil, nil
T.done()
