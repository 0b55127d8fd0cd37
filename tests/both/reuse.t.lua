-- reuse.t.lua - random programs in order, in which tensors come and go while streams use them:
-- whatever memory is used again, each tensor has the values that the script gave it. On a GPU
-- memory that is given on too early shows here; the simulator's values are each tensor's own, and
-- there the programs must end and leave no memory behind.

local T = require "tap"

T.open()

local programs <const>, calls <const> = 40, 120
local most <const> = 2 ^ 20             -- of values: all sums are exact
local sizes <const> = { 4096, 4096, 4096, 4000, 4200, 8192 }

local function generator(seed)
    local state = (seed * 2654435761 + 12345) % 2147483648
    return function(n)      -- 1..n
        state = (state * 1103515245 + 12345) % 2147483648
        return (state >> 8) % n + 1
    end
end

-- ---- one program ------------------------------------------------------------------------

-- A tensor with its values, one for each half, and the stream that used it last.
local function keep(p, t, first, second, s)
    p.list[#p.list + 1] = { t = t, values = { first, second }, last = s }
end

local function pick(p) return p.list[#p.list > 0 and p.random(#p.list) or 1] end

-- Stream s comes behind what has used the tensor.
local function order(p, e, s)
    if e.last ~= s then p.streams[s]:wait_event(p.streams[e.last]:record_event()) end
    e.last = s
end

local function halves(t)
    local n = t:numel() // 2
    return t:narrow(1, 1, n), t:narrow(1, n + 1, n)
end

local function is_as_made(e)
    local list = e.t:cpu():totable()
    for i, x in ipairs(list) do
        if x ~= e.values[i <= #list // 2 and 1 or 2] then return false end
    end
    return true
end

local steps = {}

function steps.full(p, s)
    local v = p.random(100)
    keep(p, lab.full(v, p.size, { stream = p.streams[s] }), v, v, s)
end

-- Its first use is in another stream, which waits for nothing.
function steps.elsewhere(p, s, other)
    local t, v = lab.empty(p.size, { stream = p.streams[s] }), p.random(100)
    t:fill_(v, { stream = p.streams[other] })
    keep(p, t, v, v, other)
end

-- Two streams fill a half each, and neither waits for the other.
function steps.parts(p, s, other)
    local t, v, w = lab.empty(p.size, { stream = p.streams[s] }), p.random(100), p.random(100)
    local first, second = halves(t)
    first:fill_(v, { stream = p.streams[s] })
    second:fill_(w, { stream = p.streams[other] })
    p.streams[s]:wait_event(p.streams[other]:record_event())
    keep(p, t, v, w, s)
end

function steps.add(p, s)
    local a, b = pick(p), pick(p)
    if not a or a.t:numel() ~= b.t:numel() or a.values[1] + b.values[1] > most
        or a.values[2] + b.values[2] > most then return end
    order(p, a, s)
    order(p, b, s)
    keep(p, lab.add(a.t, b.t, { stream = p.streams[s] }), a.values[1] + b.values[1],
         a.values[2] + b.values[2], s)
end

function steps.change(p, s)
    local e, half, v = pick(p), p.random(2), p.random(100)
    if not e then return end
    order(p, e, s)
    select(half, halves(e.t)):fill_(v, { stream = p.streams[s] })
    e.values[half] = v
end

function steps.upload(p, s)
    local v = p.random(100)
    local host = lab.full(v, p.size, { device = "cpu", pinned = p.random(2) == 1 })
    keep(p, host:to("cuda", { stream = p.streams[s] }), v, v, s)
end

function steps.drop(p)
    if #p.list == 0 then return end
    local e = table.remove(p.list, p.random(#p.list))
    if p.random(2) == 1 then e.t:free() end
    if p.random(4) == 1 then collectgarbage() end
end

-- The host function keeps it until it has run.
function steps.host_func(p, s)
    if #p.list == 0 then return end
    local t = table.remove(p.list, p.random(#p.list)).t
    p.streams[s]:launch_host_func(function() t = nil end)
end

function steps.look(p, s)
    local e = pick(p)
    if not e then return end
    order(p, e, s)
    p.streams[s]:synchronize()
    if not is_as_made(e) then p.wrong = p.wrong + 1 end
end

function steps.spin(p, s) lab.spin(p.random(20) / 100, { stream = p.streams[s] }) end

local names <const> = { "full", "full", "elsewhere", "parts", "add", "add", "add",
                        "change", "upload", "drop", "drop", "drop", "drop", "host_func", "look",
                        "spin", "spin" }

local function run(seed)
    local p = { random = generator(seed), streams = {}, list = {}, wrong = 0 }
    for i = 1, 2 + p.random(3) do
        p.streams[i] = lab.stream{ non_blocking = p.random(4) > 1 }
    end
    for _ = 1, calls do
        p.size = sizes[p.random(#sizes)]
        steps[names[p.random(#names)]](p, p.random(#p.streams), p.random(#p.streams))
    end
    lab.synchronize()
    for _, e in ipairs(p.list) do
        if not is_as_made(e) then p.wrong = p.wrong + 1 end
    end
    return p.wrong
end

-- ---- all of them ------------------------------------------------------------------------

local function collect()
    collectgarbage()
    collectgarbage()
    lab.synchronize()
end

collect()
local before = lab.live()
local wrong = 0
for seed = 1, programs do
    local found = run(seed)
    if found > 0 then T.diag(("program %d: %d tensors have other values"):format(seed, found)) end
    wrong = wrong + found
end
T.is(wrong, 0, "whoever used the memory before, tensors have the values that they were given")
collect()
T.is(lab.live().device_bytes, before.device_bytes, "nothing of it is left")
T.is(lab.live().buffers, before.buffers, "in no buffer")
T.done()
