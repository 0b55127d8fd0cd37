-- split.lua - how an SM's memory is split between shared memory and cache.
--
-- An SM that is idle takes as much for shared memory as the kernel that comes to it wants with as
-- many blocks as fit, and keeps that until it is idle again. A block of a kernel that wants more
-- does not come to it before. So behind a spin with shared memory on all SMs, of which two blocks
-- would fit, a second one of the same block begins at once if twice its memory is in the split.

local context = import "scripts/measure/calibrate/context.lua"
local lists = import "repl/run/lists.lua"

local part = { name = "split", title = "shared memory and cache" }

local long_ms <const>, short_ms <const> = 1, 0.02
local step_bytes <const> = 1024
-- Wanted by two blocks, as far as they fit: about each power of two, and what lies between.
local wanted_kib <const> = { 0, 14, 28, 48, 62, 80, 98, 120, 130, 150, 164, 180, 194, 210, 224 }

-- Of which two blocks fill an SM.
local function threads_of(c)
    local half = c.values.max_threads_per_sm // 2 // 32 * 32
    return math.tointeger(math.min(half, c.values.max_threads_per_block))
end

-- Whether a block with `bytes` of shared memory begins beside a spin with `held` on each SM.
local function begins(c, first, second, held, bytes)
    local lab, threads = c.lab, threads_of(c)
    local tl = c:record(function()
        lab.spin(long_ms, { blocks = c.device.sm_count, threads = threads, shared_bytes = held,
                            stream = first })
        lab.spin(short_ms, { blocks = 1, threads = threads, shared_bytes = bytes,
                             stream = second })
    end)
    local long, short = table.unpack(tl:spans())
    return short.start_us < long.end_us - short_ms * 1000
end

-- The most with which a second block begins, in steps; nil if none does.
local function room(c, first, second, held, most)
    local steps = context.largest(-1, most // step_bytes + 1, function(n)
        return begins(c, first, second, held, n * step_bytes)
    end)
    return steps >= 0 and steps * step_bytes or nil
end

local function splits(c, first, second)
    local reserved, most = c.values.shared_reserved_bytes or 0, c.values.shared_bytes_per_block
    local half = most // 2 // step_bytes * step_bytes
    local found, list = {}, {}
    for _, kib in ipairs(wanted_kib) do
        local held = math.max(0, kib * 1024 // 2 - reserved) // step_bytes * step_bytes
        local free = held <= half and room(c, first, second, held, half)
        local bytes = free and free < half and 2 * (free + reserved)   -- else as much as there is
        if bytes and not found[bytes] then
            found[bytes], list[#list + 1] = true, bytes
        end
    end
    table.sort(list)
    return list, most + reserved
end

function part.run(c)
    local first <close> = c.lab.stream { non_blocking = true, name = "first" }
    local second <close> = c.lab.stream { non_blocking = true, name = "second" }
    local list, most = splits(c, first, second)
    if #list == 0 then
        c:lack("shared_splits")
        c:find("shared_splits", "always the same")
        return
    end
    list[#list + 1] = most
    local rows = lists.map(list, function(bytes, i) return { i, math.tointeger(bytes) } end)
    c:set("shared_splits", rows, "what a second kernel finds beside a spin with shared memory on "
          .. "each SM")
end

return part
