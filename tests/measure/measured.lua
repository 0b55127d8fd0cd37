-- measured.lua - what tests of the instruments share: their files, and figures that are found
-- again.
local tap = require "tap"
local shell = require "shell"

local measured = {}

-- As in the program, where each file is run once.
local loaded = {}
function measured.import(path)
    if not loaded[path] then
        local env = setmetatable({ import = measured.import }, { __index = _G })
        loaded[path] = assert(loadfile(path, "t", env))()
    end
    return loaded[path]
end

-- "host.launch_us" of a profile, in which "host.launch_us" may also be a name.
function measured.value(profile, key)
    local at = profile[key]
    if at == nil then
        at = profile
        for word in key:gmatch("[^.]+") do
            at = type(at) == "table" and at[word] or nil
        end
    end
    return at
end

-- A table's value at x, as the simulator has it: on a straight line between its points, and at the
-- ends as at the last one.
function measured.at(points, x)
    if x <= points[1][1] then
        return points[1][2]
    end
    for i = 2, #points do
        local a, b = points[i - 1], points[i]
        if x <= b[1] then
            return a[2] + (b[2] - a[2]) * (x - a[1]) / (b[1] - a[1])
        end
    end
    return points[#points][2]
end

-- Whether a figure is within a share of another one; those below `least` as if they were as large.
function measured.near(got, wanted, tolerance, name, least)
    local good = got == wanted or type(got) == "number"
        and math.abs(got - wanted) <= tolerance * math.max(math.abs(wanted), least or 1e-9)
    if not tap.ok(good, ("%s: within %g %%"):format(name, 100 * tolerance)) then
        tap.diag(("got %s, wanted %s"):format(tostring(got), wanted))
    end
end

-- Figures of a profile by their keys, as another one has them.
function measured.found_again(made, truth, keys, tolerance)
    for _, key in ipairs(keys) do
        measured.near(measured.value(made, key), measured.value(truth, key), tolerance, key)
    end
end

-- A value as Lua.
local function text_of(value)
    if type(value) ~= "table" then
        return type(value) == "string" and ("%q"):format(value) or tostring(value)
    end
    local list = {}
    for key, item in pairs(value) do
        list[#list + 1] = ("[%s] = %s"):format(text_of(key), text_of(item))
    end
    return "{" .. table.concat(list, ", ") .. "}"
end
measured.text_of = text_of

-- Writes a profile that is like textbook but for `figures` by their keys, without a `.` in a name.
function measured.write_odd(path, figures)
    local textbook = shell.read("scripts/profiles/textbook.lua")
    local lines = { (textbook:gsub("\nreturn {", "\nlocal t = {")) }
    for key, figure in pairs(figures) do
        lines[#lines + 1] = ("t.%s = %s"):format(key, text_of(figure))
    end
    return shell.write(path, table.concat(lines, "\n") .. "\nreturn t\n")
end

return measured
