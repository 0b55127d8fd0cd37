-- lab.lua - streamlab lab: course labs, for students (check) and teachers (new, grade, pack).

local command = import "repl/run/command.lua"

local words = { ... }

-- What the grader starts for each test.
if words[1] == "case" then
    command.try(import "repl/labs/case.lua".run, table.unpack(words, 2))
end

local bundle = import "repl/labs/bundle.lua"
local class = import "repl/labs/class.lua"
local files = import "repl/run/files.lua"
local grader = import "repl/labs/grader.lua"
local lists = import "repl/run/lists.lua"
local remark = import "repl/labs/results/remark.lua"
local text = import "repl/run/text.lua"

local usage = [[
usage: streamlab lab check|grade|new|pack ...
Course labs: a lab is a folder with a task, a starter and tests; a submission is
one Lua file. It is graded on a simulated GPU: no machine needs a real one,
and every machine gives the same score.

what it does:
  check [LABDIR] [FILE.lua]
                    runs the visible tests and prints the results as TAP, with a
                    chart where a timing test fails. Without LABDIR the folder
                    of FILE; without FILE submission.lua in it, or starter.lua
  grade LABDIR FILE.lua|FOLDER
                    runs all tests of one submission, or of each in a folder
                    (NAME.lua, or a folder NAME with one .lua file) and prints a
                    line for each student
  new FOLDER        writes a small lab to start from
  pack LABDIR [-o FOLDER]
                    tests the lab itself, then writes ID-student.zip, for
                    students, and ID-gradescope.zip, an autograder for
                    Gradescope, into FOLDER (default: here)
options of check and grade:
  -v, --verbose     also the values of assertions that passed
options of grade:
  -o, --output FILE write the results; for a class as gradescope: a folder,
                    which is made, and into which NAME.json is written as soon
                    as the student is graded
  --format FORMAT   gradescope (results.json), tap, junit or csv; without it by
                    FILE's suffix: .json .tap .xml .csv. For one submission
                    without -o: print the results instead of a line
  -j, --jobs N      tests to run at a time; without it one for each processor,
                    on a real GPU one
others:
  -h, --help        print this and stop
`streamlab --backend cuda lab grade ...` grades on the real GPU.
Exit status: 0 success (check: all passed; grade: whatever the points are),
1 check: not all passed; grade: a test could not be run, there is no such lab
or submission, or results cannot be written; 2 wrong usage.
]]

local formats = { "gradescope", "tap", "junit", "csv" }

local function writer(format)
    return import("repl/labs/results/" .. format .. ".lua")
end

-- ---- arguments -----------------------------------------------------------------------------

local file_option = { read = command.some, name = "output" }
local jobs_option = { read = command.whole(1, 1024), name = "jobs" }

local function is_folder(path)
    return program.file_kind(program.real_path(path) or path) == "folder"
end

-- A path without slashes at its end, for messages and for what is put behind it.
local function tidy(path)
    return (path:gsub("(.)/+$", "%1"))
end

local function backend()
    if internals.default("profile") or internals.default("host") then
        command.refuse(usage, "a lab is graded on the profile that its lab.lua names; --profile and "
            .. "--host cannot be given")
    end
    return internals.default("backend") or "sim"
end

-- How many tests may run at a time: on a real GPU only one.
local function default_jobs()
    return backend() == "cuda" and 1 or internals.processors()
end

local function read_lab(folder)
    if not files.exists(folder .. "/lab.lua") then
        command.fail(("there is no lab in %s: a lab is a folder with a file lab.lua"):format(
            folder))
    end
    return command.try(bundle.read, folder)
end

local function stem(path)
    return (path:match("[^/]*$"):gsub("%.[lL][uU][aA]$", ""))
end

-- ---- check ---------------------------------------------------------------------------------

-- The file that a student works on, where none was named.
local function find_submission(folder)
    for _, name in ipairs { "submission.lua", "starter.lua" } do
        if files.exists(folder .. "/" .. name) then
            return folder .. "/" .. name
        end
    end
    command.fail(("there is no submission.lua in %s; name the file that you work on"):format(
        folder))
end

