-- delivery.lua - what a teacher gets of graded submissions: a line for each student, a file of
-- results or a folder of them. `streamlab lab grade` and `streamlab merge` deliver the same.

local command = import "repl/run/command.lua"
local files = import "repl/run/files.lua"
local lists = import "repl/run/lists.lua"
local remark = import "repl/labs/results/remark.lua"
local text = import "repl/run/text.lua"
local values = import "repl/run/values.lua"

local delivery = {}

-- What writes results in that format.
function delivery.writer(format)
    return import("repl/labs/results/" .. format .. ".lua")
end
local writer = delivery.writer

function delivery.is_folder(path)
    return program.file_kind(program.real_path(path) or path) == "folder"
end
local is_folder = delivery.is_folder

-- A path without slashes at its end, for messages and for what is put behind it.
function delivery.tidy(path)
    return (path:gsub("(.)/+$", "%1"))
end
local tidy = delivery.tidy

-- ---- what could not be done --------------------------------------------------------------------

local lamented = {}

-- For the teacher: what failed, and once which limits this system could not set.
function delivery.complain(graded)
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

-- ---- where results go ------------------------------------------------------------------------

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
    for _, format in ipairs(values.result_formats) do
        local suffix = writer(format).suffix
        if options.output and options.output:sub(-#suffix) == suffix then
            return format
        end
    end
    if options.output and not options.class then
        command.refuse(("-o needs a file that ends in .json, .tap, .xml or .csv, or "
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

-- Refuses, before anything runs, what cannot be delivered. `options`: output, format, and class,
-- whether there is a folder of submissions.
function delivery.check(options)
    local path = options.output
    if not path then
        if options.class and options.format then
            command.refuse("--format needs -o FILE for a class")
        end
    elseif has_folder(options) then
        if not is_folder(path) and (program.file_kind(path) or path:find("%.%a+$")) then
            command.refuse(needed_for_class:format(path))
        end
    elseif is_folder(path) then
        command.refuse(("-o needs a file, '%s' is a folder"):format(path))
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
    return files.write(path, to.text({ graded }, lab_bundle, name ~= graded.student))
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


-- For those submissions: each(graded) is to be called for each in their order, finished(graded),
-- which may be nil, as soon as one is done, and close(list) at the end. failed: whether something
-- went wrong.
function delivery.start(submissions, lab_bundle, options)
    local self, width = { failed = false }, 0
    local is_printed = not options.output and options.format        -- instead of lines
    for _, submission in ipairs(submissions) do
        width = math.min(math.max(width, width_of(submission.student)), widest)
    end
    if has_folder(options) then
        make_folder(options.output)
        self.finished = deliverer(submissions, lab_bundle, options, function()
            self.failed = true
        end)
    end
    function self.each(graded)
        delivery.complain(graded)
        self.failed = self.failed or graded.broken ~= nil
        if not is_printed then
            io.stdout:write(line_of(graded, width), "\n")
            io.stdout:flush()
        end
    end
    function self.close(list)
        if options.output and not self.finished then
            command.write(options.output, writer(format_of(options)).text(list, lab_bundle))
        elseif is_printed then
            io.stdout:write(writer(options.format).text(list, lab_bundle))
        end
    end
    return self
end

return delivery
