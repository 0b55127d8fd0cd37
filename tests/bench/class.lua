-- class.lua [STUDENTS] - how long a class takes to grade, for each lab of scripts/labs: its
-- solution, its starter and its wrong solutions, handed in by turns. Prints for each the lab,
-- the number of tests that ran, the seconds, and whether a second run gave the same bytes.
local students = tonumber(arg[1] or 200)
local program = arg[-1]

local function output(command)
    local pipe = assert(io.popen(command))
    local text = pipe:read("a")
    assert(pipe:close(), command)
    return text
end

local function read(path)
    local file = assert(io.open(path, "rb"))
    return file:read("a"), file:close()
end

local folder = output("mktemp -d"):match("[^\n]+")
local clean <close> = setmetatable({}, { __close = function() os.execute("rm -r " .. folder) end })

local function seconds_of(command)
    local before = output("date +%s.%N")
    output(command)
    return tonumber(output("date +%s.%N")) - tonumber(before)
end

local function grade(lab_folder)
    local files, n_tests = {}, 0
    for path in output(("ls %s/solution.lua %s/starter.lua %s/wrong/*.lua")
        :format(lab_folder, lab_folder, lab_folder)):gmatch("[^\n]+") do
        files[#files + 1] = path
    end
    output(("rm -rf %s/class && mkdir %s/class"):format(folder, folder))
    for i = 1, students do
        output(("cp %s %s/class/student-%03d.lua"):format(files[(i - 1) % #files + 1], folder, i))
    end
    local command = ("%s lab grade %s %s/class -o %s/%%s.csv"):format(program, lab_folder, folder,
        folder)
    local seconds = seconds_of(command:format("first"))
    seconds_of(command:format("second"))
    local first = read(folder .. "/first.csv")
    for _ in first:match("[^\n]+"):gmatch("%d%.%d+ ") do
        n_tests = n_tests + students
    end
    print(("%-30s %6d tests %7.1f s  %s"):format(lab_folder:match("[^/]+$"), n_tests, seconds,
        first == read(folder .. "/second.csv") and "same bytes" or "OTHER BYTES"))
end

for path in output("ls -d scripts/labs/*/"):gmatch("([^\n]+)/\n") do
    grade(path)
end
