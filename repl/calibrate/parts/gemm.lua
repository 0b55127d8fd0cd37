-- gemm.lua - products of matrices: how long they take by size, and the kernels that compute them.
--
-- The simulator's table gemm_us.MODE is the time of a product in a row of them, so a kernel's
-- duration and the gap to the next one. The footprints say what room a second kernel finds.

local context = import "repl/calibrate/context.lua"
local durations = import "repl/calibrate/durations.lua"

local part = { name = "gemm", title = "products of matrices" }

local modes = {
    { name = "float32", dtype = "float32", peak = "fp32_tflops" },
    { name = "tf32", dtype = "float32", tf32 = true, peak = "tf32_tflops" },
    { name = "bfloat16", dtype = "bfloat16", peak = "bf16_tflops" },
}

local sizes = {
    64, 128, 192, 256, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192,
}
-- Not in the table: what its interpolation has to meet, and shapes that it does not know.
local between = { 100, 300, 900, 1000, 1792, 2500, 5000 }
local oblong = { { 4096, 1024, 1024 }, { 1024, 1024, 8192 }, { 512, 4096, 4096 } }

local rounds <const> = 3
local longest_us <const> = 400e3        -- of a product
local warm_us <const> = 30e3            -- of products before those that count: the clock settles
local counted_us <const> = 20e3
local least_left_us <const> = 0.1      -- of the shortest product, without gemm_fixed_us

-- ---- operands -------------------------------------------------------------------------------

-- The largest square matrix of which three take no more than a quarter of the memory.
local function largest_size(c)
    local largest = sizes[1]
    for _, n in ipairs(sizes) do
        if 3 * 4 * n * n <= c.device.memory_bytes / 4 then
            largest = n
        end
    end
    return largest
end

-- Random numbers: a chip takes more power, and is slower, with them than with zeros.
local function operands_new(c, dtype)
    local largest = largest_size(c)
    local elements = largest * largest
    return {
        largest = largest,
        a = c.lab.rand(elements, { dtype = dtype }), b = c.lab.rand(elements, { dtype = dtype }),
        out = c.lab.empty(elements, { dtype = dtype }),
    }
end

-- The memory goes with the last view of it.
local function operands_free(operands)
    operands.a:free()
    operands.b:free()
    operands.out:free()
    collectgarbage()
end

local function matrix(tensor, rows, columns)
    return tensor:narrow(1, 1, rows * columns):view(rows, columns)
end

-- A function that enqueues the product of m x k and k x n.
local function product(c, mode, operands, m, n, k)
    local a, b = matrix(operands.a, m, k), matrix(operands.b, k, n)
    local out, matmul = matrix(operands.out, m, n), c.lab.matmul
    return function(_, options)
        options.out, options.tf32 = out, mode.tf32
        matmul(a, b, options)
    end
end

-- ---- times ----------------------------------------------------------------------------------

local function clamp(value, least, most)
    return math.max(least, math.min(most, math.ceil(value)))
end

-- The product's duration, the spread and a span, at a steady clock. The first few tell how many
-- to run.
local function time_product(c, run)
    local first_us = durations.of(c, 1, 2, run)
    if first_us > longest_us then
        return nil
    end
    return durations.of(c, clamp(warm_us / first_us, 2, 40), clamp(counted_us / first_us, 5, 30),
                        run)
end

-- Sizes in turn, several times over, so that a busy moment of the machine spoils one of a size's
-- samples and not all. By size: {n =, us = {...}, spread =, span =}; ends at the first one that
-- takes too long.
local function time_sizes(c, mode, operands)
    local rows = {}
    for round = 1, rounds do
        for i, n in ipairs(sizes) do
            if n > operands.largest or round > 1 and not rows[i] then
                break
            end
            local us, spread, span = time_product(c, product(c, mode, operands, n, n, n))
            if not us then
                break
            end
            rows[i] = rows[i] or { n = n, us = {}, spread = 0 }
            table.insert(rows[i].us, us)
            rows[i].span = span
            rows[i].spread = math.max(rows[i].spread, spread)
        end
    end
    for _, row in ipairs(rows) do
        row.duration_us = context.median(row.us)
    end
    return rows
