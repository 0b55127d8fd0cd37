-- What the tests of this lab have in common: matrices, what must come out, and what must have run.

local format = string.format
local common = {}

-- The element of matrix `seed` at (i, j). Whole numbers below 2^24, which float32 has exactly.
local function value(seed, i, j) return (7 * seed + 131 * i + 17 * j) % 4099 + 1 end

local function values(rows, cols, f)
    local list = {}
    for i = 1, rows do
        local row = {}
        for j = 1, cols do row[j] = f(i, j) end
        list[i] = row
    end
    return list
end

function common.matrix(rows, cols, seed, opts)
    return lab.tensor(values(rows, cols, function(i, j) return value(seed, i, j) end), opts)
end

function common.pinned(rows, cols, seed)
    return common.matrix(rows, cols, seed, { device = "cpu", pinned = true })
end

-- Says what the first wrong element is, if it is one of x's.
local function say_wrong(t, got, rows, cols, seed)
    for i = 1, cols do
        for j = 1, rows do
            local is = got:get(i, j)
            if is ~= value(seed, j, i) then
                if i <= rows and j <= cols and is == value(seed, i, j) then
                    t:diag(format("y[%d][%d] is x[%d][%d]: it is not transposed.", i, j, i, j))
                elseif is == 0 then
                    t:diag(format("y[%d][%d] is 0: is there a thread that writes it, and is y "
                        .. "declared as out?", i, j))
                end
                return
            end
        end
    end
end

-- That y is the transpose of matrix `seed` of rows x cols, or `factor` times that.
function common.is_transpose(t, y, rows, cols, seed, name, factor)
    local want = values(cols, rows, function(i, j) return (factor or 1) * value(seed, j, i) end)
    if t:close(y, want, name) then return true end
    if type(y) == "userdata" and not factor then pcall(say_wrong, t, y, rows, cols, seed) end
    return false
end

-- That some kernel has shared memory enough for a tile of 8 x 8.
function common.has_tile(t, tl)
    local most = 0
    for _, span in ipairs(tl:spans()) do most = math.max(most, span.shared_bytes or 0) end
    t:at_least(most, 256, "bytes of shared memory that a block of the kernel has, for its tile")
end

-- Calls transpose(x) for a matrix of that size, in a stream of the caller's, and checks what it
-- gives.
-- That is read there before anything else waits.
function common.transposed(t, student, rows, cols, seed)
    local x = common.matrix(rows, cols, seed)
    lab.synchronize()
    lab.with(lab.stream{ name = "caller", non_blocking = true }, function()
        local y = student.transpose(x)
        common.is_transpose(t, y, rows, cols, seed, format("%d x %d", rows, cols))
    end)
    local tl = lab.profile(student.transpose, x)
    t:span_count(tl, "kernel", { exactly = 1 }, "transpose() is one launch")
    common.has_tile(t, tl)
end

-- Calls transpose_all for `count` matrices of one size, and checks what it gives.
function common.all_transposed(t, student, rows, cols, count)
    local matrices = {}
    for i = 1, count do matrices[i] = common.pinned(rows, cols, i) end
    local results = student.transpose_all(matrices)
    local ok = t:is(type(results), "table", "transpose_all() gives a list")
        and t:is(#results, count, "it has a result for each matrix")
    for i = 1, ok and count or 0 do
        ok = ok and t:is(type(results[i]), "userdata", format("result %d is a tensor", i))
            and t:is(results[i].device, "cpu", format("the device of result %d", i))
            and common.is_transpose(t, results[i], rows, cols, i, format("result %d", i))
    end
end

-- The timeline of transpose_all for large matrices, whose values nobody looks at; on a real GPU the
-- quickest of three.
function common.profile(student, rows, cols, count)
    local matrices, best = {}, nil
    for i = 1, count do matrices[i] = lab.empty(rows, cols, { device = "cpu", pinned = true }) end
    student.transpose_all(matrices)                     -- the first launch loads the kernel
    for _ = 1, lab.device().backend == "sim" and 1 or 3 do
        collectgarbage()
        lab.synchronize()
        local tl = lab.profile(function() student.transpose_all(matrices) end)
        if not best or tl.makespan_us < best.makespan_us then best = tl end
    end
    return best
end

-- That the timeline has all of the work, and that its three parts run at the same time.
function common.overlaps(t, tl, count, within_percent)
    t:span_count(tl, "kernel", { exactly = count }, "each matrix is transposed by one launch")
    t:span_count(tl, "memcpy_h2d", { exactly = count }, "each matrix is copied up once")
    t:span_count(tl, "memcpy_d2h", { exactly = count }, "each result is copied down once")
    t:overlap(tl, "memcpy_h2d", "memcpy_d2h", { at_least_percent = 70, gpu_at_least_percent = 40 },
        "copies up run beside copies down")
    t:overlap(tl, "kernel", "memcpy_h2d", { at_least_percent = 40, gpu_at_least_percent = 20 },
        "kernels run beside copies up")
    t:makespan(tl, { within_percent = within_percent, gpu_within_percent = within_percent + 35 },
        format("the makespan is at most %d %% over the copies in one direction", within_percent))
end

return common
