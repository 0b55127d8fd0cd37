-- tensors.lua - a tensor: what it is, and a corner of its values.
--
-- Showing a tensor never waits: while operations that use its memory are in flight, their number
-- is shown instead of values. While a recording runs no values are read, because the copy from a
-- real GPU would be recorded.

local text = import "repl/run/text.lua"

local tensors = {}

local edge <const> = 3              -- rows, columns that are shown at each end
local slices <const> = 2            -- of a tensor of more than two dimensions
local longest_s <const> = 1         -- of computing on the simulator
local largest_bytes <const> = 256 << 20

-- ---- the head -------------------------------------------------------------------------

local function head(t)
    local line = tostring(t)
    if t.freed then return line end
    local memory = t.pinned and ", pinned" or t.device == "cpu" and ", pageable" or ""
    local view = t.is_view and ", a view" or ""
    return line:gsub(" %([%a ]+%)$", "") .. memory .. view .. ", " .. text.bytes(t:nbytes())
end

-- ---- numbers --------------------------------------------------------------------------

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
    if not is_float then return "%.0f" end
    if whole and greatest < 1e7 then return "%.0f." end
    if greatest >= 1e6 or least < 1e-4 then return "%.4e" end
    return greatest >= 1000 and "%.2f" or "%.4f"
end

local function number_text(x, format)
    if x ~= x then return "nan" end
    if not is_finite(x) then return x > 0 and "inf" or "-inf" end
    return format:format(x)
end

-- ---- which are shown ------------------------------------------------------------------

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

-- What is read of the first matrices: {run = so many elements from each place on, places =
-- list of {matrix, row, column}, firsts = their positions in the tensor}.
local function plan_reading(n_matrices, n_rows, rows, row_length)
    local plan = { places = {}, firsts = {}, run = row_length <= 2 * edge and row_length or edge }
    local function add(m, r, c)
        plan.places[#plan.places + 1] = { m, r, c }
        plan.firsts[#plan.firsts + 1] = ((m - 1) * n_rows + r - 1) * row_length + c - 1
    end
    for m = 1, n_matrices do
        for _, r in ipairs(rows) do
            if r > 0 then
                add(m, r, 1)
                if plan.run < row_length then add(m, r, row_length - plan.run + 1) end
            end
        end
    end
    return plan
end

-- The numbers that were read, as matrices: by the number of the row and the column.
local function matrices_of(plan, values)
    local matrices = {}
    for i, place in ipairs(plan.places) do
        local matrix = matrices[place[1]] or {}
        matrices[place[1]] = matrix
        local row = matrix[place[2]] or {}
        matrix[place[2]] = row
        for k = 0, plan.run - 1 do row[place[3] + k] = values[(i - 1) * plan.run + k + 1] end
    end
    return matrices
end

-- ---- layout ---------------------------------------------------------------------------

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

local function add_rows(lines, matrix, rows, columns, width)
    for _, r in ipairs(rows) do
        local cells = {}
        for i, c in ipairs(columns) do
            local cell = r == 0 and "..." or c == 0 and "..." or matrix[r][c]
            cells[i] = (" "):rep((c == 0 and 3 or width) - #cell) .. cell
        end
        lines[#lines + 1] = "  " .. text.paint("number", table.concat(cells, "  "))
    end
end

-- ---- the whole ------------------------------------------------------------------------

-- The sizes, with the last two as those of matrices: a vector is one row.
local function matrix_sizes(t)
    local sizes = { t:size() }
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

-- The values that the plan asks for, one run behind the other; or nil and why.
local function read(t, plan)
    local most_s = t:nbytes() <= largest_bytes and longest_s or 0
    local values = {}
    for _, first in ipairs(plan.firsts) do
        local part, message = internals.peek(t, most_s, plan.run, first)
        if message then return nil, "no values: " .. message end
        if not part then
            return nil, ("values not computed yet: t:get(%s) computes them"):format(
                ("1, "):rep(t.ndim):sub(1, -3))
        end
        table.move(part, 1, plan.run, #values + 1, values)
    end
    return values
end

-- The corners that are shown: {matrices = list of {name =, cells = texts by row and column}, rows =
-- indices, 0 for a gap, row_length =, width = of the widest text, more = matrices that are not
-- shown}; or nil and a sentence.
local function read_corners(t)
    if internals.is_recording(t) then return nil, "values are not read while a recording runs" end
    local sizes, n_rows, row_length = matrix_sizes(t)
    local n_matrices = t:numel() // (n_rows * row_length)
    local rows = shown_indices(n_rows, edge)
    local plan = plan_reading(math.min(n_matrices, slices), n_rows, rows, row_length)
    local numbers, problem = read(t, plan)
    if not numbers then return nil, problem end
    local format, width = number_format(numbers, t.dtype:find "float" ~= nil), 1
    local corners = { rows = rows, row_length = row_length, matrices = {},
                      more = math.max(n_matrices - slices, 0) }
    for m, cells in ipairs(matrices_of(plan, numbers)) do
        width = math.max(width, format_matrix(cells, format))
        corners.matrices[m] = { name = #sizes > 2 and slice_name(sizes, m - 1)
            or nil, cells = cells }
    end
    corners.width = #rows > 2 * edge and math.max(width, 3) or width     -- a row of "..."
    return corners
end

-- Adds the corners to the lines.
local function add_corners(lines, corners)
    local columns = fitting_columns(corners.row_length, corners.width)
    for _, matrix in ipairs(corners.matrices) do
        lines[#lines + 1] = matrix.name
        add_rows(lines, matrix.cells, corners.rows, columns, corners.width)
    end
    if corners.more > 0 then
        lines[#lines + 1] = text.paint("dim", ("... %d more"):format(corners.more))
    end
end

-- Without its values: the sentence that stands in their place, or nil.
local function why_no_values(t, state)
    if t:numel() == 0 then return "no elements" end
    return state.problem and "no values: " .. state.problem
end

-- The tensor's description; and its corners, or a sentence in their place, or neither. While
-- operations use its memory there are no corners, but their number.
function tensors.parts(t)
    local state = internals.state(t)
    if t.freed then return head(t) end
    if state.in_flight > 0 then
        return ("%s (%s in flight)"):format(head(t), text.count(state.in_flight, "operation")), nil,
            "lab.synchronize() waits for its values"
    end
    local problem = why_no_values(t, state)
    if problem then return head(t), nil, problem end
    return head(t), read_corners(t)
end

-- The indices of the columns that a page shows of so many, 0 for a gap.
function tensors.columns(n)
    return shown_indices(n, edge)
end

-- The tensor as lines.
function tensors.lines(t)
    local first, corners, problem = tensors.parts(t)
    local lines = problem and text.fold(first, internals.columns()) or { first }
    for i, line in ipairs(lines) do lines[i] = text.paint("name", line) end
    for _, line in ipairs(problem and text.wrap(text.clean(problem, true), "  ", "  ") or {}) do
        lines[#lines + 1] = line
    end
    if corners then add_corners(lines, corners) end
    return lines
end

return tensors
