-- change.lua - makes a program of a lab's solution and a change of it: what a submission would be
-- in which somebody wrote some lines otherwise.
--
--     -- fails: 1.2 2.1
--     -- The next kernel does not wait for the copy.
--     -- replace:
--         work:wait_stream(copies)
--     -- by:
--
-- What is above the first `-- replace:` takes the place of the comment that the solution begins
-- with, if it is anything. Below it are whole lines of the solution, as they stand there, which is
-- in one place only; a line that is `...` stands for as few lines as fit. `-- by:` has what takes
-- their place, which may be nothing. Blank lines at the ends of a part do not count.

local lists = import "repl/run/lists.lua"

local change = {}

-- Of the solution, and of a change; and how many pairs of them are compared to find the lines of a
-- change, which otherwise might take hours.
local most_lines <const>, most_compared <const> = 5000, 20000000

-- Raises a sentence about a line of the change.
local function fail(where, line, text, ...)
    error({ message = ("%s:%d: %s"):format(where, line, text:format(...)) }, 0)
end

local function lines_of(name, text)
    local list = {}
    text = text:gsub("^\xef\xbb\xbf", ""):gsub("\r\n", "\n")
    for line in (text .. "\n"):gmatch("([^\n]*)\n") do
        list[#list + 1] = line
    end
    if list[#list] == "" then
        list[#list] = nil       -- behind the end of the last line
    end
    if #list > most_lines then
        fail(name, most_lines + 1, "there are more than %d lines", most_lines)
    end
    return list
end

local function is_blank(line)
    return not line:find("%S")
end

-- A part without blank lines at its ends; and how many there were at its begin.
local function trim(part)
    local first, last = 1, #part
    while first <= last and is_blank(part[first]) do
        first = first + 1
    end
    while last > first and is_blank(part[last]) do
        last = last - 1
    end
    return table.move(part, first, last, 1, {}), first - 1
end

-- ---- reading -----------------------------------------------------------------------------

-- What is replaced, as lists of lines that follow each other; `number` is that of the first one.
-- Between two lists is a gap.
local function split_at_gaps(where, replacement)
    local from, skipped = trim(replacement.from)
    local runs = { { number = replacement.number + skipped + 1 } }
    for i, line in ipairs(from) do
        if line:find("^%s*%.%.%.%s*$") then
            runs[#runs + 1] = { number = replacement.number + skipped + i + 1 }
        else
            table.insert(runs[#runs], line)
        end
    end
    if #from == 0 then
        fail(where, replacement.number, "this -- replace: has no lines of solution.lua")
    elseif lists.any(runs, function(run) return #run == 0 end) then
        fail(where, replacement.number, "`...` stands between lines, not at an end")
    end
    return runs
end

-- The comment above; and the list of {number =, runs =, by =}, where `number` is the line of
-- `-- replace:`.
local function read(where, lines)
    local heading, list = {}, {}
    local part, current = heading, nil
    for number, line in ipairs(lines) do
        local mark = line:match("^%-%-%s*(%l+):%s*$")
        if mark == "replace" then
            if current and part == current.from then
                fail(where, current.number, "this -- replace: has no -- by:")
            end
            current = { number = number, from = {}, by = {} }
            list[#list + 1], part = current, current.from
        elseif mark == "by" then
            if not current or part == current.by then
                fail(where, number, "this -- by: has no -- replace:")
            end
            part = current.by
        elseif part == heading and not is_blank(line) and not line:find("^%-%-") then
            fail(where, number, "this line is neither a comment nor below -- replace:")
        else
            part[#part + 1] = line
        end
    end
    if not current then
        fail(where, #lines, "there is no -- replace: in this file")
    elseif part == current.from then
        fail(where, current.number, "this -- replace: has no -- by:")
    end
    for _, replacement in ipairs(list) do
        replacement.runs, replacement.by = split_at_gaps(where, replacement), trim(replacement.by)
    end
    return trim(heading), list
end

-- ---- where the lines are -----------------------------------------------------------------

-- How many lines of a run the solution has from `at` on. `search`: {where =, solution =, body =,
-- compared = so far}, and of the replacement {runs =, number =}.
local function count_equal(search, at, run)
    local solution, count = search.solution, 0
    while run[count + 1] and solution[at + count] == run[count + 1] do
        count = count + 1
    end
    search.compared = search.compared + count + 1
    if search.compared > most_compared then
        fail(search.where, search.number, "these lines fit in too many places to look at them all: "
            .. "add lines that solution.lua has once")
    end
    return count
end

-- The last line of what the runs are if they begin at `first`; or nil and the index of the run that
-- does not fit.
local function match(search, first)
    local at, last = first, first
    for i, run in ipairs(search.runs) do
        while at <= last and count_equal(search, at, run) < #run do
            at = at + 1
        end
        if at > last then
            return nil, i
        end
        at, last = at + #run, #search.solution
    end
    return at - 1
end

local function without_blanks(line)
    return (line:gsub("%s+", ""))
end

-- The line of the solution that is that one but for blanks.
local function find_alike(solution, line)
    for number, other in ipairs(solution) do
        if other ~= line and without_blanks(other) == without_blanks(line) then
            return number
        end
    end
end

-- Raises why the solution has no such lines: names the first one that does not fit, behind as many
-- as possible that do.
local function refuse(search)
    local where, solution, runs = search.where, search.solution, search.runs
    local best = { run = 1, count = -1 }
    for first = search.body, #solution do
        local _, i = match(search, first)
        for at = first, i == 1 and first or #solution do
            local count = count_equal(search, at, runs[i])
            if i > best.run or i == best.run and count > best.count then
                best = { run = i, count = count, at = at + count }
            end
        end
    end
    local run, count = runs[best.run], best.count
    local line, number = run[count + 1], run.number + count
    local alike = find_alike(solution, line)
    if alike then
        fail(where, number, "line %d of solution.lua has other blanks than this line", alike)
    elseif count == 0 then
        fail(where, number, "solution.lua does not have this line%s",
            best.run > 1 and " behind those above" or "")
    end
    fail(where, number, "solution.lua goes on otherwise in line %d: %s", best.at,
        solution[best.at] or "there it ends")
end

-- The first and the last line of the solution that a replacement replaces. Raises unless there is
-- one such place.
local function locate(search, replacement)
    local found = {}
    search.runs, search.number = replacement.runs, replacement.number
    for first = search.body, #search.solution do
        local last = match(search, first)
        if last then
            found[#found + 1] = { first = first, last = last }
        end
        if #found == 2 then
            break
        end
    end
    if #found == 0 then
        refuse(search)
    elseif #found > 1 then
        fail(search.where, search.number, "solution.lua has these lines more than once, from lines "
            .. "%d and %d on: add lines above or below them", found[1].first, found[2].first)
    end
    return found[1].first, found[1].last
end

-- ---- the program -------------------------------------------------------------------------

-- The first line behind the comment that the solution begins with.
local function body_of(solution)
    local body = 1
    while (solution[body] or ""):find("^%-%-") and not solution[body]:find("^%-%-%[=*%[") do
        body = body + 1
    end
    return body
end

-- The text of the program, whose lines are the solution's but for those that are replaced. `where`
-- is how messages name the change. Raises {message =}.
function change.apply(where, text, solution_text)
    local solution = lines_of("solution.lua", solution_text)
    local body = body_of(solution)
    local heading, list = read(where, lines_of(where, text))
    local search = { where = where, solution = solution, body = body, compared = 0 }
    for _, replacement in ipairs(list) do
        replacement.first, replacement.last = locate(search, replacement)
    end
    table.sort(list, function(a, b) return a.first < b.first end)
    local result = #heading > 0 and heading or table.move(solution, 1, body - 1, 1, {})
    local at, before = body, nil
    for _, replacement in ipairs(list) do
        if replacement.first < at then
            fail(where, math.max(replacement.number, before.number), "line %d of solution.lua is "
                .. "replaced in line %d already", replacement.first,
                math.min(replacement.number, before.number))
        end
        table.move(solution, at, replacement.first - 1, #result + 1, result)
        lists.append(result, replacement.by)
        at, before = replacement.last + 1, replacement
    end
    table.move(solution, at, #solution, #result + 1, result)
    return table.concat(result, "\n") .. "\n"
end

return change
