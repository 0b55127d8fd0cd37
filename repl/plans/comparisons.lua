-- comparisons.lua - plans of streamlab compare: a point is a script, perhaps with a seed.

local command = import "repl/run/command.lua"
local comparison = import "repl/compare/comparison.lua"
local devices = import "repl/compare/devices.lua"
local entries = import "repl/compare/entries.lua"
local fields = import "repl/run/fields.lua"
local files = import "repl/run/files.lua"
local json = import "repl/run/json.lua"
local lists = import "repl/run/lists.lua"
local picture = import "repl/compare/picture.lua"
local plan = import "repl/plans/plan.lua"
local records = import "repl/compare/records.lua"
local report = import "repl/compare/report.lua"
local working = import "repl/plans/working.lua"

local comparisons = { merge_options = { "json", "svg", "jsonl" } }

local most_source <const> = 64 * 1024 * 1024

-- false: it cannot be read, which its comparison will report.
local function digest_of(path)
    local text = files.read_bounded(path, most_source)
    return text and internals.sha256(text) or false
end

local function digest_of_profile(profile, host)
    return internals.sha256(json.write((internals.load_profile(profile, host))))
end

-- How many points it has; or nil and a sentence. `settings` as of devices.open.
function comparisons.write(path, list, settings)
    local profile, host = devices.chosen(settings)
    local i = 0
    return plan.write(path, {
        kind = "compare", profile = profile, host = host, against = settings.against,
        figures = digest_of_profile(profile, host),
        against_figures = settings.against and digest_of_profile(settings.against),
        runs = settings.runs, spread = settings.spread,
    }, function()
        i = i + 1
        return list[i] and { list[i].script, list[i].seed or false, digest_of(list[i].path) }
    end)
end

local name <const> = fields.text(4096)      -- of a profile: its own, or its file's
local known_body <const> = {
    { "profile", name, true }, { "host", name }, { "against", name },
    { "figures", fields.digest, true }, { "against_figures", fields.digest },
    { "runs", fields.whole(1, 1000) }, { "spread", fields.whole(2, 1000) },
}
local known_point <const> = {
    { "script", fields.text(65536), true },
    { "seed", fields.or_false(fields.whole(0, math.maxinteger)), true },
    { "digest", fields.or_false(fields.digest), true },
}

function comparisons.problem_with_body(body)
    return fields.problem(body, known_body)
end

function comparisons.problem_with_point(values)
    return fields.problem({ script = values[1], seed = values[2], digest = values[3] }, known_point)
end

local function entry_of(point)
    local script, seed = point.values[1], point.values[2]
    return entries.new(script, seed or nil)
end

function comparisons.problem_with_result(_, point, result)
    local record, entry = result.record, entry_of(point)
    if type(record) ~= "table" then
        return "it has no record"
    end
    local problem = records.problem(record)
    if not problem and (record.script ~= entry.script or record.seed ~= entry.seed) then
        return ("it is about %s"):format(entries.new(record.script, record.seed).name)
    end
    return problem or not record.sim_us and "'sim_us' is missing" or nil
end

function comparisons.name(_, point)
    return entry_of(point).name
end

function comparisons.source(point)
    local path = entry_of(point).path
    return path, digest_of(path) ~= point.values[3]
end

local function problem_with(body)
    local problem = plan.problem_with_profile(body.profile)
        or body.against and plan.problem_with_profile(body.against)
    if problem then
        return problem
    end
    local changed = digest_of_profile(body.profile, body.host) ~= body.figures and body.profile
        or body.against and digest_of_profile(body.against) ~= body.against_figures and body.against
    return changed and ("the profile %s has changed since the plan was written"):format(changed)
end

-- What is kept of it, or nil and why there is nothing.
local function compare(point, opened)
    local problem = working.change(comparisons, point)
    if problem then
        return nil, problem
    end
    local result, reason = comparison.run(entry_of(point), opened)
    return result and { record = result.record }, reason
end

function comparisons.work(read, work)
    local problem = problem_with(read.body)
    if problem then
        return problem
    end
    local opened = devices.open(read.body, command.fail, command.warn)
    for point in work.next do
        local result, reason = compare(point, opened)
        if result then
            work.done(point, result)
        else
            work.failed(point, reason)
        end
    end
end

function comparisons.merge(read, results, options)
    local list = lists.map(read.points, function(point, i)
        return { entry = entry_of(point), record = results[i].record }
    end)
    local lines = lists.join(list, function(result) return records.line(result.record) end, "")
    if options.jsonl then
        command.write(options.jsonl, lines)
    end
    if options.svg and #list > 0 then
        command.write(options.svg, picture.svg(list))
    end
    io.stdout:write(options.json and lines
        or #list > 0 and report.summary(list, 0, not read.body.against) or "")
    return true
end

return comparisons
