-- runs.lua - runs scripts one after another in this process, each as if it were alone, and keeps the
-- timelines that they record.
--
-- A script has globals of its own, so that it reaches the next one only through modules that both
-- require. While it runs, lab.profile and lab.record note what they record, os.exit ends the run
-- and not the process, and stdout leads nowhere.
--
-- A side is what a script did on one GPU: {runs, parts, makespan_us, runs_us, part_runs_us}. `runs`
-- are lists of timelines, `parts` is the median run's, makespan_us the median of runs_us, which are
-- the sums of a run's makespans; part_runs_us[part][run]. One run on a simulated GPU says all; on a
-- real one a first run warms up and several count.

local lists = import "repl/run/lists.lua"
local statistics = import "repl/run/statistics.lua"

local module = internals.module()
local globals = _G
local seed <const> = 1

local runs = {}

-- ---- what a script finds replaced ------------------------------------------------------------

local ended = {}            -- raised by os.exit: {ended, status}

local function exit(status)
    if status == nil or status == true then
        status = 0
    elseif status == false then
        status = 1
    end
    error(setmetatable({ ended, status }, { __tostring = function()
        return ("os.exit(%s)"):format(tostring(status))
    end }), 0)
end

local function refuse_open()
    error("the device is the one that is compared: a script that calls lab.open cannot be", 0)
end

-- Replaces functions until it is closed. `note` gets each timeline.
local function replace(note)
    program.mute()
    local check_mode, os_exit = module.check(), globals.os.exit
    local profile, record, open = module.profile, module.record, module.open
    local function noting(f)
        return function(...)
            local results = table.pack(f(...))
            note(results[1])
            return table.unpack(results, 1, results.n)
        end
    end
    module.profile, module.record, module.open = noting(profile), noting(record), refuse_open
    globals.os.exit = exit
    return setmetatable({}, { __close = function()
        program.unmute()
        io.output(io.stdout)
        module.profile, module.record, module.open = profile, record, open
        globals.os.exit = os_exit
        module.check(check_mode)
    end })
end

-- ---- one run -------------------------------------------------------------------------------

local function environment_of(entry)
    local arguments = table.move(entry.arguments, 1, #entry.arguments, 1, { [0] = entry.path })
    local environment = setmetatable({ arg = arguments }, { __index = globals })
    environment._G = environment
    return environment
end

local function check(succeeded, reason)
    if succeeded then
        return
    elseif type(reason) ~= "table" or rawget(reason, 1) ~= ended then
        error(reason, 0)
    elseif reason[2] ~= 0 then
        error("it ended itself with " .. tostring(reason), 0)
    end
end

local function record_run(main, entry, whole)
    local parts, record = {}, module.record
    do
        local _ <close> = replace(function(tl) parts[#parts + 1] = tl end)
        math.randomseed(seed)
        local tl <close> = whole and record { name = "the whole run" } or nil
        check(pcall(module.with, module.default_stream(), main,
            table.unpack(entry.arguments)))
        if tl then
            tl:stop()
            return { tl }
        end
        module.synchronize()
    end
    -- A script may have left one recording.
    return lists.select(parts, function(tl) return not tl.recording end)
end

-- Runs the entry once on what `open()` makes the current device. `whole`: one timeline of all
-- that it does, else those that it records. Gives a list; or nil and what went wrong.
local function run(entry, open, whole)
    collectgarbage()            -- a tensor's memory is free once its finalizer has run: the
    collectgarbage()            -- second time takes what that left
    local main, message = loadfile(entry.path, "t", environment_of(entry))
    if not main then
        return nil, message
    end
    open()
    local fine, result = pcall(record_run, main, entry, whole)
    if fine then
        return result
    end
    return nil, tostring(result)
end

-- ---- a side ----------------------------------------------------------------------------------

local function side_of(list)
    local runs_us, part_runs_us = {}, {}
    for i, parts in ipairs(list) do
        runs_us[i] = 0
        for part, tl in ipairs(parts) do
            runs_us[i] = runs_us[i] + tl.makespan_us
            part_runs_us[part] = part_runs_us[part] or {}
            table.insert(part_runs_us[part], tl.makespan_us)
        end
    end
    return { runs = list, parts = list[statistics.median_index(runs_us)], runs_us = runs_us,
             makespan_us = statistics.median(runs_us), part_runs_us = part_runs_us }
end

-- On a simulated GPU. `whole`: whether the whole run counts, as for an entry that records nothing by
-- itself; nil: find out. Gives the side and `whole`; or nil and a reason.
function runs.simulated(entry, open, whole)
    local parts, reason = run(entry, open, whole or false)
    if parts and whole == nil and #parts == 0 then
        whole = true
        parts, reason = run(entry, open, whole)
    end
    if not parts then
        return nil, reason
    end
    return side_of { parts }, whole or false
end

-- The timelines of n runs, after one that warms up; or nil and a reason.
local function warm(entry, open, whole, n)
    local list = {}
    for i = 0, n do
        local parts, reason = run(entry, open, whole)
        if not parts then
            return nil, reason
        end
        list[i] = i > 0 and parts or nil
    end
    return list
end

function runs.real(entry, open, whole, n)
    local list, reason = warm(entry, open, whole, n)
    return list and side_of(list), reason
end

-- Runs all entries on the GPU in rounds: each once, then each a second time, and so on. A machine
-- that others use is slower for seconds or minutes; in rounds that falls on one run of many scripts,
-- whose median leaves it out, and not on all runs of a few. Gives by entry {side =} or {reason =}.
-- tell(text) is called with what is done.
function runs.in_rounds(entries, devices, tell)
    local gathered = {}
    for _, entry in ipairs(entries) do
        local parts, reason = run(entry, devices.sim, false)
        gathered[entry] = { whole = parts and #parts == 0, list = {},
                            reason = not parts and "on the simulator: " .. reason or nil }
    end
    for round = 1, devices.runs do
        tell(("round %d of %d"):format(round, devices.runs))
        for _, entry in ipairs(entries) do
            local has = gathered[entry]
            if not has.reason then
                local list, reason = warm(entry, devices.gpu, has.whole, 1)
                has.list[round] = list and list[1]
                has.reason = not list and "on the GPU: " .. reason or nil
            end
        end
    end
    for _, has in pairs(gathered) do
        has.side = not has.reason and side_of(has.list) or nil
    end
    return gathered
end

return runs
