-- collectives.t.lua - two ranks in one process: values of each collective in each dtype against
-- values worked out in Lua, groups, streams, asynchronous calls, odd sizes, races with other work,
-- recordings, errors.

local T = require "tap"
local ideal = require "lua.ideal"

local one = T.open()
local two, why = nil, nil
do
    local fine, device = pcall(T.open, 1)
    if fine then two = device else why = tostring(device) end
end
if not two then T.skip_all("this needs two GPUs: " .. why) end
one:make_current()
local fine, comm = pcall(lab.comm, { devices = { 0, 1 } })
if not fine then T.skip_all("this needs collectives: " .. tostring(comm)) end
local homes = { "cuda:0", "cuda:1" }
local exact = { rtol = 0, atol = 0 }

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function synchronize()
    for _, device in ipairs{ two, one } do
        device:make_current()
        lab.synchronize()
    end
end

-- ---- values, and what they should be ----------------------------------------------------

-- Small whole numbers, which each dtype has, and whose sums and products too.
local function element(rank, i) return (i * 3 + rank * 2) % 5 end

local function values(rank, n)
    local list = {}
    for i = 1, n do list[i] = element(rank, i) end
    return list
end

-- Of both ranks, with n elements each.
local function tensors(n, dtype)
    local list = {}
    for rank = 0, 1 do
        list[rank + 1] = lab.tensor(values(rank, n), { dtype = dtype, device = homes[rank + 1] })
    end
    return list
end

local reduce = {
    sum = function(a, b) return a + b end,
    prod = function(a, b) return a * b end,
    min = math.min, max = math.max,
    avg = function(a, b) return (a + b) / 2 end,
}

local function reduced(op, n)
    local a, b, list = values(0, n), values(1, n), {}
    for i = 1, n do list[i] = reduce[op](a[i], b[i]) end
    return list
end

local function is_all(tensor, expected)
    if tensor:numel() ~= #expected then return false end
    if #expected == 0 then return true end
    return lab.allclose(tensor:to("float64"):cpu(),
                        lab.tensor(expected, { dtype = "float64", device = "cpu" }), exact)
end

-- ---- each collective in each dtype -------------------------------------------------------

local dtypes <const> = { "float32", "float64", "float16", "bfloat16", "int32", "uint8" }
local is_whole <const> = { int32 = true, uint8 = true }
local sizes <const> = { 1, 2, 3, 1000, 65537 }

local function all_reduce()
    for _, dtype in ipairs(dtypes) do
        for _, op in ipairs{ "sum", "prod", "min", "max", "avg" } do
            local right = true
            for _, n in ipairs(op == "sum" and sizes or { 1001 }) do
                if op ~= "avg" or not is_whole[dtype] then
                    local t, expected = tensors(n, dtype), reduced(op, n)
                    comm:all_reduce(t, { op = op })
                    right = right and is_all(t[1], expected) and is_all(t[2], expected)
                end
            end
            T.ok(right, "all_reduce " .. op .. " of " .. dtype)
        end
    end
end

local function concatenated(n)
    return table.move(values(1, n), 1, n, n + 1, values(0, n))
end

local function all_gather()
    for _, dtype in ipairs(dtypes) do
        local right = true
        for _, n in ipairs(sizes) do
            local all = comm:all_gather(tensors(n, dtype))
            right = right and is_all(all[1], concatenated(n)) and is_all(all[2], concatenated(n))
        end
        T.ok(right, "all_gather of " .. dtype)
    end
end

local function part(list, rank)
    local n = #list // 2
    return table.move(list, rank * n + 1, (rank + 1) * n, 1, {})
end

local function reduce_scatter()
    for _, dtype in ipairs(dtypes) do
        local right = true
        for _, n in ipairs{ 2, 6, 1000, 65538 } do
            local parts, expected = comm:reduce_scatter(tensors(n, dtype)), reduced("sum", n)
            right = right and is_all(parts[1], part(expected, 0))
                and is_all(parts[2], part(expected, 1))
        end
        T.ok(right, "reduce_scatter of " .. dtype)
    end
