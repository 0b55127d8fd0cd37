-- html.lua - tensors and tables as HTML, and a page within a page. A text of the user's is always
-- escaped.

local records = import "repl/console/values/records.lua"
local tensors = import "repl/console/values/tensors.lua"
local internals_text = import "repl/run/text.lua"

local html = {}

local most_rows <const> = 60            -- of a table

local names <const> = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
                        ["'"] = "&#39;" }

local function escape(s)
    return (internals_text.clean(s, true, true):gsub("[&<>\"']", names))
end

-- A row of a table, of cells that are escaped already; the first is a heading if `numbered`.
local function row(tag, cells, numbered)
    local parts = {}
    for i, cell in ipairs(cells) do
        local kind = numbered and i == 1 and "th" or tag
        parts[i] = ("<%s>%s</%s>"):format(kind, cell, kind)
    end
    return "<tr>" .. table.concat(parts) .. "</tr>"
end

local function whole(first, rows, last)
    return (first and "<p>" .. escape(first) .. "</p>" or "") .. "<table>"
        .. table.concat(rows, "\n") .. "</table>"
        .. (last and "<p>" .. escape(last) .. "</p>" or "")
end

-- A list of records; nil: the value is none.
function html.records(list)
    local columns, n_rows, n = records.columns(list)
    if not columns then return nil end
    local rows = {}
    for i = 0, n_rows do
        local cells = {}
        for c, column in ipairs(columns) do
            cells[c] = escape(i == 0 and column.name or column.cells[i])
        end
        rows[i + 1] = row(i == 0 and "th" or "td", cells, true)
    end
    return whole(nil, rows, n > n_rows and ("... %d more"):format(n - n_rows))
end

-- What lab.table or lab.sweep gave.
function html.results(r)
    internals.need "tables"
    local rows, cell_text = {}, internals.results.cell_text
    local heads = {}
    for c, name in ipairs(r.columns) do heads[c] = escape(name) end
    rows[1] = row("th", heads)
    for i = 1, math.min(#r.rows, most_rows) do
        local cells = {}
        for c, name in ipairs(r.columns) do
            local value = r.rows[i][name]
            cells[c] = value == nil and "" or escape(cell_text(value))
        end
        rows[i + 1] = row("td", cells)
    end
    return whole(r.title, rows, #r.rows > most_rows and ("... %d more"):format(#r.rows - most_rows))
end

local function matrix_rows(corners, matrix)
    local rows = {}
    local columns = tensors.columns(corners.row_length)
    for i, r in ipairs(corners.rows) do
        local cells = {}
        for c, column in ipairs(columns) do
            cells[c] = (r == 0 or column == 0) and "..." or escape(matrix.cells[r][column])
        end
        rows[i] = row("td", cells)
    end
    return rows
end

function html.tensor(t)
    local first, corners, problem = tensors.parts(t)
    if not corners then return whole(first .. (problem and ": " .. problem or ""), {}) end
    local parts = { "<p>" .. escape(first) .. "</p>" }
    for _, matrix in ipairs(corners.matrices) do
        parts[#parts + 1] = whole(matrix.name, matrix_rows(corners, matrix))
    end
    if corners.more > 0 then parts[#parts + 1] = ("<p>... %d more</p>"):format(corners.more) end
    return table.concat(parts, "\n")
end

-- A whole page within another.
function html.frame(page)
    return '<iframe style="width:100%;height:640px;border:0" sandbox="allow-scripts" srcdoc="'
        .. page:gsub('[&"]', names) .. '"></iframe>'
end

return html
