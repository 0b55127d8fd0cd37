-- breakdown.lua - operations by kernel, stream, line, ...: as a list for scripts, as a table of
-- plain text, as JSON.
--
-- Rows come as {name =, full_name =, count =, sum =, busy =, covered =, part =}, in ns; those of
-- steps have more (steps.lua). Their table has `writer`: "pytorch", "recorder" or "other".

local _, core = ...
local duration, steps, percent = core.duration, core.words.steps, core.words.units.percent

local breakdown = {}

local values <const> = 47               -- columns of a line but for its name
local least_name <const> = 18

-- How an operation is called of which the timeline does not say what it belongs to.
local missing <const> = {
    kernel = "(no name)", communication = "(no name)", line = "(no line)", stream = "(no name)",
    operator = "(no operator)", phase = "other", module = "(no module)", step = "(no step)",
}

local function name_of(row, key) return row.name ~= "" and row.name or missing[key] end

local function total(rows)
    local sum = 0
    for _, row in ipairs(rows) do sum = sum + row.sum end
    return sum
end

-- ---- for scripts ---------------------------------------------------------------------------

function breakdown.list(key, rows)
    local list, whole = {}, math.max(total(rows), 1)
    for i, row in ipairs(rows) do
        list[i] = {
            name = name_of(row, key), full_name = row.full_name, count = row.count,
            time_us = row.sum / 1000, share = row.sum / whole,
            mean_us = row.sum / math.max(row.count, 1) / 1000, busy_us = row.busy / 1000,
            covered_us = row.covered / 1000, alone_us = (row.busy - row.covered) / 1000,
            part_us = row.part / 1000, wall_us = row.wall and row.wall / 1000,
            ran_us = row.wall and row.ran / 1000,
            idle_us = row.wall and (row.wall - row.ran) / 1000,
        }
    end
    list.slowest = rows.slowest and steps.list(rows.slowest)
    return list
end

-- ---- for people ----------------------------------------------------------------------------

local function put_values(row, whole)
    return ("%7s %7s %7d %7s %7s %7s"):format(duration(row.sum), percent(row.sum, whole), row.count,
        duration(row.sum // row.count), duration(row.covered), duration(row.busy - row.covered))
end

-- What the last two columns are about.
local function sentence(key)
    return key == "communication"
        and "covered: kernels that compute ran at the same time"
        or ("covered: operations of another %s ran at the same time"):format(key)
end

-- What records a key: said where the timeline has none of it, by who wrote the timeline.
local recorded <const> = {
    operator = {
        pytorch = "PyTorch's profiler records operators: ProfilerActivity.CPU",
        recorder = "Operators are recorded where the program runs under "
            .. "torch.autograd.profiler.emit_nvtx()",
    },
    phase = {
        pytorch = "PyTorch's profiler records what tells phases: ProfilerActivity.CPU",
        recorder = "Phases are known where the program runs under "
            .. "torch.autograd.profiler.emit_nvtx()",
    },
    module = {
        pytorch = "PyTorch's profiler records modules with with_stack=True",
        recorder = "PyTorch's profiler records modules, with_stack=True; "
            .. "--python of streamlab record records lines",
    },
    line = {
        pytorch = "PyTorch's profiler records lines with with_stack=True",
        recorder = "Lines are recorded by streamlab record --python",
    },
    step = {
        pytorch = "PyTorch's profiler marks steps where its step() is called",
        recorder = "Steps are ranges of NVTX called \"step 3\": "
            .. "torch.cuda.nvtx.range(f\"step {i}\")",
    },
}

-- breakdown.advice(key, rows): how the key is recorded, if there is nothing of it, else nil.
function breakdown.advice(key, rows)
    local nothing = #rows == 1 and rows[1].name == ""
    local advice = recorded[key]
    return nothing and advice and (advice[rows.writer] or advice.pytorch) or nil
end

-- The last line: what "covered" is about, or why there is one row only.
local function last_line(key, rows) return breakdown.advice(key, rows) or sentence(key) end

-- The names of the rows in `room` columns. Names that are the same when they are cut in the middle
-- have their row's number instead of their last columns: "Kernel<cutlass_80_...n_ (3)".
local function names_within(room, key, rows)
    local names, seen = {}, {}
    for i, row in ipairs(rows) do
        local name = name_of(row, key)
        names[i] = core.clip(name, room)
        seen[names[i]] = (seen[names[i]] or 0) + 1
    end
    for i, row in ipairs(rows) do
        local number = (" (%d)"):format(i)
        if seen[names[i]] > 1 and room >= 8 + #number then
            names[i] = core.clip(name_of(row, key), room - #number) .. number
        end
    end
    return names
end

-- A line a row, or two where the terminal is narrow.
function breakdown.text(key, rows, columns)
    local whole, lines = total(rows), {}
    local room = columns - values
    local function put(text) lines[#lines + 1] = text end
    if #rows == 0 then
        return key == "communication" and "There is no communication.\n"
            or "The timeline is empty: nothing ran on the device.\n"
    end
    local is_narrow = room < least_name
    local names = names_within(is_narrow and columns or room - 2, key, rows)
    if steps.are_known(rows) then return steps.text(rows, columns, names) end
    put(("%7s %7s %7s %7s %7s %7s%s"):format("time", "share", "count", "mean", "covered", "alone",
        is_narrow and "" or "  by " .. key))
    for i, row in ipairs(rows) do
        local values_of_row = put_values(row, whole)
        put(is_narrow and names[i] .. "\n" .. values_of_row or values_of_row .. "  " .. names[i])
    end
    put(core.fold(last_line(key, rows), 0, columns))
    return table.concat(lines, "\n")
end

-- ---- for programs --------------------------------------------------------------------------

function breakdown.json(key, rows)
    local string, us = core.json_string, core.json_milli
    local texts = {}
    for i, row in ipairs(rows) do
        texts[i] = ('    {"name": %s, %s"count": %d, "time_us": %s, "busy_us": %s, '
            .. '"covered_us": %s, "alone_us": %s, "part_us": %s%s}'):format(
            string(name_of(row, key)),
            row.full_name and ('"full_name": %s, '):format(string(row.full_name)) or "", row.count,
            us(row.sum), us(row.busy), us(row.covered), us(row.busy - row.covered), us(row.part),
            row.wall and (', "wall_us": %s, "ran_us": %s, "idle_us": %s'):format(us(row.wall),
                us(row.ran), us(row.wall - row.ran)) or "")
    end
    return ('{\n  "by": %s,\n  "time_us": %s,\n  "rows": [%s]%s\n}'):format(string(key),
        us(total(rows)), #texts > 0 and "\n" .. table.concat(texts, ",\n") .. "\n  " or "",
        rows.slowest and ',\n  "slowest": ' .. steps.json(rows.slowest) or "")
end

return breakdown
