-- class.lua [STUDENTS [HOSTILE [LAB ...]]] - how long a class takes to grade, for each lab of
-- scripts/labs, or those that are named: its solution, its starter and its wrong solutions, handed
-- in by turns. Prints for each the lab, the number of tests that ran, the seconds, and whether a
-- second run gave the same bytes. Of the STUDENTS so many are HOSTILE (tests/labs/hostile.lua), and
-- the second run is without these: whether the others get the same bytes.
package.path = "tests/labs/?.lua;" .. package.path
local kinds = require "hostile".kinds
local write_hostile = require "hostile".write

local students, hostile = tonumber(arg[1] or 200), tonumber(arg[2] or 0)
local labs = table.move(arg, 3, #arg, 1, {})
local program = arg[-1]

local function output(command)
    local pipe = assert(io.popen(command))
    local text = pipe:read("a")
    assert(pipe:close(), command)
    return text
end

local folder = output("mktemp -d"):match("[^\n]+")
local clean <close> = setmetatable({}, { __close = function() os.execute("rm -r " .. folder) end })

local function seconds_of(command)
    local before = output("date +%s.%N")
    output(command)
    return tonumber(output("date +%s.%N")) - tonumber(before)
end

-- Writes the submissions; gives the names of the hostile ones, which are spread among the others.
local function write_class(lab_folder)
    local files, names, functions = {}, {}, dofile(lab_folder .. "/lab.lua").functions
    for path in output(("ls %s/solution.lua %s/starter.lua %s/wrong/*")
        :format(lab_folder, lab_folder, lab_folder)):gmatch("[^\n]+") do
        files[#files + 1] = path
    end
    output(("cd %s && rm -rf class first second && mkdir class first second"):format(folder))
    for i = 1, students do
        local before = (i - 1) * hostile // students
        if i * hostile // students > before then
            local kind = kinds[before % #kinds + 1]
            names[#names + 1] = ("student-%03d-%s"):format(i, kind[1])
            write_hostile(kind, ("%s/class/%s.lua"):format(folder, names[#names]), functions)
        else
            local file = files[(i - 1) % #files + 1]
            output(("'%s' lab print %s > %s/class/student-%03d.lua"):format(program, file,
                folder, i))
        end
    end
    return names
end

local function grade(lab_folder)
    local command = ("%s lab grade %s %s/class -o %s/%%s"):format(program, lab_folder, folder,
        folder)
    local names = write_class(lab_folder)
    local seconds = seconds_of(command:format("first"))
    local _, n_tests = output(("cat %s/first/*.json"):format(folder)):gsub('"number":', "")
    for _, name in ipairs(names) do
        assert(os.remove(("%s/class/%s.lua"):format(folder, name)))
        assert(os.remove(("%s/first/%s.json"):format(folder, name)))
    end
    seconds_of(command:format("second"))
    local same = os.execute(("diff -r %s/first %s/second >&2"):format(folder, folder))
    print(("%-30s %6d tests %7.1f s  %s"):format(lab_folder:match("[^/]+$"), n_tests, seconds,
        same and "same bytes" or "OTHER BYTES"))
end

if #labs == 0 then
    for path in output("ls -d scripts/labs/*/"):gmatch("([^\n]+)/\n") do
        labs[#labs + 1] = path
    end
end
for _, path in ipairs(labs) do
    grade(path)
end
