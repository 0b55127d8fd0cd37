-- working.lua - works on points of a plan, one after another, until none is left or SIGTERM comes.

local command = import "repl/run/command.lua"

local working = {}

local most_named <const> = 10           -- of the points that fail

-- Why a result of the point is not taken: its source is no longer as in the plan; nil if it is.
-- Where results are merged it may not be there: then, with `may_lack`, nothing is known against
-- them.
function working.change(kind, point, may_lack)
    local path, has_changed
    if kind.source then
        path, has_changed = kind.source(point)
    end
    if has_changed and not (may_lack and not program.file_kind(path)) then
        return path .. " has changed since the plan was written"
    end
end

-- The points that have a result which is not taken, {[number] = true}.
function working.changed(read, kind, store)
    local changed, is_done = {}, store:list()
    for _, number in ipairs(read.numbers) do
        changed[number] = is_done[read:digest(number)]
            and working.change(kind, read:point(number)) and true or nil
    end
    return changed
end

-- The numbers of the points without a result that is taken; `skips_failed`: also without those that
-- failed.
function working.pending(read, store, changed, skips_failed)
    local list, is_done, is_failed = {}, store:list()
    for _, number in ipairs(read.numbers) do
        local digest = read:digest(number)
        if not (is_done[digest] and not changed[number])
            and not (skips_failed and is_failed[digest]) then
            list[#list + 1] = number
        end
    end
    return list
end

-- Begins the list at an index that differs between processes, so that two that have the same points
-- seldom work on the same one.
function working.rotate(list)
    local from = #list > 1 and math.random(#list) or 1
    return table.move(list, 1, from - 1, #list - from + 2, table.move(list, from, #list, 1, {}))
end

local function keep(written, reason)
    if not written then
        command.fail(reason)
    end
end

-- Works on the points of those numbers; `options`: jobs, how many processes a kind that starts some
-- has at a time; stops, whether the first point that fails is the last; changed, as above. Gives
-- how many are done, how many failed; or nil and why none can be done.
function working.run(read, kind, store, pending, options)
    local taken, done, failed = 0, 0, 0
    local since_ns = internals.wall_ns()
    -- How long a point takes where several run at a time: from one end to the next.
    local function seconds()
        local before_ns = since_ns
        since_ns = internals.wall_ns()
        return (since_ns - before_ns) / 1e9
    end
    local work, changed = { jobs = options.jobs or 1 }, options.changed or {}
    function work.next()
        while pending[taken + 1] and not program.end_came()
                and not (options.stops and failed > 0) do
            taken = taken + 1
            local number = pending[taken]
            if changed[number] or not store:has(read:digest(number)) then
                return read:point(number)
            end
        end
    end
    function work.done(point, fields)
        fields.seconds, done = seconds(), done + 1
        keep(store:add(point.digest, fields))
    end
    function work.failed(point, message)
        failed = failed + 1
        seconds()
        keep(store:add_failure(point.digest, message))
        if failed <= most_named then
            command.warn(("point %d (%s): %s"):format(point.number, kind.name(read, point),
                message:match("[^\n]*")))
        end
    end
    keep(store:prepare())
    program.hold_end()
    local problem = kind.work(read, work)
    if problem then
        return nil, problem
    end
    return done, failed
end

return working
