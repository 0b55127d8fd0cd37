-- alone.lua - runs scripts one after another in this process, each as if it were alone, and keeps
-- the timelines that they record.
--
-- A script has globals of its own, so that it reaches the next one only through modules that both
-- require. While it runs, lab.profile and lab.record note what they record, os.exit ends the run
-- and not the process, stdout leads nowhere, and --trace records nothing. The first run of an entry
-- writes files as always; later ones change none (core/text/divert.h), and stderr leads nowhere as
-- well.

local lists = import "repl/run/lists.lua"

local module = internals.module()
local globals = _G

local alone = { seed = 1 }          -- of math.random, in each run

-- Calls f when it is closed.
function alone.closer(f)
    return setmetatable({}, { __close = function() f() end })
end

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

local function has_only(options, name)
    return type(options) == "table" and options[name] and not next(options, next(options))
end

-- lab.open where the machine is given: its GPUs by their numbers, and nothing else.
local function open_in_machine(device, open)
    return function(options)
        if not has_only(options, "index") then
            error("the device is the one that is compared: a script that calls lab.open cannot be, "
                .. "but for lab.open{ index = N }", 0)
        end
        device:make_current()
        if options.index == device.index then
            return device
        end
        return open { backend = device.backend, index = options.index }
    end
end

-- lab.profile and lab.record call note(timeline).
function alone.note_recordings(note)
    local function noting(f)
        return function(...)
            local results = table.pack(f(...))
            note(results[1], ...)
            return table.unpack(results, 1, results.n)
        end
    end
    module.profile, module.record = noting(module.profile), noting(module.record)
end

-- lab.profile does not record f, and gives note how long it took on the host's clock until the
-- device was idle, {makespan_us =, show =}. That of its second run, and the script gets it as well;
-- with stand_ins, timelines of another run, that of its only run, and the script gets the timeline
-- in whose place it is, so that it can use all methods.
local function time_recordings(note, stand_ins)
    local n = 0
    function module.profile(f, ...)
        local first = has_only(..., "spread") or has_only(..., "keep")
        local arguments, results = table.pack(select(first and 2 or 1, ...)), nil
        local us = module.measure(function()
            results = table.pack(f(table.unpack(arguments, 1, arguments.n)))
        end, { warmup = stand_ins and 0 or 1, reps = 1 }).median_us
        local timed = { makespan_us = us, show = function() end }
        note(timed)
        n = n + 1
        return stand_ins and stand_ins[n] or timed, table.unpack(results, 1, results.n)
    end
    function module.record()
        error("what lab.record records cannot be timed without recording it: use lab.profile", 0)
    end
end

-- Of an entry: what its runs share about files.
local diversions = setmetatable({}, { __mode = "k" })

-- A run of the entry changes no files, unless it is the first one, or `writes` says so. Gives
-- whether it is so.
local function divert(entry, writes)
    if writes then
        return false
    end
    local diverted = writes == false or diversions[entry] ~= nil
    diversions[entry] = diversions[entry] or internals.diversion()
    internals.divert(diversions[entry], diverted)
    return diverted
end

-- Undoes, when it is closed, what is changed behind it: Ctrl-C may come between a change and what
-- would undo it.
local function restorer(how)
    local check_mode, os_exit, open = module.check(), globals.os.exit, module.open
    local profile, record = module.profile, module.record
    return alone.closer(function()
        program.unmute()
        io.output(io.stdout)
        module.open, module.profile, module.record = open, profile, record
        globals.os.exit = os_exit
        internals.set_opened(nil)
        module.check(check_mode)
        if not how.writes then
            internals.divert()
        end
    end)
end

-- Replaces functions; opened(device) is called when a device is opened.
local function replace(how, opened)
    if how.keeps_machine then
        module.open = open_in_machine(internals.current_device(), module.open)
    end
    globals.os.exit = exit
    internals.set_opened(opened)
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

-- Calls start() when a device is opened for the first time, and now if one is open; not for one
-- whose machine is recorded already.
local function at_open(start)
    local seen = {}
    local function opened(device)
        local key = internals.device_key(device)
        if not seen[key] and not internals.is_recorded(device) then
            seen[key] = true
            start()
        end
    end
    local current = internals.current_device()
    if current then
        opened(current)
    end
    return opened
end

-- Waits for the devices of the current one's machine; real GPUs are of one machine.
local function synchronize()
    local current = internals.current_device()
    for _, device in ipairs(current and internals.devices() or {}) do
        local is_beside = device.simulated and internals.beside(device.index) == device
        if is_beside or not device.simulated and not current.simulated then
            device:make_current()
            module.synchronize()
            current:make_current()
        end
    end
end

-- Threads that the script has not joined belong to its run, as at the end of the program.
local function join_threads()
    local failure = internals.join_threads()
    if failure then
        error(failure, 0)
    end
end

local function record_run(main, entry, how)
    local parts, wholes, record = {}, {}, module.record
    local opened = at_open(function()
        wholes[#wholes + 1] = how.whole and record { name = "the whole run" } or nil
    end)
    do
        local _ <close> = restorer(how)
        local _ <close> = alone.closer(internals.join_threads)
        program.mute(divert(entry, how.writes))
        replace(how, opened)
        local watch = how.unrecorded and time_recordings or alone.note_recordings
        watch(function(tl) parts[#parts + 1] = tl end, how.stand_ins)
        math.randomseed(alone.seed)
        if how.open then
            check(pcall(module.with, module.default_stream(), main,
                table.unpack(entry.arguments)))
        else
            check(pcall(main, table.unpack(entry.arguments)))
        end
        join_threads()
        for _, tl in ipairs(wholes) do
            tl:stop()
        end
        synchronize()
    end
    -- A script may have left one recording.
    return { parts = lists.select(parts, function(tl) return not tl.recording end),
             wholes = wholes }
end

-- No device is current: the script opens one, or its first call does.
local function leave_device()
    if internals.current_device() then
        module.use(module.default_stream())
        internals.leave_device()
    end
end

-- Runs the entry, {path =, arguments =}, once. `how`: open, a function that makes the device the
-- current one, without which the script finds none; keeps_machine, whether lab.open gives the other
-- GPUs of that one's machine and no others; whole, whether all that it does is recorded as well;
-- unrecorded, whether what lab.profile is to record is timed instead, and with it stand_ins or nil
-- (time_recordings);
-- writes, true: each run writes files, false: none does, nil: the first one of the entry. Gives
-- {parts = what it records, wholes = all that it does, of each device}; or nil and what went wrong.
function alone.run(entry, how)
    collectgarbage()            -- a tensor's memory is free once its finalizer has run: the
    collectgarbage()            -- second time takes what that left
    local main, message = loadfile(entry.path, "t", environment_of(entry))
    if not main then
        return nil, message
    end
    local _ <close> = not how.open and alone.closer(leave_device) or nil
    (how.open or leave_device)()
    local fine, result = pcall(record_run, main, entry, how)
    if fine then
        return result
    end
    return nil, tostring(result)
end

return alone
