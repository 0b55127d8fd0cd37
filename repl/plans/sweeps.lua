-- sweeps.lua - plans of lab.sweep. A script that calls it with `plan` writes one; streamlab work
-- runs the script again for each point, as if it were alone (repl/run/alone.lua), and lab.sweep
-- then measures this point and ends the script.
--
-- So a point finds what it would find if it were the first: the simulated GPU is opened again, and
-- math.random begins with the same numbers. Its result does not depend on which points the process
-- has done before, or on the process.

local alone = import "repl/run/alone.lua"
local fields = import "repl/run/fields.lua"
local files = import "repl/run/files.lua"
local json = import "repl/run/json.lua"
local lists = import "repl/run/lists.lua"
local plan = import "repl/plans/plan.lua"

local sweeps = {}

local most_source <const> = 64 * 1024 * 1024

-- What a call of lab.sweep with a plan is for; nil: it writes its plan. {name = its plan's, values
-- = the point's, outcome = what was measured, earlier = tables of sweeps with jobs before it}, or
-- {name =, table = what it gives}.
local active

-- Raised at the end of the point.
local stop <const> = setmetatable({}, { __tostring = function() return "the point is done" end })

-- ---- writing a plan ----------------------------------------------------------------------------

function sweeps.fail(code, text)
    internals.raise(code, "sweep", text)
end

local fail = sweeps.fail

local function digest_of(path)
    local text, reason = files.read_bounded(path, most_source)
    if not text then
        return nil, ("cannot read %s: %s"):format(path, reason)
    end
    return internals.sha256(text)
end

-- All files of Lua that the script has loaded until now, {path, digest}.
local function loaded_files()
    local list = {}
    for source in pairs(program.files()) do
        local path = source:match("^@(.+)")
        local digest = path and digest_of(path)
        if digest then
            list[#list + 1] = { path, digest }
        end
    end
    table.sort(list, function(a, b) return a[1] < b[1] end)
    return list
end

local function digest_of_profile(profile, host)
    return internals.sha256(json.write((internals.need("profiles").load(profile, host))))
end

-- The device that a script finds which opens none.
local function default_device()
    local seen = internals.foresee()
    local device = { backend = seen.backend, index = seen.index, seed = internals.default("seed") }
    if seen.backend == "sim" then
        device.profile, device.host = internals.chosen_profile()
        device.figures = digest_of_profile(device.profile, device.host)
    end
    return device
end

-- The script and its arguments, which are not as they were if the script has changed `arg`.
local function script_of(asked)
    local argument = type(_G.arg) == "table" and _G.arg or {}
    local path = argument[0]
    if type(path) ~= "string" or not program.files()["@" .. path] then
        fail("SL_EUNSUPPORTED",
            ("option '%s' needs a script's file, which streamlab work runs again")
            :format(asked.jobs and "jobs" or "plan"))
    end
    local arguments = {}
    for i, value in ipairs(argument) do
        arguments[i] = tostring(value)
    end
    return path, arguments
end

-- Writes the plan of a sweep into a file; gives the number of points. `earlier`: of the script's
-- sweeps with jobs before it.
function sweeps.write(path, asked, earlier)
    local script, arguments = script_of(asked)
    local count, reason = plan.write(path, {
        kind = "sweep", name = asked.name, script = script, arguments = arguments,
        files = loaded_files(), device = default_device(), axes = asked.names,
        columns = asked.columns, title = asked.title, earlier = earlier,
    }, (function()
        local next_point = asked.each_point()
        return function()
            local point = next_point()
            return point and lists.map(asked.names, function(name) return point[name] end)
        end
    end)())
    if not count then
        fail("SL_EIO", reason)
    end
    return count
end

local written = {}

local function write(asked)
    if written[asked.path] then
        fail("SL_ESTATE", ("another sweep of this script has the plan %s"):format(asked.path))
    end
    local count = sweeps.write(asked.path, asked)
    written[asked.path] = true
    return nil, ("%d points are in %s: streamlab work %s measures them, streamlab merge %s makes "
        .. "the table"):format(count, asked.path, asked.path, asked.path)
end

-- ---- one point ---------------------------------------------------------------------------------

local function point_of(names, values)
    local point = {}
    for i, name in ipairs(names) do
        point[name] = values[i]
    end
    return point
end

-- `values`: those that can be columns, a list of {name, value} in the order of columns. `others`:
-- what the row has besides, by name.
local function measure(asked)
    if #asked.names ~= #active.values then
        error("the sweep has other axes than its plan", 0)
    end
    local values, names = asked.measure(point_of(asked.names, active.values))
    if not values then
        return { left_out = true }
    end
    local others = {}
    for name, value in next, values do
        others[name] = value
    end
    for _, name in ipairs(names) do
        others[name] = nil
    end
    return { values = lists.map(names, function(name) return { name, values[name] } end),
             others = next(others) and others }
end

-- How many sweeps with jobs the script has begun: those have no other name.
local count_jobs = 0

-- The default "plan" (main.c): what lab.sweep does with the options plan and jobs.
function sweeps.plan(asked)
    count_jobs = count_jobs + (asked.jobs and 1 or 0)
    asked.name = asked.path or ("sweep %d"):format(count_jobs)
    if not active and asked.jobs then
        return import "repl/plans/jobs.lua".run(asked)
    elseif not active then
        return write(asked)
    elseif active.name ~= asked.name then
        local made = asked.jobs and active.earlier[count_jobs]
        return made, not made and ("the script works on a point of %s"):format(active.name) or nil
    elseif active.table then
        return active.table
    end
    local fine, outcome = pcall(measure, asked)
    active.outcome = active.outcome or fine and outcome or { failure = tostring(outcome) }
    error(stop, 0)
end

-- ---- the plan ----------------------------------------------------------------------------------

local most_names <const>, most_files <const>, most_points <const> = 1000, 100000, 10000000

local path <const>, any_text <const> = fields.text(4096), fields.bytes(1 << 20)
local names <const> = fields.list(path, most_names)
local known_table <const> = {
    { "axes", names, true }, { "columns", names }, { "title", any_text },
}
local known_device <const> = {
    { "backend", plan.backend, true }, { "index", fields.whole(0, 1 << 20) },
    { "seed", fields.whole(math.mininteger, math.maxinteger) },
    { "profile", path }, { "host", path }, { "figures", fields.digest },
}
local known_body <const> = {
    { "script", path, true }, { "name", path, true }, { "device", fields.table, true },
    { "arguments", fields.list(any_text, most_files), true },
    { "earlier", fields.list(fields.table, most_names) },
    { "files", fields.list({ "a path and a digest", function(file)
        return type(file) == "table" and path[2](file[1]) and fields.digest[2](file[2])
    end }, most_files), true },
}

-- Why the values are no point of a sweep over these axes.
local function problem_with_values(values, axes)
    for i = 1, math.max(#axes, #values) do
        if values[i] == nil or axes[i] == nil or not internals.results.is_cell(values[i]) then
            return ("it needs %d values, each a number, a text, true or false"):format(#axes)
        end
    end
end

local function problem_with_names(list, axes)
    local taken = {}
    for _, axis in ipairs(axes) do
        taken[axis] = true
    end
    for _, name in ipairs(list) do
        if not path[2](name) or taken[name] then
            return "the names of its values must be texts, each once, and none that of an axis"
        end
        taken[name] = true
    end
end

local function is_pair(pair)
    return type(pair) == "table" and type(pair[1]) == "string"
end

-- Why what a point's file has is no result of a sweep over these axes; nil if it is one.
local function problem_with_outcome(outcome, axes)
    if outcome.left_out == true then
        return nil
    end
    local pairs_of, others = outcome.values, outcome.others
    if type(pairs_of) ~= "table" or not lists.all(pairs_of, is_pair)
        or others ~= nil and type(others) ~= "table" then
        return "it has no values"
    end
    local list = lists.map(pairs_of, function(pair) return pair[1] end)
    for name in next, others or {} do
        list[#list + 1] = name
    end
    return problem_with_names(list, axes)
end

-- What sweeps.pack gives, which may come from a file.
local function problem_with_packed(packed)
    local body, points, results = packed.body, packed.points, packed.results
    if type(body) ~= "table" or type(points) ~= "table" or type(results) ~= "table"
        or #points ~= #results or #points > most_points then
        return "an earlier sweep has no points and results"
    end
    local problem = fields.problem(body, known_table)
    for i = 1, problem and 0 or #points do
        local point = points[i]
        local fine = type(point) == "table" and math.type(point.number) == "integer"
            and type(point.values) == "table" and type(results[i]) == "table"
        problem = problem or not fine and "an earlier sweep's point is none"
            or problem_with_values(point.values, body.axes)
            or problem_with_outcome(results[i], body.axes)
    end
    return problem
end

-- Why its points cannot be measured; nil if they can.
local function problem_with(body)
    for _, file in ipairs(body.files) do
        local digest, reason = digest_of(file[1])
        if not digest then
            return reason .. ": streamlab work runs where the plan was written"
        elseif digest ~= file[2] then
            return ("%s has changed since the plan was written: run the script again, which writes "
                .. "a new one"):format(file[1])
        end
    end
    local device = body.device
    local problem = device.backend == "sim" and plan.problem_with_profile(device.profile)
    if problem then
        return problem
    elseif device.backend == "sim"
        and digest_of_profile(device.profile, device.host) ~= device.figures then
        return ("the profile %s has changed since the plan was written"):format(device.profile)
    end
end

local function choose_device(device)
    for _, name in ipairs { "backend", "index", "profile", "host", "seed" } do
        internals.set_default(name, device[name])
    end
end

local function run_point(body, point, earlier)
    active, count_jobs = { name = body.name, values = point.values, earlier = earlier }, 0
    local _ <close> = setmetatable({}, { __close = function() active = nil end })
    local _, reason = alone.run({ path = body.script, arguments = body.arguments },
                                { writes = true })
    return active.outcome or { failure = reason
        or ("the script ended without the sweep of %s"):format(body.name) }
end

-- The kinds' common functions.
function sweeps.problem_with_body(body)
    local problem = fields.problem(body, known_body) or fields.problem(body, known_table)
        or fields.problem(body.device, known_device)
    for _, packed in ipairs(body.earlier or {}) do
        problem = problem or problem_with_packed(packed)
    end
    return problem
end

function sweeps.problem_with_point(values, body)
    return problem_with_values(values, body.axes)
end

function sweeps.problem_with_result(read, _, result)
    return problem_with_outcome(result, read.body.axes)
end

-- "kib=64 pinned=yes"
function sweeps.name(read, point)
    local cell_text = internals.results.cell_text
    return lists.join(read.body.axes, function(name, i)
        return cell_text(name) .. "=" .. cell_text(point.values[i])
    end, " ")
end

local function outcome_of(point, result)
    if result.left_out then
        return { point = point }
    end
    local values, found = {}, {}
    for name, value in next, result.others or {} do
        values[name] = value
    end
    for i, pair in ipairs(result.values) do
        values[pair[1]], found[i] = pair[2], pair[1]
    end
    return { point = point, values = values, names = found }
end

-- The table of results, of each of the plan's points what work.done was given. `read`: {body =,
-- points =}.
function sweeps.table(read, results)
    local body, outcomes = read.body, {}
    for i, point in ipairs(read.points) do
        local problem = problem_with_outcome(results[i], body.axes)
        if problem then
            return nil, ("point %d has no result of a sweep: %s"):format(point.number, problem)
        end
        outcomes[i] = outcome_of(point_of(body.axes, point.values), results[i])
    end
    internals.need("sweeping")
    return internals.sweep_table(body.axes, outcomes, body.columns, body.title)
end

-- For a body's `earlier`: what sweeps.table has made a table of.
function sweeps.pack(read, results)
    local body = read.body
    return { body = { axes = body.axes, columns = body.columns, title = body.title },
             points = lists.map(read.points, function(point)
                 return { number = point.number, values = point.values }
             end), results = results }
end

-- The tables of a body's earlier sweeps; new ones for each point, since the script may change them.
local function tables_of(earlier)
    return lists.map(earlier, function(packed)
        return (sweeps.table(packed, packed.results))
    end)
end

-- Works on the points; what is done goes to work.done(point, fields) or work.failed(point,
-- message), each as soon as it is there. work.next() gives the next point, or nil. Gives why
-- nothing can be done, or nil.
function sweeps.work(read, work)
    local body = read.body
    local problem = problem_with(body)
    if problem then
        return problem
    end
    choose_device(body.device)
    for point in work.next do
        local outcome = run_point(body, point, tables_of(body.earlier or {}))
        if outcome.failure then
            work.failed(point, outcome.failure)
        else
            work.done(point, outcome)
        end
    end
end

-- Runs the script, in which the sweep of the plan gives the table.
function sweeps.go_on(read, made)
    local body = read.body
    local problem = problem_with(body)
    if problem then
        return nil, problem
    end
    choose_device(body.device)
    active, count_jobs = { name = body.name, table = made, earlier = {} }, 0
    local main, message = loadfile(body.script)
    if not main then
        return nil, message
    end
    _G.arg = table.move(body.arguments, 1, #body.arguments, 1, { [0] = body.script })
    main(table.unpack(body.arguments))
    return true
end

return sweeps
