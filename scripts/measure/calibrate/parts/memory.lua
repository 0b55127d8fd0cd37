-- memory.lua - what allocating and freeing costs the host, by size, and how fast it fills and
-- copies its own memory.

local context = import "scripts/measure/calibrate/context.lua"
local lists = import "repl/run/lists.lua"
local median, spread, size_text = context.median, context.spread, context.size_text

local memory = { name = "memory", passes = 15,
                 title = "memory of the host, and what allocating costs" }

local kib <const>, mib <const> = 1024, 1024 * 1024

-- ---- allocating and freeing -----------------------------------------------------------------

local sizes <const> = { 64 * kib, mib, 4 * mib, 16 * mib, 64 * mib, 256 * mib }

local function needed(block, message)
    if not block then
        error(message, 0)
    end
    return block
end

-- Pairs of calls: get(bytes) allocates what give(block) frees.
local function pairs_of(c, stream)
    local cuda = c.lab.cuda
    return {
        { "cudaMalloc", "cudaFree", sizes = sizes, get = cuda.malloc, give = cuda.free },
        { "cudaMallocHost", "cudaFreeHost", sizes = sizes, get = cuda.malloc_host,
          give = cuda.free_host },
        { "cudaMallocAsync", "cudaFreeAsync", sizes = sizes,
          get = function(bytes) return cuda.malloc_async(bytes, stream) end,
          give = function(block) cuda.free_async(block, stream) end },
        { "cudaHostRegister", "cudaHostUnregister", sizes = sizes,
          ready = function(bytes) return c:pageable(bytes) end,
          get = function(_, block)
              cuda.host_register(block)
              return block
          end,
          give = cuda.host_unregister, done = function(block) block:free() end },
        { "cublasCreate", "cublasDestroy", sizes = { 0 }, get = function()
              cuda.cublas_create()
              return true
          end, give = function() cuda.cublas_destroy() end },
    }
end

-- Large blocks take up to 0.1 s.
local function rounds_of(bytes) return bytes <= 4 * mib and 15 or bytes <= 64 * mib and 7 or 4 end

-- How long each of the two calls of a pair takes, for one size.
local function measure_pair(c, pair, bytes)
    local lab = c.lab
    local get_us, give_us = {}, {}
    local ready = pair.ready and pair.ready(bytes)
    lab.synchronize()
    local asking_us = c:clock_us()
    for i = 0, rounds_of(bytes) do
        local start_us = lab.now_us()
        local block, message = pair.get(bytes, ready)
        local between_us = lab.now_us()
        pair.give(needed(block, message))
        local end_us = lab.now_us()
        get_us[i] = math.max(0, between_us - start_us - asking_us)
        give_us[i] = math.max(0, end_us - between_us - asking_us)
    end
    if ready then
        pair.done(ready)
    end
    return { bytes = bytes, us = median(get_us), spread = spread(get_us) },
        { bytes = bytes, us = median(give_us), spread = spread(give_us) }
end

local function set_call(c, name, rows)
    local us, per_mib = context.line(rows)
    local sized, most = #rows > 1, lists.most(rows, "spread")
    c:set("calls." .. name .. ".us", us, sized and "fit over the sizes" or "on an idle device",
          most)
    if sized then
        c:set("calls." .. name .. ".us_per_mib", per_mib, "the same fit", most)
        c:find("calls." .. name, name .. ": " .. lists.join(rows, function(row)
            return ("%s %.2f us"):format(size_text(row.bytes), row.us)
        end))
    end
end

local function set_pairs(c)
    local stream <close> = c.lab.stream { non_blocking = true }
    for _, pair in ipairs(pairs_of(c, stream)) do
        c.progress(pair[1] .. " and " .. pair[2])
        local get_rows, give_rows = {}, {}
        for i, bytes in ipairs(pair.sizes) do
            get_rows[i], give_rows[i] = measure_pair(c, pair, bytes)
        end
        set_call(c, pair[1], get_rows)
        set_call(c, pair[2], give_rows)
    end
end

-- ---- calls without a size -------------------------------------------------------------------

local loop_calls <const>, loop_rounds <const> = 200, 5

-- Of cudaMemGetInfo, before each of which a simulated GPU collects all garbage.
local info_calls <const> = 40

local function set_plain_calls(c)
    local cuda = c.lab.cuda
    for _, call in ipairs { { "cudaFuncSetCacheConfig", cuda.func_set_cache_config },
                            { "cudaDeviceSetLimit", cuda.device_set_limit } } do
        local us, off = c:call_us(loop_calls, loop_rounds, call[2])
        c:set("calls." .. call[1] .. ".us", us, "a loop of 200 calls", off)
    end
end

-- The simulator charges it on top of an event's query.
local function set_memory_info(c)
    local event <close> = c.lab.event { timing = false }
    local query_us = c.values["host.query_us"]
        or c:call_us(loop_calls, loop_rounds, function() event:query() end)
    local us, off = c:call_us(info_calls, loop_rounds, c.lab.cuda.mem_get_info)
    c:set("calls.cudaMemGetInfo.us", math.max(0, us - query_us),
          "a loop of 40 calls, less an event's query", off)
end

-- ---- the host's own memory ------------------------------------------------------------------

local host_bytes <const> = 64 * mib

-- The rate that the simulator uses for all work of the host on its own tensors: that of filling
-- one, whose pages are there.
local function set_host_rate(c)
    local filled = c.lab.full(1, host_bytes // 4, { device = "cpu" })
    local us, off = c:measure(5, function()
        return c:loop_us(1, function() filled:fill_(4) end)
    end)
    filled:free()
    c:set("host_gb_per_s", host_bytes / us * 1e-3, "fill_ of 64 MiB of float32 on the host", off)
end

-- ---- the whole ------------------------------------------------------------------------------

function memory.run(c)
    set_pairs(c)
    set_plain_calls(c)
    set_memory_info(c)
    c.progress("the host's own memory")
    set_host_rate(c)
end

return memory
