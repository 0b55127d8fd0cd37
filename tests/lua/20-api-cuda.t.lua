-- 20-api-cuda.t.lua - the plain calls under lab.cuda: what they do and what they refuse.

local T = require "tap"
local ideal = require "lua.ideal"

local cuda
local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function memory()
    local dev, host = cuda.malloc(1000), cuda.malloc_host(1000)
    T.is(dev:nbytes(), 1000, "malloc gives memory of so many bytes")
    T.is(dev.dtype, "uint8", "as a tensor of bytes")
    T.is(dev.device, "cuda", "on the GPU")
    T.is(host.device, "cpu", "malloc_host gives memory on the host")
    T.is(host.pinned, true, "that is pinned")
    cuda.free(dev)
    cuda.free_host(host)
    local s = lab.stream{}
    local pooled = cuda.malloc_async(64, s)
    T.is(pooled:nbytes(), 64, "malloc_async gives memory in stream order")
    cuda.free_async(pooled, s)
    lab.synchronize()
end

local function memset()
    local dev, s = cuda.malloc(8), lab.stream{}
    cuda.memset(dev, 5, 8)
    T.is_deeply(dev:totable(), { 5, 5, 5, 5, 5, 5, 5, 5 }, "memset sets bytes")
    cuda.memset(dev, 7, 3)
    T.is_deeply(dev:totable(), { 7, 7, 7, 5, 5, 5, 5, 5 }, "the first ones, as many as asked")
    cuda.memset_async(dev, 9, 2, { stream = s })
    s:synchronize()
    T.is_deeply(dev:totable(), { 9, 9, 7, 5, 5, 5, 5, 5 }, "memset_async does it in a stream")
    cuda.memset(dev, 0, 0)
    T.is(dev:get(1), 9, "no bytes are no change")
    local floats = lab.ones(4)
    cuda.memset(floats, 0, 16)
    T.is_deeply(floats:totable(), { 0, 0, 0, 0 }, "any tensor can be set, by its bytes")
    cuda.memset(dev, 1)
    T.is_deeply(dev:totable(), { 1, 1, 1, 1, 1, 1, 1, 1 },
                "all of the memory unless asked otherwise")
    cuda.memset_async(dev, 3, { stream = s })
    s:synchronize()
    T.is_deeply(dev:totable(), { 3, 3, 3, 3, 3, 3, 3, 3 },
                "memset_async sets all when the bytes are left out before the options")
    cuda.memset_async(dev, 4, s)
    s:synchronize()
    T.is(dev:get(8), 4, "or before the stream itself")
    refuses(function() cuda.memset_async(dev, 0, s, s) end, "SL_EINVAL", "one too many",
            "but there is one stream")
    refuses(function() cuda.memset(dev, 0, { stream = s }) end, "SL_EINVAL", "bytes.*table",
            "memset takes no stream")
    refuses(function() cuda.memset(dev, 0, 8, { stream = s }) end, "SL_EINVAL", "one too many",
            "in no place")
    refuses(function() cuda.memset(dev, 0, 9) end, "SL_EINVAL", "9.*8",
            "more bytes than there are is refused with both numbers")
    refuses(function() cuda.memset(dev, 0, -1) end, "SL_EINVAL", "%-1",
            "a negative count is refused")
    refuses(function() cuda.memset(dev, 0, 0 / 0) end, "SL_EINVAL", "nan", "NaN is refused")
    refuses(function() cuda.memset(5, 0, 1) end, "SL_EINVAL", "tensor", "memory is a tensor")
    refuses(function() cuda.memset_async(dev, 0, 1, 5) end, "SL_EINVAL", "argument 4",
            "a stream is a stream")
    cuda.free(dev)
end

