-- 39-pinned.t.lua - what page-locked memory of tensors costs: new memory what cudaMallocHost costs,
-- memory that a tensor has left next to nothing, whenever Lua collects its garbage. Times are exact
-- on a GPU without latencies: 400 us for a MiB that is new, 5 us for memory from the pool.

local T = require "tap"
local ideal = require "lua.ideal"

local mib <const> = 1 << 18             -- float32 elements
local on_host <const> = { device = "cpu", pinned = true }

local function open()
    ideal.open{ ["calls.cudaMallocHost.us_per_mib"] = 400, ["host.pinned_alloc_us"] = 5,
                host_gb_per_s = 1e6 }
end

local function us(f)
    local before = lab.now_us()
    local kept = f()
    return lab.now_us() - before, kept
end

local function is_new(f, n_mib, name)
    local taken, kept = us(f)
    T.near(taken, 400 * n_mib, 60, name)
    return kept
end

local function is_left(f, name)
    local taken, kept = us(f)
    T.near(taken, 5, 60, name)
    return kept
end

local function pinned(n_mib) return function() return lab.empty(n_mib * mib, on_host) end end

local function new_memory()
    open()
    local pageable, gpu = lab.ones(4 * mib, { device = "cpu" }), lab.ones(4 * mib)
    lab.synchronize()
    local kept = {
        is_new(pinned(4), 4, "a new pinned tensor is page-locked"),
        is_new(function() return lab.zeros(4 * mib, on_host) end, 4, "one of zeros as well"),
        is_new(function() return lab.rand(4 * mib, on_host) end, 4, "and of random numbers"),
        is_new(function() return pageable:pin_memory() end, 4, "pin_memory() page-locks its copy"),
    }
    T.near(us(function() return lab.empty(4 * mib, { device = "cpu" }) end), 0, 1e-6,
           "pageable memory is not page-locked")
    is_left(function() return lab.empty(0, on_host) end, "nor are no bytes")
    for i = 1, 2 do
        kept[4 + i] = is_left(function() return gpu:to("cpu", { non_blocking = true }) end,
                              "results of copies find memory, as in a program that has run before")
    end
    lab.synchronize()
    kept[5]:free()
    is_new(pinned(4), 4, "which is not the pool's")
    T.is(#kept, 6, "all of them are kept")
end

local function left_memory()
    open()
    pinned(4)():free()
    local one = is_left(pinned(4), "memory that was freed serves the next tensor")
    local two = is_new(pinned(4), 4, "once")
    one:free()
    two:free()
    is_new(pinned(8), 8, "not a larger one")
    is_new(pinned(1), 1, "nor a much smaller one, since the sizes of the pool are eighths")
    one = is_left(function() return lab.empty(4 * mib - 9, on_host) end,
                  "one that is hardly smaller it does")
    one = nil
    is_left(pinned(4), "garbage serves the next tensor as well")
    for i = 1, 8 do
        local taken = us(pinned(2))
        T.near(taken, i == 1 and 800 or 5, 1e-6, "a loop that drops its tensor page-locks once")
    end
    T.is(one, nil, "nothing is kept")
end

local function other_ways()
    open()
    local pageable = lab.ones(4 * mib, { device = "cpu" })
    pageable:pin()
    pageable:free()
    local again = is_left(pinned(4), "memory that was page-locked in its place stays so")
    lab.cuda.free_host(again)
    again = is_new(pinned(4), 4, "what cudaFreeHost has freed is gone")
    local plain = lab.cuda.malloc_host(16 << 20)
    lab.cuda.free_host(plain)
    local more = is_new(pinned(16), 16, "and so is memory of cudaMallocHost")
    T.ok(again and more, "both are kept")
end

local function in_flight()
    open()
    local gpu, stream <close> = lab.empty(4 * mib), lab.stream{ non_blocking = true }
    local first = pinned(4)()
    lab.spin(50, { stream = stream })
    gpu:copy_(first, { non_blocking = true, stream = stream })
    first:free()
    is_new(pinned(4), 4, "memory that a copy still reads serves nobody")
    stream:synchronize()
    local two = { is_left(pinned(4), "afterwards it does"),
                  is_left(pinned(4), "as the other one does") }
    T.is(#two, 2, "both are kept")
end

-- The makespan of a loop with garbage, under a collector that works as `mode` says.
local function loop_us(collect)
    open()
    local gpu, stream <close> = lab.empty(mib), lab.stream{ non_blocking = true }
    return lab.profile(function()
        for i = 1, 40 do
            local batch = lab.full(i, mib, { device = "cpu" }):pin_memory()
            gpu:copy_(batch, { non_blocking = true, stream = stream })
            lab.spin(0.3, { stream = stream })
            collect()
        end
        stream:synchronize()
    end).makespan_us
end

local function the_collector_does_not_matter()
    local as_it_is = loop_us(function() end)
    T.is(loop_us(collectgarbage), as_it_is,
         "a timeline does not depend on when garbage is collected")
    collectgarbage "stop"
    T.is(loop_us(function() end), as_it_is, "nor on whether it is")
    collectgarbage "restart"
end

local function it_shows()
    open()
    local tl = lab.profile(function() lab.empty(4 * mib, on_host) end)
    local call = tl:calls()[1]
    T.is(call.name, "pinned allocation", "the timeline has the call")
    T.near(call.host_end_us - call.host_start_us, 1600, 1e-3, "with its time")
    tl = lab.profile(function()
        local loader = lab.thread(function()
            lab.host_work(0.1)
            lab.empty(1 << 21, { device = "cpu", pinned = true })
        end)
        lab.host_work(0.2)
        lab.spin(0)
        loader:join()
    end)
    T.near(tl:spans()[1].host_end_us - tl:spans()[1].host_start_us, 3100, 1,
           "a launch of another thread waits for the end of page-locking")
end

new_memory()
left_memory()
other_ways()
in_flight()
the_collector_does_not_matter()
it_shows()
T.done()
