-- tensors.lua - a tensor: what it is, and a corner of its values.
--
-- Looking at values waits for work that uses the tensor, as a print of PyTorch does. On the
-- simulator that is all it costs in virtual time: no copy is made. While a recording runs
-- nothing is looked at, since the wait would be in it.

local text = import "repl/console/text.lua"

local tensors = {}

local edge <const> = 3              -- rows, columns that are shown at each end
local slices <const> = 2            -- of a tensor of more than two dimensions
local longest_s <const> = 1         -- of computing on the simulator
local largest_bytes <const> = 256 << 20

-- ---- the head ------------------------------------------------------------------------------

local function head(t)
    local line = tostring(t)
    if t.freed then return line end
    local memory = line:match(" %(pinned%)$") and ", pinned" or t.device == "cpu" and ", pageable"
        or ""
    return line:gsub(" %(pinned%)$", "") .. memory .. ", " .. text.bytes(t:nbytes())
end

-- ---- numbers -------------------------------------------------------------------------------

local function is_finite(x)
    return x == x and x ~= math.huge and x ~= -math.huge
end

-- How all of the numbers are written: whole ones, with decimals, or with exponents.
local function number_format(numbers, is_float)
    local whole, least, greatest = true, math.huge, 0
    for _, x in ipairs(numbers) do
        local size = math.abs(x)
        if is_finite(x) and x ~= 0 then
            whole = whole and x == math.floor(x)
            least, greatest = math.min(least, size), math.max(greatest, size)
        end
    end
    if whole and greatest < 1e7 then return is_float and "%.0f." or "%.0f" end
    if greatest >= 1e6 or least < 1e-4 then return "%.4e" end
    return greatest >= 1000 and "%.2f" or "%.4f"
end

local function number_text(x, format)
    if x ~= x then return "nan" end
    if not is_finite(x) then return x > 0 and "inf" or "-inf" end
    return format:format(x)
end

-- ---- which are shown -------------------------------------------------------------------------

