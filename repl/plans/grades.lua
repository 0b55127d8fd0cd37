-- grades.lua - plans of grading: a point is a submission. streamlab lab grade --plan writes one.

local bundle = import "repl/labs/bundle.lua"
local command = import "repl/run/command.lua"
local delivery = import "repl/labs/delivery.lua"
local files = import "repl/run/files.lua"
local grader = import "repl/labs/grader.lua"
local lists = import "repl/run/lists.lua"
local plan = import "repl/plans/plan.lua"

local grades = { merge_options = { "output", "format" } }

local most_submission <const> = 1024 * 1024     -- a longer one is none (repl/labs/submission.lua)
local most_file <const> = 64 * 1024 * 1024      -- of a lab

-- ---- writing a plan ----------------------------------------------------------------------------

-- false: there is no file that could be a submission.
local function digest_of(path, most)
    local text = files.read_bounded(path, most)
    return text and internals.sha256(text) or false
end

-- All files of the lab that decide about points, {path in the lab's folder, digest}.
local function files_of(lab_bundle)
    local folder = lab_bundle.folder
    local names = lists.map(files.lua_in(folder .. "/tests"), function(name)
        return "tests/" .. name
    end)
    table.insert(names, 1, "lab.lua")
    local profile = lab_bundle.profile
    if type(profile) == "string" and profile:sub(1, #folder + 1) == folder .. "/" then
        table.insert(names, profile:sub(#folder + 2))
    end
    return lists.map(names, function(name)
        return { name, digest_of(folder .. "/" .. name, most_file) }
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
                         not one.problem and digest_of(one.file, most_submission) }
    end)
end

-- ---- the plan ----------------------------------------------------------------------------------

function grades.check(body)
    local fine = type(body.lab) == "string" and type(body.files) == "table"
        and (body.backend == "sim" or body.backend == "cuda")
    return not fine and "it is no plan of grading" or nil
end

local function submission_of(point)
    local values = point.values
    for i = 1, 2 do
        if type(values[i]) ~= "string" then
            command.fail(("point %d is no submission"):format(point.number))
        end
    end
    return { student = values[1], file = values[2], result = values[3] or nil,
             problem = values[4] or nil, point = point }
end

function grades.name(_, point)
    return submission_of(point).student
end

-- The lab; or nil and a sentence, if it is not as it was.
local function read_lab(body)
    if not files.exists(body.lab .. "/lab.lua") then
        return nil, ("there is no lab in %s: streamlab work runs where the plan was written"):format(
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
        return nil, ("the lab %s has changed since the plan was written: streamlab lab grade --plan "
            .. "writes a new one"):format(body.lab)
    end
    return lab_bundle
end

local function has_changed(submission)
    return not submission.problem
        and digest_of(submission.file, most_submission) ~= submission.point.values[5]
end

-- ---- work and results ----------------------------------------------------------------------------

-- Why it has no result that lasts; nil if it has one.
local function broken_text(graded)
    return graded.broken and table.concat(graded.broken, "; ")
end

-- The next submission that is as it was.
local function next_submission(work)
    for point in work.next do
        local submission = submission_of(point)
        if not has_changed(submission) then
            return submission
        end
        work.failed(point, submission.file .. " has changed since the plan was written")
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

local function is_graded(graded)
    return type(graded) == "table" and type(graded.student) == "string"
        and type(graded.score) == "number" and type(graded.points) == "number"
        and type(graded.tests) == "table" and type(graded.lacking) == "table"
        and lists.all(graded.tests, function(test)
            return type(test) == "table" and type(test.number) == "string"
                and type(test.name) == "string" and type(test.output) == "string"
                and type(test.score) == "number" and type(test.points) == "number"
        end)
end

-- As lab grade delivers them.
function grades.merge(read, results, options, usage)
    local body = read.body
    local lab_bundle, problem = read_lab(body)
    if not lab_bundle then
        command.fail(problem)
    end
    options.class, options.usage = body.class, usage
    delivery.check(options)
    local list = lists.map(results, function(fields, i)
        if not is_graded(fields.graded) then
            command.fail(("point %d has no result of grading"):format(read.points[i].number))
        end
        return fields.graded
    end)
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