end

local function broadcast()
    for _, dtype in ipairs(dtypes) do
        local right = true
        for root = 0, 1 do
            for _, n in ipairs(sizes) do
                local t = tensors(n, dtype)
                comm:broadcast(t, { root = root })
                right = right and is_all(t[1], values(root, n)) and is_all(t[2], values(root, n))
            end
        end
        T.ok(right, "broadcast of " .. dtype)
    end
end

local function send_and_recv()
    for _, dtype in ipairs(dtypes) do
        local right = true
        for _, n in ipairs(sizes) do
            local t, r = tensors(n, dtype), tensors(n, dtype)
            comm:group(function()
                for rank = 0, 1 do
                    comm:send(t[rank + 1], { dst = 1 - rank })
                    comm:recv(r[rank + 1], { src = 1 - rank })
                end
            end)
            right = right and is_all(r[1], values(1, n)) and is_all(r[2], values(0, n))
        end
        T.ok(right, "send and recv of " .. dtype)
    end
end

-- ---- in place, out of place, nothing -------------------------------------------------------

local function places()
    local t, n = tensors(1000), 1000
    local out = { lab.empty(n, { device = homes[1] }), lab.empty(n, { device = homes[2] }) }
    T.is(comm:all_reduce(t, { out = out }), out, "all_reduce with out gives it")
    T.ok(is_all(out[2], reduced("sum", n)), "with the sum")
    T.ok(is_all(t[2], values(1, n)), "and leaves its input")

    local all, parts = {}, {}
    for rank = 0, 1 do
        all[rank + 1] = lab.zeros(2 * n, { device = homes[rank + 1] })
        parts[rank + 1] = all[rank + 1]:narrow(1, rank * n + 1, n)
        parts[rank + 1]:copy_(t[rank + 1])
    end
    comm:all_gather(parts, { out = all })
    T.ok(is_all(all[1], concatenated(n)) and is_all(all[2], concatenated(n)),
         "all_gather in place")
    local whole = tensors(2 * n)
    for rank = 0, 1 do parts[rank + 1] = whole[rank + 1]:narrow(1, rank * n + 1, n) end
    comm:reduce_scatter(whole, { out = parts })
    T.ok(is_all(parts[2], part(reduced("sum", 2 * n), 1)), "reduce_scatter in place")

    local none = { lab.empty(0, { device = homes[1] }), lab.empty(0, { device = homes[2] }) }
    T.is(comm:all_reduce(none), none, "no elements are fine")
    local rows = { lab.ones(3, 5, { device = homes[1] }), lab.ones(3, 5, { device = homes[2] }) }
    local gathered = comm:all_gather(rows)[1]
    T.is(table.concat({ gathered:size() }, "x"), "6x5", "all_gather makes the first size larger")
    local scattered = comm:reduce_scatter{ gathered, comm:all_gather(rows)[2] }
    T.is(table.concat({ scattered[2]:size() }, "x"), "3x5", "and reduce_scatter smaller")
end

-- ---- groups, streams, asynchronous calls -----------------------------------------------------

local function groups()
    local a, b = tensors(1000), tensors(333)
    local given = comm:group(function(what)
        for rank = 1, 2 do comm:all_reduce(a[rank]) end
        comm:all_reduce(b, { op = "max" })
        return what
    end, "kept")
    T.is(given, "kept", "a group gives what its function gave")
    T.ok(is_all(a[1], reduced("sum", 1000)) and is_all(a[2], reduced("sum", 1000)),
         "tensors of single ranks meet in a group")
    T.ok(is_all(b[2], reduced("max", 333)), "and lists beside them")
    T.throws_like(function()
        comm:group(function() comm:all_reduce(a); error("no") end)
    end, "no", "an error passes a group")
    synchronize()
    T.ok(is_all(a[1], reduced("sum", 1000)), "whose collectives are forgotten")
    comm:all_reduce(b)
    T.ok(true, "and the next one works")