-- The indices of a dimension of n that are shown, 0 for the gap, and how many.
local function shown_indices(n, ends)
    local list = {}
    if n <= 2 * ends then
        for i = 1, n do list[i] = i end
        return list
    end
    for i = 1, ends do list[i] = i end
    list[ends + 1] = 0
    for i = n - ends + 1, n do list[#list + 1] = i end
    return list
end

-- The values of the matrix that begins `base` elements into the tensor: rows of numbers, by
-- the number of the row and the column; or nil and a sentence.
local function read_matrix(t, base, rows, row_length)
    local first, firsts = {}, {}
    local run = math.min(row_length, row_length <= 2 * edge and row_length or edge)
    for _, r in ipairs(rows) do
        if r > 0 then
            first[#first + 1] = {r, 1}
            firsts[#firsts + 1] = base + (r - 1) * row_length
            if run < row_length then
                first[#first + 1] = {r, row_length - run + 1}
                firsts[#firsts + 1] = base + r * row_length - run
            end
        end
    end
    local flat, message = internals.look_at(t, run, firsts)
    if not flat then return nil, message end
    local matrix = {}
    for i, place in ipairs(first) do
        local row = matrix[place[1]] or {}
        matrix[place[1]] = row
        for k = 0, run - 1 do row[place[2] + k] = flat[(i - 1) * run + k + 1] end
    end
    return matrix
end

-- ---- layout --------------------------------------------------------------------------------------

-- Numbers of the matrix as texts, and the width of the widest.
local function format_matrix(matrix, format)
    local width = 1
    for _, row in pairs(matrix) do
        for c, x in pairs(row) do
            row[c] = number_text(x, format)
            width = math.max(width, #row[c])
        end
    end
    return width
end

local function numbers_of(matrix)
    local list = {}
    for _, row in pairs(matrix) do
        for _, x in pairs(row) do list[#list + 1] = x end
    end
    return list
end

-- As many columns from both ends as fit; always one.
local function fitting_columns(n, width)
    for ends = edge, 2, -1 do
        local list = shown_indices(n, ends)
        local needed = 0
        for _, c in ipairs(list) do needed = needed + (c == 0 and 3 or width) + 2 end
        if needed <= internals.columns() then return list end
    end
    return shown_indices(n, 1)
end

local function add_rows(lines, matrix, rows, row_length, width)
    local columns = fitting_columns(row_length, width)
    for _, r in ipairs(rows) do
        local cells = {}
        for i, c in ipairs(columns) do
            local cell = r == 0 and "..." or c == 0 and "..." or matrix[r][c]
            cells[i] = (" "):rep((c == 0 and 3 or width) - #cell) .. cell
        end
        lines[#lines + 1] = "  " .. text.paint("number", table.concat(cells, "  "))
    end
end

-- ---- the whole -----------------------------------------------------------------------------------

-- The sizes, with the last two as those of matrices: a vector is one row.
local function matrix_sizes(t)
    local sizes = {t:size()}
    local n = #sizes
    local row_length = n > 0 and sizes[n] or 1
    local rows = n > 1 and sizes[n - 1] or 1
    return sizes, rows, row_length
end

-- "[2, 1, :, :]" of the k-th matrix, from 0.
local function slice_name(sizes, k)
    local indices = {}
    for d = #sizes - 2, 1, -1 do
        table.insert(indices, 1, tostring(k % sizes[d] + 1))
        k = k // sizes[d]
    end
    return "[" .. table.concat(indices, ", ") .. ", :, :]"
end

-- Adds the values to the lines; gives a sentence if they cannot be had.
local function add_values(lines, t)
    local sizes, n_rows, row_length = matrix_sizes(t)
    local matrices = t:numel() // (n_rows * row_length)
    local shown, all = {}, {}
    local rows = shown_indices(n_rows, edge)
    for k = 0, math.min(matrices, slices) - 1 do
        local matrix, message = read_matrix(t, k * n_rows * row_length, rows, row_length)
        if not matrix then return message end
        shown[#shown + 1] = matrix
        table.move(numbers_of(matrix), 1, #numbers_of(matrix), #all + 1, all)
    end
    local format, width = number_format(all, t.dtype ~= "uint8"), 1
    for _, matrix in ipairs(shown) do width = math.max(width, format_matrix(matrix, format)) end
    for k, matrix in ipairs(shown) do
        if #sizes > 2 then lines[#lines + 1] = slice_name(sizes, k - 1) end
        add_rows(lines, matrix, rows, row_length, width)
    end
    if matrices > slices then
        lines[#lines + 1] = text.paint("dim", ("... %d more"):format(matrices - slices))
    end
end

-- Why the values cannot be shown, or nil; and whether they may still change.
local function obstacle(t)
    if internals.is_recording(t) then return "values are not read while a recording runs" end
    local look, message = internals.look(t)
    if not look then return "no values: " .. text.clean(message, true) end
    local too_much = look.compute_s > 0 and t:nbytes() > largest_bytes
    if look.compute_s > longest_s or too_much then
        local ones = {}
        for i = 1, t.ndim do ones[i] = "1" end
        return ("values not computed yet: t:get(%s) computes them"):format(table.concat(ones, ", "))
    end
    return nil, look.in_use
end

-- The tensor as lines.
function tensors.lines(t)
    local lines = {text.paint("name", head(t))}
    if t.freed then return lines end
    if t:numel() == 0 then
        lines[2] = "  no elements"
        return lines
    end
    local problem, in_use = obstacle(t)
    problem = problem or add_values(lines, t)
    if problem then
        for _, line in ipairs(text.wrap({problem}, internals.columns(), "  ", "  ")) do
            lines[#lines + 1] = line
        end
    elseif in_use then
        lines[#lines + 1] = text.paint("dim", "  work in flight uses it: these are the values of now")
    end
    return lines
end

return tensors
