-- sweeping.lua - lab.sweep: the same thing for all combinations of some values, in this process, or
-- point by point in others.

local lab, core = ...

core.need("measuring")
core.need("tables")

local raise, refuse, type_name = core.raise, core.refuse, core.type_name
local check_function, no_more = core.arguments.check_function, core.arguments.no_more
local check_options, sorted_keys = core.arguments.check_options, core.arguments.sorted_keys
local is_text, is_table = core.arguments.is_text, core.arguments.is_table
local results, measure = core.results, core.measure

-- The axes -------------------------------------------------------------------------------

local form = "each axis must be { name, { values ... } }, as in { \"kib\", { 1, 64 } }"

local function check_axis(axis, i)
    local function fail(what)
        local named = type(axis) == "table" and is_text(axis[1])
        refuse("sweep", "argument 1 (axes): %s: %s",
               named and ("axis '%.60s'"):format(axis[1]) or "axis " .. i, what)
    end
    if results.no_list(axis) or #axis ~= 2 or not is_text(axis[1]) or axis[1] == "" then
        fail(form)
    end
    local other = results.no_list(axis[2])
    if other then fail(("its values are %s; %s"):format(other, form)) end
    if #axis[2] == 0 then fail("it has no values") end
    for j, value in ipairs(axis[2]) do
        if not results.is_cell(value) then
            fail(("value %d is a %s; values are numbers, texts, true and false"):format(j,
                 type_name(value)))
        end
    end
end

-- The names of the axes.
local function check_axes(axes)
    local other = results.no_list(axes)
    if other then
        refuse("sweep", "argument 1 (axes) must be a list of axes, got %s; %s", other, form)
    end
    if #axes == 0 then refuse("sweep", "argument 1 (axes): there is no axis") end
    local names = {}
    for i, axis in ipairs(axes) do
        check_axis(axis, i)
        names[i] = axis[1]
    end
    results.check_names(names, "argument 1 (axes)", "sweep")
    return names
end