local function memcpy()
    local dev, dev2 = cuda.malloc(4), cuda.malloc(4)
    local host, s = cuda.malloc_host(4), lab.stream{}
    local plain = lab.tensor({ 1, 2, 3, 4 }, { device = "cpu", dtype = "uint8" })
    cuda.memcpy(dev, plain, 4)
    T.is_deeply(dev:totable(), { 1, 2, 3, 4 }, "memcpy to the device")
    cuda.memset(dev2, 0)
    cuda.memcpy(dev2, dev, 2)
    T.is_deeply(dev2:totable(), { 1, 2, 0, 0 }, "memcpy within the device, the first bytes")
    cuda.memcpy(host, dev2, 4)
    T.is_deeply(host:totable(), { 1, 2, 0, 0 }, "memcpy to the host")
    cuda.memcpy(plain, host, 1)
    T.is_deeply(plain:totable(), { 1, 2, 3, 4 }, "memcpy on the host")
    host:set(1, 77)
    cuda.memcpy_async(dev, host, 4, s)
    s:synchronize()
    T.is_deeply(dev:totable(), { 77, 2, 0, 0 }, "memcpy_async in a stream")
    host:set(4, 5)
    cuda.memcpy_async(dev, host, { stream = s })
    s:synchronize()
    T.is_deeply(dev:totable(), { 77, 2, 0, 5 },
                "memcpy_async copies all of the source when the bytes are left out")
    refuses(function() cuda.memcpy(dev, host, 4, { stream = s }) end, "SL_EINVAL", "one too many",
            "memcpy takes no stream")
    refuses(function() cuda.memcpy(dev, plain, 5) end, "SL_EINVAL", "5.*4",
            "more bytes than there are is refused")
    refuses(function() cuda.memcpy(dev, lab.ones(4, { device = "cpu" }), 16) end, "SL_EINVAL",
            "16.*4",
            "also where only one side is too small")
    refuses(function() cuda.memcpy(dev, plain, 1.5) end, "SL_EINVAL", "1.5",
            "half a byte is refused")
    refuses(function() cuda.memcpy(dev, "abcd", 4) end, "SL_EINVAL", "string", "text is no memory")
    for _, m in ipairs{ dev, dev2 } do cuda.free(m) end
    cuda.free_host(host)
end

local function plain_copies_block_as_documented()
    if not lab.device().simulated then return end
    ideal.open{ h2d_gb_per_s = 10, d2h_gb_per_s = 10, memset_gb_per_s = 10, d2d_gb_per_s = 10 }
    local n = 1000000                       -- 100 us at 10 GB/s
    local dev, dev2, host = cuda.malloc(n), cuda.malloc(n), cuda.malloc_host(n)
    lab.synchronize()
    local function host_us(f) return ideal.host_us(lab.profile(f):spans()[1]) end
    T.near(host_us(function() cuda.memcpy(dev, host, n) end), 100, 1,
           "cudaMemcpy from pinned memory keeps the host until it is done")
    T.near(host_us(function() cuda.memcpy(host, dev, n) end), 100, 1,
           "cudaMemcpy to pinned memory as well")
    T.near(host_us(function() cuda.memcpy(dev2, dev, n) end), 0, 1,
           "cudaMemcpy within the device does not")
    T.near(host_us(function() cuda.memset(dev, 0, n) end), 0, 1, "nor does cudaMemset")
    local span = lab.profile(function() cuda.memset(dev, 0, n) end):spans()[1]
    T.is(span.kind, "memset", "a memset has its kind")
    T.is(span.bytes, n, "and its bytes")
    cuda.free(dev)
    cuda.free(dev2)
    cuda.free_host(host)
    ideal.textbook()
end

local function registering()
    local host = lab.ones(4, { device = "cpu" })
    cuda.host_register(host)
    T.is(host.pinned, true, "host_register pins")
    refuses(function() cuda.host_register(host) end, "SL_ESTATE", "pin", "twice is refused")
    cuda.host_unregister(host)
    T.is(host.pinned, false, "host_unregister unpins")
    refuses(function() cuda.host_unregister(host) end, "SL_ESTATE", "pin", "twice is refused")
    local dev = lab.ones(4)
    refuses(function() cuda.host_register(dev) end, "SL_EPLACE", "host",
            "device memory cannot be registered")
end

