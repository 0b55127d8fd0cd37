-- grades.lua - plans of grading: a point is a submission. streamlab lab grade --plan writes one.

local bundle = import "repl/labs/bundle.lua"
local command = import "repl/run/command.lua"
local delivery = import "repl/labs/delivery.lua"
local fields = import "repl/run/fields.lua"
local files = import "repl/run/files.lua"
local grader = import "repl/labs/grader.lua"
local lists = import "repl/run/lists.lua"
local plan = import "repl/plans/plan.lua"
local problem_with_row = import "repl/plans/grade_rows.lua"
local result_names = import "repl/labs/result_names.lua"
local variants = import "repl/labs/variants.lua"
local working = import "repl/plans/working.lua"

local grades = { merge_options = { "output", "format" } }

local most_submission <const> = 1024 * 1024     -- a longer one is none (repl/labs/submission.lua)

-- ---- writing a plan ----------------------------------------------------------------------------

local function digest_of(path, most)
    local text = files.read_bounded(path, most)
    return text and internals.sha256(text) or false
end

-- false: there is no file that could be a submission. Of a change of the solution, which may be a
-- variant of the lab's own, it is the digest of the program.
local function digest_of_submission(path)
    if not variants.is_change(path) then
        return digest_of(path, most_submission)
    end
    local text = variants.text(path)
    return text and internals.sha256(text) or false
end

-- All files of the lab that decide about points, {path in the lab's folder, digest}.
local function files_of(lab_bundle)
    local folder = lab_bundle.folder
    local names = lists.map(files.ending_in(folder .. "/tests", { ".lua" }), function(name)
        return "tests/" .. name
    end)
    table.insert(names, 1, "lab.lua")
    local profile = lab_bundle.profile
    if type(profile) == "string" and profile:sub(1, #folder + 1) == folder .. "/" then
        table.insert(names, profile:sub(#folder + 2))
    end
    return lists.map(names, function(name)
        return { name, digest_of(folder .. "/" .. name, bundle.most_bytes) }
    end)
end

-- How many points it has; or nil and a sentence. options: class, backend, verbose.
function grades.write(path, lab_bundle, submissions, options)
    local i = 0
    return plan.write(path, {
        kind = "grade", lab = lab_bundle.folder, files = files_of(lab_bundle),
        class = options.class, backend = options.backend, verbose = options.verbose or false,
    }, function()
        i = i + 1
        local one = submissions[i]
        return one and { one.student, one.file, one.result or false, one.problem or false,
                         not one.problem and digest_of_submission(one.file) }
    end)
end

-- ---- the plan ----------------------------------------------------------------------------------

local path <const> = fields.text(4096)
local known_body <const> = {
    { "lab", path, true }, { "class", fields.boolean }, { "verbose", fields.boolean, true },
    { "backend", plan.backend, true },
    { "files", fields.list({ "a name and a digest", function(file)
        return type(file) == "table" and path[2](file[1])
            and fields.or_false(fields.digest)[2](file[2])
    end }, 10000), true },
}

function grades.problem_with_body(body)
    return fields.problem(body, known_body)
end

-- A point's values, in their order.
local known_point <const> = {
    { "student", fields.text(256) }, { "file", path },
    { "result", fields.or_false { "a plain name of a file", result_names.is_plain } },
    { "problem", fields.or_false(fields.bytes(4096)) },
    { "digest", fields.or_false(fields.digest) },
}

-- `taken` is where each student and each name of a result stands: they may not come again.
function grades.problem_with_point(values, body, taken)
    local named = {}
    for i, field in ipairs(known_point) do
        field[3], named[field[1]] = true, values[i]
    end
    local problem = #values ~= #known_point and "it is no submission"
        or fields.problem(named, known_point)
    if problem then
        return problem
    elseif body.class and not named.result then
        return "it has no name for its results"
    end
    local student = "student " .. named.student
    local result = named.result and "result " .. result_names.key(named.result) or student
    if taken[student] or taken[result] then
        return ("%s stands twice in the plan"):format(taken[student] and "the " .. student
            or "the name of the result " .. (named.result or named.student))
    end
    taken[student], taken[result] = true, true
end

local function submission_of(point)
    local values = point.values
    return { student = values[1], file = values[2], result = values[3] or nil,
             problem = values[4] or nil, point = point }
end

function grades.name(_, point)
    return submission_of(point).student
end

-- The lab; or nil and a sentence, if it is not as it was.
local function read_lab(body)
    if not files.exists(body.lab .. "/lab.lua") then
        return nil,
            ("there is no lab in %s: streamlab work runs where the plan was written"):format(
            body.lab)
    end
    local lab_bundle = command.try(bundle.read, body.lab)
    local now = files_of(lab_bundle)
    local same = #now == #body.files
    for i, file in ipairs(now) do
        local before = body.files[i]
        same = same and type(before) == "table" and before[1] == file[1] and before[2] == file[2]
    end
    if not same then
        return nil,
            ("the lab %s has changed since the plan was written: streamlab lab grade --plan "
            .. "writes a new one"):format(body.lab)
    end
    return lab_bundle
end

function grades.source(point)
    local submission = submission_of(point)
    return submission.file, not submission.problem
        and digest_of_submission(submission.file) ~= point.values[5]
end

-- ---- work and results ---------------------------------------------------------------------------

-- Why it has no result that lasts; nil if it has one.
local function broken_text(graded)
    return graded.broken and table.concat(graded.broken, "; ")
end

-- The next submission that is as it was.
local function next_submission(work)
    for point in work.next do
        local problem = working.change(grades, point)
        if not problem then
            return submission_of(point)
        end
        work.failed(point, problem)
    end
end

function grades.work(read, work)
    local body = read.body
    local lab_bundle, problem = read_lab(body)
    if not lab_bundle then
        return problem
    end
    local point_of = {}
    grader.grade(lab_bundle, function()
        local submission = next_submission(work)
        if submission then
            point_of[submission.student] = submission.point
        end
        return submission
    end, { backend = body.backend, jobs = work.jobs, verbose = body.verbose,
        finished = function(graded)
            local point, why = point_of[graded.student], broken_text(graded)
            if why then
                work.failed(point, why)
            else
                work.done(point, { graded = graded })
            end
        end })
end

-- The lab of a plan that is merged.
local function lab_of(read)
    local problem
    if not read.lab_bundle then
        read.lab_bundle, problem = read_lab(read.body)
    end
    return read.lab_bundle or command.fail(problem)
end

function grades.problem_with_result(read, point, result)
    return problem_with_row(result.graded, submission_of(point), lab_of(read).tests)
end

-- As lab grade delivers them.
function grades.merge(read, results, options)
    local lab_bundle = lab_of(read)
    options.class = read.body.class
    delivery.check(options)
    local list = lists.map(results, function(result) return result.graded end)
    local delivered = delivery.start(lists.map(read.points, submission_of), lab_bundle, options)
    for _, graded in ipairs(list) do
        if delivered.finished then
            delivered.finished(graded)
        end
        delivered.each(graded)
    end
    delivered.close(list)
    return not delivered.failed
end

return grades
