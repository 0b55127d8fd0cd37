-- memory.t.lua - memory is given back, freed memory refuses, and running out is an error
-- after which everything works.

local T = require "tap"
local ideal = require "lua.ideal"

local device = T.open()

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function collect()
    collectgarbage()
    collectgarbage()
    lab.synchronize()
end

local function works(name)
    local x = lab.full(3, 1000)
    T.is(lab.sum(lab.add(x, x)):item(), 6000, name)
end

-- ---- given back -----------------------------------------------------------------------

local function dropped_tensors()
    local fields = { "device_bytes", "pinned_bytes", "pageable_bytes", "tensors", "buffers" }
    for _, case in ipairs{ { "on the GPU", {} }, { "pageable", { device = "cpu" } },
                           { "pinned", { device = "cpu", pinned = true } } } do
        collect()
        local before = lab.live()
        for i = 1, 300 do
            local t = lab.full(i, 1000 + i, case[2])
            if i % 50 == 0 then T.is(t:get(1), i, ("tensor %d of 300 %s"):format(i, case[1])) end
        end
        collect()
        local after = lab.live()
        for _, field in ipairs(fields) do
            T.is(after[field], before[field], ("300 dropped tensors %s leave %s as it was")
                 :format(case[1], field))
        end
    end
end

-- What is queued on memory that was freed has it whole.
local function reused_in_flight()
    local s, right = lab.stream{}, true
    local total = lab.zeros(4096, { stream = s })
    lab.synchronize()
    lab.with(s, function()
        for i = 1, 200 do
            local t = lab.full(i, 4096)
            lab.add(total, t, { out = total })
            t:free()
        end
    end)
    s:synchronize()
    T.is(total:get(4096), 20100, "200 tensors freed behind queued kernels were whole for them")
    -- Two streams, freed in the one and allocated in the other at once.
    local other = lab.stream{ non_blocking = true }
    for round = 1, 20 do
        local kept = lab.full(1, 100000)
        local t = lab.full(round, 100000)
        lab.synchronize()
        lab.spin(0.5, { stream = other })
        lab.add(t, 0, { out = kept, stream = other })
        t:free()
        local next_one = lab.full(-1, 100000, { stream = s })
        other:synchronize()
        right = right and kept:get(100000) == round and kept:get(1) == round
        s:synchronize()
        right = right and next_one:get(1) == -1
    end
    T.ok(right, "memory freed under a kernel is not given to another stream before its end")
end

-- The most that rounds have at a time, which are all issued before the streams come to them.
local function most_of(rounds, streams, round)
    collect()
    local before, most = lab.live().device_bytes, 0
    for _, s in ipairs(streams) do lab.spin(5, { stream = s }) end
    for i = 1, rounds do
        round(i, function() most = math.max(most, lab.live().device_bytes - before) end)
    end
    lab.synchronize()
    T.is(lab.live().device_bytes, before, "and nothing is left over")
    return most
end

-- What is freed in a stream is what the stream's next tensor gets, at once.
local function in_stream_order()
    local MiB <const> = 1 << 20
    local streams = { lab.stream{}, lab.stream{ non_blocking = true }, lab.stream{} }
    local function upload(s, note, done)
        lab.with(s, function()
            local t = lab.empty(2048, 2048)
            t:fill_(1)
            note()
            done(t)
        end)
    end
    local function free(t) t:free() end
    T.is(most_of(8, streams, function(_, note) upload(streams[1], note, free) end), 16 * MiB,
         "8 rounds of empty, fill and free in one stream have 16 MiB")
    T.is(most_of(8, streams, function(_, note)
        upload(streams[1], note, function() end)
        collectgarbage()
    end), 16 * MiB, "also when the collector frees")
    T.ok(most_of(16, streams, function(i, note)
        upload(streams[i % 3 + 1], note, free)
    end) <= 48 * MiB,
         "rounds in three streams have 48")
    T.is(most_of(8, streams, function(_, note)
        local memory = lab.cuda.malloc_async(16 * MiB, streams[1])
        lab.cuda.memset_async(memory, 1, 16 * MiB, streams[1])
        note()
        lab.cuda.free_async(memory, streams[1])
    end), 16 * MiB, "and malloc_async after free_async has the same")
end

