-- 63-refused-races.t.lua - random programs with the race checker in "error" mode, where each call
-- that is refused is let go.
--
-- What is refused has not happened: the program without these calls does the same. What has
-- happened has no race that the oracle (race_oracle.lua) knows, and each refused call would have
-- brought one. So which are refused, and all values, are the same on GPUs whose times have
-- nothing in common; but not where a host function raced: it is refused, or the call that it
-- races with, whichever comes later. STREAMLAB_RACE_PROGRAMS says how many programs are tried.

require "lua.quiet" ()
local T = require "tap"
local programs = require "lua.race_programs"
local gpus = require "lua.race_gpus"

local n_seeds <const> = tonumber(os.getenv("STREAMLAB_RACE_PROGRAMS"))
    or (os.getenv("TAP_GC") and 3) or T.sized(20, 60)

gpus.open()

-- ---- one at a time ----------------------------------------------------------------------

local function strictly(f)
    lab.synchronize()
    lab.check("error")
    f()
    lab.synchronize()
    lab.check("off")
end

local function refused(...)
    local ok, err = pcall(...)
    return not ok and err.code == "SL_ERACE"
end

local function a_refused_call_orders_nothing_for_who_waits_for_its_stream()
    local blocking, other = lab.stream(), lab.stream { non_blocking = true }
    local x, y = lab.zeros(4, 4), lab.zeros(4, 4)
    strictly(function()
        x:fill_(1, lab.default_stream())
        y:fill_(1, other)
        T.ok(refused(y.fill_, y, 2, blocking), "a call in a blocking stream is refused")
        blocking:synchronize()
        T.ok(refused(lab.add, x, 1, { stream = other }),
             "and waiting for that stream is not waiting for the NULL stream")
    end)
end

local function half_a_copy_does_not_happen()
    local s, other = lab.stream(), lab.stream()
    local src, dst = lab.zeros(4, { device = "cpu", pinned = true }),
        lab.zeros(4, { device = "cpu", pinned = true })
    local x, writes = lab.zeros(4), nil
    strictly(function()
        lab.spin(1, { stream = s })
        dst:copy_(x, { stream = other, non_blocking = true })
        s:launch_host_func(function() writes = pcall(src.set, src, 1, 5) end)
        T.ok(refused(dst.copy_, dst, src), "the host's copy is refused for what it would write")
    end)
    T.is(writes, true, "what it would have read, a host function may write")
end

local function a_refused_wait_explains_nothing()
    local blocking, other = lab.stream(), lab.stream { non_blocking = true }
    local x, y, src = lab.zeros(4), lab.zeros(4), lab.zeros(4, { device = "cpu" })
    local wait
    strictly(function()
        y:fill_(1, other)
        x:fill_(1, blocking)
        T.ok(refused(lab.cuda.memcpy, y, src, 16), "a cudaMemcpy is refused")
        lab.default_stream():synchronize()
        wait = debug.getinfo(1, "l").currentline - 1
        lab.add(x, 1, { stream = other })
    end)
    local accident = lab.races()[2]
    T.is(accident and accident.kind, "accident", "what orders by chance afterwards")
    T.like(accident and accident.accident or "", ":" .. wait .. "%)", "is the wait that happened")
end

a_refused_call_orders_nothing_for_who_waits_for_its_stream()
half_a_copy_does_not_happen()
a_refused_wait_explains_nothing()

-- ---- running a program ------------------------------------------------------------------

