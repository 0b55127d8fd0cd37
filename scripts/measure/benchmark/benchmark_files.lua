-- benchmark_files.lua - the benchmark's two files, as JSON lines: what GPUs took for random
-- programs, and what a simulator predicts for them. Both may be untrusted, so each field is
-- checked.
-- docs/benchmark.md describes both. Plain Lua: tests/bench reads this file outside of the program.
--
-- Measurements: the first line is {"benchmark": 3, "mixed": DIGEST, ...}, for each family the
-- digest of the files that draw its programs. Each other line is a measurement: one program, which
-- is a family and a seed, on one occasion, which is a day and a machine.
-- Predictions: a line for each program, with its seed, us, and perhaps family (else "mixed"),
-- low_us and high_us.

local families = import "scripts/measure/benchmark/families.lua"
local fields = import "repl/run/fields.lua"
local json = import "repl/run/json_read.lua"
local lists = import "repl/run/lists.lua"

local benchmark_files = { version = 3 }

local most_us <const>, most_lines <const>, most_bytes <const> = 1e12, 1000000, 4096 -- of a line

-- ---- fields ----------------------------------------------------------------------------------

-- Of all fields that are known, each is needed.
local function needed(list)
    for _, field in ipairs(list) do
        field[3] = true
    end
    return list
end

local function is_time(value)
    return math.type(value) ~= nil and value > 0 and value <= most_us
end

local time <const> = { "a time above 0 in us", is_time }
local text <const> = { "a text of 1 to 80 characters", function(value)
    return type(value) == "string" and #value >= 1 and #value <= 80 and not value:find("%c")
end }
local seed <const> = { "a whole number from 0 on", function(value)
    return math.type(value) == "integer" and value >= 0 and value < 1 << 53
end }
local family <const> = { "a family of programs, as in families.lua", function(value)
    return type(value) == "string" and families[value] ~= nil
end }
local measurement_fields <const> = needed {
    { "family", family }, { "seed", seed },
    { "day", { "a day as 2026-11-22", function(value)
        return type(value) == "string" and value:find("^%d%d%d%d%-%d%d%-%d%d$") ~= nil
    end } },
    { "machine", text }, { "gpu", text }, { "driver", text },
    { "us", time }, { "min_us", time }, { "max_us", time },
    { "runs", { "a whole number from 1 on", function(value)
        return math.type(value) == "integer" and value >= 1
    end } },
    { "pageable", fields.boolean }, { "recorded", fields.boolean },
    { "used", { '"adjusting" or "held out"', function(value)
        return value == "adjusting" or value == "held out"
    end } },
}

local prediction_fields <const> = needed { { "seed", seed }, { "us", time } }
local family_field <const> = { { "family", family } }
local range_fields <const> = needed { { "low_us", time }, { "high_us", time } }

local function wrong_measurement(object)
    local wrong = fields.problem(object, measurement_fields)
    if wrong or object.min_us <= object.us and object.us <= object.max_us then
        return wrong
    end
    return "min_us, us and max_us must not decrease"
end

local function wrong_prediction(object)
    local wrong = fields.problem(object, prediction_fields)
        or fields.problem(object, family_field)
    if wrong or not object.low_us and not object.high_us then
        return wrong
    end
    return fields.problem(object, range_fields)
        or object.low_us > object.high_us and "low_us must not be above high_us" or nil
end

-- ---- reading ---------------------------------------------------------------------------------

-- The object of a line, which has neither lists nor objects in it; or nil.
local function object_of(line)
    local object = #line <= most_bytes and line:find("^[ \t]*{") and json.read(line)
    for name, value in pairs(object or {}) do
        if type(name) ~= "string" or type(value) == "table" then
            return nil
        end
    end
    return object or nil
end

-- Calls take(object) with each line's object, which gives nil or what is wrong with it. Gives
-- true; or nil and a sentence.
local function each_object(whole, take)
    local number = 0
    for line in whole:gmatch("[^\n]+") do
        number = number + 1
        local object = object_of(line)
        local wrong = number > most_lines and ("there are more than %d lines"):format(most_lines)
            or not object and "it is no JSON object of plain values" or take(object, number)
        if wrong then
            return nil, ("line %d: %s"):format(number, wrong)
        end
    end
    return true
end

-- Notes that a key is at a line. What is wrong if it was at another one before.
local function again(known, key, number)
    if known[key] then
        return ("the same is in line %d"):format(known[key])
    end
    known[key] = number
end

