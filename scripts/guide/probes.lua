local cuda = lab.cuda
local memory, other, mine = cuda.malloc(2^20), cuda.malloc(2^20), cuda.malloc(2^20)
local page_locked = cuda.malloc_host(2^20)
local tensor = lab.zeros(512, 512, { device = "cpu" })
local on_gpu = lab.zeros(512, 512)

local function try(name, f)
    local r = lab.probe(f)
    print(string.format("%-32s %-11s %s", name, r.host_blocked and "host waits" or "-",
        r.serialised and "apart" or "together"))
end

print("call                             host        the two kernels run")
try("nothing", function() end)
try("cudaMalloc", function() cuda.malloc(2^20) end)
try("cudaFree", function() cuda.free(mine) end)
try("cudaMallocHost", function() cuda.malloc_host(2^20) end)
try("cudaFreeHost", function() cuda.free_host(page_locked) end)
try("cudaHostRegister", function() cuda.host_register(tensor) end)
try("cudaHostUnregister", function() cuda.host_unregister(tensor) end)
try("cudaMallocAsync, cudaFreeAsync", function(_, s)
    cuda.free_async(cuda.malloc_async(2^20, { stream = s }), { stream = s })
end)
try("cudaMemset", function() cuda.memset(memory, 0) end)
try("cudaMemsetAsync", function(_, s) cuda.memset_async(memory, 0, { stream = s }) end)
try("cudaMemcpy on the device", function() cuda.memcpy(memory, other) end)
try("cudaMemcpyAsync on the device", function(_, s)
    cuda.memcpy_async(memory, other, { stream = s })
end)
local function to_pageable(s) tensor:copy_(on_gpu, { non_blocking = true, stream = s }) end
try("cudaMemcpyAsync, to pageable", to_pageable)    -- in the first stream, behind its kernel
try("the same in the second stream", function(_, s) to_pageable(s) end)
try("a kernel in the default stream", function() lab.spin(0.01) end)
try("an event in the default stream", function() lab.default_stream():record_event() end)
try("cudaFuncSetCacheConfig", cuda.func_set_cache_config)
try("cudaDeviceSetLimit", cuda.device_set_limit)
try("cudaStreamCreate", function() lab.stream() end)
