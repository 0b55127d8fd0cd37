-- 61-random-races.t.lua - random programs with the race checker on.
--
-- Each program runs on four simulated GPUs whose times have nothing in common. What the
-- checker lists must be what an oracle works out by itself (race_oracle.lua), on each of them;
-- and wherever two of them give different values, it must have listed something.
-- STREAMLAB_RACE_PROGRAMS says how many numbers are tried (make check-races: 1000).

require "lua.quiet" ()
local T = require "tap"
local programs = require "lua.race_programs"
local gpus = require "lua.race_gpus"

local n_seeds <const> = tonumber(os.getenv("STREAMLAB_RACE_PROGRAMS"))
    or (os.getenv("TAP_GC") and 2) or T.sized(20, 60)
local chunk <const> = "random.lua"

-- ---- running one ------------------------------------------------------------------------

-- What a race is, but for what times decide and what its report says of that. Tensors and
-- operations have other numbers on each device.
local function in_words(race)
    local parts = {}
    for _, name in ipairs { "first", "second" } do
        for _, key in ipairs { "access", "what", "where", "by", "stream", "first_byte", "bytes" } do
            parts[#parts + 1] = tostring(race[name][key])
        end
    end
    for _, key in ipairs { "kind", "made", "accident", "remedy", "remedy_where", "first_byte",
                           "bytes", "count" } do
        parts[#parts + 1] = tostring(race[key])
    end
    parts[#parts + 1] = race.tensor:gsub("%d+", "", 1)
    return table.concat(parts, ", ")
end

-- {values = by line and by name of the tensor, races =}.
local function run(text, names)
    local values, env = {}, setmetatable({}, { __index = _G })
    function env.note(value) values[debug.getinfo(2, "l").currentline] = gpus.flat(value) end
    local races = {}
    local function keep_races()
        local list = lab.check() ~= "off" and lab.races() or {}
        table.move(list, 1, #list, #races + 1, races)
    end
    function env.task(f) return f end
    function env.check(on)
        keep_races()
        lab.check(on and "warn" or "off")
    end
    lab.check("warn")
    assert(load(text, "@" .. chunk, "t", env))()
    lab.synchronize()
    for _, name in ipairs(names) do values[name] = gpus.flat(env[name]:totable()) end
    keep_races()
    lab.check("off")
    for i = 1, 3 do     -- their host functions hold env, which holds them
        if rawget(env, "g" .. i) then env["g" .. i]:free() end
    end
    return { values = values, races = races }
end

gpus.open()

-- ---- comparing with the oracle ----------------------------------------------------------

local function line(where)
    return assert(tonumber(where:match("^" .. chunk .. ":(%d+)$")), where)
end

-- Two lines, of nodes with those of the launches, unless that is one, and that of the memory.
local function key(a, b, made)
    local places = {}
    for i, access in ipairs { a, b } do
        local launched = a.launched ~= b.launched and access.launched
        places[i] = ("%d%s"):format(access.line, launched and "@" .. launched or "")
    end
    table.sort(places)
    return ("%s-%s of %d"):format(places[1], places[2], made)
end

local function of_oracle(access) return { line = access.what, launched = access.launched } end
local function of_checker(access)
    return { line = line(access.where), launched = access.launched and line(access.launched) }
end

-- Of each two lines and memory: whether a report of it is needed, and of which kinds it may be.
local function expected(oracle)
    local set = {}
    for _, race in ipairs(oracle:races()) do
        local k = key(of_oracle(race.first), of_oracle(race.second), race.first.memory)
        local entry = set[k] or { needed = false, kinds = {}, accesses = {} }
        set[k] = entry
        entry.needed = entry.needed or not race.covered
        entry.kinds[race.kind] = true
        if race.kind == "either" then entry.kinds.race, entry.kinds.accident = true, true end
        entry.accesses[race.first.kind .. " " .. race.second.kind] = true
        entry.accesses[race.second.kind .. " " .. race.first.kind] = true
    end
    return set
end

local function key_of(race)
    return key(of_checker(race.first), of_checker(race.second), line(race.made))
end

-- All that are needed, in words. Of the others it may depend on when host functions ran whether
-- they are listed.
local function needed_words(set, races)
    local words, all = {}, {}
    for i, race in ipairs(races) do
        all[i] = in_words(race)
        if set[key_of(race)] and set[key_of(race)].needed then words[#words + 1] = all[i] end
    end
    table.sort(words)
    table.sort(all)
    return table.concat(words, "\n"), table.concat(all, "\n")
end

-- What is wrong about the races found, as a list of sentences.
local function complaints(set, races)
    local list, seen = {}, {}
    for _, race in ipairs(races) do
        local k = key_of(race)
        local entry, accesses = set[k], race.first.access .. " " .. race.second.access
        seen[k] = true
        if not entry then
            list[#list + 1] = k .. " is reported and is no race"
        elseif not entry.accesses[accesses] then
            list[#list + 1] = ("%s is reported as %s"):format(k, accesses)
        elseif not entry.kinds[race.kind] then
            list[#list + 1] = ("%s is reported as %s"):format(k, race.kind)
        end
    end
    for k, entry in pairs(set) do
        if entry.needed and not seen[k] then list[#list + 1] = k .. " is not reported" end
    end
    table.sort(list)
    return list
end

-- ---- all of them ------------------------------------------------------------------------

local found = { programs = 0, races = 0, racy = 0, differ = 0, right_differ = 0, silent = 0,
                oracle = 0, profile = 0, more = 0, right_reported = 0, dropped = 0,
                dropped_racy = 0, accidents = 0 }
local shown = 0

local function count(name, by) found[name] = found[name] + (by or 1) end

local function tell(seed, what, text)
    shown = shown + 1
    if shown <= 3 then T.diag(("program %s: %s\n%s"):format(seed, what, text)) end
end

-- The lines that are in one text only.
local function difference(a, b, gpu)
    local here, list = {}, {}
    for words in a:gmatch("[^\n]+") do here[words] = "GPU 1 only: " end
    for words in b:gmatch("[^\n]+") do
        here[words] = not here[words] and ("GPU %d only: "):format(gpu) or nil
    end
    for words, label in pairs(here) do list[#list + 1] = label .. words end
    table.sort(list)
    return table.concat(list, "\n")
end

-- Runs it on every GPU; gives whether values differ and how many races the first one found.
local function try(name, text, oracle, left, switches)
    local runs, differ, set = {}, false, expected(oracle)
    for i, gpu in ipairs(gpus.list) do
        local guard <close> = lab.use(gpu.stream)
        runs[i] = run(text, left)
        local wrong = complaints(set, runs[i].races)
        runs[i].words, runs[i].all = needed_words(set, runs[i].races)
        if #wrong > 0 then
            count("oracle")
            tell(name, ("GPU %d: "):format(i) .. table.concat(wrong, "\n"), text)
        end
        if runs[i].words ~= runs[1].words then
            count("profile")
            tell(name, difference(runs[1].words, runs[i].words, i), text)
        end
        if runs[i].all ~= runs[1].all then count("more") end
        differ = differ or not gpus.same(runs[1].values, runs[i].values)
    end
    for _, race in ipairs(runs[1].races) do
        if race.kind == "accident" then count("accidents") end
    end
    count("programs")
    count("races", #runs[1].races)
    if #runs[1].races > 0 then count("racy") end
    if differ then count("differ") end
    if differ and #runs[1].races == 0 and not switches then
        count("silent")
        tell(name, "values differ, and nothing is reported", text)
    end
    return differ, #runs[1].races
end

local function in_order(seed)
    local program = programs.make(seed, 100, { graphs = seed % 2 == 0 })
    local text, oracle = program:without()
    local differ, races = try(seed, text, oracle, program:left())
    if differ then count("right_differ") end
    if races > 0 then count("right_reported") end
    local waits = program:waits()
    if #waits == 0 then return end
    text, oracle = program:without(waits[seed % #waits + 1])
    _, races = try(seed .. " without a wait", text, oracle, program:left())
    count("dropped")
    if races > 0 then count("dropped_racy") end
end

local function careless(seed)
    local switches = seed % 3 == 0      -- what races while it is off is not listed
    local program = programs.make(seed, seed % 2 == 0 and 80 or 40,
                                  { switches = switches, graphs = seed % 4 < 2 })
    local text, oracle = program:without()
    try(seed .. ", careless", text, oracle, program:left(), switches)
end

for seed = 1, n_seeds do
    in_order(seed)
    careless(seed)
    collectgarbage()
end

T.is(found.oracle, 0, "the checker lists the races that the oracle has")
T.is(found.profile, 0, ("and the same ones on every GPU (%d times with others that they stand for)")
     :format(found.more))
T.is(found.silent, 0, "where values differ from GPU to GPU something is listed")
T.is(found.right_reported, 0, "in programs in order nothing is")
T.is(found.right_differ, 0, "and their values are the same everywhere")
T.ok(found.dropped_racy >= found.dropped / 3, ("a wait less, and there is a race: in %d of %d")
     :format(found.dropped_racy, found.dropped))
T.ok(found.differ >= found.racy // 5,
     ("of %d programs %d have races (%d in all, %d of them accidents), and in %d values differ")
     :format(found.programs, found.racy, found.races, found.accidents, found.differ))
gpus.close()
T.done()
