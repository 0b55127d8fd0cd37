-- work.lua - streamlab work PLAN: works on the points of a plan that have no result yet.

local command = import "repl/run/command.lua"
local kinds = import "repl/plans/kinds.lua"
local shard = import "repl/plans/shard.lua"
local store = import "repl/plans/store.lua"
local working = import "repl/plans/working.lua"

local options, words = command.read(import "repl/usage/work.lua", { ... })

local function choose_shard()
    if options.shard then
        return options.shard
    end
    local part, problem = shard.of_slurm()
    if problem then
        command.refuse(problem)
    end
    return part
end

local tell = command.progress(options)
local part = choose_shard()
local read, kind = kinds.read(words, part)
local kept = store.open(read.path)
local changed = working.changed(read, kind, kept)
local pending = working.pending(read, kept, changed, options["skip-failed"])
local done, failed = working.run(read, kind, kept, part and pending or working.rotate(pending),
    { jobs = options.jobs, stops = options["stop-failed"], changed = changed })
if not done then
    command.fail(failed)
end

local left = #working.pending(read, kept, changed, true)
local all_failed = #working.pending(read, kept, changed) - left
tell(("%s%s: %d points: %d done now, %d before, %d failed, %d left"):format(read.path,
    part and (", shard %d/%d"):format(part.index, part.count) or "", #read.numbers, done,
    #read.numbers - done - all_failed - left, all_failed, left))
if left > 0 and program.end_came() then
    os.exit(143)
end
os.exit(all_failed + left == 0 and 0 or 1)