local function read_check(paths)
    if #paths > 2 then
        command.refuse(usage, ("check takes a lab and a file, got '%s' as well"):format(paths[3]))
    end
    local folder, file = paths[1] or ".", paths[2]
    if #paths == 1 and not is_folder(folder) then
        folder, file = folder:match("^(.*)/[^/]*$") or ".", folder
    end
    if file and not files.exists(file) then
        command.fail(("there is no %s"):format(file))
    end
    return tidy(folder), file
end

local lamented = {}

-- For the teacher: what failed, and once which limits this system could not set.
local function complain(graded)
    for _, sentence in ipairs(graded.lacking) do
        if not lamented[sentence] then
            lamented[sentence] = true
            command.warn("submissions are not confined as they should be: " .. sentence)
        end
    end
    for _, sentence in ipairs(graded.broken or {}) do
        command.warn(graded.student .. ": " .. sentence)
    end
end

local function check(...)
    local options, paths = command.read(usage, { v = true, verbose = true }, ...)
    local folder, file = read_check(paths)
    local lab_bundle = read_lab(folder)
    file = file or find_submission(folder)
    local list = grader.grade(lab_bundle, { { student = stem(file), file = file } },
        { backend = backend(), jobs = default_jobs(), only_visible = true,
          verbose = options.v or options.verbose })
    io.stdout:write(writer("tap").text(list, lab_bundle))
    io.stdout:flush()
    complain(list[1])
    os.exit(list[1].score == list[1].points and 0 or 1)
end

-- ---- grade ---------------------------------------------------------------------------------

-- What there is to grade: one submission, or a class.
local function find_submissions(path, is_class)
    if not is_class then
        if not program.file_kind(path) then
            command.fail("there is no " .. path)
        end
        return { { student = stem(path), file = path } }
    end
    local list, others = class.find(path)
    if not list then
        command.fail(("cannot read the folder %s: %s"):format(path, others))
    end
    for _, name in ipairs(others) do
        command.warn(name .. " is no submission: it is neither a .lua file nor a folder")
    end
    if #list == 0 then
        command.fail("there are no submissions in " .. path)
    end
    return list
end

local widest <const> = 40       -- columns for names; a longer one moves its own line alone

local function width_of(name)
    return text.width(command.clean(name))
end

local function line_of(graded, width)
    local failed = lists.select(graded.tests, function(test) return not test.passed end)
    return command.clean(("%s%s  %6.4g/%g  %s"):format(graded.student,
        (" "):rep(width - width_of(graded.student)), graded.score, graded.points,
        remark(graded) or #failed > 0 and "failed "
            .. lists.join(failed, function(test) return test.number end, " ") or "all passed"))
end

