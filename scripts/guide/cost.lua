local bytes = 64 * 2^20
local function us(f)
    local before = lab.now_us()
    f()
    return lab.now_us() - before
end

local on_gpu = lab.empty(4096, 4096)
local t = lab.ones(4096, 4096, { device = "cpu" })
on_gpu:copy_(t)                                     -- warm-up: the first copy takes longer
local memory
print("copy, pageable           ", us(function() on_gpu:copy_(t) end))
print("page-lock it in its place", us(function() t:pin() end))
print("copy, pinned             ", us(function() on_gpu:copy_(t) end))
print("and unlock it            ", us(function() t:unpin() end))
print("new memory, page-locked  ", us(function() memory = lab.cuda.malloc_host(bytes) end))
print("and given back           ", us(function() lab.cuda.free_host(memory) end))
