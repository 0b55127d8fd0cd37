-- 62-lab-pack.t.lua - .zip files; the lab that `lab new` writes; what `lab pack` puts where, and
-- what it refuses. Grading itself is played by the test.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local lab = require "streamlab"

local environment = debug.getregistry()["streamlab.environment"]
local program = environment.program
local folder = shell.folder()
local zip = environment.import "repl/labs/zip.lua"
local has_python = shell.sh("command -v python3") ~= ""

local function at(name) return folder .. "/" .. name end

-- The files of a folder and below it, sorted, one a line.
local function listed(path)
    return (shell.sh("cd " .. path .. " && find . -type f | LC_ALL=C sort"))
end

-- ---- .zip files --------------------------------------------------------------------------

local entries = {
    { name = "b/read me.txt", data = ("hello "):rep(10000) },
    { name = "a/run", data = "#!/bin/sh\n", executable = true },
    { name = "é.bin", data = "\0\255\n\r" },
    { name = "empty", data = "" },
}

local list_of_zip <const> = [[
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(archive.testzip())
for i in archive.infolist():
    print(i.filename, i.file_size, oct(i.external_attr >> 16), i.create_system, i.compress_type,
          i.date_time, sep="|")
print(sum(archive.read("b/read me.txt")), list(archive.read("é.bin")))
]]

