-- bundle.lua - reads a lab: the folder with lab.lua and the tests.
--
-- lab.lua describes the lab, tests/visible.lua and tests/hidden.lua are its tests. Here the test
-- files are run only to list the tests; each test runs later, in a process of its own (case.lua),
-- which reads the lab again. An error in a lab is raised as {message =}, a sentence that names
-- the file.

local fields = import "repl/run/fields.lua"
local files = import "repl/run/files.lua"
local lists = import "repl/run/lists.lua"

local bundle = {}

-- Of each of its files.
bundle.most_bytes = 16 << 20

-- What loading its files may take: lab.lua computes a table, the tests are only listed.
local lab_bounds <const> = { instructions = 10000000, bytes = 16 << 20 }
local test_bounds <const> = { instructions = 500000000, bytes = 256 << 20, seconds = 20 }

local function fail(text, ...)
    error({ message = text:format(...) }, 0)
end

-- ---- files ------------------------------------------------------------------------------

-- Loads a file of the lab as a chunk "tests/hidden.lua", so that no position and no message
-- has the folder's path: what the grader writes is the same everywhere.
local function load_file(folder, name, environment)
    local text, reason = files.read_bounded(folder .. "/" .. name, bundle.most_bytes)
    if not text then
        fail("cannot read %s/%s: %s", folder, name, reason)
    end
    local chunk, message = load(text, "=" .. name, "t", environment)
    if not chunk then
        fail("%s/%s", folder, message)
    end
    return chunk
end

-- The chunk's value. It may be anybody's, so it is bounded as a profile is.
local function run(folder, name, chunk, bounds)
    local fine, result = internals.compute(chunk, bounds.instructions, bounds.bytes, bounds.seconds)
    internals.check_interrupt "lab"
    if fine then
        return result
    elseif result == "not enough memory" then
        fail("%s: %s takes more than %d MB of memory", folder, name, bounds.bytes >> 20)
    end
    fail("%s: %s fails: %s", folder, name,
        type(result) == "table" and result.message or tostring(result))
end

-- ---- lab.lua -----------------------------------------------------------------------------

local is_text = fields.is_line

-- What points and limits are can be added up and handed to the system.
local function is_number(least, most)
    return function(value)
        return type(value) == "number" and value >= least and value <= most and value > 0
    end
end

local function is_list_of_texts(value)
    if type(value) ~= "table" then
        return false
    end
    for key, item in next, value do
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

local most_points <const> = 1000000
local list_of_calls <const> = { "a list of calls", is_list_of_texts }

-- What lab.lua may have, as of fields.problem.
local known = {
    { "id", { "a name of letters, digits, '-' and '_'", function(value)
        return is_text(value) and value:find("^[%w_-]+$") ~= nil
    end }, true },
    { "title", { "a line of text", is_text }, true },
    { "points", { ("a positive number up to %d"):format(most_points), is_number(0, most_points) },
        true },
    { "functions", { "a list of names", is_list_of_names }, true },
    { "profile", { "the name of a profile, or a file beside lab.lua", function(value)
        return is_text(value) and not value:find("/")
    end } },
    { "limits", fields.table },
    { "required", list_of_calls },
    { "forbidden", list_of_calls },
    { "gpus", fields.whole(1, 8) },
    { "kernels", fields.boolean },
    { "hidden_visibility", { "hidden, after_due_date, after_published or visible",
        function(value) return visibilities[value] == true end } },
}

-- Each limit's default, and from where to where it goes: a program that starts at all needs some
-- memory, and what is printed is kept in memory.
local limits <const> = {
    { "processor_s", 5, 0.01, 86400 }, { "wall_s", 20, 0.01, 86400 },
    { "memory_mib", 512, 16, 1 << 20 }, { "output_kib", 64, 0.001, 1 << 20 },
}

local known_limits = lists.map(limits, function(limit)
    local name, _, least, most = table.unpack(limit)
    return { name, { ("a number from %g to %d"):format(least, most), is_number(least, most) } }
end)

-- Raises unless the table has what `known_fields` asks for and nothing else.
local function check(where, values, known_fields)
    local problem = fields.problem_in_all(values, known_fields)
    if problem then
        fail("%s: %s", where, problem)
    end
end

-- The table of lab.lua, with what it leaves out. It is data: its chunk has no globals.
local function read_lab(folder)
    local lab_table = run(folder, "lab.lua", load_file(folder, "lab.lua", {}), lab_bounds)
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
    for _, limit in ipairs(limits) do
        local name, default = table.unpack(limit)
        result.limits[name] = lab_table.limits and lab_table.limits[name] or default
    end
    if result.profile:find("%.lua$") then
        result.profile = folder .. "/" .. result.profile
    end
    return result
end

-- ---- the tests ---------------------------------------------------------------------------

local test_fields = {
    { "points", { "a number from 0", fields.number(0, most_points)[2] }, true },
    { "hint", { "a line of text", is_text } },
    { "required", list_of_calls },
    { "forbidden", list_of_calls },
    { "pace", { "true, or a list of the numbers of tests", function(value)
        return value == true or is_list_of_texts(value)
    end } },
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

-- A copy of a library. The grader's process is not a test's to end; and while a file of tests is
-- listed, nothing that it starts could be waited for within bounds.
local function within_bounds(library, whole, listing)
    local copy = {}
    for name, value in next, whole do
        copy[name] = value
    end
    for _, name in ipairs { "execute", "popen" } do
        copy[name] = whole[name] and function(...)
            if listing.now then
                error(("%s.%s: only tests start programs, and these are being listed")
                    :format(library, name), 2)
            end
            return whole[name](...)
        end
    end
    if copy.exit then
        function copy.exit()
            error("os.exit: a lab's tests are listed and run by a process that is not theirs", 2)
        end
    end
    return copy
end

-- The tests of one file in their order, as {name =, options =, run =}; and their seed.
local function collect(folder, name)
    local list, environment, including = {}, {}, { [name] = true }
    local listing = { now = true }
    for key, value in pairs(_G) do
        environment[key] = value
    end
    environment._G = environment
    environment.os = within_bounds("os", os, listing)
    environment.io = within_bounds("io", io, listing)
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
    local closer <close> = setmetatable({}, { __close = program.unmute })
    program.mute(false)         -- what is printed here is nobody's result, and has no end
    run(folder, name, chunk, test_bounds)
    listing.now = false
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
                fail("%s: test \"%s\": its pace names %s, and there is no other test of this "
                    .. "number",
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
