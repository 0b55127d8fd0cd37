-- gemm.lua - products of matrices: how long they take by size, and the kernels that compute them.
--
-- The simulator's table gemm_us.MODE is the time of a product in a row of them, so a kernel's
-- duration and the gap to the next one; gemm_grid_us.MODE is the duration alone, by the result's
-- side and the inner dimension. The footprints determine how much room a second kernel finds,
-- gemm_share.MODE how many of an SM's issue slots are left for it.

local context = import "scripts/measure/calibrate/context.lua"
local durations = import "scripts/measure/calibrate/durations.lua"
local lists = import "repl/run/lists.lua"
local product_calls = import "scripts/measure/calibrate/product_calls.lua"
local statistics = import "repl/run/statistics.lua"

local part = { name = "gemm", passes = 7, title = "products of matrices" }

local modes = {
    { name = "float32", dtype = "float32", peak = "fp32_tflops" },
    { name = "tf32", dtype = "float32", tf32 = true, peak = "tf32_tflops" },
    { name = "bfloat16", dtype = "bfloat16", peak = "bf16_tflops" },
}

local sizes = {
    64, 128, 192, 256, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192,
    12288,
}
-- The grid: an n x n product over k.
local grid_sides <const> = {
    64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
}
local grid_depths <const> = { 64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192, 12288 }
-- Larger ones take seconds in all: only the first passes measure them.
local often_most <const>, large_passes <const> = 8192, 2

local fewest_rounds <const> = 3        -- in all passes
local longest_us <const> = 400e3        -- of a product
local warm_us <const> = 30e3            -- of products before those that count: the clock settles
local counted_us <const> = 20e3
local least_left_us <const> = 0.1      -- of the shortest product, without gemm_fixed_us

-- ---- operands -------------------------------------------------------------------------------

-- The largest size of this pass for which three square matrices take at most a quarter of the
-- memory.
local function largest_size(c)
    local most = c.pass <= large_passes and math.huge or often_most
    local largest = sizes[1]
    for _, n in ipairs(sizes) do
        if n <= most and 3 * 4 * n * n <= c.device.memory_bytes / 4 then
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

-- The results of f(operands) with the operands of a mode. Their memory is freed with the last view
-- of it.
local function with_operands(c, mode, f)
    local operands = operands_new(c, mode.dtype)
    local result, spread = f(operands)
    operands.a:free()
    operands.b:free()
    operands.out:free()
    collectgarbage()
    return result, spread
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

local function rounds_of(c) return math.ceil(fewest_rounds / c.passes) end

local function clamp(value, least, most)
    return math.max(least, math.min(most, math.ceil(value)))
end

-- The product's duration, the spread and a span, at a steady clock. The first few determine how
-- many run.
local function time_product(c, run)
    local first_us = durations.of(c, 1, 2, run)
    if first_us > longest_us then
        return nil
    end
    return durations.of(c, clamp(warm_us / first_us, 2, 40), clamp(counted_us / first_us, 5, 30),
                        run)
end

-- Goes through all sizes several times, so that a busy moment of the machine affects one sample
-- of a size and not all. By size: {n =, us = {...}, spread =, span =}; ends at the first one that
-- takes too long.
local function time_sizes(c, mode, operands)
    local rows = {}
    for round = 1, rounds_of(c) do
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

-- ---- times by side and inner dimension -----------------------------------------------------

-- How often a product of so much work runs in a round to warm up, and how often measured.
local function turns_for(work)
    if work <= 2^30 then
        return 2, 6
    elseif work <= 2^34 then
        return 1, 2
    end
    return 0, 1
end

