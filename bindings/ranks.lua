-- ranks.lua - lab.ranks: what the files of a distributed program's ranks say together. l_ranks.c
-- reads them; bindings/words/ranks.lua has what is printed.

local lab, core = ...

local as, refuse, type_name = core.as, core.refuse, core.type_name
local no_more, check_options = core.arguments.no_more, core.arguments.check_options
local is_list, is_text, is_count = core.arguments.is_list, core.arguments.is_text,
                                   core.arguments.is_count
local did_you_mean = core.arguments.did_you_mean

-- Which rank each file is of -------------------------------------------------------------------

local function name_of(path) return string.match(path, "([^/]+)/*$") or path end

-- "trace_rank-3.json.gz": 3; the last number behind "rank" counts.
local function number_in(name)
    local lower = string.lower(name)
    return math.tointeger(string.match(lower, ".*rank[%s_.=-]*(%d+)") or false)
end

-- From the files, else from their names, else the order in which they are given.
local function number(paths, heads)
    local by_file, by_name = {}, {}
    for i, path in ipairs(paths) do
        by_file[i], by_name[i] = heads[i].rank, number_in(name_of(path))
    end
    if #by_file == #paths then return by_file, "file" end
    if #by_name == #paths then return by_name, "name" end
    local by_order = {}
    for i in ipairs(paths) do by_order[i] = i - 1 end
    return by_order, "order"
end

local function check_heads(paths, heads, numbers)
    local first, seen = nil, {}
    for i, head in ipairs(heads) do
        local path = core.safe(paths[i])
        if head.ranks and first and head.ranks ~= heads[first].ranks then
            refuse("ranks", "'%s' is of a program with %d ranks, and '%s' of one with %d",
                   core.safe(paths[first]), heads[first].ranks, path, head.ranks)
        elseif seen[numbers[i]] then
            refuse("ranks", "'%s' and '%s' are both of rank %d", core.safe(paths[seen[numbers[i]]]),
                   path, numbers[i])
        elseif head.collectives == 0 then
            refuse("ranks", "'%s' has no collective, so that nothing connects it with other ranks",
                   path)
        end
        first = first or head.ranks and i
        seen[numbers[i]] = i
    end
    return first and heads[first].ranks
end

local function make(paths)
    local heads = as("ranks", core.load_ranks, paths)
    local numbers, source = number(paths, heads)
    local world = check_heads(paths, heads, numbers)
    local order = {}
    for i in ipairs(paths) do order[i] = i end
    table.sort(order, function(a, b) return numbers[a] < numbers[b] end)
    local found, alone = as("ranks", heads.match, order)
    if not found then
        refuse("ranks", "'%s' has no collective in common with the other files: they are not of "
               .. "one program, or of different parts of it", core.safe(paths[order[alone]]))
    end
    found.world, found.source = world, source
    for i, place in ipairs(order) do
        found.ranks[i].rank, found.ranks[i].path = numbers[place], paths[place]
    end
    return found
end

-- The object -------------------------------------------------------------------------------------

local found_of = setmetatable({}, { __mode = "k" })

local methods = {}
local fields = { ranks = true, steps = true, collectives = true, doubts = true }
local class <const> = "streamlab.ranks"
local meta = { __name = class, __metatable = class, __methods = methods, __fields = fields }

local function check_self(r, op)
    local found = found_of[r]
    if not found then
        refuse(op, "argument 1 (self) must be what lab.ranks gave, got %s; call it as r:%s()",
               type_name(r), op)
    end
    return found
end

function meta.__index(r, key)
    if methods[key] then return methods[key] end
    if fields[key] then return core.words.ranks[key](check_self(r, "index")) end
    local known = {}
    for _, names in ipairs{ methods, fields } do
        for name in next, names do known[name] = true end
    end
    refuse("", "what lab.ranks gave has no field or method '%s'%s",
           core.safe(string.sub(tostring(key), 1, 60)), did_you_mean(key, known, "'"))
end

function meta.__newindex() refuse("", "what lab.ranks gave has no fields to set") end

function meta.__tostring(r)
    local found = check_self(r, "tostring")
    return string.format("ranks (%d files, %d collective%s in common)", #found.ranks,
                         found.collectives, found.collectives == 1 and "" or "s")
end

local text_options = {
    { "columns", "a whole number from 1 on",
      function(value) return is_count(value) and value > 0 end },
}

function methods.text(r, options, ...)
    no_more(2, "text", ...)
    local found = check_self(r, "text")
    local columns = check_options(options or {}, text_options, "text").columns or 80
    return core.words.ranks.text(found, math.max(24, math.min(columns, 80)))
end

function methods.json(r, ...)
    no_more(1, "json", ...)
    return core.words.ranks.json(check_self(r, "json"))
end

core.define_class(meta)

function lab.ranks(paths, ...)
    no_more(1, "ranks", ...)
    if not is_list(paths, is_text) then
        refuse("ranks", "it needs a list of files: lab.ranks{ \"rank0.json\", \"rank1.json\" }")
    elseif #paths < 2 then
        refuse("ranks", "it needs at least two files, one for each rank, got %d", #paths)
    end
    local r, copy = setmetatable({}, meta), {}
    for i, path in ipairs(paths) do copy[i] = path end
    found_of[r] = make(copy)
    return r
end

-- The metatable, for tests.
return { ranks = meta }