end

-- Each rank has work before and behind the collective in a stream of its own.
local function in_streams()
    local streams, t = {}, tensors(1 << 17)
    for rank = 1, 2 do
        streams[rank] = lab.stream{ device = homes[rank], non_blocking = true }
        lab.spin(rank, { stream = streams[rank] })
        t[rank]:add(1, { out = t[rank], stream = streams[rank] })
    end
    comm:all_reduce(t, { streams = streams })
    for rank = 1, 2 do t[rank]:mul(2, { out = t[rank], stream = streams[rank] }) end
    synchronize()
    local expected = reduced("sum", 1 << 17)
    for i = 1, #expected do expected[i] = (expected[i] + 2) * 2 end
    T.ok(is_all(t[1], expected) and is_all(t[2], expected),
         "a collective is behind what its streams have, and before what follows")
end

local function asynchronous()
    local t = tensors(1 << 17)
    local work, result = comm:all_reduce(t, { async = true })
    T.is(result, t, "an asynchronous call gives its result as well")
    work:wait()
    local doubled = { t[1]:mul(2), t[2]:mul(2) }
    local expected = reduced("sum", 1 << 17)
    for i = 1, #expected do expected[i] = expected[i] * 2 end
    T.ok(is_all(doubled[1], expected) and is_all(doubled[2], expected),
         "what comes behind wait sees it")
    work:synchronize()
    T.is(work:query(), true, "it has ended when synchronize returns")
    local second
    comm:group(function()
        second = comm:all_reduce(t, { async = true })
        refuses(function() second:wait() end, "SL_EINVAL", "has not ended",
                "in an open group there is nothing to wait for")
    end)
    second:wait()
    synchronize()
    T.is(second:query(), true, "afterwards there is")
end

-- ---- recordings -------------------------------------------------------------------------------

-- 1 on rank 0, 4 on rank 1.
local function filled(n)
    return { lab.full(1, n, { device = homes[1] }), lab.full(4, n, { device = homes[2] }) }
end

local function recordings()
    local t = filled(1 << 20)
    one:make_current()
    local tl = lab.profile(function()
        comm:all_reduce(t)
        synchronize()
    end)
    local found
    for _, span in ipairs(tl:spans()) do
        if span.name:find "AllReduce" then found = found or span end
    end
    if T.ok(found, "a recording has the collective") then
        T.is(found.name, "ncclDevKernel_AllReduce_Sum_f32", "by the name of NCCL's kernel")
        T.is(found.kind, "collective", "as a collective")
        T.is(found.engine, "comm", "of an engine of its own")
        T.ok(found.end_us > found.start_us, "with its time")
        T.like(found.where, "^collectives%.t%.lua:%d+$", "and its line")
    end
end

-- ---- errors -------------------------------------------------------------------------------------