-- Whoever has the memory next, no value is disturbed.
local function undisturbed()
    local s, other, n <const> = lab.stream{}, lab.stream{ non_blocking = true }, 100000
    local sums, first, wrong = {}, {}, 0
    for i = 1, 60 do
        local t, u
        lab.with(s, function()
            if i % 20 == 1 then lab.spin(2) end
            t = lab.full(i, n)
            sums[i] = t:sum()
            t:free()
            u = lab.empty(n)                -- has the memory of t, for which s still works
        end)
        u:fill_(-i, { stream = i % 3 == 0 and s or other })
        first[i] = lab.with(i % 3 == 0 and s or other, function() return u:sum() end)
        u:free()
    end
    lab.synchronize()
    for i = 1, 60 do
        if sums[i]:item() ~= i * n or first[i]:item() ~= -i * n then wrong = wrong + 1 end
    end
    T.is(wrong, 0, "memory that a stream still uses is not what another stream writes to")
end

local function freeing()
    local t, other = lab.ones(3, 3), lab.ones(3, 3)
    lab.synchronize()                   -- what fills it holds it
    local bytes = lab.live().device_bytes
    t:free()
    T.is(lab.live().device_bytes, bytes - 36, "free gives the bytes back at once")
    T.is(t.freed, true, "a freed tensor knows it")
    for _, case in ipairs{
        { "get", function() t:get(1, 1) end }, { "set", function() t:set(1, 1, 2) end },
        { "totable", function() t:totable() end }, { "fill_", function() t:fill_(1) end },
        { "zero_", function() t:zero_() end }, { "sum", function() t:sum() end },
        { "cpu", function() t:cpu() end }, { "copy_", function() other:copy_(t) end },
        { "copy_ into it", function() t:copy_(other) end },
        { "matmul", function() lab.matmul(other, t) end },
        { "add", function() lab.add(t, other) end },
        { "out = it", function() lab.add(other, other, { out = t }) end },
        { "cudaMemset", function() lab.cuda.memset(t, 0) end },
        { "cudaMemcpy", function() lab.cuda.memcpy(other, t) end },
        { "free again", function() t:free() end },
    } do
        refuses(case[2], "SL_ECLOSED", "freed", "after free, " .. case[1] .. " is refused")
    end
    local host = lab.ones(3, { device = "cpu", pinned = true })
    host:free()
    refuses(function() host:get(1) end, "SL_ECLOSED", "freed", "host tensors as well")
    works("and everything else works")
end

-- ---- the plain calls ------------------------------------------------------------------

local function plain_calls()
    local cuda, s = lab.cuda, lab.stream{}
    local dev, dev2 = cuda.malloc(100000), cuda.malloc(0)
    local host, pooled = cuda.malloc_host(100000), cuda.malloc_async(100000, s)
    T.is(dev:nbytes() + host:nbytes() + pooled:nbytes() + dev2:nbytes(), 300000,
         "malloc, malloc_host and malloc_async give the bytes that were asked for")
    T.ok(dev.device == "cuda" and pooled.device == "cuda" and host.pinned,
         "on the GPU, and pinned on the host")
    cuda.memset(dev, 1)
    cuda.memset_async(pooled, 2, s)
    s:synchronize()
    cuda.memcpy(host, dev)
    T.is(host:get(100000), 1, "memset and memcpy")
    cuda.memcpy_async(host, pooled, s)
    s:synchronize()
    T.is(host:get(1), 2, "memset_async and memcpy_async")
    local pageable = lab.ones(70000, { device = "cpu" })
    cuda.host_register(pageable)
    T.is(pageable.pinned, true, "host_register page-locks")
    cuda.host_unregister(pageable)
    T.is(pageable.pinned, false, "host_unregister undoes it")
    T.is(pageable:get(70000), 1, "and the values stay")
    for _, name in ipairs{ "func_set_cache_config", "device_set_limit", "cublas_create",
                           "cublas_create", "cublas_destroy", "cublas_destroy" } do
        T.lives(cuda[name], name .. " can be called")
    end
    cuda.free_async(pooled, s)
    cuda.free_host(host)
    cuda.free(dev2)
    cuda.free(dev)
    for name, memory in pairs{ free = dev, free_host = host, free_async = pooled } do
        refuses(function() cuda[name](memory) end, "SL_ECLOSED", "freed",
                name .. " of what was freed is refused")
    end
    refuses(function() cuda.free(pageable) end, "SL_EPLACE", "host", "free of host memory as well")
    works("and everything else works")
end

