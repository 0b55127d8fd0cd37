-- host_days.lua - a profile's `days`: on which days its host's part was measured, and what was
-- found.
--
-- A list of {date = "2026-11-23 14:05", rounds = 40, calls = {low = 1.1, median = 1.2, high =
-- 1.4}}: a group of figures by its name has the factors of the base's figures in the rounds of that
-- day.
-- No figure of the simulator depends on it; `streamlab calibrate --host` adds a day.

local _, core = ...

local refuse, show_value = core.refuse, core.arguments.show_value
local sorted_keys = core.arguments.sorted_keys

local days = {}

local function is_factor(value)
    return type(value) == "number" and value > 0 and value < math.huge
end

local function check_factors(name, factors, fail)
    if type(factors) ~= "table" then
        fail("needs a table of low, median and high in '%s', got %s", name, show_value(factors))
    end
    for _, field in ipairs { "low", "median", "high" } do
        if not is_factor(factors[field]) then
            fail("needs '%s.%s', a number above 0, got %s", name, field, show_value(factors[field]))
        end
    end
    if factors.low > factors.median or factors.median > factors.high then
        fail("has '%s' out of order: low %g, median %g, high %g", name, factors.low,
             factors.median, factors.high)
    end
end

local function check_day(day, fail)
    if type(day) ~= "table" then fail("must be a table, got %s", show_value(day)) end
    if type(day.date) ~= "string" then
        fail("needs 'date', a text, got %s", show_value(day.date))
    end
    if math.type(day.rounds) ~= "integer" or day.rounds < 1 then
        fail("needs 'rounds', a whole number above 0, got %s", show_value(day.rounds))
    end
    for _, name in ipairs(sorted_keys(day)) do
        if type(name) ~= "string" then fail("has a field without a name") end
        if name ~= "date" and name ~= "rounds" then check_factors(name, day[name], fail) end
    end
end

-- Raises an error unless `list` is such a list, or nil; `label` begins its text.
function days.check(list, label)
    if list == nil then return end
    if type(list) ~= "table" then
        refuse("open", "%s: 'days' must be a list, got %s", label, show_value(list))
    end
    for key in next, list do
        if math.type(key) ~= "integer" or key < 1 or key > rawlen(list) then
            refuse("open", "%s: 'days' must be a list, it has the key %s", label, show_value(key))
        end
    end
    for i = 1, rawlen(list) do
        check_day(list[i], function(text, ...)
            refuse("open", "%s: day %d " .. text, label, i, ...)
        end)
    end
end

return days