local one = zip.archive(entries)
shell.write(at "one.zip", one)
tap.ok(one == zip.archive(entries), "the same entries give the same bytes")
tap.ok(#one < 2000, "which are compressed")
if has_python then
    shell.write(at "list.py", list_of_zip)
    tap.is(shell.sh("PYTHONIOENCODING=utf-8 python3 " .. at "list.py" .. " " .. at "one.zip 2>&1"),
        [[
None
b/read me.txt|60000|0o100644|3|8|(1980, 1, 1, 0, 0, 0)
a/run|10|0o100755|3|8|(1980, 1, 1, 0, 0, 0)
é.bin|4|0o100644|3|8|(1980, 1, 1, 0, 0, 0)
empty|0|0o100644|3|8|(1980, 1, 1, 0, 0, 0)
5640000 [0, 255, 10, 13]
]], "Python reads them: names in order, sizes, permissions, the first day of zip's time")
end
if shell.sh("command -v unzip") ~= "" then
    tap.like(shell.sh("unzip -t " .. at "one.zip"), "\nNo errors detected", "so does unzip")
end
tap.is(#zip.archive {}, 22, "nothing at all can be in it")
for _, bad in ipairs { { name = "x" }, { data = "x" }, { name = "a\0b", data = "" },
    { name = "", data = "" }, { name = ("n"):rep(0x10000), data = "" }, 1 } do
    tap.throws_like(function() zip.archive { bad } end, "^zip: entry 1 ",
        "an entry that cannot be one is refused")
end
local many = {}
for i = 1, 0xFFFF do
    many[i] = { name = tostring(i), data = "" }
end
tap.throws_like(function() zip.archive(many) end, "^zip: there are 65535 entries",
    "so are more than the format has numbers for")

-- ---- a new lab -----------------------------------------------------------------------------

local new = environment.import "repl/labs/new.lua"
local variants = environment.import "repl/labs/variants.lua"
local own <const> = at "my-lab"
tap.is(table.concat(new(own), " "), "README.md lab.lua right/one-stream-more.lua solution.lua "
    .. "starter.lua tests/common.lua tests/hidden.lua tests/visible.lua wrong/no-wait.change",
    "a new lab has all files of one")
local bundle = dofile(own .. "/lab.lua")
tap.is(bundle.id, "my-lab", "its id is its folder's name")
tap.is(select(2, new(own)), own
    .. " is there already and not empty; a new lab needs a folder of its own",
    "it goes into no folder with files")
tap.like(select(2, new(own .. "/lab.lua")),
    "^cannot make the folder .*: there is something of that name, and no folder$",
    "and over no file")
tap.like(select(2, new(at "none/x")),
    "^cannot make the folder .*/none/x: No such file or directory$",
    "nor where there is no folder")
os.execute("mkdir '" .. at "my 2nd" .. "'")
tap.ok(new(at "my 2nd/"), "an empty folder will do")
tap.is(dofile(at "my 2nd/lab.lua").id, "copy-and-compute",
    "an id that files cannot have is not taken")

-- A grader for that lab, as small as it can be.

local function same(got, want)
    if type(want) == "number" then
        local sizes = { got:size() }
        sizes[#sizes + 1] = { device = "cpu" }
        want = lab.full(want, table.unpack(sizes))
    end
    return lab.allclose(got:cpu(), want:cpu())
end

-- The assertions that it uses; each failure is noted in `failures`.
local function assertions(failures, held_us)
    local t = {}
    local function check(passed, name)
        if not passed then
            failures[#failures + 1] = name
        end
    end
    function t:close(got, want) check(same(got, want), "close") end
    function t:overlap(tl, a, b, limit)
        local shorter = math.min(tl:busy_us(a), tl:busy_us(b))
        check(100 * tl:overlap_us(a, b) >= limit.at_least_percent * shorter, "overlap")
    end
    function t:no_race() check(#lab.races() == 0, "race") end
    function t:host_block(tl, limit)
        check(100 * held_us() <= limit.at_most_percent * tl.makespan_us, "host_block")
    end
    return t
end

-- The submission's functions, and how long the last call of one held the host.
local function load_submission(path)
    local functions, student, held = setmetatable({ arg = false }, { __index = _G }), {}, 0
    assert(load(variants.text(path), "=" .. path, "t", functions))()
    for _, name in ipairs(bundle.functions) do
        student[name] = function(...)
            local from = lab.now_us()
            local results = table.pack(functions[name](...))
            held = lab.now_us() - from
            return table.unpack(results, 1, results.n)
        end
    end
    return student, function() return held end
end

-- The tests of a lab, numbered, with their functions.
local function tests_of(path)
    local tests = {}
    for i, name in ipairs { "visible", "hidden" } do
        local n = 0
        local globals = setmetatable({
            include = function(file) return dofile(path .. "/tests/" .. file) end,
            test = function(sentence, options, run)
                n = n + 1
                tests[#tests + 1] = { number = i .. "." .. n, name = sentence, run = run,
                                      points = options.points, hidden = name == "hidden" }
            end }, { __index = _G })
        assert(loadfile(("%s/tests/%s.lua"):format(path, name), "t", globals))()
    end
    return tests
end

debug.getregistry()["streamlab.defaults"].notice = function() end      -- races are expected

local function run_test(test, path)
    local failures = {}
    lab.open { backend = "sim", profile = bundle.profile }
    lab.check("warn")
    local student, held_us = load_submission(path)
    test.run(assertions(failures, held_us), student)
    lab.check("off")
    return failures
end

local function grade(path)
    local graded = { student = "x", file = path, score = 0, points = bundle.points, tests = {} }
    for i, test in ipairs(tests_of(own)) do
        local failures = run_test(test, path)
        local passed = #failures == 0
        local score = passed and test.points or 0
        graded.score = graded.score + score
        graded.tests[i] = { number = test.number, name = test.name, points = test.points,
            score = score, passed = passed, hidden = test.hidden,
            output = table.concat(failures, "\n"), printed = "" }
    end
    return graded
end

bundle.folder, bundle.tests = own, tests_of(own)
local points = 0
for _, test in ipairs(bundle.tests) do
    points = points + test.points
end
tap.is(#bundle.tests .. " " .. points, "4 " .. bundle.points, "its tests sum up to its points")

-- "1.2 overlap; 2.2 overlap\nhost_block": what of a submission fails, and why.
local function failing(path)
    local parts = {}
    for _, test in ipairs(grade(path).tests) do
        if not test.passed then
            parts[#parts + 1] = test.number .. " " .. test.output
        end
    end
    return table.concat(parts, "; ")
end
tap.is(failing(own .. "/solution.lua"), "", "its solution passes all tests")
tap.is(failing(own .. "/right/one-stream-more.lua"), "", "so does one that is built otherwise")
tap.is(failing(own .. "/starter.lua"), "1.2 overlap; 2.2 overlap\nhost_block",
       "its starter fails usefully")
tap.is(failing(own .. "/wrong/no-wait.change"), "2.1 race\nclose",
    "its wrong solution fails as it says")
local out, err = shell.sh("cd " .. own .. " && " .. shell.quote(shell.program)
    .. " --backend sim starter.lua")
tap.like(out, " 100%%\n.*, 0 us of them while the kernel works\nnot there yet: ",
    "the starter runs by itself")
tap.is(err, "", "without complaints")

-- ---- packing -------------------------------------------------------------------------------

local pack = environment.import "repl/labs/pack.lua"

-- The program's functions, as the test has them: a small program, and files that are looked at.
shell.write(at "exe", "\127ELF the program")
function program.executable() return at "exe" end
local files = environment.import "repl/run/files.lua"
local archive, packed, made = zip.archive, {}, {}
function zip.archive(list)
    made[#made + 1] = list
    return archive(list)
end
local write_all = files.write_all
function files.write_all(list)
    for i, file in ipairs(list) do
        packed[file.path] = made[#made - #list + i]
    end
    return write_all(list)
end

-- Which tests each file fails; grading takes it from here.
local outcomes = {
    ["solution.lua"] = "", ["starter.lua"] = "1.2 2.1 2.2", ["no-wait.change"] = "1.2 2.1 2.2",
    ["one-stream-more.lua"] = "", ["other.lua"] = "1.1 2.2",
}

local function look_up(path)
    local failed = " " .. outcomes[path:match("[^/]*$")] .. " "
    local graded = { score = 0, points = 100, tests = {} }
    for i, test in ipairs(bundle.tests) do
        local passed = not failed:find(" " .. test.number .. " ", 1, true)
        graded.score = graded.score + (passed and test.points or 0)
        graded.tests[i] = { number = test.number, name = test.name, passed = passed,
                            output = passed and "" or "seen this\nasked that" }
    end
    return graded
end

-- "name name* ..." of a packed file, with a star for what is executable.
local function names_in(path)
    local names = {}
    for i, entry in ipairs(packed[path] or {}) do
        names[i] = entry.name .. (entry.executable and "*" or "")
    end
    return table.concat(names, " ")
end

-- Whether a text is in a packed file.
local function holds(path, text)
    for _, entry in ipairs(packed[path]) do
        if entry.data:find(text, 1, true) then
            return true
        end
    end
    return false
end

-- What lies about in a teacher's folder.
shell.write(own .. "/notes.txt", "the solution is in solution.lua")
shell.write(own .. "/tests/.hidden.lua.swp", "")
shell.write(own .. "/tests/more.lua", "return 1\n")

local student, gradescope = at "out/my-lab-student.zip", at "out/my-lab-gradescope.zip"
local paths, problems = pack(bundle, at "out", look_up)
tap.is_deeply(paths or problems, { student, gradescope }, "a lab that grades as it says is packed")
tap.is(names_in(student), "my-lab/README.md my-lab/lab.lua my-lab/submission.lua "
    .. "my-lab/tests/common.lua my-lab/tests/visible.lua",
    "students get what they need, and nothing else")
tap.is(names_in(gradescope), "setup.sh* run_autograder* streamlab* lab/README.md lab/lab.lua "
    .. "lab/tests/common.lua lab/tests/hidden.lua lab/tests/more.lua lab/tests/visible.lua",
    "Gradescope gets the grader at the root, the lab, and no solution")
tap.is(packed[student][3].data, shell.read(own .. "/starter.lua"),
    "the starter is the submission to be")
tap.is(packed[gradescope][3].data, "\127ELF the program", "the grader is this program")
tap.like(packed[gradescope][2].data, "^#!/bin/sh\n# run_autograder ", "with its scripts")
local secret = shell.read(own .. "/solution.lua"):match("function step.*")
tap.ok(not holds(student, secret) and not holds(gradescope, secret), "the solution is in neither")
tap.ok(not holds(student, "what comes next finds both results"),
    "nor are hidden tests in the students'")
local first, second = shell.read(student), shell.read(gradescope)
pack(bundle, at "out", look_up)
tap.ok(first == shell.read(student) and second == shell.read(gradescope),
    "packed again, the bytes are the same")

shell.write(at "lua-primer.md", "# Lua\n")
shell.write(own .. "/small.lua", "return {}\n")
for _, profile in ipairs { "small.lua", own .. "/small.lua" } do
    bundle.profile = profile
    pack(bundle, at "out", look_up)
    tap.is(names_in(student),
        "my-lab/README.md my-lab/lab.lua my-lab/small.lua my-lab/lua-primer.md "
        .. "my-lab/submission.lua my-lab/tests/common.lua my-lab/tests/visible.lua",
        "a profile's file and the page about Lua go along")
    tap.like(names_in(gradescope), " lab/lab.lua lab/small.lua ",
        "Gradescope needs the profile as well")
end
bundle.profile = "textbook"

-- What packing says to a changed lab; nothing is written then.
local function refuses(want, name)
    os.execute("rm -rf " .. at "out")
    packed = {}
    local fine, list = pack(bundle, at "out", look_up)
    tap.is(not fine and table.concat(list, "\n"), want, name)
    tap.is(next(packed), nil, "and nothing is written")
end

outcomes["solution.lua"] = "1.2 2.2"
refuses("solution.lua must have all points and has 20 of 100 points; it fails 1.2 (the copy runs "
    .. "while the kernel works): seen this", "a solution that is none is refused")
outcomes["solution.lua"], outcomes["one-stream-more.lua"] = "", "2.1"
refuses("right/one-stream-more.lua must have all points and has 90 of 100 points; it fails 2.1 "
    .. "(what comes next finds both results): seen this", "so is a lab that refuses a right one")
outcomes["one-stream-more.lua"] = ""
outcomes["starter.lua"] = "1.2 2.1"
refuses("starter.lua has 70 of 100 points; a starter may have at most 20 %",
    "so is too good a starter")
outcomes["starter.lua"], outcomes["no-wait.change"] = "1.2 2.1 2.2", "1.1 1.2 2.2"
refuses("wrong/no-wait.change fails 1.1 (seen this), which its first line does not "
    .. "name, and passes 2.1, which its first line says it fails",
    "a wrong solution that fails otherwise is refused")
outcomes["starter.lua"], outcomes["no-wait.change"] = "2.1", "1.1 1.2 2.1 2.2"
refuses("starter.lua has 90 of 100 points; a starter may have at most 20 %\nwrong/no-wait.change "
    .. "fails 1.1 (seen this), which its first line does not name", "every fault has its sentence")
outcomes["starter.lua"], outcomes["no-wait.change"] = "1.2 2.1 2.2", "1.2 2.1 2.2"
for _, case in ipairs {
    { "function step() end",
        "the first line must name the tests that it fails, as in -- fails: 1.2 2.1" },
    { "-- fails:\n", "the first line names no test; a wrong solution fails at least one" },
    { "-- fails: 1.1 3.7", "the first line names 3.7, and there is no such test" },
    { "\n-- fails: 1.1 2.2",
        "the first line must name the tests that it fails, as in -- fails: 1.2 2.1" },
} do
    shell.write(own .. "/wrong/other.lua", case[1])
    refuses("wrong/other.lua: " .. case[2], "the first line of a wrong solution is checked")
end
shell.write(own .. "/wrong/other.lua", "-- fails: 1.1, 2.2\r\n")
tap.ok(pack(bundle, at "out", look_up), "commas and Windows' line ends are fine in it")
os.remove(own .. "/tests/hidden.lua")
os.remove(own .. "/README.md")
refuses("the lab has no README.md\nthe lab has no tests/hidden.lua", "what is missing is reported")
shell.write(own .. "/tests/hidden.lua", "")
shell.write(own .. "/README.md", "")
bundle.id = "../x"
refuses("the lab's id, '../x', becomes part of file names: it may have letters, digits, _, - and .",
    "an id that would lead elsewhere is refused")
bundle.id = "my-lab"
tap.like(select(2, pack(bundle, at "exe", look_up))[1],
    "^cannot make the folder .*/exe: there is something of that name, and no folder$",
    "so is a folder that is none")

-- The second file cannot be written.
os.execute("rm -rf " .. at "out" .. "; mkdir -p " .. gradescope)
shell.write(student, "old")
tap.is(select(2, pack(bundle, at "out", look_up))[1],
    "cannot write '" .. gradescope .. "': Is a directory", "an unwritable file is reported")
tap.is(listed(at "out"), "./my-lab-student.zip\n", "which leaves nothing behind")
tap.is(shell.read(student), "old", "and the other one as it was")

-- ---- links ---------------------------------------------------------------------------------

os.execute("rm -rf " .. at "out")
shell.write(at "secret.lua", "root:x:0:0\n")

-- Makes the file of the lab a link; packs; takes it away.
local function packed_with(link, target)
    local path = own .. "/" .. link
    local old = shell.read(path)
    os.remove(path)
    os.execute(("ln -s %s %s"):format(shell.quote(target), shell.quote(path)))
    local fine, list = pack(bundle, at "out", look_up)
    os.remove(path)
    if old then
        shell.write(path, old)
    end
    return fine, not fine and list[1] or nil
end

for link, target in pairs { ["tests/leak.lua"] = at "secret.lua", ["README.md"] = "../secret.lua",
    ["tests/visible.lua"] = at "secret.lua", ["tests/common.lua"] = at "secret.lua",
    ["starter.lua"] = at "secret.lua" } do
    local fine, problem = packed_with(link, target)
    tap.is(not fine and problem, ("%s/%s is not packed: it is a link that leads out of %s, to %s")
        :format(own, link, own, program.real_path(at "secret.lua")),
        link .. " as a link to a file outside of the lab is refused")
    tap.is(shell.sh("ls " .. at "out"), "", "and nothing is packed")
end
shell.write(own .. "/tests/one.lua", "return 1\n")
local fine, problem = packed_with("tests/two.lua", "one.lua")
tap.ok(fine, "a link to another file of the lab is packed as that file")
tap.diag(problem or "")
os.remove(own .. "/tests/one.lua")
os.execute(("mv %s/tests %s/elsewhere && ln -s ../elsewhere %s/tests"):format(own, folder, own))
tap.like(select(2, pack(bundle, at "out", look_up))[1], "is a link that leads out of",
    "a folder that is such a link is refused")
os.execute(("rm %s/tests && mv %s/elsewhere %s/tests"):format(own, folder, own))
os.execute(("mv %s %s/real && ln -s real %s"):format(own, folder, own))
tap.ok(pack(bundle, at "out", look_up), "the lab itself may be reached by a link")

shell.remove(folder)
tap.done()
