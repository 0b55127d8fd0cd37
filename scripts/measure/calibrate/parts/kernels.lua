-- kernels.lua - kernels other than products, memsets, and copies within the device: how long they
-- take by size, how fast they go through memory, and what a spin takes beyond its time.
--
-- Each size is measured round-robin over four sets of tensors, like a script that works on
-- several. If all four fit into the L2 cache, each is still there when its turn comes.

local context = import "scripts/measure/calibrate/context.lua"
local durations = import "scripts/measure/calibrate/durations.lua"
local lists = import "repl/run/lists.lua"

local part = { name = "kernels", title = "other kernels, memsets, copies within the device" }

local sets <const> = 4
local kib <const>, mib <const> = 1024, 1048576
local smallest_bytes <const>, largest_bytes <const> = 16 * kib, 1024 * mib
local shortest_us <const> = 0.1         -- of what memory adds to a kernel: some ticks of the clock
local steady_us <const> = 0.5
local least_left_us <const> = 0.01      -- of the shortest operation, without its fixed part
local rounds <const> = 3
local sides <const> = { 16, 64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192 }

-- ---- operands -------------------------------------------------------------------------------

-- One piece of memory for everything: `sets` inputs and outputs of `bytes` each, float32.
local function memory_new(c, bytes)
    local most = c.device.memory_bytes // (8 * sets)
    while bytes > most do
        bytes = bytes // 2
    end
    local elements = sets * bytes // 4
    return { bytes = bytes, a = c.lab.rand(elements), b = c.lab.empty(elements), made = {} }
end

local function free_made(memory)
    for set, tensor in pairs(memory.made) do
        tensor:free()
        memory.made[set] = nil
    end
end

-- It goes with the last view of it.
local function memory_free(memory)
    memory.a:free()
    memory.b:free()
    collectgarbage()
end

-- Lists of `sets` tensors of so many elements, from a and from b.
local function tensors(memory, elements)
    local from_a, from_b = {}, {}
    for i = 1, sets do
        local start = (i - 1) * elements + 1
        from_a[i] = memory.a:narrow(1, start, elements)
        from_b[i] = memory.b:narrow(1, start, elements)
    end
    return from_a, from_b
end

-- ---- operations -----------------------------------------------------------------------------

-- run(lab, a, b, options, another) enqueues, from a to b; `another` is an input of another set. It
-- gives the tensor that it has made, if it makes one. `moves` is how often each element crosses
-- the bus.
local operations = {
    pow = { moves = 2, run = function(lab, a, b, options)
        options.out = b
        lab.pow(a, 2, options)
    end },
    add = { moves = 3, run = function(lab, a, b, options, another)
        options.out = b
        lab.add(a, another, options)
    end },
    fill = { moves = 1, run = function(_, _, b, options) b:fill_(1.5, options) end },
    powf = { moves = 2, run = function(lab, a, b, options)
        options.out = b
        lab.pow(a, 2.5, options)
    end },
    softmax = { moves = 2, run = function(lab, a, b, options)
        local columns = math.tointeger(math.sqrt(b:numel()))
        options.out = b:view(-1, columns)
        lab.softmax(a:view(-1, columns), options)
    end },
    rand = { moves = 1, run = function(lab, _, b, options)
        return lab.rand(b:numel(), options)
    end },
    randn = { moves = 1, run = function(lab, _, b, options)
        return lab.randn(b:numel(), options)
    end },
    sum = { moves = 1, run = function(lab, a, _, options) return lab.sum(a, options) end },
    memset = { moves = 1, run = function(_, _, b, options) b:zero_(options) end },
    d2d = { moves = 2, run = function(_, a, b, options)
        options.non_blocking = true
        b:copy_(a, options)
    end },
}

-- The duration in us and the spread of an operation on tensors of so many elements, taking turns
-- over `turns` sets of them.
local function time_of(c, memory, name, elements, n, turns)
    local a, b = tensors(memory, elements)
    local run, lab = operations[name].run, c.lab
    turns = turns or sets
    local us, spread = durations.of(c, sets, n, function(i, options)
        local set = i % turns + 1
        if memory.made[set] then
            memory.made[set]:free()     -- the next one gets its memory
        end
        memory.made[set] = run(lab, a[set], b[set], options, a[set % sets + 1])
    end)
    free_made(memory)
    return us, spread
