-- ranks.lua - lab.ranks: what the files of a distributed program's ranks say together. l_ranks.c
-- reads them; bindings/words/ranks.lua has what is printed.

local lab, core = ...

local as, refuse = core.as, core.refuse
local no_more, check_options = core.arguments.no_more, core.arguments.check_options
local is_list, is_text, is_count = core.arguments.is_list, core.arguments.is_text,
                                   core.arguments.is_count

-- Which rank each file is of -------------------------------------------------------------------

local function name_of(path) return string.match(path, "([^/]+)/*$") or path end

-- "trace_rank-3.json.gz": 3; the last number behind "rank" counts.
local function number_in(name)
    local digits = string.match(string.lower(name), ".*rank[%s_.=-]*(%d+)")
    return digits and #digits <= 9 and math.tointeger(digits) or nil
end

-- From the files, else from their names, else the order in which they are given.
local function number(files)
    local by_file, by_name, by_order = {}, {}, {}
    for i, file in ipairs(files) do
        by_file[#by_file + 1] = file.head.rank
        by_name[#by_name + 1] = number_in(name_of(file.path))
        by_order[i] = i - 1
    end
    if #by_file == #files then return by_file, "file" end
    if #by_name == #files then return by_name, "name" end
    return by_order, "order"
end

-- Without the path that it may begin with.
local function reason(path, message)
    local begin = ("'%s': "):format(path)
    return message:sub(1, #begin) == begin and message:sub(#begin + 1) or message
end

-- What is no rank's trace is left out: gives what is taken, {path =, head =} each, and {path =,
-- why =} of the others. Fewer than two are refused.
local function choose(paths, heads)
    local taken, left_out = {}, {}
    for i, path in ipairs(paths) do
        local head = heads[i]
        local why = head.problem and core.safe(reason(path, head.problem))
            or head.collectives == 0
            and "it has no collective, so that nothing connects it with other ranks"
        if why then
            left_out[#left_out + 1] = { path = path, why = why }
        else
            taken[#taken + 1] = { path = path, head = head }
        end
    end
    if #taken < 2 then
        local first = left_out[1]
        refuse("ranks", "'%s' is no trace of a rank: %s; at least two are needed, and of %d files "
               .. "%d %s left", core.safe(first.path), first.why, #paths, #taken,
               #taken == 1 and "is" or "are")
    end
    return taken, left_out
end

local function check(files, numbers)
    local first, seen = nil, {}
    for i, file in ipairs(files) do
        local path, ranks = core.safe(file.path), file.head.ranks
        if ranks and first and ranks ~= first.head.ranks then
            refuse("ranks", "'%s' is of a program with %d ranks, and '%s' of one with %d",
                   core.safe(first.path), first.head.ranks, path, ranks)
        elseif seen[numbers[i]] then
            refuse("ranks", "'%s' and '%s' are both of rank %d: files of one run are needed, one "
                   .. "of each rank", core.safe(seen[numbers[i]]), path, numbers[i])
        end
        first = first or ranks and file
        seen[numbers[i]] = file.path
    end
    return first and first.head.ranks, seen
end

-- Of ranks from 0 on those that have no file: up to three of them, and n = how many.
local function missing_of(seen, world, source)
    local missing, last, n = { n = 0 }, world and world - 1 or -1, 0
    if source == "order" then return missing end
    for rank in next, seen do last, n = math.max(last, rank), n + 1 end
    missing.n = last + 1 - n
    local rank = 0
    while #missing < math.min(missing.n, 3) do
        if not seen[rank] then missing[#missing + 1] = rank end
        rank = rank + 1
    end
    return missing
end

local function make(paths, step, last)
    local heads = as("ranks", core.load_ranks, paths, step, last)
    local files, left_out = choose(paths, heads)
    local numbers, source = number(files)
    local world, seen = check(files, numbers)
    local order, places = {}, {}
    for i in ipairs(files) do order[i] = i end
    table.sort(order, function(a, b) return numbers[a] < numbers[b] end)
    for i, at in ipairs(order) do places[i] = files[at].head.place end
    local found, alone = as("ranks", heads.match, places)
    if not found then
        refuse("ranks", "'%s' has no collective in common with the other files: they are not of "
               .. "one program, or of different parts of it", core.safe(files[order[alone]].path))
    end
    found.world, found.source, found.left_out = world, source, left_out
    found.missing = missing_of(seen, world, source)
    found.step, found.last = step, last
    for i, at in ipairs(order) do
        local rank = found.ranks[i]
        local head = files[at].head
        rank.rank, rank.path = numbers[at], files[at].path
        rank.operations, rank.doubts = head.operations, head.doubts
    end
    return found
end

-- The object -------------------------------------------------------------------------------------

local meta, found_of, check_self = core.need("classes"){
    name = "streamlab.ranks", what = "what lab.ranks gave", call = "r:%s()",
    fields = { ranks = true, steps = true, collectives = true, doubts = true },
    field = function(found, key) return core.words.ranks[key](found) end,
}
local methods = meta.__methods

function meta.__tostring(r)
    local found = check_self(r, "tostring")
    return string.format("ranks (%d files, %d collective%s in common)", #found.ranks,
                         found.collectives, found.collectives == 1 and "" or "s")
end

-- {key =, ranks = their numbers, {rows of timeline:by of the first}, ...}
local function shares_of(found, key)
    local shares = { key = key, ranks = {} }
    for i, rank in ipairs(found.ranks) do
        collectgarbage()        -- which does not know how much memory the last one is
        local tl = as("by", lab.load, rank.path)
        if found.step then
            tl = as("by", tl.part, tl, { step = found.step, last_step = found.last })
        end
        shares.ranks[i], shares[i] = rank.rank, as("by", tl.by, tl, key)
    end
    return shares
end

local text_options = {
    { "by", "a key of timeline:by", is_text },
    { "columns", "a whole number from 1 on",
      function(value) return is_count(value) and value > 0 end },
}

function methods.text(r, options, ...)
    no_more(2, "text", ...)
    local found = check_self(r, "text")
    local checked = check_options(options or {}, text_options, "text")
    local columns = math.max(24, math.min(checked.columns or 80, 80))
    if not checked.by then return core.words.ranks.text(found, columns) end
    return core.words.rank_shares.text(shares_of(found, checked.by), columns)
end

local json_options = { text_options[1] }

function methods.json(r, options, ...)
    no_more(2, "json", ...)
    local found, by = check_self(r, "json"), check_options(options or {}, json_options, "json").by
    if not by then return core.words.ranks.json(found) end
    return core.words.rank_shares.json(shares_of(found, by))
end

-- One timeline at a time is in memory.
function methods.by(r, key, ...)
    no_more(2, "by", ...)
    return core.words.rank_shares.list(shares_of(check_self(r, "by"), key))
end

core.of_ranks = setmetatable({}, { __mode = "k" }) -- by timeline: which rank the others waited for

function methods.timeline(r, ...)
    no_more(1, "timeline", ...)
    local found = check_self(r, "timeline")
    local tl = as("timeline", found.join, found.ranks)
    core.of_ranks[tl] = core.words.ranks.late(found)
    return tl
end

core.define_class(meta)

local rank_options = {
    { "step", "a whole number from 0 on", is_count },
    { "last_step", "a whole number, at least option 'step'", is_count },
}

function lab.ranks(paths, options, ...)
    no_more(2, "ranks", ...)
    local chosen = check_options(options or {}, rank_options, "ranks")
    local step, last = chosen.step, chosen.last_step or chosen.step
    if last and (not step or last < step) then
        refuse("ranks", "option 'last_step' goes with 'step', and is not less")
    end
    if not is_list(paths, is_text) then
        refuse("ranks", "it needs a list of files: lab.ranks{ \"rank0.json\", \"rank1.json\" }")
    elseif #paths < 2 then
        refuse("ranks", "it needs at least two files, one for each rank, got %d", #paths)
    end
    local r, copy = setmetatable({}, meta), {}
    for i, path in ipairs(paths) do copy[i] = path end
    found_of[r] = make(copy, step, last)
    return r
end

-- The metatable, for tests.
return { ranks = meta }
