-- bundle.lua - reads a lab: the folder with lab.lua and the tests.
--
-- lab.lua describes the lab, tests/visible.lua and tests/hidden.lua are its tests. Here the test
-- files are run only to list the tests; each test runs later, in a process of its own (case.lua),
-- which reads the lab again. An error in a lab is raised as {message =}, a sentence that names
-- the file.

local files = import "repl/run/files.lua"
local lists = import "repl/run/lists.lua"

local bundle = {}

local default_limits = { processor_s = 5, wall_s = 20, memory_mib = 512, output_kib = 64 }

local function fail(text, ...)
    error({ message = text:format(...) }, 0)
end

-- ---- files ------------------------------------------------------------------------------

-- Loads a file of the lab as a chunk "tests/hidden.lua", so that no position and no message
-- has the folder's path: what the grader writes is the same everywhere.
local function load_file(folder, name, environment)
    local text, reason = files.read(folder .. "/" .. name)
    if not text then
        fail("cannot read %s", reason)
    end
    local chunk, message = load(text, "=" .. name, "t", environment)
    if not chunk then
        fail("%s/%s", folder, message)
    end
    return chunk
end

local function run(folder, name, chunk, ...)
    local results = table.pack(pcall(chunk, ...))
    local reason = results[2]
    if not results[1] then
        fail("%s: %s fails: %s", folder, name,
            type(reason) == "table" and reason.message or tostring(reason))
    end
    return table.unpack(results, 2, results.n)
end

-- ---- lab.lua -----------------------------------------------------------------------------

local function is_text(value)
    return type(value) == "string" and value ~= "" and not value:find("%c")
end

local function is_positive(value)
    return type(value) == "number" and value > 0 and value < math.huge
end

local function is_list_of_texts(value)
    if type(value) ~= "table" then
        return false
    end
    for key, item in pairs(value) do
        if math.type(key) ~= "integer" or not is_text(item) then
            return false
        end
    end
    return true
end

local function is_list_of_names(value)
    return is_list_of_texts(value) and #value > 0
        and lists.all(value, function(name) return name:find("^[%a_][%w_]*$") end)
end

local visibilities = { hidden = true, after_due_date = true, after_published = true,
    visible = true }

-- What lab.lua may have: {name, what it must be, its test, needed}.
local known = {
    { "id", "a name of letters, digits, '-' and '_'", function(value)
        return is_text(value) and value:find("^[%w_-]+$") ~= nil
    end, true },
    { "title", "a line of text", is_text, true },
    { "points", "a positive number", is_positive, true },
    { "functions", "a list of names", is_list_of_names, true },
    { "profile", "the name of a profile, or a file beside lab.lua", function(value)
        return is_text(value) and not value:find("/")
    end },
    { "limits", "a table", function(value) return type(value) == "table" end },
    { "required", "a list of calls", is_list_of_texts },
    { "forbidden", "a list of calls", is_list_of_texts },
    { "gpus", "a whole number from 1 to 8", function(value)
        return math.type(value) == "integer" and value >= 1 and value <= 8
    end },
    { "kernels", "true or false", function(value) return type(value) == "boolean" end },
    { "hidden_visibility", "hidden, after_due_date, after_published or visible",
        function(value) return visibilities[value] == true end },
}