local function errors()
    local t = tensors(100)
    local short = { t[1], lab.ones(99, { device = homes[2] }) }
    refuses(function() comm:all_reduce(short) end, "SL_ESHAPE", "rank 1.*99.*rank 0.*100",
            "sizes that differ name the rank")
    refuses(function() comm:all_reduce{ t[1], t[2]:to("float64") } end, "SL_EDTYPE",
            "rank 1's tensor is float64", "dtypes too")
    refuses(function() comm:all_reduce{ t[1], lab.ones(100, { device = "cpu" }) } end, "SL_EPLACE",
            "rank 1's tensor is on the cpu", "and places")
    refuses(function() comm:all_reduce{ t[2], t[1] } end, "SL_EDEVICE",
            "rank 0's tensor is on another device", "tensors in the wrong order")
    refuses(function() comm:all_reduce{ t[1] } end, "SL_EINVAL", "1 element.*2 ranks",
            "a list needs a tensor a rank")
    refuses(function() comm:broadcast(t, { root = 2 }) end, "SL_EINVAL", "2 as root.*0 to 1",
            "an unknown root")
    refuses(function() comm:send(t[1]) end, "SL_EINVAL", "dst", "send needs a destination")
    refuses(function() comm:all_reduce(t, { op = "mean" }) end, "SL_EINVAL", "op", "an unknown op")
    refuses(function() comm:reduce_scatter{ lab.ones(3, { device = homes[1] }),
                                            lab.ones(3, { device = homes[2] }) } end,
            "SL_EINVAL", "cannot be divided among 2", "what cannot be divided")
    refuses(function() comm:all_reduce(t, { stream = lab.stream() }) end, "SL_EINVAL", "streams =",
            "one stream for two ranks")
    refuses(function()
        comm:all_reduce(t, { streams = { lab.stream{ device = homes[2] },
                                         lab.stream{ device = homes[2] } } })
    end, "SL_EDEVICE", "rank 0's stream", "a stream of another rank")
    refuses(function() lab.comm{ devices = { 0, 0 } } end, "SL_EINVAL", "ranks 0 and 1 are one GPU",
            "a GPU has one rank")
    T.like(tostring(comm), "^comm %(2 ranks: rank 0 on %a+ 0, rank 1 on %a+ 1%)$", "tostring")
    T.is(comm.size, 2, "size")
    T.is(comm.rank, nil, "a process with both ranks has no rank of its own")
    T.is(comm.devices[2], two, "devices")
    comm:all_reduce(t)
    T.ok(is_all(t[1], reduced("sum", 100)), "after all that the communicator works")
end

-- Two that look alike, which the second rank calls in the given order.
local function named(second, third)
    local a, b = tensors(100), tensors(100)
    local lists = { a = a, b = b }
    return function()
        comm:group(function()
            comm:all_reduce(a[1], { name = "a" })
            comm:all_reduce(b[1], { name = "b" })
            comm:all_reduce(lists[second][2], { name = second })
            if third then comm:all_reduce(lists[third][2], { name = third }) end
        end)
        return a, b
    end
end

local function names()
    local a, b = named("a", "b")()
    synchronize()
    T.ok(is_all(a[2], reduced("sum", 100)) and is_all(b[1], reduced("sum", 100)),
         "collectives that have names meet")
    refuses(named("b", "a"), "SL_EINVAL", "of rank 1 is \"b\", and of rank 0 \"a\": all ranks call",
            "in another order on one rank they are refused")
    refuses(function()
        comm:group(function()
            comm:send(a[1], { dst = 1, name = "a" })
            comm:recv(b[2], { src = 0, name = "b" })
        end)
    end, "SL_EINVAL", "of rank 1 is \"b\", and of rank 0 \"a\"",
        "so are a send and a recv of two names")
    local c = tensors(100)
    comm:group(function()
        comm:all_reduce(c[1])
        comm:all_reduce(c[2], { name = "c" })
    end)
    synchronize()
    T.ok(is_all(c[1], reduced("sum", 100)), "a rank that gives none meets any")
    refuses(function() comm:all_reduce(a, { name = 3 }) end, "SL_EINVAL",
            "option 'name' must be a text", "a name is a text")
end

local function the_end()
    local t = filled(1 << 24)
    for _ = 1, 20 do comm:all_reduce(t, { op = "max" }) end
    refuses(function() comm:free() end, "SL_ESTATE", "in flight", "it is not freed in flight")
    synchronize()
    comm:free()
    refuses(function() comm:all_reduce(t) end, "SL_ECLOSED", "freed", "a freed one is of no use")
    T.is(tostring(comm), "comm (freed)", "and says so")
    local next_one = lab.comm{ devices = { 0, 1 }, channels = 2 }
    next_one:all_reduce(t, { op = "max" })
    T.is(t[1]:get(3), 4.0, "the next one, with two channels, works")
    synchronize()
end

all_reduce()
all_gather()
reduce_scatter()
broadcast()
send_and_recv()
places()
groups()
in_streams()
asynchronous()
recordings()
errors()
names()
the_end()
comm = nil
synchronize()
T.done()