local function calls_cost_what_the_profile_says()
    if not lab.device().simulated then return end
    ideal.open{ ["calls.cudaMalloc.us"] = 10, ["calls.cudaMalloc.us_per_mib"] = 2,
                ["calls.cudaMallocHost.us"] = 20, ["calls.cudaMallocHost.us_per_mib"] = 0,
                ["calls.cublasCreate.us"] = 500, ["calls.cudaFree.us"] = 30,
                ["calls.cudaFree.us_per_mib"] = 0 }
    local function host_us(f)
        local before = lab.now_us()
        f()
        return lab.now_us() - before
    end
    local m, h
    T.near(host_us(function() m = cuda.malloc(3 * 1048576) end), 16, 1e-3,
           "cudaMalloc costs its base and its MiB")
    T.near(host_us(function() h = cuda.malloc_host(1048576) end), 20, 1e-3,
           "so does cudaMallocHost")
    T.near(host_us(function() cuda.free(m) end), 30, 1e-3,
           "cudaFree of an idle device costs its call")
    T.near(host_us(cuda.cublas_create), 500, 1e-3, "cublasCreate costs its call")
    T.lives(cuda.func_set_cache_config, "cudaFuncSetCacheConfig can be called")
    T.lives(cuda.device_set_limit, "cudaDeviceSetLimit can be called")
    T.lives(cuda.cublas_destroy, "cublasDestroy can be called")
    refuses(cuda.cublas_destroy, "SL_ESTATE", "no handle of cublas_create is left",
            "but only for a handle that there is")
    cuda.free_host(h)
    ideal.textbook()
end

local function misuse()
    local dev, host, s = cuda.malloc(8), cuda.malloc_host(8), lab.stream{}
    local function bad_bytes(call, ...)
        local rest = table.pack(...)
        for _, case in ipairs{ { -1, "%-1", "negative" }, { 0 / 0, "nan", "NaN" },
            { 1.5, "1.5", "a fraction of" },
                               { "8", "string", "textual" } } do
            refuses(function() cuda[call](case[1], table.unpack(rest, 1, rest.n)) end, "SL_EINVAL",
                    case[2],
                    call .. " of " .. case[3] .. " bytes is refused")
        end
    end
    bad_bytes("malloc")
    bad_bytes("malloc_host")
    bad_bytes("malloc_async", s)
    for _, call in ipairs{ "malloc", "malloc_async" } do
        local m, message, code = cuda[call](2 ^ 50 | 0)
        T.is(m, nil, call .. " of more than the device has gives nil")
        T.like(message, "1125899906842624 bytes", "and a sentence with the bytes")
        T.is(code, "SL_ENOMEM", "and the code")
    end
    for _, call in ipairs{ "func_set_cache_config", "device_set_limit", "cublas_create",
                           "cublas_destroy" } do
        refuses(function() cuda[call](1) end, "SL_EINVAL", "argument 1 is one too many",
                call .. " takes no arguments")
    end
    refuses(function() cuda.malloc(8, { stream = s }) end, "SL_EINVAL", "one too many",
            "malloc takes no stream")
    refuses(function() cuda.free(dev, s) end, "SL_EINVAL", "one too many", "nor does free")
    T.ok(ideal.error_of(cuda.malloc_async, 8, 5), "malloc_async needs a stream")
    T.ok(ideal.error_of(cuda.free, host), "free of pinned host memory is refused")
    T.ok(ideal.error_of(cuda.free_host, dev), "free_host of device memory is refused")
    T.ok(ideal.error_of(cuda.free_host, lab.ones(2, { device = "cpu" })),
         "free_host of pageable memory is refused")
    T.ok(ideal.error_of(cuda.free, 5), "free of a number is refused")
    cuda.free(dev)
    refuses(function() cuda.free(dev) end, "SL_ECLOSED", "free", "freeing twice is refused")
    refuses(function() dev:get(1) end, "SL_ECLOSED", "free", "freed memory cannot be read")
    refuses(function() cuda.memset(dev, 0, 1) end, "SL_ECLOSED", "free", "nor set")
    cuda.free_host(host)
    refuses(function() cuda.free_host(host) end, "SL_ECLOSED", "free",
            "freeing host memory twice is refused")
    local pooled = cuda.malloc_async(8, s)
    cuda.free_async(pooled, s)
    refuses(function() cuda.free_async(pooled, s) end, "SL_ECLOSED", "free", "and pool memory")
    lab.synchronize()
end

local function nothing_stays()
    collectgarbage()
    collectgarbage()
    local bytes = lab.live().device_bytes
    local m = cuda.malloc(1000000)
    T.is(lab.live().device_bytes - bytes, 1000000, "device memory is counted while it is held")
    cuda.free(m)
    T.is(lab.live().device_bytes, bytes, "and no longer when it was freed, collected or not")
    T.ok(m, "though Lua still holds the handle")
end

T.open()
cuda = lab.cuda
for _, test in ipairs{ memory, memset, memcpy, plain_copies_block_as_documented, registering,
                       calls_cost_what_the_profile_says, misuse, nothing_stays } do
    test()
end
T.done()
