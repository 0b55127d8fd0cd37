-- changes.lua - two timelines, A and B, by kernel, operator or step: which were added or removed,
-- which take longer, and from which of them the difference of the makespans comes.
--
-- A side comes as {rows = as breakdown.lua has them, makespan =}, in ns.

local _, core = ...
local duration, ratio = core.duration, core.ratio
local breakdown, units = core.words.breakdown, core.words.units

local changes = {}

local widths <const> = { 8, 8, 7, 7, 6, 6, 7, 7 }
local values <const> = 63               -- columns of a line but for what changed and its name
local least_name <const> = 28
local shown <const> = 20                -- rows for people
local reasons <const> = 3               -- of the sentence
local name_columns <const> = 48

-- ---- rows ----------------------------------------------------------------------------------

-- Steps take their own time, other rows that of their operations.
local function time_of(row) return row and (row.wall or row.sum) or 0 end
local function part_of(row) return row and (row.wall or row.part) or 0 end
local function full_name(row) return row.full_name or row.name end

local function what_changed(a, b)
    local was, is = time_of(a), time_of(b)
    if not a or a.count == 0 and was == 0 then return "added" end
    if not b or b.count == 0 and is == 0 then return "removed" end
    if math.abs(is - was) * 100 < math.max(was, is) then return "same" end
    return is > was and "slower" or "faster"
end

local function entry(a, b)
    local row = b or a
    return {
        name = row.name, full_name = full_name(row), change = what_changed(a, b),
        is_step = row.wall ~= nil,
        n_was = a and a.count or 0, n_is = b and b.count or 0, was = time_of(a), is = time_of(b),
        part_was = part_of(a), part_is = part_of(b),
    }
end

local function by_name(rows)
    local named = {}
    for _, row in ipairs(rows) do named[full_name(row)] = row end
    return named
end

