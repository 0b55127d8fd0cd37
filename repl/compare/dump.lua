-- dump.lua - what both sides recorded of a script, as text that other programs read easily.
--
-- A file for each script: a line on the script; for each part and side a line "# part 1 sim
-- makespan_us 12.345 runs_us 12.345 ..." and then a line for each operation, with tabs between
-- its fields. Times are in us from the beginning of the recording.

local files = import "repl/run/files.lua"

local dump = {}

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
    local tl, runs = side.parts[part], {}
    if not tl then
        return
    end
    for i, us in ipairs(side.part_runs_us[part]) do
        runs[i] = ("%.3f"):format(us)
    end
    lines[#lines + 1] = ("# part %d %s makespan_us %.3f runs_us %s"):format(part, side_name,
        tl.makespan_us, table.concat(runs, " "))
    for i, span in ipairs(tl:spans()) do
        lines[#lines + 1] = span_line(i, span)
    end
end

-- The entry's number keeps the names of files apart.
local function file_name(number, entry)
    return ("%04d-%s.txt"):format(number, entry.name:gsub("[^%w._-]+", "_"):sub(-120))
end

-- Writes the file of the entry, the number-th; or gives nil and the reason.
function dump.write(folder, number, entry, sim, gpu)
    local lines = { "# " .. internals.safe(entry.name), header }
    for part = 1, math.max(#sim.parts, #gpu.parts) do
        add_side(lines, part, "sim", sim)
        add_side(lines, part, "gpu", gpu)
    end
    return files.write(folder .. "/" .. file_name(number, entry),
        table.concat(lines, "\n") .. "\n")
end

return dump
