-- spreads.lua - how uncertain a profile's figures are, and draws from that.
--
-- The key "makespan" is no figure: what a range is widened by beyond its draws, for what no figure
-- varies.
--
-- A profile's `spread` has rows, NAME = {keys = {"host", "calls.cudaFree.us"}, low = 0.9, high =
-- 1.2}: on one machine in ten these figures are below `low` times those of the profile, on one in
-- ten above `high` times. In one draw all figures of a row have the same factor; rows are
-- independent of each other, but for one that has `with`, another row's name: it is high when that
-- one is.
--
-- Draw k of n takes from each row one of n equally likely ranges of factors, and its middle; over
-- all n draws each range comes once (a Latin hypercube). Which one depends on the row's name, or on
-- that of the row that it is drawn with, on k and on n alone, so that every machine draws the same,
-- and so does every profile.

local _, core = ...

local parts = core.need("profile_parts")
local refuse, type_name = core.refuse, core.type_name
local sorted_keys, did_you_mean = core.arguments.sorted_keys, core.arguments.did_you_mean
local show_value = core.arguments.show_value

local spreads = {}

local most_factor <const> = 1000

-- Rows --------------------------------------------------------------------------------------

local function is_table(value) return type(value) == "table" end

-- The rows of `into`, and over them those of `rows`: the fields of one replace those of the row of
-- the same name. An empty table removes a row, or all. Changes neither.
function spreads.merge(into, rows)
    if not is_table(into) or not is_table(rows) then return rows == nil and into or rows end
    if next(rows) == nil then return nil end
    local merged = {}
    for name, row in next, into do merged[name] = row end
    for name, row in next, rows do
        local old = merged[name]
        if is_table(row) and is_table(old) and next(row) ~= nil then
            local both = {}
            for field, value in next, old do both[field] = value end
            for field, value in next, row do both[field] = value end
            row = both
        end
        merged[name] = is_table(row) and next(row) ~= nil and row
            or not is_table(row) and row or nil
    end
    return merged
end

-- Of rows those whose keys are all the host's.
function spreads.of_host(rows)
    if not is_table(rows) then return rows end
    local of_host = {}
    for name, row in next, rows do
        local keys, all = is_table(row) and row.keys, true
        for _, key in ipairs(is_table(keys) and keys or {}) do
            all = all and type(key) == "string" and parts.is_hosts_spread(key)
        end
        if all then of_host[name] = row end
    end
    return of_host
end