end

-- ---- what is noted --------------------------------------------------------------------------

local function column(rows, of)
    local list = {}
    for i, row in ipairs(rows) do
        list[i] = { row.n, of(row) }
    end
    return list
end

-- By size, or nothing if a span does not tell it: 0 blocks are no grid.
local function set_footprint(c, mode, rows, key, field, how)
    for _, row in ipairs(rows) do
        local value = row.span[field]
        if not value or (field ~= "shared_bytes" and value == 0) then
            return
        end
    end
    c:set(key .. "." .. mode.name, column(rows, function(row) return row.span[field] end), how)
end

local function set_footprints(c, mode, rows)
    local how = "of the longest kernel of n x n x n"
    set_footprint(c, mode, rows, "gemm_blocks", "blocks", "the grid " .. how)
    set_footprint(c, mode, rows, "gemm_threads", "threads", "of a block " .. how)
    set_footprint(c, mode, rows, "gemm_registers", "registers", "of a thread " .. how)
    set_footprint(c, mode, rows, "gemm_shared_bytes", "shared_bytes", "of a block " .. how)
end

-- From a product's end to the next one's start in a stream.
local function own_gap_us(c, run)
    local spans, gaps = durations.spans(c, 10, 40, run), {}
    for i = 2, #spans do
        gaps[i - 1] = spans[i].start_us - spans[i - 1].end_us
    end
    return durations.middle(gaps)
end

-- The gap that the table's times have in them: the simulator takes stream_gap_us off again.
local function gap_us(c, mode, operands)
    local small = own_gap_us(c, product(c, mode, operands, 128, 128, 128))
    local large = own_gap_us(c, product(c, mode, operands, 1024, 1024, 1024))
    c:find("gemm." .. mode.name, ("between two products of 128 %.2f us, of 1024 %.2f us")
           :format(small, large))
    return c.values.stream_gap_us or small
end

local function set_times(c, mode, rows, gap)
    local spread = 0
    for _, row in ipairs(rows) do
        spread = math.max(spread, context.spread(row.us))
    end
    c:set("gemm_us." .. mode.name, column(rows, function(row)
        return tonumber(("%.3f"):format(row.duration_us + gap))
    end), "n x n x n behind a hold: duration + gap between two of a stream", spread)
end

