-- kinds.lua - what there are plans of. Each kind is a table of functions:
--   problem_with_body(body)        why it is no plan of this kind; nil if it is one
--   problem_with_point(values, body, taken)    why it is no point of such a plan, or nil; `taken`
--                          is {} before the first point, and has what may stand in one point only
--   problem_with_result(read, point, fields)   why the fields of a file are no result of this
--                          point, or nil
--   source(point)          the path of the file that the point is about, and whether it is no
--                          longer as in the plan; nil where points have no file of their own
--   name(read, point)      the point, for people
--   work(read, work)       works on the points that work.next() gives, and calls work.done(point,
--                          fields) or work.failed(point, message) for each; gives why nothing can
--                          be done, or nil
--   merge(read, results, options)     delivers the results; whether all went well
--   merge_options          of the command line
-- `read` is what plan.lua reads, for merge with `points`, a list of those that have results; fields
-- are a table that json.lua can write; results[i] are those of points[i].

local command = import "repl/run/command.lua"
local plan = import "repl/plans/plan.lua"

local kinds = {}

local files <const> = { sweep = "repl/plans/sweep_results.lua", grade = "repl/plans/grades.lua",
                        compare = "repl/plans/comparisons.lua" }

-- Points that two versions work on have results of both.
local function say_version(read)
    if read.body.streamlab ~= lab.version then
        command.warn(("%s: the plan is of streamlab %s, this is %s: its simulated times may "
            .. "differ, so let one version work on all "
            .. "points"):format(read.path, read.body.streamlab,
            lab.version))
    end
end

-- Ends the command unless the plan is one of this kind, with all its points: it may be anybody's.
local function check(read, kind)
    local problem, taken = kind.problem_with_body(read.body), {}
    if problem then
        command.fail(("%s: %s (line 1)"):format(read.path, problem))
    end
    for _, number in ipairs(read.numbers) do
        local point = read:point(number)
        problem = point.problem or kind.problem_with_point(point.values, read.body, taken)
        if problem then
            command.fail(("%s: point %d: %s (line %d)"):format(read.path, number, problem,
                number + 1))
        end
    end
end

-- The plan of a command line's only word, and its kind; a part of it if `part` is a shard. Ends the
-- command if it cannot be read.
function kinds.read(words, part)
    if #words ~= 1 then
        command.refuse(words[2] and ("one plan is needed, got '%s' as well"):format(words[2])
            or "a plan is needed")
    elseif not words[1]:find("[^/]%.jsonl$") then
        command.refuse(("a plan ends in .jsonl, got '%s'"):format(words[1]))
    end
    local read, reason = plan.read(words[1], part)
    if not read then
        command.fail(reason)
    end
    local path = files[read.body.kind]
    if not path then
        command.fail(("%s: it is a plan of a kind that is unknown here"):format(words[1]))
    end
    local kind = import(path)
    check(read, kind)
    say_version(read)
    return read, kind
end

return kinds