-- "2026-11-22 a"
function benchmark_files.occasion(measurement)
    return measurement.day .. " " .. measurement.machine
end

-- "graphs 12", of a measurement or a prediction.
function benchmark_files.program(object)
    return ("%s %d"):format(object.family, object.seed)
end

-- Fields by the names of families, and nothing else beside the version.
local function wrong_head(object)
    if object.benchmark ~= benchmark_files.version then
        return ('"benchmark" must be %d'):format(benchmark_files.version)
    end
    for name in pairs(object) do
        if name ~= "benchmark" and not families[name] then
            return ("there is no family %q"):format(name)
        end
    end
    return fields.problem(object, lists.map(families.list, function(one)
        return { one.name, text }
    end))
end

local function wrong_line(object, digests)
    return wrong_measurement(object) or not digests[object.family]
        and ("the first line has no digest of the family %q"):format(object.family) or nil
end

-- {digests by family, list of measurements}; or nil and a sentence.
function benchmark_files.measurements(whole)
    local file, known = { list = {} }, {}
    local fine, wrong = each_object(whole, function(object, number)
        if number == 1 then
            file.digests = object
            return wrong_head(object)
        end
        file.list[number - 1] = object
        return wrong_line(object, file.digests) or again(known, benchmark_files.program(object)
            .. " " .. benchmark_files.occasion(object), number)
    end)
    if fine and not file.digests then
        return nil, "it is empty"
    end
    return fine and file, wrong
end

-- By program {family, seed, us, low_us, high_us}; or nil and a sentence.
function benchmark_files.predictions(whole)
    local predictions, known = {}, {}
    local fine, wrong = each_object(whole, function(object, number)
        local problem = wrong_prediction(object)
        if problem then
            return problem
        end
        object.family = object.family or "mixed"
        local program = benchmark_files.program(object)
        predictions[program] = object
        return again(known, program, number)
    end)
    return fine and predictions, wrong
end

-- ---- writing ---------------------------------------------------------------------------------

-- Texts have no control characters.
local function value_text(value)
    if type(value) == "string" then
        return '"' .. value:gsub('["\\]', "\\%0") .. '"'
    end
    return math.type(value) == "float" and ("%.3f"):format(value) or tostring(value)
end

local function object_line(object, names)
    local parts = {}
    for _, name in ipairs(names) do
        if object[name] ~= nil then
            parts[#parts + 1] = ('"%s": %s'):format(name, value_text(object[name]))
        end
    end
    return "{" .. table.concat(parts, ", ") .. "}\n"
end

-- The text of a file of measurements; or nil and what is wrong with a measurement.
function benchmark_files.measurements_text(file)
    local head = { "benchmark" }
    lists.append(head, lists.map(families.list, function(one) return one.name end))
    file.digests.benchmark = benchmark_files.version
    local lines = { object_line(file.digests, head) }
    local names = lists.map(measurement_fields, function(field) return field[1] end)
    for _, measurement in ipairs(file.list) do
        local wrong = wrong_measurement(measurement)
        if wrong then
            return nil, ("seed %s: %s"):format(measurement.seed, wrong)
        end
        lines[#lines + 1] = object_line(measurement, names)
    end
    return table.concat(lines)
end

-- The text of a file of predictions, of the programs of a list for which there are some.
function benchmark_files.predictions_text(predictions, programs)
    local lines = {}
    for _, one in ipairs(programs) do
        local p = predictions[benchmark_files.program(one)]
        lines[#lines + 1] = p and object_line({ family = one.family, seed = one.seed, us = p.us,
            low_us = p.low_us, high_us = p.high_us },
            { "family", "seed", "us", "low_us", "high_us" })
    end
    return table.concat(lines)
end

-- ---- the generators --------------------------------------------------------------------------

-- Which programs a family's script draws, as 16 hexadecimal digits: FNV-1a of its source and what
-- it shares with others, without comments and without differences in blanks. (A string with "--" in
-- it is cut there, which does no harm.) read(path) gives the text of a file.
function benchmark_files.digest(one, read)
    local source = read(one.script) .. "\n"
    for _, path in ipairs(one.shared) do
        source = source .. read(path) .. "\n"
    end
    local code = source:gsub("%-%-[^\n]*", ""):gsub("%s+", " "):gsub("^ ", "")
    local hash = 0xcbf29ce484222325
    for i = 1, #code do
        hash = (hash ~ code:byte(i)) * 0x100000001b3
    end
    return ("%016x"):format(hash)
end

return benchmark_files
