-- 20-tables.t.lua - the tables "From PyTorch" and docs/api say what differs where a pair of
-- programs (tests/torch/pairs) states that something does, and nowhere else.

local T = require "tap"
local data = require "repl.api_data"
local list = require "torch.pairs"

local pages <const> = { "docs/guide/02-lua.md", "scripts/labs/lua-primer.md" }

-- ---- the tables ----------------------------------------------------------------------------

-- The rows {PyTorch, streamlab, what differs} of the page's table.
local function rows_of(page)
    local rows, inside = {}, false
    for line in io.lines(page) do
        if line:find("^| PyTorch |") then
            T.ok(line:find("what differs |", 1, true),
                 page .. ": the table has a column of what differs")
            inside = true
        elseif inside and not line:find("^|") then
            inside = false
        elseif inside and not line:find("^|%-") then
            local first, second, third = line:match("^| (.-) | (.-) ?| ?(.-) ?|$")
            rows[#rows + 1] = { first, second, third }
        end
    end
    return rows
end

-- The texts in backticks.
local function spans(text)
    local found = {}
    for span in text:gmatch("`([^`]+)`") do found[#found + 1] = span end
    return found
end

local pairs_of = {}     -- by the span
for _, pair in ipairs(list) do
    for _, span in ipairs(spans(table.concat(pair.rows, " "))) do
        pairs_of[span] = pairs_of[span] or {}
        table.insert(pairs_of[span], pair)
    end
end

local shown_on = {}

local function check_row(page, row)
    local uncovered, here, plain = {}, false, false
    for _, span in ipairs(spans(row[1])) do
        shown_on[span] = true
        if not pairs_of[span] then uncovered[#uncovered + 1] = span end
        for _, pair in ipairs(pairs_of[span] or {}) do
            here, plain = here or pair.here ~= nil, plain or pair.plain ~= nil
        end
    end
    T.is(table.concat(uncovered, " "), "", page .. ": a pair stands for " .. row[1])
    T.is(row[3] ~= "", here or plain,
        ("%s: %s: what differs is said, if anything does"):format(page,
        row[1]))
    T.is(row[3]:find("torch_defaults") ~= nil, plain, ("%s: %s: torch_defaults is named where it "
        .. "matters"):format(page, row[1]))
end

-- ---- docs/api ------------------------------------------------------------------------------

-- An entry says what differs if a pair of it differs.
local function check_entries()
    local differs, wrong = {}, {}
    for _, pair in ipairs(list) do
        for name in pair.of:gmatch("%S+") do
            differs[name] = differs[name] or pair.here ~= nil or pair.plain ~= nil
            if not data.api.entry(name) then wrong[#wrong + 1] = name .. " is no entry" end
        end
    end
    for entry in data.api.each() do
        if (entry.differs ~= nil) ~= (differs[entry.name] or false) then
            wrong[#wrong + 1] = entry.name
                .. (entry.differs and " says what differs, and no pair differs"
                or " does not say what differs")
        end
    end
    T.is(table.concat(wrong, "\n"), "", "docs/api says what differs where something does")
end

for _, page in ipairs(pages) do
    for _, row in ipairs(rows_of(page)) do check_row(page, row) end
end
for span in pairs(pairs_of) do T.ok(shown_on[span], span .. " stands in a table") end
check_entries()
T.done()