local known_limits = {}
for name in pairs(default_limits) do
    known_limits[#known_limits + 1] = { name, "a positive number", is_positive }
end

-- A value as messages quote it.
local function shown(value)
    if type(value) == "number" or type(value) == "boolean" then
        return tostring(value)
    end
    return is_text(value) and ('"%.60s"'):format(value) or type(value)
end

-- Raises unless the table has what `fields` asks for and nothing else.
local function check(where, values, fields)
    local names = {}
    for _, field in ipairs(fields) do
        local name, wanted, test, needed = table.unpack(field)
        names[name] = true
        if values[name] == nil and needed then
            fail("%s: '%s' is missing: %s", where, name, wanted)
        elseif values[name] ~= nil and not test(values[name]) then
            fail("%s: '%s' must be %s, got %s", where, name, wanted, shown(values[name]))
        end
    end
    local wrong = {}
    for name in pairs(values) do
        wrong[#wrong + 1] = not names[name] and tostring(name) or nil
    end
    table.sort(wrong)
    if wrong[1] then
        local near = internals.nearest(wrong[1], names)
        fail("%s: there is no '%s'%s", where, wrong[1],
            near and ("; did you mean '%s'?"):format(near) or "")
    end
end

-- The table of lab.lua, with what it leaves out. It is data: its chunk has no globals.
local function read_lab(folder)
    local lab_table = run(folder, "lab.lua", load_file(folder, "lab.lua", {}))
    local where = folder .. "/lab.lua"
    if type(lab_table) ~= "table" then
        fail("%s must return a table, it returns %s", where, type(lab_table))
    end
    check(where, lab_table, known)
    check(where .. ": limits", lab_table.limits or {}, known_limits)
    local result = { folder = folder, profile = "textbook", gpus = 1, required = {}, forbidden = {},
        hidden_visibility = "after_published" }
    for name, value in pairs(lab_table) do
        result[name] = value
    end
    result.limits = {}
    for name, limit in pairs(default_limits) do
        result.limits[name] = lab_table.limits and lab_table.limits[name] or limit
    end
    if result.profile:find("%.lua$") then
        result.profile = folder .. "/" .. result.profile
    end
    return result
end

-- ---- the tests ---------------------------------------------------------------------------

local test_fields = {
    { "points", "a number from 0", function(value)
        return type(value) == "number" and value >= 0 and value < math.huge
    end, true },
    { "hint", "a line of text", is_text },
    { "required", "a list of calls", is_list_of_texts },
    { "forbidden", "a list of calls", is_list_of_texts },
    { "pace", "true, or a list of the numbers of tests", function(value)
        return value == true or is_list_of_texts(value)
    end },
}

-- Of math.random in a file of tests: the numbers are the same each time, and cannot be predicted
-- without the file.
local function seed_of(folder, name)
    local text, seed = files.read(folder .. "/" .. name) or "", 0
    for i = 1, #text do
        seed = seed * 31 + text:byte(i)
    end
    return seed
end

-- The tests of one file in their order, as {name =, options =, run =}; and their seed.
local function collect(folder, name)
    local list, environment, including = {}, {}, { [name] = true }
    for key, value in pairs(_G) do
        environment[key] = value
    end
    environment._G = environment
    function environment.include(file)
        if not is_text(file) or file:find("/") then
            error("include takes the name of a file in tests/", 2)
        end
        local path = "tests/" .. file
        if including[path] then
            error(("include: %s is being read already"):format(path), 2)
        end
        including[path] = true
        local closer <close> = setmetatable({}, { __close = function() including[path] = nil end })
        return load_file(folder, path, environment)()
    end
    function environment.test(title, options, f)
        if not is_text(title) or type(options) ~= "table" or type(f) ~= "function" then
            error("test takes a name, a table of options and a function", 2)
        end
        list[#list + 1] = { name = title, options = options, run = f }
    end
    local chunk = load_file(folder, name, environment)
    local seed = seed_of(folder, name)
    math.randomseed(seed, 0)
    run(folder, name, chunk)
    return list, seed
end

local parts = { { file = "tests/visible.lua" }, { file = "tests/hidden.lua", hidden = true } }

local function add_tests(result, part, part_number)
    local list, seed = collect(result.folder, part.file)
    for i, entry in ipairs(list) do
        local where = ("%s/%s: test \"%s\""):format(result.folder, part.file, entry.name)
        check(where, entry.options, test_fields)
        result.tests[#result.tests + 1] = {
            number = part_number .. "." .. i, name = entry.name, points = entry.options.points,
            hint = entry.options.hint, hidden = part.hidden or false, run = entry.run,
            required = entry.options.required or {}, forbidden = entry.options.forbidden or {},
            pace = entry.options.pace == true and {} or entry.options.pace, seed = seed,
        }
    end
end

-- Raises where a test of pace names a test that there is not. Students lack the hidden ones.
local function check_pace(result)
    local there = {}
    for _, test in ipairs(result.tests) do
        there[test.number] = true
    end
    for _, test in ipairs(result.tests) do
        for _, number in ipairs(test.pace or {}) do
            if number == test.number or result.is_complete and not there[number] then
                fail("%s: test \"%s\": its pace names %s, and there is no other test of this number",
                    result.folder, test.name, number)
            end
        end
    end
end

-- Reads the lab in that folder. A student has no tests/hidden.lua: then `is_complete` is
-- false, and the points of the tests need not add up.
function bundle.read(folder)
    local result = read_lab(folder)
    result.tests = {}
    result.is_complete = files.exists(folder .. "/" .. parts[2].file)
    for number, part in ipairs(parts) do
        if number == 1 or result.is_complete then
            add_tests(result, part, number)
        end
    end
    check_pace(result)
    local sum = 0
    for _, test in ipairs(result.tests) do
        sum = sum + test.points
    end
    if #result.tests == 0 then
        fail("%s has no tests: tests/visible.lua calls test(name, options, f)", folder)
    elseif result.is_complete and math.abs(sum - result.points) > 1e-9 then
        fail("%s: lab.lua says %g points, its tests have %g", folder, result.points, sum)
    end
    return result
end

return bundle
