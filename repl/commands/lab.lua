-- lab.lua - streamlab lab: course labs, for students (check) and teachers (new, grade, pack).

local command = import "repl/run/command.lua"

local words = { ... }

-- What the grader starts: a test, or the process from which tests are forked.
if words[1] == "case" or words[1] == "cases" then
    collectgarbage("stop")      -- until the submission runs: nothing before is worth collecting
    local case = import "repl/labs/case.lua"
    command.try(words[1] == "case" and case.run or case.serve, table.unpack(words, 2))
end

local bundle = import "repl/labs/bundle.lua"
local class = import "repl/labs/class.lua"
local delivery = import "repl/labs/delivery.lua"
local files = import "repl/run/files.lua"
local grader = import "repl/labs/grader.lua"
local variants = import "repl/labs/variants.lua"

local tidy = delivery.tidy

-- ---- arguments -----------------------------------------------------------------------------

local line <const> = import "repl/usage/lab.lua"

local function backend()
    if internals.default("profile") or internals.default("host") then
        command.refuse("a lab is graded on the profile that its lab.lua names; --profile "
            .. "and --host cannot be given")
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
        command.refuse(("check takes a lab and a file, got '%s' as well"):format(paths[3]))
    end
    local folder, file = paths[1] or ".", paths[2]
    if #paths == 1 and not delivery.is_folder(folder) then
        folder, file = variants.folder_of(folder), folder
        folder = variants.lab_of(folder) or folder
    end
    if file and not files.exists(file) then
        command.fail(("there is no %s"):format(file))
    end
    return tidy(folder), file
end

local function check(...)
    local options, paths = command.read(line, { ... }, "check")
    local folder, file = read_check(paths)
    local lab_bundle = read_lab(folder)
    file = file or find_submission(folder)
    local list = grader.grade(lab_bundle, { { student = variants.stem(file), file = file } },
        { backend = backend(), jobs = default_jobs(), only_visible = true,
          verbose = options.verbose })
    io.stdout:write(delivery.writer("tap").text(list, lab_bundle))
    io.stdout:flush()
    delivery.complain(list[1])
    os.exit(list[1].score == list[1].points and 0 or 1)
end

-- ---- grade ---------------------------------------------------------------------------------

-- What there is to grade: one submission, or a class.
local function find_submissions(path, is_class, lab_folder)
    if not is_class then
        if not program.file_kind(path) then
            command.fail("there is no " .. path)
        end
        return { { student = variants.stem(path), file = path } }
    end
    local list, others = class.find(path, lab_folder)
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

-- What grade is asked for.
local function read_grade(...)
    local options, paths = command.read(line, { ... }, "grade")
    if #paths ~= 2 then
        command.refuse("grade takes a lab's folder and a submission or a folder of them")
    elseif options.plan and (options.output or options.format or options.jobs) then
        command.refuse("-o and --format are for streamlab merge, -j is for streamlab work, "
            .. "if there is a --plan")
    end
    options.path = tidy(paths[2])
    options.class = delivery.is_folder(options.path)
    delivery.check(options)
    return options, tidy(paths[1])
end

local function write_plan(lab_bundle, submissions, options)
    local count, reason = import("repl/plans/grades.lua").write(options.plan,
        lab_bundle, submissions,
        { class = options.class, backend = backend(), verbose = options.verbose })
    if not count then
        command.fail(reason)
    end
    print(("%d submissions are in %s"):format(count, options.plan))
end

local function grade(...)
    local options, folder = read_grade(...)
    local lab_bundle = read_lab(folder)
    if not lab_bundle.is_complete then
        command.fail(("%s has no tests/hidden.lua; to run the tests that there are: streamlab lab "
            .. "check"):format(lab_bundle.folder))
    end
    local submissions = find_submissions(options.path, options.class, folder)
    if options.plan then
        return write_plan(lab_bundle, submissions, options)
    end
    local delivered = delivery.start(submissions, lab_bundle, options)
    local list = grader.grade(lab_bundle, submissions, { backend = backend(),
        jobs = options.jobs or default_jobs(), verbose = options.verbose,
        finished = delivered.finished, each = delivered.each })
    delivered.close(list)
    os.exit(delivered.failed and 1 or 0)
end

-- ---- new and pack ----------------------------------------------------------------------------

local function new(...)
    local _, folders = command.read(line, { ... }, "new")
    if #folders ~= 1 then
        command.refuse("new takes the folder of the lab to write")
    end
    local written, problem = command.try(import "repl/labs/new.lua", tidy(folders[1]))
    if not written then
        command.fail(problem)
    end
    io.stdout:write(table.concat(written, "\n"), "\n")
end

local function pack(...)
    local options, folders = command.read(line, { ... }, "pack")
    if #folders ~= 1 then
        command.refuse("pack takes a lab's folder")
    end
    local lab_bundle = read_lab(tidy(folders[1]))
    local function grade_one(path)
        local list = grader.grade(lab_bundle, { { student = variants.stem(path), file = path } },
            { backend = "sim", jobs = internals.processors() })
        delivery.complain(list[1])
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

-- ---- print -----------------------------------------------------------------------------------

local function print_variant(...)
    local _, paths = command.read(line, { ... }, "print")
    if #paths ~= 1 then
        command.refuse("print takes a file in right/ or wrong/ of a lab")
    end
    local text, problem = variants.text(paths[1])
    if not text then
        command.fail(problem)
    end
    io.stdout:write(text)
end

local actions = { check = check, grade = grade, new = new, pack = pack, print = print_variant }

local action = actions[words[1]]
if action then
    action(table.unpack(words, 2))
else
    command.read(line, words)
    command.refuse(words[1]
        and ("'%s' is none of check, grade, new, pack and print"):format(words[1])
        or "check, grade, new, pack or print is missing")
end
