-- ranks.lua - several files for streamlab show: the ranks of one distributed program.

local command = import "repl/run/command.lua"

local lab = lab
local ranks = {}

-- The files of a folder whose names end in one of these.
local function in_folder(folder, endings)
    local found = {}
    for _, name in ipairs(program.folder(folder) or {}) do
        for _, ending in ipairs(endings) do
            if name:sub(-#ending) == ending then
                found[#found + 1] = folder:gsub("/+$", "") .. "/" .. name
                break
            end
        end
    end
    table.sort(found)
    return found
end

local function is_folder(given)
    local path = program.real_path(given)
    return path and program.file_kind(path) == "folder"
end

-- The traces of a folder. JAX writes one a second time under another name, for Perfetto.
local function traces_in(folder)
    local found = in_folder(folder, { ".json", ".json.gz" })
    for i = #found, 1, -1 do
        if found[i]:find("/perfetto_trace%.json%.gz$")
            and #in_folder(folder, { ".trace.json.gz" }) > 0 then
            table.remove(found, i)
        end
    end
    return found
end

-- Of a folder that has one trace and no recording, that; else what is given.
function ranks.one(given)
    local found = is_folder(given) and traces_in(given) or {}
    local alone = #found == 1 and #in_folder(given, { ".spool" }) == 0
    return alone and found[1] or given
end

-- A rank's files, or nil: what is given is one timeline. `asked`: --ranks is.
function ranks.files(given, asked)
    if #given > 1 then
        return given
    end
    if is_folder(given[1]) then
        local found = traces_in(given[1])
        if #found == 0 and asked then
            found = in_folder(given[1], { ".spool" })
        end
        if #found > 1 then
            return found
        end
    end
    if asked then
        command.refuse(("--ranks needs several files, or a folder of them; '%s' is one")
            :format(given[1]))
    end
end

-- What says more about one timeline than can be said about several.
local of_one <const> = {
    "summary", "explain", "stream", "idle", "device", "range", "skip", "count",
}

local function refuse_others(options)
    for _, name in ipairs(of_one) do
        if options[name] ~= nil then
            command.refuse(("several files are ranks of one program, for which there is no --%s; "
                .. "streamlab show prints each alone, and streamlab diff compares two")
                :format(name))
        end
    end
    if options.by and options.chart then
        command.refuse("--by prints a table alone: it goes without --chart")
    end
end

local function refuse_unused(options, prints, draws)
    local is_drawn = draws or command.writes(options, ".svg")
    local drawing = "the chart: --chart, or -o FILE.svg"
    command.check_used(options, {
        { "theme", command.writes(options, ".svg"), "-o FILE.svg" },
        { "counters", command.writes(options, ".svg", ".json", ".json.gz"),
          "-o FILE.svg, .json or .json.gz" },
        { "rows", is_drawn, drawing }, { "from", is_drawn, drawing }, { "to", is_drawn, drawing },
        { "columns", prints and not options.json, "what is printed as text" },
    })
end

-- A chart of more reads for longer than the figures do.
local most_operations <const> = 2000000

local function operations_of(found)
    local n = 0
    for _, rank in ipairs(found.ranks) do
        n = n + rank.operations
    end
    return n
end

-- Of each rank a row for what computes, one for what communicates and those of its copies, else
-- its streams.
local function rows_of(options) return options.rows or "engines" end

local function save(tl, path, options)
    if path:find("%.svg$") then
        command.try(tl.save, tl, path, { from_us = options.from, to_us = options.to,
                                         rows = rows_of(options), theme = options.theme,
                                         counters = options.counters })
    elseif path:find("%.json$") or path:find("%.json%.gz$") then
        command.try(tl.save, tl, path, { counters = options.counters })
    else
        command.try(tl.save, tl, path)
    end
end

local function print_text(found, tl, options)
    local columns = options.columns or internals.columns(1)
    io.write(command.try(found.text, found, { columns = columns, by = options.by }))
    if tl and not options.by then
        print()
        command.try(tl.show, tl, { rows = rows_of(options), columns = options.columns,
                                   from_us = options.from, to_us = options.to })
    elseif not options.by then
        print("\n--chart draws all ranks on one clock: that reads the files again.")
    end
end

function ranks.print(files, options)
    local prints = not options.files or options.chart or options.by or options.json
    local may_draw = prints and not options.json and not options.by
    refuse_others(options)
    refuse_unused(options, prints, may_draw)
    local step = options.step or {}
    local found = command.try(lab.ranks, files, { step = step.first, last_step = step.last })
    local draws = may_draw
        and (options.chart or operations_of(found) <= most_operations)
    local tl = (options.files or draws) and command.try(found.timeline, found) or nil
    for _, path in ipairs(options.files or {}) do
        save(tl, path, options)
    end
    if options.json then
        io.write(command.try(found.json, found, { by = options.by }))
    elseif prints then
        print_text(found, draws and tl, options)
    end
end

return ranks