-- The list of what runs in one go for a side: {depth =, counts =, run =} by turn.
local function turns_of(c, mode, operands, n, depths)
    local turns = {}
    for i, k in ipairs(depths) do
        local run = product(c, mode, operands, n, n, k)
        local warm, counted = turns_for(n * n * k)
        for turn = 1, warm + counted do
            turns[#turns + 1] = { depth = i, counts = turn > warm, run = run }
        end
    end
    return turns
end

-- By depth the durations of a round. All depths run in a row, so that the clock is the one at
-- such work. `evict(options)` comes before each, so that the operands come from memory: scripts
-- work on something else between two uses of a tensor.
local function time_depths(c, turns, evict)
    local spans = durations.named(c, #turns, function(i, options)
        evict(options)
        turns[i].run(i, options)
    end, "^matmul")
    local of_depth, kernels = {}, {}
    for i, turn in ipairs(turns) do
        kernels[turn.depth] = 1 + (spans[i].kernels_after or 0)
        if turn.counts then
            local list = of_depth[turn.depth] or {}
            of_depth[turn.depth] = list
            list[#list + 1] = durations.of_span(spans[i])
        end
    end
    return lists.map(of_depth, context.middle), kernels
end

local function up_to(list, most)
    return lists.select(list, function(value) return value <= most end)
end

-- Lists of samples, one a round: [side][depth]. Then of how many kernels a product was.
local function time_grid(c, mode, operands, sides, depths, evict)
    local samples, turns, kernels = {}, {}, {}
    for i, n in ipairs(sides) do
        samples[i], turns[i] = {}, turns_of(c, mode, operands, n, depths)
        for j in ipairs(depths) do
            samples[i][j] = {}
        end
    end
    for round = 1, rounds_of(c) do
        for i in ipairs(sides) do
            local of_depth
            of_depth, kernels[i] = time_depths(c, turns[i], evict)
            for j, us in ipairs(of_depth) do
                samples[i][j][round] = us
            end
        end
    end
    return samples, kernels
end

-- Returns a function that fills twice the size of the L2 cache, and one that frees this memory.
-- Before l2_bytes is measured it is the base's; the larger one counts, so that passes do not
-- differ.
local function evictor(c)
    local l2_bytes = math.max(c.values.l2_bytes, c.base_profile.l2_bytes)
    local filled = c.lab.empty(math.ceil(2 * l2_bytes / 4))
    return function(options)
        c.lab.with(options.stream, filled.fill_, filled, 1)
    end, function()
        filled:free()
    end
end

-- Counts the kernels that a GEMM took: two where a second one adds its partial sums up.
-- Small kernels before the longest do not count: nothing waits behind them. There is no such value
-- where all are one.
local function set_kernels(c, mode, grid, kernels, n_depths)
    local list = lists.map(grid, function(row, at)
        return { row[1], row[2], kernels[(at - 1) // n_depths + 1][(at - 1) % n_depths + 1] }
    end)
    if lists.most(list, 3) > 1 then
        c:set("gemm_kernels." .. mode.name, list,
              "{n, k, kernels}: the longest of a product and those behind it")
    else
        c:lack("gemm_kernels." .. mode.name)
    end
end

-- How much of that time a product takes whose operands are in the L2 cache, by n.
local function set_warm(c, mode, rows, grid)
    local cold, list = {}, {}
    for _, row in ipairs(grid) do
        if row[1] == row[2] then
            cold[row[1]] = row[3]
        end
    end
    for _, row in ipairs(rows) do
        if cold[row.n] then
            local share = math.min(1, row.duration_us / cold[row.n])
            list[#list + 1] = { row.n, context.rounded(share, 3) }
        end
    end
    if #list > 0 then
        c:set("gemm_warm." .. mode.name, list,
              "the same operands again and again / what the L2 had no part of")
    end
end

-- Products no larger than those of `rows`. Gives the shortest duration.
local function set_grid(c, mode, operands, rows)
    local most = rows[#rows].n
    local sides, depths = up_to(grid_sides, most), up_to(grid_depths, most)
    if #sides < 2 or #depths < 2 then
        return math.huge
    end
    local list, spreads, shortest_us = {}, {}, math.huge
    local evict, forget = evictor(c)
    local grid, kernels = time_grid(c, mode, operands, sides, depths, evict)
    for i, of_depth in ipairs(grid) do
        for j, samples in ipairs(of_depth) do
            local us = context.median(samples)
            list[#list + 1] = { sides[i], depths[j], context.rounded(us, 3) }
            spreads[#spreads + 1] = context.spread(samples)
            shortest_us = math.min(shortest_us, us)
        end
    end
    c:set("gemm_grid_us." .. mode.name, list,
          "{ n, k, us }: an n x n product over k behind a hold, "
          .. "the duration, operands not in the L2", math.max(table.unpack(spreads)))
    forget()
    set_kernels(c, mode, list, kernels, #depths)
    set_warm(c, mode, rows, list)
    return shortest_us
end

-- ---- what is noted --------------------------------------------------------------------------

local function column(rows, of)
    return lists.map(rows, function(row) return { row.n, of(row) } end)
end

-- By size; sets nothing if a span does not have it: 0 blocks are no grid.
local function set_footprint(c, mode, rows, field, how)
    for _, row in ipairs(rows) do
        local value = row.span[field]
        if not value or (field ~= "shared_bytes" and value == 0) then
            return
        end
    end
    c:set(("gemm_%s.%s"):format(field, mode.name),
          column(rows, function(row) return row.span[field] end),
          how .. " of the longest kernel of n x n x n")
end

local function set_footprints(c, mode, rows)
    set_footprint(c, mode, rows, "blocks", "the grid")
    set_footprint(c, mode, rows, "threads", "of a block")
    set_footprint(c, mode, rows, "registers", "of a thread")
    set_footprint(c, mode, rows, "shared_bytes", "of a block")
end

-- From a product's end to the next one's start in a stream.
local function own_gap_us(c, mode, operands)
    local run = product(c, mode, operands, 128, 128, 128)
    return context.middle(durations.gaps(durations.spans(c, 10, 40, run)))
end

-- With the gap between two of them: the simulator takes stream_gap_us off again.
local function set_times(c, mode, operands, rows)
    local gap = c.values.stream_gap_us or own_gap_us(c, mode, operands)
    local spreads = lists.map(rows, function(row) return context.spread(row.us) end)
    c:set("gemm_us." .. mode.name, column(rows, function(row)
        return context.rounded(row.duration_us + gap, 3)
    end), "n x n x n behind a hold: duration + gap between two of a stream",
        math.max(table.unpack(spreads)))
end

-- The part of the peak that the largest product reaches. A peak that is less than what was
-- measured is another GPU's.
local function set_efficiency(c, mode, rows)
    local peak = c.values[mode.peak] or c.base and c.base[mode.peak]
    local last
    for _, row in ipairs(rows) do       -- the same one in all passes
        last = row.n <= often_most and row or last
    end
    local tflops = 2 * last.n ^ 3 / (last.duration_us * 1e6)
    if peak and tflops <= peak then
        c:set("gemm_efficiency." .. mode.name, tflops / peak,
              ("%.1f TFLOP/s at n = %d, of %s"):format(tflops, last.n, mode.peak), last.spread)
    end
end

-- ---- behind the last block ------------------------------------------------------------------

-- What a product takes that does not grow with its work: the line through the times of 32 x 32 x k
-- over k, at k = 0. Also the spread. No k is less than the grid's least.
local function fixed_us(c, operands)
    local points, spread = {}, 0
    for i = 1, 3 do
        local k = 64 * (i + 1)
        local us, of_us = durations.of(c, 20, 100, product(c, modes[1], operands, 32, 32, k))
        points[i], spread = { k, us }, math.max(spread, of_us)
    end
    return statistics.line(points).level, spread
end

-- The simulator takes it off every time in the tables, so something has to be left of the
-- shortest.
local function set_fixed(c, shortest_us)
    local fixed, spread = with_operands(c, modes[1], function(operands)
        return fixed_us(c, operands)
    end)
    c:set("gemm_fixed_us", math.max(0, math.min(fixed, shortest_us - least_left_us)),
          "float32, 32 x 32 x k: the line through k = 128 to 256 at k = 0, less than the "
          .. "shortest product", spread)
end

-- ---- products beside one another -----------------------------------------------------------

local share_rounds <const>, share_repetitions <const> = 8, 5
local least_share <const> = 0.02
local slowed <const> = 1.05             -- times as long: they do slow each other

-- How many blocks like the span's an SM has room for; nil where that is not known.
local function blocks_per_sm(c, span)
    local values = c.values
    if not span.registers or span.registers == 0 or span.blocks == 0 then
        return nil
    end
    local room = math.min(values.max_blocks_per_sm, values.max_threads_per_sm // span.threads,
                          values.registers_per_sm // (span.threads * span.registers))
    if span.shared_bytes and span.shared_bytes > 0 then
        room = math.min(room, values.shared_bytes_per_sm // span.shared_bytes)
    end
    return room
end

-- Rows of equal products in as many streams, with a result each.
local function product_rows(c, mode, operands, n, streams)
    local jobs, size = {}, n * n
    local a, b = matrix(operands.a, n, n), matrix(operands.b, n, n)
    for i = 1, streams do
        local out = operands.out:narrow(1, (i - 1) * size + 1, size):view(n, n)
        jobs[i] = function(options)
            options.out, options.tf32 = out, mode.tf32
            for _ = 1, share_rounds do
                c.lab.matmul(a, b, options)
            end
        end
    end
    return jobs
end

-- How many times as long the part of a product takes that its blocks run, when so many streams
-- have such products at a time. From the durations: how soon short products follow each other is
-- determined by the launches and not by the SMs.
local function slowdown(c, mode, operands, row, streams)
    local jobs = product_rows(c, mode, operands, row.n, streams)
    local us = c:measure(share_repetitions, function()
        local list, _, of_job = {}, durations.together(c, jobs)
        for _, spans in ipairs(of_job) do
            lists.append(list, durations.of_spans(spans))
        end
        return context.middle(list)
    end)
    local fixed = c.values.gemm_fixed_us
    return math.max(1, (us - fixed) / (row.duration_us - fixed))
end

-- What the blocks take of an SM's issue slots that one SM holds when a product runs alone: the
-- least that some number of streams shows whose blocks find room beside each other; 1 if not even
-- those of two do. Where nothing slows, it is too small to measure: then 1 over the streams.
local function share(c, mode, operands, row, room)
    local blocks, sms = row.span.blocks, c.device.sm_count
    local resident, least, parts, slows = math.ceil(blocks / sms), 1, 1, false
    if room <= resident then
        return 1
    end
    for _, streams in ipairs { 2, 4, 8 } do
        local on_sm = math.ceil(streams * blocks / sms)
        if on_sm > room or streams * row.n * row.n > operands.largest ^ 2 then
            break
        end
        parts = streams
        if on_sm > resident then        -- else each block has an SM to itself
            local slower = slowdown(c, mode, operands, row, streams)
            least = math.min(least, slower * resident / on_sm)
            slows = slows or slower > slowed
        end
    end
    return math.max(least_share, slows and least or math.min(least, 1 / parts))
end

local function set_shares(c, mode, operands, rows)
    local list = {}
    for i, row in ipairs(rows) do
        local room = blocks_per_sm(c, row.span)
        if not room then
            return
        end
        list[i] = { row.n, context.rounded(share(c, mode, operands, row, room), 3) }
    end
    c:set("gemm_share." .. mode.name, list, "of an SM's issue slots: from how much longer 2, 4 "
          .. "and 8 equal products at a time take, where their blocks fit beside one another")
end

-- A grid of no more blocks than SMs where the result has far more tiles: blocks stay.
local function set_persistent(c, rows)
    local row
    for _, at in ipairs(rows) do
        row = at.n <= 4096 and at or row
    end
    local n, sms = row.n, c.device.sm_count
    if row.span.blocks == 0 or n * n / (256 * 256) <= sms then
        return
    end
    c:set("gemm_persistent", row.span.blocks <= sms,
          ("tf32 at n = %d: %d blocks on %d SMs"):format(n, row.span.blocks, sms))
end

-- ---- a mode ---------------------------------------------------------------------------------

local function can(c, mode, operands)
    local done, message = context.can(product(c, mode, operands, 64, 64, 64), 1, {})
    if not done then
        c:find("gemm." .. mode.name, "not measured: " .. message)
    end
    return done
end

-- Gives what was measured by size, and the shortest product's duration.
local function measure_mode(c, mode, operands)
    local rows = time_sizes(c, mode, operands)
    set_times(c, mode, operands, rows)
    set_footprints(c, mode, rows)
    set_efficiency(c, mode, rows)
    local shortest_us = math.min(rows[1].duration_us, set_grid(c, mode, operands, rows))
    product_calls.set(c, mode.name, rows[#rows].n, function(n)
        return product(c, mode, operands, n, n, n)
    end)
    if mode.tf32 then
        set_persistent(c, rows)
    end
    return { rows = rows, shortest_us = shortest_us }
end

function part.run(c)
    local shortest_us, measured = math.huge, {}
    for _, mode in ipairs(modes) do
        c.progress(mode.name)
        measured[mode] = with_operands(c, mode, function(operands)
            return can(c, mode, operands) and measure_mode(c, mode, operands)
        end)
        shortest_us = math.min(shortest_us, measured[mode] and measured[mode].shortest_us
                                            or math.huge)
    end
    set_fixed(c, shortest_us)
    c.progress("products beside one another")
    for _, mode in ipairs(modes) do
        if measured[mode] then
            with_operands(c, mode, function(operands)
                set_shares(c, mode, operands, measured[mode].rows)
            end)
        end
    end
    durations.close(c)
end

return part
