-- predict.lua - streamlab predict SCRIPT...: between which times the makespans of scripts lie on
-- the simulated GPU, and on which uncertain figures of its profile they depend most.

local command = import "repl/run/command.lua"
local entries = import "repl/compare/entries.lua"
local influence = import "repl/predict/influence.lua"
local kept = import "repl/run/kept.lua"
local prediction = import "repl/predict/prediction.lua"

local options, words = command.read(import "repl/usage/predict.lua", { ... })
if #words == 0 then
    command.refuse("a script is needed")
end

-- What scripts find that open no device themselves; opened once, so that an error in a profile is
-- not reported for a script.
local function choose_device()
    internals.set_default("backend", "sim")
    for _, name in ipairs { "profile", "host" } do
        if options[name] then
            internals.set_default(name, options[name])
        end
    end
    if options.profile and not options.host then
        internals.set_default("host", nil)
    end
    if not options.profile and not options.host then
        internals.set_default("host", kept.host())
    end
    command.checked(lab.open)
end

-- "makespan 97.2 ms (90.1 to 106)"
local function makespan_text(figures)
    return "makespan " .. internals.range_text(figures.makespan_us, figures.low_us, figures.high_us)
end

local function say(result)
    print(("%s: %s"):format(command.clean(result.entry.name), makespan_text(result.whole)))
    for i, part in ipairs(#result.parts > 1 and result.parts or {}) do
        print(("    recording %d: %s"):format(i, makespan_text(part)))
    end
    print("    " .. influence.sentence(result.rows, result.whole.makespan_us,
        result.runs))
end

-- On stderr: on a terminal which run it is; else a line now and then. Gives tell(k), and what ends
-- it.
local function progress(entry, n)
    local terminal, every_ns <const> = internals.terminal(2), 10e9
    local since_ns, shown = internals.wall_ns(), false
    local function tell(k)
        local text = k == 0 and "first run" or ("draw %d of %d"):format(k, n)
        if terminal then
            shown = true
            io.stderr:write("\r\27[K", command.clean(entry.name), ": ", text)
        elseif internals.wall_ns() - since_ns > every_ns then
            since_ns = internals.wall_ns()
            command.warn(entry.name .. ": " .. text)
        end
    end
    return tell, function() return shown and io.stderr:write("\r\27[K") end
end

local function predict(entry)
    local n = options.spread or 20
    local tell, done = progress(entry, n)
    local result, reason = prediction.make(entry, n, tell)
    done()
    if not result then
        local stopped = reason == "interrupted!"
        command.warn(entry.name .. ": " .. (stopped and "interrupted: no draw had ended" or reason))
        return false, stopped
    elseif result.runs < n then
        command.warn(("%s: stopped after %d of %d draws"):format(entry.name, result.runs, n))
    end
    if options.json then
        io.stdout:write(prediction.json(result))
    else
        say(result)
    end
    return true, result.runs < n
end

choose_device()
local failed = 0
for _, entry in ipairs(entries.list(words, options.seeds)) do
    local fine, stopped = predict(entry)
    if stopped then
        os.exit(130)
    end
    failed = failed + (fine and 0 or 1)
end
if failed > 0 then
    os.exit(1)
end
