-- alone.lua - runs scripts one after another in this process, each as if it were alone, and keeps the
-- timelines that they record.
--
-- A script has globals of its own, so that it reaches the next one only through modules that both
-- require. While it runs, lab.profile and lab.record note what they record, os.exit ends the run
-- and not the process, stdout leads nowhere, and --trace records nothing.

local lists = import "repl/run/lists.lua"

local module = internals.module()
local globals = _G

local alone = { seed = 1 }          -- of math.random, in each run

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

-- lab.profile and lab.record call note(timeline) until this is closed.
function alone.note_recordings(note)
    local profile, record = module.profile, module.record
    local function noting(f)
        return function(...)
            local results = table.pack(f(...))
            note(results[1], ...)
            return table.unpack(results, 1, results.n)
        end
    end
    module.profile, module.record = noting(profile), noting(record)
    return setmetatable({}, { __close = function()
        module.profile, module.record = profile, record
    end })
end

-- Replaces functions until it is closed; opened(device) is called when a device is opened.
local function replace(how, opened)
    program.mute()
    local check_mode, os_exit, open = module.check(), globals.os.exit, module.open
    module.open = how.refuses_open and refuse_open or open
    globals.os.exit = exit
    internals.set_opened(opened)
    return setmetatable({}, { __close = function()
        program.unmute()
        io.output(io.stdout)
        module.open = open
        globals.os.exit = os_exit
        internals.set_opened(nil)
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

-- Calls start() when a device is opened for the first time, and now if one is open.
local function at_open(start)
    local seen = {}
    local function opened(device)
        local key = internals.device_key(device)
        if not seen[key] then
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

local function record_run(main, entry, how)
    local parts, wholes, record = {}, {}, module.record
    local opened = at_open(function()
        wholes[#wholes + 1] = how.whole and record { name = "the whole run" } or nil
    end)
    do
        local _ <close> = replace(how, opened)
        local _ <close> = alone.note_recordings(function(tl) parts[#parts + 1] = tl end)
        math.randomseed(alone.seed)
        if how.open then
            check(pcall(module.with, module.default_stream(), main,
                table.unpack(entry.arguments)))
        else
            check(pcall(main, table.unpack(entry.arguments)))
        end
        for _, tl in ipairs(wholes) do
            tl:stop()
        end
        if internals.current_device() then
            module.synchronize()
        end
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
-- current one, without which the script finds none; refuses_open, whether lab.open is refused;
-- whole, whether all that it does is recorded as well. Gives {parts = what it records, wholes = all
-- that it does, of each device}; or nil and what went wrong.
function alone.run(entry, how)
    collectgarbage()            -- a tensor's memory is free once its finalizer has run: the
    collectgarbage()            -- second time takes what that left
    local main, message = loadfile(entry.path, "t", environment_of(entry))
    if not main then
        return nil, message
    end
    (how.open or leave_device)()
    local fine, result = pcall(record_run, main, entry, how)
    if not how.open then
        leave_device()
    end
    if fine then
        return result
    end
    return nil, tostring(result)
end

return alone
