-- merge.lua - streamlab merge PLAN: the results of a plan's points as one process would give them.

local command = import "repl/run/command.lua"
local kinds = import "repl/plans/kinds.lua"
local store = import "repl/plans/store.lua"
local working = import "repl/plans/working.lua"

local most_named <const> = 10

local options, words = command.read(import "repl/usage/merge.lua", { ... })

-- An option of another kind of plan would be ignored.
local function check_options(kind)
    local known = { partial = true }
    for _, name in ipairs(kind.merge_options) do
        known[name] = true
    end
    for name in pairs(options) do
        if not known[name] then
            command.refuse(("%s%s is not for a plan of this kind"):format(
                #name > 1 and "--" or "-", name))
        end
    end
end

local read, kind = kinds.read(words)
check_options(kind)
local kept = store.open(read.path)

-- Says why a point has no result; the first ones by name.
local named = 0
local function complain(point, why)
    named = named + 1
    if named <= most_named then
        command.warn(("point %d (%s) %s"):format(point.number, kind.name(read, point), why))
    end
end

local _, is_failed = kept:list()

local function why_missing(point)
    if not is_failed[point.digest] then
        return "has no result"
    end
    local fields, reason = kept:read(point.digest, true)
    return fields and "failed: " .. tostring(fields.message):match("[^\n]*") or reason
end

-- What is kept of a point; or nil and why there is nothing.
local function result_of(point)
    if not kept:is_taken(point.digest) then
        return nil, why_missing(point)
    end
    local fields, reason = kept:read(point.digest)
    local problem = fields and kind.problem_with_result(read, point, fields)
    reason = problem and ("%s is no result: %s"):format(kept:path(point.digest), problem) or reason
    if reason then
        return nil, "has no result that can be read, which is to be removed: " .. reason
    end
    local change = working.change(kind, point, true)
    return not change and fields or nil, change and "has a result that is not taken: " .. change
end

local points, results = {}, {}
for _, number in ipairs(read.numbers) do
    local point = read:point(number)
    local fields, reason = result_of(point)
    if fields then
        points[#points + 1], results[#results + 1] = point, fields
    else
        complain(point, reason)
    end
end

local missing = #read.numbers - #points
if missing > most_named then
    command.warn(("and %d more"):format(missing - most_named))
end
if missing > 0 then
    command.warn(("%d of %d points have no result: streamlab work %s"):format(missing,
        #read.numbers, read.path))
    if not options.partial then
        os.exit(1)
    end
end
read.points = points
local fine = kind.merge(read, results, options)
os.exit(fine and missing == 0 and 0 or 1)