-- Steps of two runs may have other numbers: then the first one is compared with the first.
local function by_order(a, b)
    local list, at = {}, {}
    local function add(side, rows)
        local n = 0
        for _, row in ipairs(rows) do
            n = n + (row.wall and 1 or 0)
            local i = row.wall and n or 0
            at[i] = at[i] or {}
            at[i][side] = row
        end
        return n
    end
    local most = math.max(add(1, a), add(2, b))
    for i = at[0] and 0 or 1, most do list[#list + 1] = entry(at[i][1], at[i][2]) end
    return list
end

local function has_step(rows, named)
    for _, row in ipairs(rows) do
        if row.wall and (not named or named[full_name(row)]) then return true end
    end
    return false
end

-- Both have some, none of which has a name in common.
local function are_other_steps(a, b, of_b)
    return has_step(a) and has_step(b) and not has_step(a, of_b)
end

local function match(key, a, b)
    local list, of_a, of_b = {}, by_name(a), by_name(b)
    if key == "step" and are_other_steps(a, b, of_b) then return by_order(a, b), true end
    for _, row in ipairs(a) do list[#list + 1] = entry(row, of_b[full_name(row)]) end
    for _, row in ipairs(b) do
        if not of_a[full_name(row)] then list[#list + 1] = entry(nil, row) end
    end
    return list, false
end

local function growth(e) return e.part_is - e.part_was end

local function sort(list)
    table.sort(list, function(x, y)
        local by_x, by_y = math.abs(x.is - x.was), math.abs(y.is - y.was)
        if by_x ~= by_y then return by_x > by_y end
        return x.full_name < y.full_name
    end)
end

-- What is no row: the time in which nothing ran. Steps are the host's time, which has none.
local function idle_of(list, a, b)
    local was, is = a.makespan, b.makespan
    for _, e in ipairs(list) do
        if e.is_step then return nil end
        was, is = was - e.part_was, is - e.part_is
    end
    return { part_was = math.max(was, 0), part_is = math.max(is, 0), is_idle = true }
end

-- Short names that are those of several rows become whole ones.
local function tell_apart(list)
    local n = {}
    for _, e in ipairs(list) do n[e.name] = (n[e.name] or 0) + 1 end
    for _, e in ipairs(list) do
        if n[e.name] > 1 then e.name = e.full_name end
    end
end

-- changes.compare(key, a, b): what the forms below take
function changes.compare(key, a, b)
    local list, is_by_order = match(key, a.rows, b.rows)
    tell_apart(list)
    sort(list)
    return { key = key, rows = list, idle = idle_of(list, a, b), is_by_order = is_by_order,
             was = a.makespan, is = b.makespan,
             advice_a = breakdown.advice(key, a.rows), advice_b = breakdown.advice(key, b.rows) }
end

-- ---- words ---------------------------------------------------------------------------------

local missing <const> = {
    kernel = "(no name)", communication = "(no name)", line = "(no line)", stream = "(no name)",
    operator = "(no operator)", module = "(no module)", step = "(no step)",
}

local function name_of(c, e) return e.name ~= "" and e.name or missing[c.key] end

local function signed(ns)
    return (ns < 0 and "-" or ns > 0 and "+" or "") .. duration(math.abs(ns))
end

local function percent(part, whole)
    if whole == 0 then return "" end
    local permille = ratio(math.abs(part), math.abs(whole), 1000)
    local sign = (part < 0) ~= (whole < 0) and permille > 0 and "-" or ""
    if permille >= 10000 then return sign == "-" and "< -999 %" or "> 999 %" end
    return sign .. units.percent(math.abs(part), math.abs(whole))
end

local function mean(sum, n) return n > 0 and duration(sum // n) or "" end

-- "12 times 350 us"
local function each(n, sum)
    return n == 1 and ("once %s"):format(duration(sum))
        or ("%d times %s"):format(n, duration(sum // n))
end

-- A row whose part of the makespan changes, and its own time not so, or the other way.
local function is_about_others(e)
    local longer = (e.is - e.was) * (growth(e) < 0 and -1 or 1)
    return not e.is_step and longer * 2 < math.abs(growth(e))
end

local function how(e)
    if e.change == "added" then return e.is_step and "new" or "new, " .. each(e.n_is, e.is) end
    if e.change == "removed" then return "gone" end
    if e.is_step then return ("%s instead of %s"):format(duration(e.is), duration(e.was)) end
    if is_about_others(e) then
        return ("%s beside other work"):format(growth(e) < 0 and "longer" or "less")
    end
    if e.n_was == e.n_is then
        return ("%s instead of %s"):format(each(e.n_is, e.is), duration(e.was // e.n_was))
    end
    return ("%s instead of %s"):format(each(e.n_is, e.is), each(e.n_was, e.was))
end

local function reason(c, e)
    if e.is_idle then return "time in which nothing ran" end
    return ("%s (%s)"):format(core.clip(name_of(c, e), name_columns), how(e))
end

-- What makes the difference of the makespans larger (sign 1) or smaller (-1), the most first.
local function towards(c, sign)
    local list, by = {}, (c.is - c.was) * sign
    local function look_at(e)
        local part = growth(e) * (by < 0 and -1 or 1)
        if part * 10 >= math.abs(by) then list[#list + 1] = e end
    end
    for _, e in ipairs(c.rows) do look_at(e) end
    if c.idle then look_at(c.idle) end
    table.sort(list, function(x, y)
        local by_x, by_y = math.abs(growth(x)), math.abs(growth(y))
        if by_x ~= by_y then return by_x > by_y end
        return (x.full_name or "") < (y.full_name or "")
    end)
    return list
end

-- "2.10 ms of the 2.40 ms come from gemm (...), 0.30 ms from relu (new, ...)"
local function come_from(c)
    local list, by = {}, math.abs(c.is - c.was)
    for i, e in ipairs(towards(c, 1)) do
        if i > reasons then break end
        local part = math.abs(growth(e))
        local of = i > 1 and " from" or part <= by
            and (" of the %s come from"):format(duration(by)) or " come from"
        list[i] = ("%s%s %s"):format(duration(part), of, reason(c, e))
    end
    return #list > 0 and ": " .. table.concat(list, ", ") or ""
end

local function less_in(c)
    local list = {}
    for i, e in ipairs(towards(c, -1)) do
        if i > reasons then break end
        list[i] = ("%s in %s"):format(duration(math.abs(growth(e))), reason(c, e))
    end
    if #list == 0 then return "" end
    return ("; B takes %s %s"):format(c.is > c.was and "less:" or "more:", table.concat(list, ", "))
end

-- changes.sentence(c): "B takes 2.40 ms longer (+60.0 %): 2.10 ms of the 2.40 ms come from ..."
function changes.sentence(c)
    if c.is == c.was then return "The makespans are the same." end
    local by = c.is - c.was
    local of_a = c.was > 0 and (" (%s%s)"):format(by > 0 and "+" or "-",
        percent(math.abs(by), c.was)) or ""
    return ("B takes %s %s%s%s%s."):format(duration(math.abs(by)), by > 0 and "longer" or "less",
        of_a, come_from(c), less_in(c))
end

-- ---- for people ----------------------------------------------------------------------------

local function is_shown(e) return e.change ~= "same" or e.n_was ~= e.n_is end

-- The rows that changed, and what is left of them: {n =, was =, is =}.
local function select(c)
    local list, rest = {}, { n = 0, by = 0 }
    for _, e in ipairs(c.rows) do
        if is_shown(e) and #list < shown then
            list[#list + 1] = e
        else
            rest.n, rest.by = rest.n + 1, rest.by + e.is - e.was
        end
    end
    return list, rest
end

local function values_of(c, e)
    return { signed(e.is - e.was), percent(growth(e), c.is - c.was), duration(e.was),
             duration(e.is), tostring(e.n_was), tostring(e.n_is), mean(e.was, e.n_was),
             mean(e.is, e.n_is) }
end

-- Those that fit into the columns.
local function line_of(cells, columns)
    local line = ""
    for i, cell in ipairs(cells) do
        local longer = line .. (i > 1 and " " or "") .. (" "):rep(widths[i] - #cell) .. cell
        if #longer > columns then break end
        line = longer
    end
    return line
end

local heads <const> = { "change", "share", "A", "B", "n A", "n B", "mean A", "mean B" }

-- Idle time that is half of the change is explained elsewhere.
local function nothing_ran(c)
    local was, is = c.idle.part_was, c.idle.part_is
    local why = math.abs(is - was) * 2 > math.abs(c.is - c.was)
    return ("Nothing ran for %s in A, and for %s in B%s."):format(duration(was), duration(is), why
        and ": the same comparison without a key says what the GPU waited for" or "")
end

-- What would record the key, where one of the timelines has nothing of it, or both.
local function unknown_in(c)
    local advice = c.advice_a or c.advice_b
    local side = not c.advice_b and "A has no" or c.advice_a and "Neither has" or "B has no"
    return advice and ("%s %ss. %s."):format(side, c.key, advice) or nil
end

local function last_lines(c, rest)
    local lines = { unknown_in(c) }
    if rest.n > 0 then
        lines[#lines + 1] = ("%d other%s: %s in all."):format(rest.n, rest.n == 1 and "" or "s",
            rest.by == 0 and "no change" or signed(rest.by))
    end
    if c.idle and c.idle.part_is ~= c.idle.part_was then
        lines[#lines + 1] = nothing_ran(c)
    end
    if c.is_by_order then
        lines[#lines + 1] = "No step has the same name in both: they are compared in their order."
    end
    return lines
end

-- changes.text(c, columns): a table, or two lines a row where the terminal is narrow; then a
-- sentence
function changes.text(c, columns)
    local list, rest = select(c)
    local lines, room = {}, columns - values
    local is_narrow = room < least_name
    local function put(text) lines[#lines + 1] = text end
    local function fold(text) put(core.fold(text, 0, columns):sub(1, -2)) end
    if #list > 0 then
        put(line_of(heads, columns) .. (is_narrow and "" or "  by " .. c.key))
    end
    for _, e in ipairs(list) do
        local what = ("%-8s"):format(e.change)
        local name = core.clip(name_of(c, e), math.max((is_narrow and columns or room) - 10, 8))
        local line = line_of(values_of(c, e), columns)
        put(is_narrow and what .. name .. "\n" .. line:gsub(" +$", "")
            or line .. "  " .. what .. name)
    end
    for _, line in ipairs(last_lines(c, rest)) do fold(line) end
    if #list > 0 then fold("share: of the change of the makespan") end
    fold(changes.sentence(c))
    return table.concat(lines, "\n") .. "\n"
end

-- ---- Markdown ------------------------------------------------------------------------------

local function code(text)
    return ("`%s`"):format((core.clip(text, 200):gsub("`", "'"):gsub("|", "\\|")))
end

-- changes.markdown(c): a table, for a comment on a change
function changes.markdown(c)
    local list, rest = select(c)
    local lines = { ("**makespan %s -> %s**"):format(duration(c.was), duration(c.is)), "",
                    (changes.sentence(c):gsub("[*_|<>`]", "\\%0")) }
    local function put(form, ...) lines[#lines + 1] = form:format(...) end
    if #list > 0 then
        put("")
        put("| %s | | change | share | A | B | count A | count B | mean A | mean B |", c.key)
        put("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    end
    for _, e in ipairs(list) do
        put("| %s | %s | %s |", code(name_of(c, e)), e.change,
            table.concat(values_of(c, e), " | "))
    end
    for _, line in ipairs(last_lines(c, rest)) do put("\n%s", line) end
    return table.concat(lines, "\n") .. "\n"
end

-- ---- for scripts and programs --------------------------------------------------------------

local function mean_us(sum, n) return n > 0 and sum / n / 1000 or nil end

-- changes.list(c): as scripts get it
function changes.list(c)
    local list = { sentence = changes.sentence(c) }
    for i, e in ipairs(c.rows) do
        list[i] = {
            name = name_of(c, e), full_name = e.full_name, change = e.change,
            count_a = e.n_was, count_b = e.n_is, time_a_us = e.was / 1000, time_b_us = e.is / 1000,
            mean_a_us = mean_us(e.was, e.n_was), mean_b_us = mean_us(e.is, e.n_is),
            part_a_us = e.part_was / 1000, part_b_us = e.part_is / 1000,
            share = c.is ~= c.was and growth(e) / (c.is - c.was) or nil,
        }
    end
    if c.idle then
        list.idle_a_us, list.idle_b_us = c.idle.part_was / 1000, c.idle.part_is / 1000
    end
    return list
end

-- changes.json(c): the same
function changes.json(c)
    local string, us = core.json_string, core.json_milli
    local rows = {}
    for i, e in ipairs(c.rows) do
        rows[i] = ('    {"name": %s, "full_name": %s, "change": "%s", "count": [%d, %d], '
            .. '"time_us": [%s, %s], "part_us": [%s, %s]}'):format(string(name_of(c, e)),
            string(e.full_name), e.change, e.n_was, e.n_is, us(e.was), us(e.is), us(e.part_was),
            us(e.part_is))
    end
    return ('{\n  "by": %s,\n  "makespan_us": [%s, %s],\n  "idle_us": %s,\n  "sentence": %s,\n'
        .. '  "rows": [%s]\n}\n'):format(string(c.key), us(c.was), us(c.is),
        c.idle and ("[%s, %s]"):format(us(c.idle.part_was), us(c.idle.part_is)) or "null",
        string(changes.sentence(c)),
        #rows > 0 and "\n" .. table.concat(rows, ",\n") .. "\n  " or "")
end

return changes
