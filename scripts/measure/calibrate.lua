-- calibrate.lua - streamlab calibrate: measures a GPU and writes a profile for the simulator.
--
-- Part by part (scripts/measure/calibrate/parts), most of them several times, as the time allows
-- (scripts/measure/calibrate/passes.lua). After each one, the figures so far are written to
-- NAME.lua.partial, so that at most one part is lost if the program ends early.

local command = import "repl/run/command.lua"
local context = import "scripts/measure/calibrate/context.lua"
local difference = import "scripts/measure/calibrate/difference.lua"
local flat = import "scripts/measure/calibrate/flat.lua"
local host_fit = import "scripts/measure/calibrate/host_fit.lua"
local host_run = import "scripts/measure/calibrate/host_run.lua"
local kernel_run = import "scripts/measure/calibrate/kernel_run.lua"
local machine = import "scripts/measure/calibrate/machine.lua"
local measuring = import "repl/run/measuring.lua"
local passes = import "scripts/measure/calibrate/passes.lua"
local report = import "scripts/measure/calibrate/report.lua"
local targets = import "scripts/measure/targets.lua"

-- ---- the command line -------------------------------------------------------------------------

local line <const> = import "repl/usage/calibrate.lua"
local options, words = command.read(line, { ... })

if options.difference then
    if #words ~= 2 then
        command.refuse(("--difference needs two profiles, got %d"):format(#words))
    end
    local a = command.try(measuring.load_profile, words[1])
    local b = command.try(measuring.load_profile, words[2])
    io.stdout:write(difference.text(a, b, words))
    return
end
if not options.kernels then
    targets.refuse_files(words)
elseif #words == 0 then
    command.refuse("--kernels needs a script")
elseif options.only or options.passes or options.host or options.seconds then
    command.refuse("--kernels measures kernels of a script, and nothing else")
end
if not options.output then
    command.refuse("-o NAME.lua is needed: where the profile goes")
elseif options.kernels then
    kernel_run.run(options, words)
    return
elseif options.host then
    if options.only or options.passes then
        command.refuse(("--host measures the host's part as a whole, without --%s"):format(
            options.only and "only" or "passes"))
    end
    options.host = nil              -- a profile's name, for targets.device
    host_run.run(options)
    return
end

-- ---- progress ---------------------------------------------------------------------------------

local tell = command.progress(options)

-- ---- the device and the base ------------------------------------------------------------------

local device = targets.device(options)
local base, base_name = targets.base(options, device)
local n_passes = options.passes or device.simulated and 1 or nil   -- each part's own number
local usual_seconds <const>, programs_seconds <const> = 90, 11
-- No pass but a part's first one begins that would end later; nil: as many as there are.
local limit_us = (options.seconds or not options.passes and usual_seconds or nil)
limit_us = limit_us and (limit_us - programs_seconds) * 1e6

-- What a part does is printed in its first pass.
local c
c = context.new(lab, function(text)
    if c.pass == 1 then
        tell("    " .. text)
    end
end, flat.of(base))
c.base_profile = base

-- ---- the file ---------------------------------------------------------------------------------

local partial = options.output .. ".partial"
local start = os.time()

local function text()
    return report.text(c, base, base_name, machine.text(device), os.time() - start)
end

local function keep_partial(why)
    command.write(partial, text())
    command.fail(("%s; what was measured is in %s"):format(why, partial))
end

-- A key that this simulator does not know must not cost the others.
local function leave_out(key)
    c:find(key, "the simulator knows no such value; found: " .. report.value_text(c.values[key]))
    c:drop(key)
    command.warn(("the simulator knows no value '%s', which is left out"):format(key))
end

-- The text, once the simulator takes it.
local function checked_text()
    while true do
        local made = text()
        local ok, failure = pcall(lab.open, { backend = "sim", profile = load(made)() })
        device:make_current()
        if ok then
            return made
        end
        local message = command.message(failure)
        local key = message:match("unknown key '([^']*)'")
        if not key or not c.notes[key] then
            keep_partial("the simulator does not take the profile: " .. message)
        end
        leave_out(key)
    end
end

-- ---- the parts --------------------------------------------------------------------------------

-- The second GPU of the machine, or nil.
local function open_second()
    if measuring.device_count(device) < 2 then
        return nil
    end
    local second = command.try(lab.open,
                               { backend = device.backend, index = device.index == 0 and 1 or 0 })
    device:make_current()
    return second
end

-- Those that need a second GPU are left out where there is none.
local function chosen_parts()
    local parts, second = {}, nil
    for _, name in ipairs(line.parts) do
        local part = import("scripts/measure/calibrate/parts/" .. name .. ".lua")
        local is_named = options.only and options.only[name]
        if part.needs_second and (is_named or not options.only) then
            second = second or open_second()
            if not second and is_named then
                command.refuse(("the part '%s' needs two GPUs; streamlab --devices 2 "
                    .. "calibrate simulates two"):format(name))
            end
        end
        if is_named or not options.only and (second or not part.needs_second) then
            parts[#parts + 1] = part
        end
    end
    c.second = second
    return parts
end

local function is_interrupt(failure)
    return command.message(failure):find("interrupted!", 1, true) ~= nil
end

-- Whether a part went to its end, from what pcall gave. Ctrl-C goes on.
local function tried(name, ok, failure)
    if not ok then
        if is_interrupt(failure) then
            error(failure, 0)
        end
        command.warn(("the part '%s' failed: %s"):format(name, command.message(failure)))
        c:find(name, "this part failed: " .. command.message(failure))
    end
    return ok
end

local function tell_step(step, n_parts)
    local part = step.part
    if step.pass == 1 then
        tell(("part %d of %d, %s: %s"):format(step.i, n_parts, part.name, part.title))
    else
        tell(("pass %d of %d, %s"):format(step.pass, step.of, part.name))
    end
end

-- The set of names of parts that were measured, without those that failed.
local function measured_of(parts, gone)
    local measured = {}
    for _, part in ipairs(parts) do
        measured[part.name] = not gone[part] or nil
    end
    return measured
end

-- What programs take, which scale the host's figures; false if they cannot be run.
local function programs_of(names)
    local ok, programs = pcall(host_fit.measure, c, names, tell)
    return tried("programs", ok, programs) and programs
end

-- Whether the host's figures could be scaled, if programs were run.
local function fit_host(programs, measured)
    local profile = load(checked_text())()
    return programs == nil
        or programs and tried("programs", pcall(host_fit.run, c, programs, measured, profile))
end

-- Names of parts that failed in a pass, whose other passes are skipped; or of what came after them.
local function run_all(parts)
    local failed, gone = {}, {}
    local programs = programs_of(measured_of(parts, gone))
    local took_us, start_us, n_left_out = {}, lab.now_us(), 0
    local function in_time(step)
        return step.pass == 1 or not limit_us
            or lab.now_us() - start_us + took_us[step.part] <= limit_us
    end
    for _, step in ipairs(passes.steps(parts, n_passes)) do
        if not gone[step.part] and not in_time(step) then
            n_left_out = n_left_out + 1
        elseif not gone[step.part] then
            local began_us = lab.now_us()
            tell_step(step, #parts)
            if not tried(step.part.name, c:run(step)) then
                failed[#failed + 1] = step.part.name
                gone[step.part] = true
            end
            took_us[step.part] = lab.now_us() - began_us
            command.write(partial, text())
            if step.pass == 1 then
                tell(("    %.1f s"):format(took_us[step.part] / 1e6))
            end
        end
    end
    if n_left_out > 0 then
        tell(("left out for lack of time: %d passes"):format(n_left_out))
    end
    if not fit_host(programs, measured_of(parts, gone)) then
        failed[#failed + 1] = "programs"
    end
    return failed
end

local parts = chosen_parts()
command.try_file(options.output)
command.try_file(partial)
local measured, failed = pcall(run_all, parts)
if not measured then
    if is_interrupt(failed) then
        command.warn("stopped; what the parts before this one have measured is in " .. partial)
    end
    error(failed, 0)
end

local made = checked_text()
if #failed > 0 then
    keep_partial("failed: " .. table.concat(failed, ", "))
end
command.write(options.output, made)
os.remove(partial)
tell(("%s: %d values in %d s"):format(options.output, #c.order, os.time() - start))
