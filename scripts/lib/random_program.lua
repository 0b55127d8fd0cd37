-- random_program.lua - what the random programs share (scripts/experiments/random*.lua): arguments,
-- chance by the seed, and a program as a list of steps.
--
--   local program = dofile(folder .. "../lib/random_program.lua")("random", arg or {}, {
--       usage = "usage: ...", flags = {list = true}, numbers = {seed = {0, 0}}})
--
-- Arguments are given, since a script may run with an `arg` of its own. `flags` are arguments
-- without a value, `numbers` those with a whole number: {default, least, most}.

local lab = require "streamlab"
local random = math.random

-- ---- arguments --------------------------------------------------------------------------------

local function refuse(...)
    io.stderr:write(...)
    io.stderr:write("\n")
    os.exit(2, true)
end

local function read_number(text, name, allowed, program)
    local number, least, most = math.tointeger(tonumber(text)), allowed[2], allowed[3]
    if number and number >= least and number <= (most or number) then return number end
    refuse(program, ": --", name, " needs a whole number from ", least,
           most and " to " .. most or " on",
           ", got '", text, "'")
end

local function parse(arguments, program, how)
    local options, i = {}, 1
    for name, allowed in pairs(how.numbers) do options[name] = allowed[1] end
    while arguments[i] do
        local name, equals, value = arguments[i]:match("^%-%-(%l+)(=?)(.*)$")
        if how.numbers[name] and (equals == "=" or value == "") then
            if equals == "" then
                i = i + 1
                value = arguments[i] or ""
            end
            options[name] = read_number(value, name, how.numbers[name], program)
        elseif how.flags[name] and equals .. value == "" then
            options[name] = true
        else
            refuse(program, ": unknown argument '", arguments[i], "'\n", how.usage)
        end
        i = i + 1
    end
    return options
end

-- ---- chance -----------------------------------------------------------------------------------

local function chance(probability) return random() < probability end

-- One of the items of {item, weight, item, weight, ...}.
local function pick(weighted)
    local sum = 0
    for i = 2, #weighted, 2 do sum = sum + weighted[i] end
    local at = random() * sum
    for i = 2, #weighted, 2 do
        at = at - weighted[i]
        if at < 0 then return weighted[i - 1] end
    end
    return weighted[#weighted - 1]
end

-- As many small ones as large ones: the logarithm is even.
local function log_even(least, most) return least * (most / least) ^ random() end

-- ---- a program --------------------------------------------------------------------------------

-- A step is a text and a function that enqueues it. Memory is made beforehand, and kept by a key
-- that names its stream, so that steps of different streams never touch the same.
return function(name, arguments, how)
    local options = parse(arguments, name, how)
    local steps, memory = {}, {}
    local program = { options = options, steps = steps, chance = chance, pick = pick,
                      log_even = log_even }
    math.randomseed(options.seed, 0x5eed)

    -- add(format, ..., f)
    function program.add(text, ...)
        steps[#steps + 1] = { text = text:format(...), run = select(-1, ...) }
    end

    function program.kept(key, make)
        memory[key] = memory[key] or make()
        return memory[key]
    end

    -- An event of one stream that the other waits for.
    function program.wait_for(s, other)
        local timing = chance(0.3)
        local event = lab.with(other.stream, lab.event, { timing = timing })
        program.add("%s: record%s, and %s waits for it", other.name,
            timing and " with its time" or "", s.name, function()
                event:record(other.stream)
                s.stream:wait_event(event)
            end)
    end

    -- The host waits for a stream, or by synchronize() for all.
    function program.host_waits(s, synchronize)
        if chance(0.3) then
            program.add("host: waits for all", synchronize)
        else
            program.add("host: waits for %s", s.name, function() s.stream:synchronize() end)
        end
    end

    function program.run()
        for _, step in ipairs(steps) do step.run() end
    end

    function program.list()
        for i, step in ipairs(steps) do print(("%3d  %s"):format(i, step.text)) end
    end

    function program.show(tl, streams)
        print(("seed %d: %d steps on %d streams, makespan %.3f ms"):format(options.seed, #steps,
            #streams, tl.makespan_us / 1000))
        tl:show()
    end

    return program
end