end

-- ---- memory ---------------------------------------------------------------------------------

-- The time of a kernel that moves next to nothing, kept below that of the shortest.
local function set_fixed(c, memory, shortest)
    local us, spread = time_of(c, memory, "pow", 64, 200)
    c:set("kernel_fixed_us", math.min(us, shortest - least_left_us),
          "pow(a, 2) of 64 elements, less than the shortest of kernel_us", spread)
end

local function samples_for(bytes)
    return bytes < 64 * mib and 100 or 24
end

-- GB/s of an operation that moves `bytes` in all, and the spread; nothing if it takes no longer
-- than a kernel that moves nothing.
local function speed(c, memory, name, bytes, turns)
    local elements = bytes // (4 * operations[name].moves)
    local us, spread = time_of(c, memory, name, elements, samples_for(bytes), turns)
    us = us - c.values.kernel_fixed_us
    if us < shortest_us then
        return nil
    end
    return elements * 4 * operations[name].moves / (us * 1e3), spread
end

-- {{bytes, GB/s}, ...} of pow(a, 2), and the largest spread.
local function speeds(c, memory, turns)
    local rows, most = {}, 0
    local bytes = smallest_bytes
    while bytes <= math.min(largest_bytes, 2 * memory.bytes) do
        local gb_per_s, spread = speed(c, memory, "pow", bytes, turns)
        if gb_per_s then
            rows[#rows + 1] = { bytes, context.rounded(gb_per_s, 1) }
            most = math.max(most, spread)
        end
        bytes = bytes * 2
    end
    return rows, most
end

-- The highest speed among the sizes that take long enough to measure it.
local function fastest(rows)
    local best = 0
    for _, row in ipairs(rows) do
        if row[1] / (row[2] * 1e3) >= steady_us then
            best = math.max(best, row[2])
        end
    end
    return best
end

-- The size up to which the speed is nearer to the cache's than to the memory's, by halving.
local function knee_bytes(c, memory, rows, l2, hbm)
    local middle, fits, too_large = math.sqrt(l2 * hbm), nil, nil
    for _, row in ipairs(rows) do
        if row[2] >= middle then
            fits, too_large = row[1], nil
        elseif fits and not too_large then
            too_large = row[1]
        end
    end
    if not too_large then
        return nil
    end
    while too_large - fits > fits / 32 do
        local between = (fits + too_large) // 2 // 4096 * 4096
        if (speed(c, memory, "pow", between, 1) or 0) >= middle then
            fits = between
        else
            too_large = between
        end
    end
    return (fits + too_large) // 2
end

local function set_memory(c, memory)
    c.progress("memory by size")
    local rows, spread = speeds(c, memory)
    local hbm = context.median { rows[#rows][2], rows[#rows - 1][2] }
    c:set("hbm_gb_per_s", hbm, ("pow(a, 2) moving %d and %d MiB, without kernel_fixed_us")
          :format(rows[#rows - 1][1] // mib, rows[#rows][1] // mib), spread)
    local again = speeds(c, memory, 1)
    local l2 = fastest(again)
    c:set("l2_gb_per_s", l2, "the fastest size of pow(a, 2) on the same tensors again and again",
          spread)
    local knee = l2 > 1.1 * hbm and knee_bytes(c, memory, again, l2, hbm)
    if knee then
        c:set("l2_bytes", 2 * knee, "twice the size up to which pow(a, 2) on the same tensors is "
              .. "nearer to l2_gb_per_s than to hbm_gb_per_s")
    end
end

-- ---- by size --------------------------------------------------------------------------------

-- Of the tables kernel_us, and what their x counts: bytes or elements of float32.
local kinds <const> = { "add", "pow", "powf", "softmax", "sum", "fill", "rand", "randn",
                        "memset", "d2d" }
local by_bytes <const> = { memset = true, d2d = true }

-- The numbers of elements for which there is memory.
local function sizes_of(memory)
    local sizes = lists.map(sides, function(n) return n * n end)
    return lists.select(sizes, function(n) return 4 * n <= memory.bytes end)
end

-- Of one kind by size: {{elements, us}, ...} and the largest spread. Sizes in turn, several times
-- over.
local function time_sizes(c, memory, name, turns)
    local samples, rows, most = {}, {}, 0
    for round = 1, rounds do
        for i, elements in ipairs(sizes_of(memory)) do
            samples[i] = samples[i] or { elements = elements }
            samples[i][round] = time_of(c, memory, name, elements, samples_for(4 * elements) // 2,
                                        turns)
        end
    end
    for i, list in ipairs(samples) do
        rows[i] = { list.elements, context.rounded(context.median(list), 3) }
        most = math.max(most, context.spread(list))
    end
    return rows, most
end

-- Gives the tables by kind.
local function set_tables(c, memory)
    local tables = {}
    for _, name in ipairs(kinds) do
        c.progress(name)
        local rows, spread = time_sizes(c, memory, name)
        local unit = by_bytes[name] and 4 or 1
        local list = lists.map(rows, function(row) return { row[1] * unit, row[2] } end)
        c:set("kernel_us." .. name, list, (by_bytes[name] and "{bytes" or "{elements")
              .. ", us}: durations in a row in one stream, in turns over four tensors", spread)
        tables[name] = rows
    end
    return tables
end

local function shortest_of(tables)
    local least = math.huge
    for name, rows in pairs(tables) do
        for _, row in ipairs(rows) do
            least = math.min(least, name == "d2d" and math.huge or row[2])
        end
    end
    return least
end

-- ---- other kernels --------------------------------------------------------------------------

-- What a spin takes beyond the time that was asked for.
local function set_spin(c)
    local asked_us = 50
    local us, spread = durations.of(c, sets, 50, function(_, options)
        c.lab.spin(asked_us / 1000, options)
    end)
    c:set("spin_fixed_us", math.max(0, us - asked_us),
          ("spins of %d us: what they take longer"):format(asked_us), spread)
end

-- ---- memsets, copies within the device ------------------------------------------------------

local function set_memset(c, memory)
    local elements = memory.bytes // 8
    local us, spread = time_of(c, memory, "memset", elements, 24)
    c:set("memset_gb_per_s", elements * 4 / ((us - c.values.kernel_fixed_us) * 1e3),
          ("memsets of %d MiB"):format(elements * 4 // mib), spread)
end

local function set_d2d(c, memory, shortest)
    local fixed, fixed_spread = time_of(c, memory, "d2d", 16, 100)
    fixed = math.min(fixed, shortest - least_left_us)
    c:set("d2d_fixed_us", fixed, "a copy of 64 B within the device, less than the shortest of "
          .. "kernel_us.d2d", fixed_spread)
    local elements = memory.bytes // 8
    local us, spread = time_of(c, memory, "d2d", elements, 24)
    c:set("d2d_gb_per_s", elements * 4 / ((us - fixed) * 1e3),
          ("copies of %d MiB, bytes copied"):format(elements * 4 // mib), spread)
end

-- At which part of a spin that fills all SMs several times over an operation in another stream
-- ends.
local function ends_beside_full_chip(c, memory, name)
    local a, b = tensors(memory, 65536)
    local _, finish = durations.beside(c, function(options)
        c.lab.spin(1, { blocks = 8 * c.device.sm_count, threads = 1024, stream = options.stream })
    end, function(options)
        operations[name].run(c.lab, a[1], b[1], options)
    end)
    return finish
end

local function set_d2d_engine(c, memory)
    local far = ends_beside_full_chip(c, memory, "d2d")
    c:set("d2d_engine", far > 0.5 and "sm" or "copy",
          ("beside a spin that fills all SMs it ended after %.0f %% of that"):format(100 * far))
end

function part.run(c)
    local memory = memory_new(c, largest_bytes // 2)
    local tables = set_tables(c, memory)
    set_fixed(c, memory, shortest_of(tables))
    set_memory(c, memory)
    set_spin(c)
    c.progress("memsets and copies within the device")
    set_memset(c, memory)
    set_d2d(c, memory, shortest_of { copies = tables.d2d })
    set_d2d_engine(c, memory)
    memory_free(memory)
    durations.close(c)
end

return part
