-- lists.lua - lists made from lists.

local lists = {}

-- f(item, index) of each item.
function lists.map(list, f)
    local made = {}
    for i, item in ipairs(list) do
        made[i] = f(item, i)
    end
    return made
end

-- The texts f(item, index), with `between` or ", " between them.
function lists.join(list, f, between)
    return table.concat(lists.map(list, f), between or ", ")
end

-- A table in Lua of the same.
function lists.in_braces(list, f)
    return #list == 0 and "{}" or "{ " .. lists.join(list, f) .. " }"
end

-- The largest value of a field, at least 0.
function lists.most(list, field)
    local most = 0
    for _, item in ipairs(list) do
        most = math.max(most, item[field])
    end
    return most
end

-- The items for which is_wanted(item) is true.
function lists.select(list, is_wanted)
    local some = {}
    for _, item in ipairs(list) do
        some[#some + 1] = is_wanted(item) and item or nil
    end
    return some
end

-- The items by key_of(item): lists {key =, ...} in the order in which the keys come first.
function lists.group(list, key_of)
    local groups, of_key = {}, {}
    for _, item in ipairs(list) do
        local key = key_of(item)
        if not of_key[key] then
            of_key[key] = { key = key }
            groups[#groups + 1] = of_key[key]
        end
        table.insert(of_key[key], item)
    end
    return groups
end

-- Whether a list of numbers or texts comes before another one: their first difference decides.
local function before(a, b)
    for i = 1, math.min(#a, #b) do
        if a[i] ~= b[i] then
            return a[i] < b[i]
        end
    end
    return #a < #b
end

-- A copy, in the order of the lists keys_of(item, index).
function lists.sorted(list, keys_of)
    local keyed = lists.map(list, function(item, i)
        return { keys = keys_of(item, i), item = item }
    end)
    table.sort(keyed, function(a, b) return before(a.keys, b.keys) end)
    return lists.map(keyed, function(one) return one.item end)
end

-- Consecutive items of the same key_of(item), as lists {key =, ...}.
function lists.runs(list, key_of)
    local runs = {}
    for _, item in ipairs(list) do
        local key, last = key_of(item), runs[#runs]
        if not last or last.key ~= key then
            last = { key = key }
            runs[#runs + 1] = last
        end
        table.insert(last, item)
    end
    return runs
end

function lists.any(list, is_wanted)
    for _, item in ipairs(list) do
        if is_wanted(item) then
            return true
        end
    end
    return false
end

function lists.all(list, is_wanted)
    return not lists.any(list, function(item) return not is_wanted(item) end)
end

-- Appends all items of another list.
function lists.append(list, others)
    return table.move(others, 1, #others, #list + 1, list)
end

return lists