-- cudaMalloc gives memory that it is alone with; so does the pool, to both.
local function separate_memory()
    local list, right = {}, true
    for i = 1, 20 do
        list[#list + 1] = lab.cuda.malloc(1000)
        list[#list + 1] = lab.cuda.malloc_async(1000)
        list[#list + 1] = lab.empty(1000, { dtype = "uint8" })
    end
    for i, memory in ipairs(list) do lab.cuda.memset(memory, i) end
    for i, memory in ipairs(list) do
        right = right and memory:get(1) == i and memory:get(1000) == i
    end
    T.ok(right, "60 pieces of memory of three kinds do not overlap")
    for i = 1, #list, 3 do
        lab.cuda.free(list[i])
        lab.cuda.free_async(list[i + 1])
    end
    T.is(list[60]:get(1000), 60, "and freeing some leaves the others")
end

local function mem_get_info()
    local free_bytes, total_bytes = lab.cuda.mem_get_info()
    T.ok(math.type(free_bytes) == "integer" and math.type(total_bytes) == "integer",
         "mem_get_info gives two whole numbers")
    T.ok(0 < free_bytes and free_bytes <= total_bytes, "free is part of the total")
    T.ok(math.abs(total_bytes - device.memory_bytes) <= 0.1 * device.memory_bytes,
         "which is the memory of the GPU")
    local memory = lab.cuda.malloc(256 << 20)
    local left = lab.cuda.mem_get_info()
    T.ok(left <= free_bytes - (200 << 20), "256 MiB of cudaMalloc are no longer free")
    lab.cuda.free(memory)
    T.ok((lab.cuda.mem_get_info()) >= left + (200 << 20), "and are again after cudaFree")
end

-- ---- too much -------------------------------------------------------------------------

local function out_of_memory()
    local huge, more = 1 << 50, device.memory_bytes + (1 << 30)
    for _, name in ipairs{ "malloc", "malloc_async" } do
        for _, bytes in ipairs{ huge, more } do
            local memory, message, code = lab.cuda[name](bytes)
            T.is(memory, nil, ("%s of %d bytes gives nil"):format(name, bytes))
            T.like(message, tostring(bytes), "and a sentence with the bytes")
            T.is(code, "SL_ENOMEM", "and the code")
            works("and the device works")
        end
    end
    for _, bytes in ipairs{ huge, more } do
        refuses(function() lab.empty(bytes, { dtype = "uint8" }) end, "SL_ENOMEM", tostring(bytes),
                "a tensor larger than the GPU's memory is refused with its bytes")
        works("after which the device works")
    end
end

-- Garbage that Lua has no reason to collect, since it does not see the GPU's bytes.
local function pressure()
    collect()
    local before = lab.live()
    local part = device.memory_bytes // 16
    local fine, err = true, nil
    for i = 1, 40 do
        fine, err = pcall(function()
            local t = lab.empty(part, { dtype = "uint8" })
            t:set(part, i % 250)
            assert(t:get(part) == i % 250)
        end)
        if not fine then break end
    end
    if not T.ok(fine, "40 tensors of a 16th of the memory, none of them kept") then
        T.diag("  raised " .. tostring(err))
    end
    local kept = {}
    for i = 1, 4 do kept[i] = lab.full(i, part, { dtype = "uint8" }) end
    T.is(kept[1]:get(part) + kept[4]:get(1), 5, "four can be kept")
    kept = nil
    collect()
    T.is(lab.live().device_bytes, before.device_bytes, "all of it is given back")
    works("and the device works")
    -- What the pool holds is there for cudaMalloc too.
    local memory, message = lab.cuda.malloc(device.memory_bytes // 2)
    if T.ok(memory, "half of the memory is there for cudaMalloc afterwards") then
        lab.cuda.free(memory)
    else
        T.diag("  " .. tostring(message))
    end
    local s = lab.stream{}
    T.lives(function()
        for _ = 1, 40 do                -- in flight: the stream has their memory again
            lab.spin(0.2, { stream = s })
            lab.zeros(part, { dtype = "uint8", stream = s })
        end
        lab.synchronize()
    end, "40 more that are still in use when they are dropped")
end

for _, test in ipairs{ dropped_tensors, reused_in_flight, in_stream_order, undisturbed, freeing,
                       plain_calls, separate_memory, mem_get_info, out_of_memory, pressure } do
    test()
end
T.done()
