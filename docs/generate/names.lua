-- names.lua - what CUDA and PyTorch call it: two tables, by CUDA's names and by PyTorch's; the
-- second one also says what differs from PyTorch.

local api = import "repl/run/api.lua"
local links = import "docs/generate/links.lua"

local names = { title = "CUDA, PyTorch, streamlab" }

-- The names in a list with commas.
local function each(list)
    return (list or ""):gmatch("[^,%s][^,]*")
end

-- Adds a value to a list once.
local function add(list, value)
    for _, other in ipairs(list) do
        if other == value then
            return
        end
    end
    list[#list + 1] = value
end

-- Rows {name =, others =, entries =, differences =}, sorted by name: the names of the field `by`,
-- with those of the field `other`.
local function rows_by(by, other)
    local rows, of = {}, {}
    for entry in api.each() do
        for name in each(entry[by]) do
            local row = of[name]
            if not row then
                row = { name = name, others = {}, entries = {}, differences = {} }
                of[name], rows[#rows + 1] = row, row
            end
            row.entries[#row.entries + 1] = links.to(entry.name)
            if entry.differs then
                add(row.differences, (links.linked(entry.differs):gsub("\n", " "):gsub("|", "\\|")))
            end
            for more in each(entry[other]) do
                add(row.others, "`" .. more .. "`")
            end
        end
    end
    table.sort(rows, function(a, b)
        local first, second = a.name:lower(), b.name:lower()
        return first == second and a.name < b.name or first < second
    end)
    return rows
end

local function code(name)
    return "`" .. name:gsub("|", "\\|") .. "`"
end

function names.text()
    local lines = {
        "## By CUDA's names", "", "| CUDA | PyTorch | streamlab |",
        "|---|---|---|",
    }
    for _, row in ipairs(rows_by("cuda", "pytorch")) do
        lines[#lines + 1] = ("| %s | %s | %s |"):format(code(row.name),
            table.concat(row.others, ", "), table.concat(row.entries, ", "))
    end
    table.move({ "", "## By PyTorch's names", "",
        "What differs was found by running both: `make check-torch` does it again.", "",
        "| PyTorch | streamlab | what differs | CUDA |", "|---|---|---|---|" }, 1, 7,
        #lines + 1, lines)
    for _, row in ipairs(rows_by("pytorch", "cuda")) do
        lines[#lines + 1] = ("| %s | %s | %s | %s |"):format(code(row.name),
            table.concat(row.entries, ", "), table.concat(row.differences, "; "),
            table.concat(row.others, ", "))
    end
    return table.concat(lines, "\n") .. "\n"
end

return names
