-- cudaMallocAsync behind a synchronisation and from the pool, and the synchronisation that empties
-- it.
local s = lab.stream()
local function us(f)
    local before = lab.now_us()
    f()
    return lab.now_us() - before
end

print("MiB   malloc_async   again   synchronize")
for _, mib in ipairs{ 1, 64, 1024 } do
    local m
    local function malloc() m = lab.cuda.malloc_async(mib << 20, s) end
    local function free() lab.cuda.free_async(m, s) end
    local first = us(malloc)
    free()
    local again = us(malloc)
    free()
    print(("%4d %11.0f us %4.0f us %10.0f us"):format(mib, first, again,
                                                    us(function() s:synchronize() end)))
end
