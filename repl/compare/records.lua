-- records.lua - the results as JSON, one object a line, and back; and all operations of both sides
-- as text. Plain Lua: tests/bench reads this file outside of the program.
--
-- A record: script, seed, gpu_us, gpu_min_us, gpu_max_us, sim_us, with --spread sim_low_us and
-- sim_high_us, recorded, whether these are times of recordings (of real GPUs; nil: they are),
-- lane_pairs, lane_pairs_same,
-- lane_pairs_steady, lane_pairs_steady_same, and the same four as op_pairs. Times have three digits
-- behind the point, so that a file is the same wherever it is written.

local kinds_of = import "repl/run/fields.lua"
local json = import "repl/run/json_read.lua"
local lists = import "repl/run/lists.lua"

local records = {}

local times = { "gpu_us", "gpu_min_us", "gpu_max_us", "sim_us" }
local ranges = { "sim_low_us", "sim_high_us" }
local counts = {}
for _, field in ipairs { "lane_pairs", "op_pairs" } do
    for _, ending in ipairs { "", "_same", "_steady", "_steady_same" } do
        counts[#counts + 1] = field .. ending
    end
end

-- ---- what a record must be -----------------------------------------------------------------

local most_us <const>, most_script <const> = 1e15, 65536

local time <const> = { ("a time above 0 us, of at most %g"):format(most_us), function(value)
    return type(value) == "number" and value > 0 and value <= most_us
end }
local known <const> = {
    { "script", kinds_of.text(most_script), true }, { "seed", kinds_of.whole(0, math.maxinteger) },
}
for i, name in ipairs(times) do
    known[#known + 1] = { name, time, i < #times }      -- sim_us may be missing
end
for _, name in ipairs(ranges) do
    known[#known + 1] = { name, kinds_of.or_false(kinds_of.number(0, most_us)) }
end
known[#known + 1] = { "recorded", kinds_of.boolean }
for _, name in ipairs(counts) do
    known[#known + 1] = { name, kinds_of.whole(0, 1 << 53) }
end

-- Why a table that somebody else wrote is no record; nil if it is one. Without sim_us it is what
-- was measured.
function records.problem(record)
    local problem = kinds_of.problem(record, known)
    if problem or record.gpu_min_us <= record.gpu_us and record.gpu_us <= record.gpu_max_us then
        return problem
    end
    return "gpu_min_us, gpu_us and gpu_max_us must not decrease"
end

-- ---- to JSON -------------------------------------------------------------------------------

-- As it is read again, also a name that is no UTF-8.
function records.line(record)
    local json_of = import("repl/run/json.lua").write
    local fields = { '"script": ' .. json_of(record.script),
                     '"seed": ' .. (record.seed and ("%d"):format(record.seed) or "null") }
    for _, name in ipairs(times) do
        fields[#fields + 1] = ('"%s": %.3f'):format(name, record[name])
    end
    for _, name in ipairs(ranges) do
        fields[#fields + 1] = record[name] and ('"%s": %.3f'):format(name, record[name]) or nil
    end
    if record.recorded ~= nil then
        fields[#fields + 1] = ('"recorded": %s'):format(record.recorded)
    end
    for _, name in ipairs(counts) do
        fields[#fields + 1] = ('"%s": %s'):format(name,
            record[name] and ("%d"):format(record[name]) or "null")
    end
    return "{" .. table.concat(fields, ", ") .. "}\n"
end

-- ---- from JSON -----------------------------------------------------------------------------

-- The records of a text; or nil, the number of the line that is none, and why.
function records.read(text)
    local list, number = {}, 0
    for line in (text:gsub("\n$", "") .. "\n"):gmatch("([^\n]*)\n") do
        number = number + 1
        local record, problem
        if #line > most_script then
            problem = "the line is too long"
        elseif line ~= "" then
            record, problem = json.read(line)
            problem = problem or type(record) ~= "table" and "it is no object"
                or records.problem(record)
        end
        if problem then
            return nil, number, problem
        end
        list[#list + 1] = record
    end
    return list
end

-- ---- operations as text ----------------------------------------------------------------------

local header = "# " .. table.concat({ "index", "kind", "name", "stream", "start_us", "end_us",
    "host_start_us", "host_end_us", "bytes", "blocks", "threads" }, "\t")

local function field(text)
    return text == "" and "-" or internals.safe(text)
end

local function span_line(i, span)
    return ("%d\t%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%d\t%d\t%d"):format(i, span.kind,
        field(span.name), field(span.stream), span.start_us, span.end_us, span.host_start_us,
        span.host_end_us, span.bytes, span.blocks, span.threads)
end

local function add_side(lines, part, side_name, side)
    local tl = side.parts[part]
    if not tl then
        return
    end
    local runs = lists.join(side.part_runs_us[part], function(us) return ("%.3f"):format(us) end,
        " ")
    lines[#lines + 1] = ("# part %d %s makespan_us %.3f runs_us %s"):format(part, side_name,
        tl.makespan_us, runs)
    for i, span in ipairs(tl:spans()) do
        lines[#lines + 1] = span_line(i, span)
    end
end

-- What both sides recorded of a script, as text that other programs read easily: a line about the
-- script; for each part and side a line "# part 1 sim makespan_us 12.345 runs_us 12.345 ..." and
-- then a line for each operation, with tabs between its fields. Times are in us from the beginning
-- of the recording.
function records.operations(result)
    local lines = { "# " .. internals.safe(result.entry.name), header }
    for part = 1, math.max(#result.sim.parts, #result.gpu.parts) do
        add_side(lines, part, "sim", result.sim)
        add_side(lines, part, "gpu", result.gpu)
    end
    return table.concat(lines, "\n") .. "\n"
end

return records
