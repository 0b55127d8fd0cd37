-- pack.lua - makes the two files of a lab that a course needs: ID-student.zip, for students, and
-- ID-gradescope.zip, from which Gradescope builds its autograder.
--
-- A lab that does not grade as it says is not packed: the solution and every other right solution
-- must have all points, the starter nearly none, and each wrong solution must fail exactly the
-- tests that it names. The files' contents are listed here by name, so that nothing else can
-- leak.

local files = import "repl/run/files.lua"
local lists = import "repl/run/lists.lua"
local variants = import "repl/labs/variants.lua"
local words = import "repl/labs/results/words.lua"
local zip = import "repl/labs/zip.lua"

local most_of_starter <const> = 0.2     -- of the points

-- ---- the self-test -----------------------------------------------------------------

local function first_line(text)
    return text:match("[^\n]+")
end

-- Why a test failed, in a line.
local function reason(test)
    return first_line(test.output) or "it failed"
end

local function check_right(name, graded)
    if graded.problem then
        return name .. ": " .. first_line(graded.problem)
    elseif graded.score < graded.points then
        local failed = lists.select(graded.tests, function(test) return not test.passed end)[1]
        return ("%s must have all points and has %s; it fails %s"):format(name,
            words.points(graded.score, graded.points), failed
            and ("%s (%s): %s"):format(failed.number, failed.name, reason(failed)) or "no test")
    end
end

local function check_starter(graded)
    if graded.score > most_of_starter * graded.points then
        return ("starter.lua has %s; a starter may have at most %d %%"):format(
            words.points(graded.score, graded.points), math.floor(100 * most_of_starter))
    end
end

-- The numbers of the first line, "-- fails: 1.3 2.1", as {["1.3"] = true}; or nil and a sentence.
local function named_failures(bundle, text)
    local list = text:match("^%-%-%s*fails:([^\r\n]*)")
    if not list then
        return nil, "the first line must name the tests that it fails, as in -- fails: 1.2 2.1"
    end
    local known, named = {}, {}
    for _, test in ipairs(bundle.tests) do
        known[test.number] = true
    end
    for number in list:gmatch("[^%s,]+") do
        if not known[number] then
            return nil, ("the first line names %s, and there is no such test"):format(number)
        end
        named[number] = true
    end
    if next(named) == nil then
        return nil, "the first line names no test; a wrong solution fails at least one"
    end
    return named
end

local function check_wrong(bundle, name, text, graded)
    local named, problem = named_failures(bundle, text)
    if not named then
        return ("wrong/%s: %s"):format(name, problem)
    end
    local unexpected = lists.select(graded.tests, function(test)
        return not test.passed and not named[test.number]
    end)
    local passed = lists.select(graded.tests, function(test)
        return test.passed and named[test.number]
    end)
    local parts = {}
    if #unexpected > 0 then
        parts[1] = "fails " .. lists.join(unexpected, function(test)
            return ("%s (%s)"):format(test.number, reason(test))
        end) .. ", which its first line does not name"
    end
    if #passed > 0 then
        parts[#parts + 1] = "passes " .. lists.join(passed, function(test) return test.number end,
            " ") .. ", which its first line says it fails"
    end
    return parts[1] and ("wrong/%s %s"):format(name, table.concat(parts, ", and "))
end

-- The paths of the lab's variants.
local function variants_of(bundle)
    local paths = {}
    for _, part in ipairs { "/right", "/wrong" } do
        local folder = bundle.folder .. part
        lists.append(paths, lists.map(variants.names(folder), function(name)
            return folder .. "/" .. name
        end))
    end
    return paths
end

local needed <const> = { "lab.lua", "README.md", "starter.lua", "solution.lua",
                         "tests/visible.lua", "tests/hidden.lua" }

