-- 39-ordered.t.lua - the pool of cudaMallocAsync: when it takes memory from the system and gives it
-- back (release threshold 0), and cudaFree of its memory. Times are exact on a GPU without
-- latencies whose pool takes 10 us for each MiB that it asks for, and 100 us for each that it gives
-- back.

local T = require "tap"
local ideal = require "lua.ideal"

local mib <const> = 1 << 20
local cuda <const> = lab.cuda

local function open(overrides)
    local keys = { ["calls.cudaMallocAsync.us"] = 0, ["calls.cudaFreeAsync.us"] = 0,
                   ["calls.cudaFree.malloc_async.us"] = 7, ["host_pool.chunk_bytes"] = mib,
                   ["host_pool.grow_us"] = { { mib, 10 }, { 2 * mib, 20 } },
                   ["host_pool.trim_us"] = { { mib, 100 }, { 2 * mib, 200 } } }
    for key, value in pairs(overrides or {}) do keys[key] = value end
    ideal.open(keys)
end

local function us(f, ...)
    local before = lab.now_us()
    f(...)
    return lab.now_us() - before
end

local function malloc_us(bytes, stream)
    local memory
    local taken = us(function() memory = cuda.malloc_async(bytes, stream) end)
    return taken, memory
end

local function the_pool_grows()
    open()
    local s <close> = lab.stream{ non_blocking = true }
    local taken, first = malloc_us(mib, s)
    T.near(taken, 10, 1e-6, "the first allocation asks the system for memory")
    local more, second = malloc_us(3 * mib, s)
    T.near(more, 30, 1e-6, "so does what is not there")
    cuda.free_async(first, s)
    T.near(malloc_us(mib // 2, s), 0, 1e-6, "what was freed is used again without that")
    T.near(malloc_us(mib // 2, s), 0, 1e-6, "in parts as well")
    T.near(malloc_us(1, s), 10, 1e-6, "the pool grows by whole chunks")
    T.near(malloc_us(mib - 1, s), 0, 1e-6, "the rest of a chunk is there")
    cuda.free_async(second, s)
end

-- Each way to synchronise gives back what nobody uses, once.
local function synchronising_trims()
    open()
    local s <close> = lab.stream{ non_blocking = true }
    local event <close> = lab.event()
    local x = lab.ones(1)
    lab.synchronize()
    local ways <const> = {
        { "cudaStreamSynchronize", function() s:synchronize() end },
        { "cudaEventSynchronize", function() event:synchronize() end },
        { "cudaDeviceSynchronize", lab.synchronize },
        { "item(), which synchronises a stream,", function() x:item() end },
    }
    for _, way in ipairs(ways) do
        local name <const>, f <const> = way[1], way[2]
        cuda.free_async(cuda.malloc_async(2 * mib, s), s)
        event:record(s)
        T.near(us(f), 200, 1e-6, name .. " gives unused memory back")
        T.near(us(f), 0, 0.01, "which takes time once")
        local taken, memory = malloc_us(2 * mib, s)
        T.near(taken, 20, 1e-6, "the next allocation asks for it again")
        T.near(us(f), 0, 0.01, "what is in use stays")
        cuda.free_async(memory, s)
        f()
    end
    cuda.free_async(cuda.malloc_async(2 * mib, s), s)
    T.near(us(s.query, s), 0, 1e-6, "a query gives nothing back")
    local blocking = us(lab.cuda.memcpy, x, lab.ones(1))
    T.ok(blocking < 100, "nor does a blocking copy")
end

local function in_flight_is_kept()
    open()
    local s <close> = lab.stream{ non_blocking = true }
    local other <close> = lab.stream{ non_blocking = true }
    local memory = cuda.malloc_async(mib, s)
    local opened_us <const> = lab.now_us()
    lab.spin(1, { stream = s })
    cuda.free_async(memory, s)
    T.near(us(other.synchronize, other), 0, 1e-6,
           "memory is not given back before its stream has come to the free")
    local taken, again = malloc_us(mib, s)
    T.near(taken, 0, 1e-6, "its own stream uses it again at once")
    cuda.free_async(again, s)
    T.near(malloc_us(mib, other), 10, 1e-6, "another stream gets new memory until then")
    s:synchronize()
    T.near(lab.now_us(), opened_us + 1000 + 100, 1e-3, "the wait for its stream gives it back")
end

local function free_does_not_wait()
    open()
    local s, other = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    for name, busy in pairs{ ["its own"] = s, ["another"] = other } do
        local memory, plain = cuda.malloc_async(mib, s), cuda.malloc(mib)
        lab.synchronize()
        local tl = lab.profile(function()
            lab.spin(5, { stream = busy })
            T.near(us(cuda.free, memory), 7, 1e-6, "cudaFree of it does not wait for " .. name
                .. " stream")
            T.ok(not busy:query(), "which goes on")
            T.ok(us(cuda.free, plain) > 4900, "cudaFree of cudaMalloc's memory does")
        end)
        local waited = {}
        for _, call in ipairs(tl:calls()) do
            if call.name == "cudaFree" then waited[#waited + 1] = call.waited end
        end
        T.is_deeply(waited, { false, true }, "and the timeline says so")
    end
    open{ ["calls.cudaFree.malloc_async.waits"] = true }
    local t = lab.stream{ non_blocking = true }
    local memory = cuda.malloc_async(mib, t)
    lab.spin(5, { stream = t })
    T.ok(us(cuda.free, memory) > 4900, "unless the profile says that it does")
end

the_pool_grows()
synchronising_trims()
in_flight_is_kept()
free_does_not_wait()
T.done()