local function format_of(options)
    if options.format then
        return options.format
    end
    for _, format in ipairs(formats) do
        local suffix = writer(format).suffix
        if options.output and options.output:sub(-#suffix) == suffix then
            return format
        end
    end
    if options.output and not options.class then
        command.refuse(usage, ("-o needs a file that ends in .json, .tap, .xml or .csv, or "
            .. "--format besides; got '%s'"):format(options.output))
    end
    return "gradescope"
end

local needed_for_class <const> = "-o needs a folder, for one file a student; or a file that ends "
    .. "in .csv, .xml or .tap; got '%s'"

-- Whether the results are a file a student.
local function has_folder(options)
    return options.class and options.output and not writer(format_of(options)).class
end

-- Refused before anything runs.
local function check_output(options)
    local path = options.output
    if not path then
        if options.class and options.format then
            command.refuse(usage, "--format needs -o FILE for a class")
        end
    elseif has_folder(options) then
        if not is_folder(path) and (program.file_kind(path) or path:find("%.%a+$")) then
            command.refuse(usage, needed_for_class:format(path))
        end
    elseif is_folder(path) then
        command.refuse(usage, ("-o needs a file, '%s' is a folder"):format(path))
    else
        local format, folder = format_of(options), path:match("^(.*)/[^/]*$")
        if folder and folder ~= "" and not is_folder(folder) then
            command.fail(("cannot write %s as %s: there is no folder %s"):format(path, format,
                folder))
        end
        command.try_file(path)
    end
end

local function make_folder(path)
    local made, reason = program.make_folder(path)
    if not made then
        command.fail(reason)
    end
end

-- Writes one student's results into the folder; true, or nil and a sentence. An existing file may
-- be a student's: links are not followed, and pipes not waited for.
local function deliver(graded, name, lab_bundle, options)
    local to = writer(format_of(options))
    local path = ("%s/%s%s"):format(tidy(options.output), name, to.suffix)
    local kind = program.file_kind(path)
    if kind and kind ~= "file" then
        return nil, ("cannot write '%s': there is something of that name, and no file"):format(path)
    end
    return files.write(path, to.text({ graded }, lab_bundle))
end

-- A function that writes the results of each student as soon as all of them are there. If one
-- cannot be written, stderr says so and on_failure is called; the others are written.
local function deliverer(submissions, lab_bundle, options, on_failure)
    local names = {}
    for _, submission in ipairs(submissions) do
        names[submission.student] = submission.result
        if submission.result ~= submission.student then
            command.warn(("the results of %s are in %s%s"):format(submission.student,
                submission.result, writer(format_of(options)).suffix))
        end
    end
    return function(graded)
        local written, reason = deliver(graded, names[graded.student], lab_bundle, options)
        if not written then
            command.warn(("%s: %s"):format(graded.student, reason))
            on_failure()
        end
    end
end

local function grade(...)
    local options, paths = command.read(usage, { o = file_option, output = file_option,
        j = jobs_option, jobs = jobs_option, v = true, verbose = true,
        format = { read = command.one_of(table.unpack(formats)) } }, ...)
    if #paths ~= 2 then
        command.refuse(usage, "grade takes a lab's folder and a submission or a folder of them")
    end
    local path = tidy(paths[2])
    options.class = is_folder(path)
    check_output(options)
    local lab_bundle = read_lab(tidy(paths[1]))
    if not lab_bundle.is_complete then
        command.fail(("%s has no tests/hidden.lua; to run the tests that there are: streamlab lab "
            .. "check"):format(lab_bundle.folder))
    end
    local submissions = find_submissions(path, options.class)
    local width, failed = 0, false
    local is_printed = not options.output and options.format        -- instead of lines
    for _, submission in ipairs(submissions) do
        width = math.min(math.max(width, width_of(submission.student)), widest)
    end
    local finished
    if has_folder(options) then
        make_folder(options.output)
        finished = deliverer(submissions, lab_bundle, options, function() failed = true end)
    end
    local list = grader.grade(lab_bundle, submissions, { backend = backend(),
        jobs = options.jobs or default_jobs(), verbose = options.v or options.verbose,
        finished = finished,
        each = function(graded)
            complain(graded)
            failed = failed or graded.broken ~= nil
            if not is_printed then
                io.stdout:write(line_of(graded, width), "\n")
                io.stdout:flush()
            end
        end })
    if options.output and not finished then
        command.write(options.output, writer(format_of(options)).text(list, lab_bundle))
    elseif is_printed then
        io.stdout:write(writer(options.format).text(list, lab_bundle))
    end
    os.exit(failed and 1 or 0)
end

-- ---- new and pack ----------------------------------------------------------------------------

local function new(...)
    local _, folders = command.read(usage, {}, ...)
    if #folders ~= 1 then
        command.refuse(usage, "new takes the folder of the lab to write")
    end
    local written, problem = command.try(import "repl/labs/new.lua", tidy(folders[1]))
    if not written then
        command.fail(problem)
    end
    io.stdout:write(table.concat(written, "\n"), "\n")
end

local function pack(...)
    local options, folders = command.read(usage, { o = file_option, output = file_option }, ...)
    if #folders ~= 1 then
        command.refuse(usage, "pack takes a lab's folder")
    end
    local lab_bundle = read_lab(tidy(folders[1]))
    local function grade_one(path)
        local list = grader.grade(lab_bundle, { { student = stem(path), file = path } },
            { backend = "sim", jobs = internals.processors() })
        complain(list[1])
        return list[1]
    end
    local packed, problems = command.try(import "repl/labs/pack.lua", lab_bundle,
        tidy(options.output or "."), grade_one)
    for _, problem in ipairs(problems or {}) do
        command.warn(problem)
    end
    if not packed then
        os.exit(1)
    end
    io.stdout:write(table.concat(packed, "\n"), "\n")
end

local actions = { check = check, grade = grade, new = new, pack = pack }

local action = actions[words[1]]
if action then
    action(table.unpack(words, 2))
else
    command.read(usage, {}, ...)
    command.refuse(usage, words[1]
        and ("'%s' is none of check, grade, new and pack"):format(words[1])
        or "check, grade, new or pack is missing")
end