-- Gives the next point, the last axis fastest; nil at the end.
local function each_point(axes)
    local at = {}
    for i = 1, #axes do at[i] = 1 end
    at[#axes] = 0
    return function()
        local i = #axes
        while i > 0 and at[i] == #axes[i][2] do
            at[i] = 1
            i = i - 1
        end
        if i == 0 then return nil end
        at[i] = at[i] + 1
        local point = {}
        for j, axis in ipairs(axes) do point[axis[1]] = axis[2][at[j]] end
        return point
    end
end

-- "kib=64 pinned=yes"
local function point_text(names, point)
    local parts = {}
    for i, name in ipairs(names) do
        parts[i] = results.cell_text(name) .. "=" .. results.cell_text(point[name])
    end
    return table.concat(parts, " ")
end

-- Progress -------------------------------------------------------------------------------

local progress = {}
progress.__index = progress

-- A sweep says nothing for a second. Then it updates one line on a terminal; elsewhere it writes a
-- line now and then.
local first_ns, terminal_ns, pipe_ns = 1000000000, 100000000, 10000000000

local function new_progress(total)
    local now = core.wall_ns()
    local terminal = io and core.terminal(2)
    return setmetatable({ start_ns = now, total = total, terminal = terminal,
                          next_ns = now + (terminal and first_ns or pipe_ns) }, progress)
end

function progress:say(i, text)
    local now = core.wall_ns()
    if not io or now < self.next_ns then return end
    self.next_ns = now + (self.terminal and terminal_ns or pipe_ns)
    local line = ("sweep %d of %d: %s, %.0f s"):format(i, self.total, text,
                                                      (now - self.start_ns) / 1e9)
    if self.terminal then
        io.stderr:write("\r", line:sub(1, core.columns() - 1), "\27[K")
        self.shown = true
    else
        io.stderr:write(line, "\n")
    end
    io.stderr:flush()
end

-- Clears the line, also where an error ends the sweep.
function progress:__close()
    if self.shown then io.stderr:write("\r\27[K"):flush() end
end

-- The sweep ------------------------------------------------------------------------------

local measured = { "median_us", "min_us", "max_us", "spread" }

-- What f returned as named values, and their names in order; nil for a point that is left out.
local function values_of(result, opts)
    if result == nil then return nil end
    local kind = type(result)
    if kind == "number" then return { value = result }, { "value" } end
    if kind == "function" then return measure("sweep", result, opts), measured end
    if kind ~= "table" or #result > 0 and not results.no_list(result) then
        refuse("sweep", "f must return a function that is then measured, a number, a table of "
               .. "named values, or nil; it returned %s",
               kind == "table" and "a list" or type_name(result))
    end
    local names = {}
    for _, name in ipairs(sorted_keys(result)) do
        if type(name) ~= "string" then
            refuse("sweep", "f returned a table with the key %s: its values must be named",
                   tostring(name))
        end
        names[#names + 1] = name
    end
    return result, names
end

-- The row of a point: what f was given and what it gave. New names become columns.
local function add_row(sweep, point, values, names)
    local row = {}
    for _, name in ipairs(sweep.axes) do row[name] = point[name] end
    for name, value in next, values do
        if sweep.is_axis[name] then
            refuse("sweep", "f returned a value '%.60s', which is the name of an axis", name)
        end
        row[name] = value
    end
    for _, name in ipairs(names) do
        if sweep.seen[name] == nil then sweep.found[#sweep.found + 1] = name end
        sweep.seen[name] = sweep.seen[name] ~= false and results.is_cell(values[name])
    end
    sweep.rows[#sweep.rows + 1] = row
end

local function visit(sweep, f, point, opts)
    local given = {}
    for name, value in next, point do given[name] = value end
    local values, names = values_of(f(given), opts)
    if values then add_row(sweep, point, values, names) end
end

-- The error with the point in its message. The error of Ctrl-C is left alone.
local function at_point(err, text)
    if type(err) == "string" then
        return err:find("interrupted!$") and err or err .. " (at " .. text .. ")"
    end
    local message = type(err) == "table" and rawget(err, "message")
    if type(message) == "string" and rawget(err, "code") ~= "SL_EINTERRUPT" then
        rawset(err, "message", message .. " (at " .. text .. ")")
    end
    return err
end

local function run(sweep, axes, f, opts)
    local total, i = 1, 0
    for _, axis in ipairs(axes) do total = total * #axis[2] end
    local said <close> = new_progress(total)
    for point in each_point(axes) do
        local text = point_text(sweep.axes, point)
        i = i + 1
        said:say(i, text)
        local fine, err = pcall(visit, sweep, f, point, opts)
        if not fine then error(at_point(err, text), 0) end
    end
end

local function check_asked(sweep, name)
    if sweep.seen[name] == false then
        refuse("sweep", "option 'columns': '%.60s' is not in all rows a number, a text, true or "
               .. "false", name)
    elseif sweep.seen[name] == nil and #sweep.rows > 0 then
        refuse("sweep", "option 'columns': f returned no '%.60s'; it returned: %s%s", name,
               table.concat(sweep.found, ", "), core.arguments.did_you_mean(name, sweep.seen))
    end
end

-- The axes, then the columns that were asked for, all of which some row has; else all that
-- were found, but for what does not fit a cell.
local function result_columns(sweep, asked)
    local columns = table.move(sweep.axes, 1, #sweep.axes, 1, {})
    for _, name in ipairs(asked or sweep.found) do
        if asked then check_asked(sweep, name) end
        if asked or sweep.seen[name] then columns[#columns + 1] = name end
    end
    return columns
end

-- For other processes ---------------------------------------------------------------------
--
-- With a plan the points are measured later, by whichever processes work on them, with jobs at once
-- by some that the program starts: it
-- (repl/plans/sweeps.lua) writes the plan, calls measure(point) where it works on one, and makes
-- the table of what all of them gave.

local function new_sweep(names)
    local sweep = { axes = names, is_axis = {}, rows = {}, found = {}, seen = {} }
    for _, name in ipairs(names) do sweep.is_axis[name] = true end
    return sweep
end

-- A table of the outcomes {point =, values =, names =}, in their order, as lab.sweep gives it;
-- values nil: a point that is left out.
function core.sweep_table(names, outcomes, columns, title)
    local sweep = new_sweep(names)
    for _, outcome in ipairs(outcomes) do
        if outcome.values then add_row(sweep, outcome.point, outcome.values, outcome.names) end
    end
    return results.new(sweep.rows, result_columns(sweep, columns), title)
end

-- What f gives for a point, checked: values and their names, or nil.
local function measure_alone(names, f, point, opts)
    local text = point_text(names, point)
    local fine, values, found = pcall(function()
        local given = {}
        for name, value in next, point do given[name] = value end
        local values, found = values_of(f(given), opts)
        if values then add_row(new_sweep(names), point, values, found) end
        return values, found
    end)
    if fine then return values, found end
    error(at_point(values, text), 0)
end

local function elsewhere(names, axes, f, opts)
    local program = core.default("plan")
    if not program then
        raise("SL_EUNSUPPORTED", "sweep", ("option '%s' is for scripts that the program streamlab "
              .. "runs"):format(opts.plan and "plan" or "jobs"))
    end
    return program{ path = opts.plan, jobs = opts.jobs, names = names, columns = opts.columns,
                    title = opts.title,
                    each_point = function() return each_point(axes) end,
                    measure = function(point) return measure_alone(names, f, point, opts) end }
end

local function is_plan(value)
    return is_text(value) and value:find("[^/]%.jsonl$") ~= nil
end

local function is_jobs(value)
    return value == "all" or math.type(value) == "integer" and value >= 1 and value <= 1024
end

local sweep_options = {
    { "jobs", "a whole number from 1 to 1024, or \"all\"", is_jobs },
    { "columns", "a list of names", is_table }, { "title", "a string", is_text },
    { "plan", "a file's name that ends in .jsonl", is_plan },
    table.unpack(core.measure_options),
}

function lab.sweep(axes, f, opts, ...)
    local sweep = new_sweep(check_axes(axes))
    check_function(f, 2, "sweep")
    no_more(3, "sweep", ...)
    opts = check_options(opts, sweep_options, "sweep")
    if opts.columns then
        results.check_names(opts.columns, "option 'columns'", "sweep")
        for _, name in ipairs(opts.columns) do
            if sweep.is_axis[name] then
                refuse("sweep", "option 'columns' is for what f returns; the axis '%.60s' has its "
                       .. "column anyway", name)
            end
        end
    end
    if opts.plan and opts.jobs then
        refuse("sweep", "options 'plan' and 'jobs' exclude each other: other processes work on a "
            .. "plan")
    end
    if opts.plan or opts.jobs then return elsewhere(sweep.axes, axes, f, opts) end
    run(sweep, axes, f, opts)
    return results.new(sweep.rows, result_columns(sweep, opts.columns), opts.title)
end