-- What is missing, which variants are no programs, and whether the id can be part of a file's name;
-- as sentences.
local function check_folder(bundle)
    local absent = lists.select(needed, function(path)
        return not files.exists(bundle.folder .. "/" .. path)
    end)
    local problems = lists.map(absent, function(path) return ("the lab has no %s"):format(path) end)
    for _, path in ipairs(absent[1] and {} or variants_of(bundle)) do
        problems[#problems + 1] = select(2, variants.text(path))
    end
    if not bundle.id:find("^%w[%w_.-]*$") then
        problems[#problems + 1] = ("the lab's id, '%s', becomes part of file names: it may have "
            .. "letters, digits, _, - and ."):format(words.line(bundle.id))
    end
    return problems
end

-- Sentences about what does not grade as it should; none is fine.
local function self_test(bundle, grade)
    local problems = check_folder(bundle)
    if #problems > 0 then
        return problems
    end
    local folder = bundle.folder .. "/"
    problems[#problems + 1] = check_right("solution.lua", grade(folder .. "solution.lua"))
    for _, name in ipairs(variants.names(folder .. "right")) do
        local path = "right/" .. name
        problems[#problems + 1] = check_right(path, grade(folder .. path))
    end
    problems[#problems + 1] = check_starter(grade(folder .. "starter.lua"))
    for _, name in ipairs(variants.names(folder .. "wrong")) do
        local path = folder .. "wrong/" .. name
        local text = assert(variants.text(path))
        problems[#problems + 1] = check_wrong(bundle, name, text, grade(path))
    end
    return problems
end

-- ---- what goes into the files ------------------------------------------------------

-- A link may lead to another file of the lab, but not out of its folder: that would pack a file
-- that is not the course's. Raises a sentence.
local function check_inside(folder, path)
    local real, root = program.real_path(path), program.real_path(folder) .. "/"
    if not real or real:sub(1, #root) ~= root then
        error(("%s is not packed: it is a link that leads out of %s, to %s"):format(path, folder,
            real or "nothing"), 0)
    end
end

-- Adds the file of that name in a folder.
local function add(entries, name, folder, file)
    local path = folder .. "/" .. file
    check_inside(folder, path)
    entries[#entries + 1] = { name = name, data = assert(files.read(path)) }
end

local function add_if_there(entries, name, folder, file)
    if files.exists(folder .. "/" .. file) then
        add(entries, name, folder, file)
    end
end

-- The name of the profile's file beside lab.lua, if it is one.
local function profile_file(bundle)
    local name = bundle.profile
    if name:sub(1, #bundle.folder + 1) == bundle.folder .. "/" then
        name = name:sub(#bundle.folder + 2)
    end
    local is_beside = not name:find("/", 1, true) and files.exists(bundle.folder .. "/" .. name)
    return is_beside and name or nil
end

-- Adds what describes the lab, in the folder `to`.
local function add_description(entries, to, bundle)
    for _, name in ipairs { "README.md", "lab.lua", profile_file(bundle) } do
        add(entries, to .. name, bundle.folder, name)
    end
end

local function student_entries(bundle)
    local from, to, entries = bundle.folder, bundle.id .. "/", {}
    add_description(entries, to, bundle)
    add_if_there(entries, to .. "lua-primer.md", from .. "/..", "lua-primer.md")
    add(entries, to .. "submission.lua", from, "starter.lua")
    add_if_there(entries, to .. "tests/common.lua", from, "tests/common.lua")
    add(entries, to .. "tests/visible.lua", from, "tests/visible.lua")
    return entries
end

local function gradescope_entries(bundle)
    local from, scripts = bundle.folder, "repl/labs/autograder/"
    local entries = {
        { name = "setup.sh", executable = true, data = embedded_text(scripts .. "setup.sh") },
        { name = "run_autograder", executable = true,
          data = embedded_text(scripts .. "run_autograder.sh") },
        { name = "streamlab", executable = true,
          data = assert(files.read(program.executable())) },
    }
    add_description(entries, "lab/", bundle)
    for _, name in ipairs(files.ending_in(from .. "/tests", { ".lua" })) do
        add(entries, "lab/tests/" .. name, from, "tests/" .. name)
    end
    return entries
end

-- Both files, or none. Raises a sentence.
local function write_both(bundle, folder)
    local start = ("%s/%s"):format(folder, bundle.id)
    local student, gradescope = start .. "-student.zip", start .. "-gradescope.zip"
    local written, problem = files.write_all {
        { path = student, text = zip.archive(student_entries(bundle)) },
        { path = gradescope, text = zip.archive(gradescope_entries(bundle)) },
    }
    if not written then
        error(problem, 0)
    end
    return { student, gradescope }
end

-- Writes both files into `folder`. `grade` gives what grading the submission at a path gave.
-- Returns the list of both paths; or nil and a list of sentences, and then nothing is written.
return function(bundle, folder, grade)
    local problems = self_test(bundle, grade)
    if #problems > 0 then
        return nil, problems
    end
    local made, problem = program.make_folder(folder)
    if not made then
        return nil, { problem }
    end
    local fine, result = pcall(write_both, bundle, folder)
    if not fine then
        return nil, { tostring(result) }
    end
    return result
end