local function operations(tl)
    local list = {}
    for _, span in ipairs(tl:spans()) do
        list[#list + 1] = { span.correlation, ("%s in %s"):format(span.name, span.stream) }
    end
    table.sort(list, function(a, b) return a[1] < b[1] end)
    for i, item in ipairs(list) do list[i] = item[2] end
    return table.concat(list, "\n")
end

-- {values =, refused = by line, races =, operations =}.
local function run(text, names)
    local values, lines, races, error_text = {}, {}, nil, nil
    local env = setmetatable({}, { __index = _G })
    function env.note(value) values[debug.getinfo(2, "l").currentline] = gpus.flat(value) end
    function env.try(f)
        local ok, err = pcall(f)
        if ok then return end
        if type(err) == "string" or err.code ~= "SL_ERACE" then error_text = tostring(err) end
        lines[debug.getinfo(f, "S").linedefined] = true
    end
    function env.task(f) return function() env.try(f) end end
    lab.check("error")
    local program = assert(load(text, "@random.lua", "t", env))
    local tl = lab.profile(function()
        program()
        lab.synchronize()
    end)
    for _, name in ipairs(names) do values[name] = gpus.flat(env[name]:totable()) end
    races = lab.races()
    lab.check("off")
    return { values = values, refused = lines, races = races, operations = operations(tl),
             error_text = error_text }
end

-- ---- what must hold ---------------------------------------------------------------------

local found = { programs = 0, refused = 0, functions = 0, accidents = 0, equal = 0,
                wrong = 0, clean = 0 }
local shown = 0

local function complain(name, what, text)
    found.wrong = found.wrong + 1
    shown = shown + 1
    if shown <= 3 then T.diag(("program %s: %s\n%s"):format(name, what, text)) end
end

-- Whether the checker may refuse for one of these.
local function has_race(races)
    for _, race in ipairs(races) do
        if race.kind ~= "accident" then return true end
    end
    return false
end

-- A sentence for each thing that the oracle does not agree with.
local function against_oracle(program, lines)
    local list, late = {}, {}
    local o = program:replay(lines, function(o, call, line, mark)
        if not lines[line] then return end
        if call.is_late then
            late[#late + 1] = o.accesses[#o.accesses]
        elseif not has_race(o:races_since(mark)) then
            list[#list + 1] = ("line %d is refused and would not race"):format(line)
        end
    end)
    for _, access in ipairs(late) do
        if not has_race(o:races_with(access)) then
            list[#list + 1] = ("the host function of line %d is refused and would not race")
                :format(access.what)
        end
    end
    for _, race in ipairs(o:races()) do
        if race.kind == "race" and race.second.kind ~= "free" then
            list[#list + 1] = ("lines %d and %d race and have happened")
                :format(race.first.what, race.second.what)
        end
    end
    return list
end

-- Whether a host function raced, and whether there were accidents.
local function traits(races)
    local functions, accidents = false, false
    for _, race in ipairs(races) do
        functions = functions or race.first.by == "host_func" or race.second.by == "host_func"
        accidents = accidents or race.kind == "accident"
    end
    return functions, accidents
end

local function on_gpu(program, name, gpu)
    local guard <close> = lab.use(gpu.stream)
    local text = program:tried()
    local result = run(text, program:left())
    for _, sentence in ipairs(against_oracle(program, result.refused)) do
        complain(name, sentence, text)
    end
    if result.error_text then complain(name, result.error_text, text) end
    result.functions, result.accidents = traits(result.races)
    return result
end

-- The program without what was refused does the same, and nothing of it is refused.
local function runs_without(program, name, gpu, first)
    local guard <close> = lab.use(gpu.stream)
    local text = program:tried(first.refused)
    local result = run(text, program:left())
    if next(result.refused) then complain(name, "without its races it has some", text) end
    if result.operations ~= first.operations then
        complain(name, "other operations than without what was refused", text)
    end
    if not gpus.same(result.values, first.values) then
        complain(name, "other values than without what was refused", text)
    end
end

local function count(result, functions, accidents)
    local n = 0
    for _ in pairs(result.refused) do n = n + 1 end
    found.programs = found.programs + 1
    found.refused = found.refused + n
    if n == 0 then found.clean = found.clean + 1 end
    if functions then found.functions = found.functions + 1 end
    if accidents then found.accidents = found.accidents + 1 end
end

local function try(seed, care, lacks)
    local name = ("%d, care %d"):format(seed, care)
    local program = programs.make(seed, care, { lacks = lacks, clean_graphs = seed % 4 < 2 })
    local results, functions, accidents = {}, false, false
    for i, gpu in ipairs(gpus.list) do
        results[i] = on_gpu(program, name, gpu)
        functions = functions or results[i].functions
        accidents = accidents or results[i].accidents
    end
    count(results[1], functions, accidents)
    if functions then return end
    for i = 2, #results do
        if not gpus.same(results[1].refused, results[i].refused) then
            complain(name, "GPUs 1 and " .. i .. " refuse other calls", program:tried())
        elseif not accidents and not gpus.same(results[1].values, results[i].values) then
            complain(name, "GPUs 1 and " .. i .. " have other values", program:tried())
        end
    end
    local i = seed % #gpus.list + 1
    if not accidents then
        found.equal = found.equal + 1
        runs_without(program, name, gpus.list[i], results[i])
    end
end

for seed = 1, n_seeds do
    try(seed, 40, seed % 2 == 0 and "host_func" or nil)
    try(seed, 80, seed % 2 == 1 and "host_func" or nil)
    collectgarbage()
end

T.is(found.wrong, 0, "what is refused has not happened, and all else has no race")
T.ok(found.refused >= found.programs / 2, ("of %d programs %d had nothing refused; %d calls were")
     :format(found.programs, found.clean, found.refused))
T.ok(found.equal >= found.programs / 3,
     ("%d ran without what was refused (in %d host functions raced, in %d were accidents)")
     :format(found.equal, found.functions, found.accidents))
gpus.close()
T.done()
