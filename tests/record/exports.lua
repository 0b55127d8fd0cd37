-- exports.lua write|run|table OUT [PAIR...] - for exports.sh: exports what it recorded to scripts;
-- runs those in Lua; prints what all took.
local what <const>, out <const> = arg[1], arg[2]
local pairs_of <const> = dofile "tests/record/programs/pairs.lua"
local languages <const> = { { "lua", "lua" }, { "py", "pytorch" }, { "cu", "cuda" } }

local function append(file, ...)
    local f <close> = assert(io.open(out .. "/" .. file, "a"))
    f:write(table.concat({ ... }, "\t"), "\n")
end

local function rows(file)
    local all = {}
    local f <close> = io.open(out .. "/" .. file)
    for line in f and f:lines() or function() end do
        local cells = {}
        for cell in line:gmatch "[^\t]+" do
            cells[#cells + 1] = cell
        end
        all[#all + 1] = cells
    end
    return all
end

-- ---- write: scripts/PAIR-SIDE.lua and the like; exported.tsv has what they are planned to take

local function largest_spool()
    local list <close> = assert(io.popen(("ls -S '%s'/spools/*.spool"):format(out)))
    return (assert(list:read "l", "no spool"))
end

local function number_of(name)
    for number, row in ipairs(pairs_of) do
        if row[1] == name then
            return number
        end
    end
end

local function export(tl, name, step)
    local w = lab.whatif(tl:part { step = step })
    for _, language in ipairs(languages) do
        local fine, text = pcall(w.export, w, language[2])
        if fine then
            local path = ("%s/scripts/%s.%s"):format(out, name, language[1])
            local f <close> = assert(io.open(path, "w"))
            f:write(text)
        end
        append("exported.tsv", name, language[1],
            fine and text:match "takes ([%d.]+) ms" or tostring(text))
    end
end

local function write()
    local tl = lab.load(largest_spool())
    for i = 3, #arg do
        local number = number_of(arg[i])
        for side, more in pairs { before = 0, after = 100 } do
            local name = arg[i] .. "-" .. side
            local fine, problem = pcall(export, tl, name, number + more)
            if not fine then
                print(name, problem)
            end
        end
    end
end

-- ---- run -----------------------------------------------------------------------------------

local function run()
    if lab.device().backend == "sim" then
        print "no GPU: nothing in Lua is run"
        return
    end
    local list <close> = io.popen(("ls '%s'/scripts/*.lua"):format(out))
    for path in list:lines() do
        local said
        local env = setmetatable({ arg = { "5" }, print = function(text) said = text end },
            { __index = _G })
        local fine, problem = pcall(assert(loadfile(path, "t", env)))
        if fine then
            append("times.tsv", path:match "([^/]+)%.lua$", "lua", said:match "[%d.]+")
        else
            print(path, problem)
        end
        collectgarbage()
    end
end

-- ---- table ---------------------------------------------------------------------------------

local function median(list)
    table.sort(list)
    return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

local function print_table()
    local walls, times, names = {}, {}, {}
    for _, cells in ipairs(rows "walls.tsv") do
        local name = cells[1] .. "-" .. cells[2]
        if not walls[name] then
            walls[name], names[#names + 1] = {}, name
        end
        table.insert(walls[name], 1000 * tonumber(cells[5]))
    end
    for _, cells in ipairs(rows "times.tsv") do
        times[cells[1] .. cells[2]] = tonumber(cells[3])
    end
    local planned = {}
    for _, cells in ipairs(rows "exported.tsv") do
        planned[cells[1]] = tonumber(cells[3]) or planned[cells[1]]
    end
    local errors = { lua = {}, py = {}, cu = {} }
    print(("%-28s %10s %10s %18s %18s %18s"):format("program", "as it is", "planned", "Lua",
        "PyTorch", "CUDA C++"))
    for _, name in ipairs(names) do
        local wall = median(walls[name])
        local line = { ("%-28s %7.2f ms %10s"):format(name, wall,
            planned[name] and ("%.2f ms"):format(planned[name]) or "-") }
        for _, language in ipairs(languages) do
            local ms = times[name .. language[1]]
            line[#line + 1] = ms and ("%8.2f ms %+5.1f %%"):format(ms, 100 * (ms / wall - 1))
                or ("%18s"):format("-")
            if ms then
                table.insert(errors[language[1]], math.abs(ms / wall - 1))
            end
        end
        print(table.concat(line, " "))
    end
    for _, language in ipairs(languages) do
        local list, within = errors[language[1]], 0
        for _, error in ipairs(list) do
            within = within + (error <= 0.05 and 1 or 0)
        end
        if #list > 0 then
            local middle = median(list)
            print(("%s: %d of %d within 5 %%, off by %.1f %% in the median, %.1f %% at worst")
                :format(language[2], within, #list, 100 * middle, 100 * list[#list]))
        end
    end
end

local actions <const> = { write = write, run = run, table = print_table }
actions[what]()
