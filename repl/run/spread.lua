-- spread.lua - streamlab --spread N SCRIPT: the script runs N times in draws, without output, and
-- then as usual; its recordings get the ranges of the draws' recordings. `streamlab predict` and
-- `compare --spread` make such runs, too.

local alone = import "repl/run/alone.lua"
local lists = import "repl/run/lists.lua"

local draws = internals.need("draws")

local spread = {}

-- ---- runs in draws -----------------------------------------------------------------------------

-- What f(...) gives in draw k of n; as it is where k is 0.
function spread.draw(k, n, f, ...)
    local _ <close> = alone.closer(function() draws.begin() end)
    draws.begin(k, n)
    return f(...)
end

-- Runs an entry once, in draw k of n; as it is where k is 0. Gives {result = what alone.run gives,
-- rows = the rows of spread, parts = a sample of each timeline, wholes = likewise}, or nil and what
-- went wrong.
local function run_once(entry, how, k, n, tell)
    tell(k)
    return spread.draw(k, n, function()
        local result, reason = alone.run(entry, how)
        if not result then
            return nil, reason
        end
        return { result = result, rows = draws.rows(),
                 parts = k > 0 and lists.map(result.parts, draws.sample),
                 wholes = k > 0 and lists.map(result.wholes, draws.sample) }
    end)
end

-- As run_once; but Ctrl-C, whenever it comes, ends it: nil, "interrupted!" and true.
local function run_stoppable(...)
    local fine, run, reason = program.call_stoppable(run_once, ...)
    if fine then
        return run, reason
    elseif not reason then
        error(run, 0)
    end
    return nil, "interrupted!", true
end

-- Appends each of the samples to the list at its place.
local function add_all(by_place, samples)
    for i, sample in ipairs(samples) do
        by_place[i] = by_place[i] or {}
        table.insert(by_place[i], sample)
    end
end

-- Runs an entry as it is and then n times in draws; tell(k) is called before each. Gives {first =
-- what alone.run gives of the first run, parts = a list of samples for each timeline of the draws,
-- wholes = likewise, rows = the rows of spread of all devices that it opened, by name, runs = how
-- many draws there were}, or nil and what went wrong. With how.stops Ctrl-C ends the draws: `runs`
-- is less than n, or there is nothing if there are not two of them.
function spread.run(entry, how, n, tell)
    local all = { parts = {}, wholes = {}, rows = {}, runs = n }
    for k = 0, n do
        local run, reason, stopped = (how.stops and run_stoppable or run_once)(entry,
            how, k, n, tell)
        if stopped then
            all.runs = k - 1
            return k > 2 and all or nil, reason
        elseif not run then
            return nil, k > 0 and ("draw %d of %d: %s"):format(k, n, reason) or reason
        elseif k == 0 then
            all.first = run.result
        else
            add_all(all.parts, run.parts)
            add_all(all.wholes, run.wholes)
        end
        for name, row in pairs(run.rows) do
            all.rows[name] = row
        end
    end
    return all
end

-- The range of each of the first run's timelines that the draws have as well.
function spread.ranges(timelines, samples)
    local ranges = {}
    for i, tl in ipairs(timelines) do
        ranges[i] = samples[i] and draws.range_of(draws.sample(tl), samples[i]) or nil
    end
    return ranges
end

-- ---- the usual run behind them -----------------------------------------------------------------

local trace_name <const> = "streamlab --trace"      -- of the recordings that --trace makes

-- Gives each timeline that is recorded from now on its range.
local function set_ranges(parts, wholes)
    local n_parts, n_wholes = 0, 0
    alone.note_recordings(function(tl, options)
        local range
        if type(options) == "table" and rawget(options, "name") == trace_name then
            n_wholes = n_wholes + 1
            range = wholes[n_wholes]
        else
            n_parts = n_parts + 1
            range = parts[n_parts]
        end
        if range and not tl.recording and tl.range_us then
            return              -- its own, of lab.profile
        elseif range then
            draws.set_range(tl, range)
        end
    end)
end

-- For main.c: before the script runs as usual.
function spread.begin(n, path, ...)
    local entry = { path = path, arguments = { ... } }
    local all, reason = spread.run(entry, { whole = true, writes = false }, n, function() end)
    if all then
        set_ranges(spread.ranges(all.first.parts, all.parts),
            spread.ranges(all.first.wholes, all.wholes))
    else
        internals.notice("--spread: no range is known: " .. internals.safe(reason))
    end
    math.randomseed(alone.seed)
end

return spread
