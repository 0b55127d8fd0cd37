-- jobs.lua - a sweep in several processes of this machine: lab.sweep{jobs =}. Its plan lies in a
-- folder that is removed at the end; each process is a streamlab work that does a shard of it.

local plan = import "repl/plans/plan.lua"
local store = import "repl/plans/store.lua"
local sweeps = import "repl/plans/sweeps.lua"

local jobs = {}

local most_seconds <const> = 1000000
local most_output <const> = 65536

local earlier = {}      -- of each sweep before: its points and results

local function start(path, i, n)
    program.spawn {
        command = { program.executable(), "work", "--quiet", "--stop-failed", "--shard",
                    ("%d/%d"):format(i, n), path },
        environment = true, wall_seconds = most_seconds, output_bytes = most_output,
    }
end

-- The message of the first point that has failed; nil if none has.
local function first_failure(read, kept)
    local _, is_failed = kept:list()
    for _, number in ipairs(read.numbers) do
        if is_failed[read:digest(number)] then
            local fields, reason = kept:read(read:digest(number), true)
            return fields and tostring(fields.message) or reason
        end
    end
end

-- Why a process has not done its points.
local function reason_of(child)
    if child.signal then
        return ("a process of the sweep was ended by signal %d"):format(child.signal)
    end
    return child.errors:match("[^\n]+")
        or ("a process of the sweep ended with status %s"):format(child.status)
end

-- Until all have ended, or one fails.
local function wait(read, kept)
    for child in program.wait do
        if child.status ~= 0 then
            local failure = not child.signal and first_failure(read, kept)
            if failure then
                error(failure, 0)           -- f's own: it names the script's line and the point
            end
            sweeps.fail("SL_EBACKEND", reason_of(child))
        end
    end
end

local function results_of(read, kept)
    local results = {}
    read.points = {}
    for i, number in ipairs(read.numbers) do
        local point = read:point(number)
        local fields, reason = kept:read(point.digest)
        if not fields then
            sweeps.fail("SL_EIO", reason)
        end
        read.points[i], results[i] = point, fields
    end
    return results
end

-- The table of the sweep that `asked` describes, as sweeps.plan has it.
function jobs.run(asked)
    local folder = program.make_scratch()
    local _ <close> = setmetatable({}, { __close = function()
        program.end_children()
        program.remove_scratch(folder)
    end })
    local path = folder .. "/sweep.jsonl"
    local count = sweeps.write(path, asked, earlier)
    local n = math.min(count, asked.jobs == "all" and internals.processors() or asked.jobs)
    for i = 1, n do
        start(path, i, n)
    end
    local read, kept = assert(plan.read(path)), store.open(path)
    wait(read, kept)
    local results = results_of(read, kept)
    earlier[#earlier + 1] = sweeps.pack(read, results)
    return assert(sweeps.table(read, results))
end

return jobs