-- The figures that a key of a row stands for: its own, or those of the table of that name. A
-- number of bytes in a table is no duration or speed, but where something begins: it stays.
local function figures_at(key, shapes)
    if shapes[key] then return { key } end
    local found = {}
    for name in next, shapes do
        if name:sub(1, #key + 1) == key .. "." and not name:find("bytes$") then
            found[#found + 1] = name
        end
    end
    return found
end

-- For a message: what a key may have been meant to be.
local function nearest_key(key, shapes)
    local known = {}
    for name in next, shapes do
        known[name] = true
        for at in name:gmatch("()%.") do known[name:sub(1, at - 1)] = true end
    end
    return did_you_mean(key, known, "'")
end

local function check_factor(row, field, least, most, fail)
    local value = row[field]
    if type(value) ~= "number" or not (value >= least and value <= most) then
        fail("needs '%s', a number from %g to %g, got %s", field, least, most,
             show_value(value))
    end
    return value
end

-- The set of figures that the keys of a row stand for.
local function figures_of_keys(keys, figures, fail)
    local names = {}
    for i = 1, rawlen(keys) do
        local key = keys[i]
        if type(key) ~= "string" then fail("has a key that is a %s", type_name(key)) end
        local found = figures_at(key, figures.shapes)
        if #found == 0 and figures.flat[key] then
            fail("has the key '%s', which is no number", key)
        end
        if #found == 0 then
            fail("has the key '%s', which the profile does not have%s", core.safe(key),
                 nearest_key(key, figures.shapes))
        end
        for _, figure in ipairs(found) do names[figure] = true end
    end
    return names
end

local known_fields <const> = { keys = true, low = true, high = true, with = true }

local function read_row(name, row, figures, label)
    local function fail(text, ...)
        refuse("open", "%s: spread '%s' " .. text, label, core.safe(tostring(name)), ...)
    end
    if type(name) ~= "string" then fail("must be named") end
    if not is_table(row) then fail("must be a table, is a %s", type_name(row)) end
    for _, field in ipairs(sorted_keys(row)) do
        if not known_fields[field] then
            fail("has an unknown field '%s'; known: keys, low, high, with", tostring(field))
        end
    end
    if row.with ~= nil and type(row.with) ~= "string" then
        fail("needs in 'with' the name of a row, got %s", show_value(row.with))
    end
    if not is_table(row.keys) or rawlen(row.keys) == 0 then
        fail("needs 'keys', a list of the profile's figures or tables")
    end
    local is_rest = rawlen(row.keys) == 1 and row.keys[1] == "makespan"
    return { name = name, with = row.with, is_rest = is_rest,
             figures = is_rest and {} or figures_of_keys(row.keys, figures, fail),
             low = check_factor(row, "low", 1 / most_factor, 1, fail),
             high = check_factor(row, "high", 1, most_factor, fail) }
end

-- The rows as a list by name, of {name, with, figures, low, high, is_rest}; `figures` is a set of
-- keys, none of the rest. `figures`, the argument, has the profile's: flat and shapes.
function spreads.read(rows, figures, label)
    if rows == nil then return {} end
    if not is_table(rows) then refuse("open", "%s: 'spread' is a %s", label, type_name(rows)) end
    local list = {}
    for i, name in ipairs(sorted_keys(rows)) do
        list[i] = read_row(name, rows[name], figures, label)
    end
    return list
end

-- Draws -------------------------------------------------------------------------------------

-- z such that a normal variable is below it with probability p.
local function normal_quantile(p)
    if p < 0.5 then return -normal_quantile(1 - p) end
    local z = 0
    for _ = 1, 60 do            -- Newton's steps, which grow towards z
        local density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        local term, sum, i = z, z, 1
        while term > sum * 1e-17 do     -- z + z^3/3 + z^5/(3 5) + ...
            i = i + 2
            term = term * z * z / i
            sum = sum + term
        end
        local step = (p - 0.5 - density * sum) / density
        if step < 1e-12 then break end
        z = z + step
    end
    return z
end

local z_of_tenth <const> = normal_quantile(0.9)

-- A generator of whole numbers below n, from a text (FNV-1a, then xorshift64*).
local function generator(text)
    local state = -3750763034362895579
    for i = 1, #text do state = (state ~ text:byte(i)) * 1099511628211 end
    if state == 0 then state = 1 end
    return function(n)
        state = state ~ (state >> 12)
        state = state ~ (state << 25)
        state = state ~ (state >> 27)
        return ((state * 2685821657736338717) >> 33) % n
    end
end

local permutations = setmetatable({}, { __mode = "k" })

-- The numbers from 1 to n in an order that depends on the name.
local function permutation(name, n)
    local order, random = {}, generator(name .. "\0" .. n)
    for i = 1, n do order[i] = i end
    for i = n, 2, -1 do
        local j = random(i) + 1
        order[i], order[j] = order[j], order[i]
    end
    return order
end

-- Where draw k of n is among a row's possible values: from 0, the lowest, to 1.
local function quantile(row, k, n)
    local known = permutations[row]
    if not known or #known ~= n then
        known = permutation(row.with or row.name, n)
        permutations[row] = known
    end
    return (known[k] - 0.5) / n
end

-- The factor of a row in draw k of n.
function spreads.factor(row, k, n)
    local z = normal_quantile(quantile(row, k, n))
    return z < 0 and row.low ^ (-z / z_of_tenth) or row.high ^ (z / z_of_tenth)
end

-- A list of numbers, of which the last of each `width` is multiplied.
local function scaled(values, width, by)
    local list = {}
    for i, value in ipairs(values) do list[i] = i % width == 0 and value * by or value end
    return list
end

-- The flat figures of draw k of n, a copy of those that there are if k is 0.
function spreads.draw(figures, k, n)
    local flat, has_chance = {}, false
    for key, value in next, figures.flat do
        flat[key] = value
        has_chance = has_chance or key:find("^chance%.") ~= nil
    end
    for _, row in ipairs(k > 0 and figures.rows or {}) do
        local by = spreads.factor(row, k, n)
        for key in next, row.figures do flat[key] = scaled(flat[key], figures.shapes[key], by) end
    end
    if has_chance and k > 0 then flat["chance.seed"] = { k } end
    return flat
end

return spreads