-- The part of the peak that the largest product reaches. A peak that is less than what was
-- measured is another GPU's.
local function set_efficiency(c, mode, rows)
    local peak = c.values[mode.peak] or c.base and c.base[mode.peak]
    local last = rows[#rows]
    local tflops = 2 * last.n ^ 3 / (last.duration_us * 1e6)
    c:find("gemm." .. mode.name, ("%.1f TFLOP/s at n = %d"):format(tflops, last.n))
    if peak and tflops <= peak then
        c:set("gemm_efficiency." .. mode.name, tflops / peak,
              ("%.1f TFLOP/s at n = %d, of %s"):format(tflops, last.n, mode.peak), last.spread)
    end
end

local function find_shape(c, mode, operands, m, n, k)
    if math.max(m * k, k * n, m * n) > operands.largest * operands.largest then
        return
    end
    local us, spread, span = time_product(c, product(c, mode, operands, m, n, k))
    if us then
        c:find("gemm." .. mode.name, ("%d x %d x %d (m, n, k) in %.2f us, spread %.1f %%, %d "
               .. "blocks of %d threads"):format(m, n, k, us, 100 * spread, span.blocks,
                                              span.threads))
    end
end

local function find_shapes(c, mode, operands)
    for _, n in ipairs(between) do
        find_shape(c, mode, operands, n, n, n)
    end
    for _, shape in ipairs(oblong) do
        find_shape(c, mode, operands, table.unpack(shape))
    end
end

-- ---- behind the last block ------------------------------------------------------------------

-- What a product takes that does not grow with its work: the line through the times of 32 x 32 x k
-- over k, at k = 0. Also the spread.
local function fixed_us(c, operands)
    local n, x, y, xx, xy, spread = 4, 0, 0, 0, 0, 0
    for i = 1, n do
        local k = 64 * i
        local us, of_us = durations.of(c, 20, 100, product(c, modes[1], operands, 32, 32, k))
        x, y, xx, xy = x + k, y + us, xx + k * k, xy + k * us
        spread = math.max(spread, of_us)
    end
    return (y - (n * xy - x * y) / (n * xx - x * x) * x) / n, spread
end

-- The simulator takes it off every time in the tables, so something has to be left of the
-- shortest.
local function set_fixed(c, shortest_us)
    local operands = operands_new(c, modes[1].dtype)
    local fixed, spread = fixed_us(c, operands)
    operands_free(operands)
    c:find("gemm_fixed_us", ("%.3f us at k = 0, the shortest product of the tables %.3f us")
           :format(fixed, shortest_us))
    c:set("gemm_fixed_us", math.max(0, math.min(fixed, shortest_us - least_left_us)),
          "float32, 32 x 32 x k: the line through k = 64 to 256 at k = 0, less than the "
          .. "shortest product", spread)
end

-- ---- room beside a product ------------------------------------------------------------------

-- A kernel of one block, as lab.spin's options, in a stream of its own while the second of two
-- products runs: how far that is, from 0 to 1, when the kernel begins.
local function begins_at(c, run, kernel)
    return (durations.beside(c, function(options, start)
        run(1, options)
        start:record(options.stream)
        run(2, options)
    end, function(options)
        kernel.stream = options.stream
        c.lab.spin(0.02, kernel)
    end))
end

local function find_room(c, run, n)
    local kernels = { { threads = 1024, shared_bytes = 0 }, { threads = 32, shared_bytes = 0 } }
    local shared_bytes = 1024
    while shared_bytes <= c.device.max_shared_bytes_per_block do
        kernels[#kernels + 1] = { threads = 32, shared_bytes = shared_bytes }
        shared_bytes = 4 * shared_bytes
    end
    for _, kernel in ipairs(kernels) do
        c:find("gemm_persistent", ("a block of %d threads and %d B of shared memory begins beside "
               .. "a tf32 product of %d after %.0f %% of it"):format(kernel.threads,
               kernel.shared_bytes, n, 100 * begins_at(c, run, kernel)))
    end
end

-- A grid of no more blocks than SMs where the result has far more tiles: blocks stay.
local function set_persistent(c, operands, rows)
    local row
    for _, at in ipairs(rows) do
        row = at.n <= 4096 and at or row
    end
    local n, sms = row.n, c.device.sm_count
    if row.span.blocks == 0 or n * n / (256 * 256) <= sms then
        return
    end
    local run = product(c, modes[2], operands, n, n, n)
    c:set("gemm_persistent", row.span.blocks <= sms,
          ("tf32 at n = %d: %d blocks on %d SMs"):format(n, row.span.blocks, sms))
    find_room(c, run, n)
end

-- ---- a mode ---------------------------------------------------------------------------------

-- Not every GPU has every type.
local function can(c, mode, operands)
    local done, err = pcall(product(c, mode, operands, 64, 64, 64), 1, {})
    if not done and err.code ~= "SL_EBACKEND" then
        error(err, 0)
    elseif not done then
        c:find("gemm." .. mode.name, "not measured: " .. err.message)
    end
    return done
end

-- Gives the shortest product's duration.
local function measure_mode(c, mode, operands)
    local gap = gap_us(c, mode, operands)
    local rows = time_sizes(c, mode, operands)
    set_times(c, mode, rows, gap)
    set_footprints(c, mode, rows)
    set_efficiency(c, mode, rows)
    find_shapes(c, mode, operands)
    if mode.tf32 then
        set_persistent(c, operands, rows)
    end
    return rows[1].duration_us
end

local function run_mode(c, mode)
    c.progress(mode.name)
    local operands = operands_new(c, mode.dtype)
    local shortest_us = can(c, mode, operands) and measure_mode(c, mode, operands)
    operands_free(operands)
    return shortest_us
end

function part.run(c)
    local shortest_us = math.huge
    for _, mode in ipairs(modes) do
        shortest_us = math.min(shortest_us, run_mode(c, mode) or math.huge)
    end
    set_fixed(c, shortest_us)
    durations.close(c)
end

return part
