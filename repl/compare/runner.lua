-- runner.lua - runs scripts one after another in this process, each as if it were alone, and
-- hands out the timelines that they record.
--
-- A script has globals of its own, so that nothing reaches the next one but the modules that it
-- requires. While it runs, lab.profile and lab.record note what they record, os.exit ends the
-- run instead of the process, and stdout leads nowhere.

local module = internals.module()
local globals = _G
local seed <const> = 1

local runner = {}

-- ---- what a script finds exchanged ---------------------------------------------------------

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

-- Exchanges functions until it is closed. `note` gets each timeline.
local function exchange(note)
    program.mute()
    local check_mode = module.check()
    local profile, record, open, os_exit = module.profile, module.record, module.open,
        globals.os.exit
    local function noted_profile(...)
        local results = table.pack(profile(...))
        note(results[1])
        return table.unpack(results, 1, results.n)
    end
    local function noted_record(...)
        local tl = record(...)
        note(tl)
        return tl
    end
    module.profile, module.record, module.open = noted_profile, noted_record, refuse_open
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

-- Those that are complete; a script may have left one running.
local function complete(parts)
    local list = {}
    for _, tl in ipairs(parts) do
        if not tl.recording then
            list[#list + 1] = tl
        end
    end
    return list
end

local function run(main, entry, whole)
    local parts = {}
    local record <const> = module.record
    do
        local _ <close> = exchange(function(tl) parts[#parts + 1] = tl end)
        math.randomseed(seed)
        local tl <close> = whole and record { name = "the whole run" } or nil
        check(pcall(module.with, module.default_stream(), main,
            table.unpack(entry.arguments)))
        if tl then
            tl:stop()
            parts = { tl }
        else
            module.synchronize()
        end
    end
    return complete(parts)
end

-- Runs the entry once on what `open()` makes the current device. `whole`: one timeline of all
-- that it does, else those that it records. Gives a list; or nil and what went wrong.
function runner.run(entry, open, whole)
    collectgarbage()            -- a tensor's memory is free once its finalizer has run: the
    collectgarbage()            -- second time takes what that left
    local main, message = loadfile(entry.path, "t", environment_of(entry))
    if not main then
        return nil, message
    end
    open()
    local fine, result = pcall(run, main, entry, whole)
    if fine then
        return result
    end
    return nil, tostring(result)
end

return runner
