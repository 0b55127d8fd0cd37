-- work.lua - streamlab work PLAN: works on the points of a plan that have no result yet.

local command = import "repl/run/command.lua"
local kinds = import "repl/plans/kinds.lua"
local shard = import "repl/plans/shard.lua"
local store = import "repl/plans/store.lua"
local working = import "repl/plans/working.lua"

local usage = [[
usage: streamlab work [options] PLAN.jsonl
Works on the points of a plan that have no result yet, and writes a file for each
into the folder PLAN.results. A plan is what lab.sweep with the option `plan`,
streamlab lab grade --plan and streamlab compare --plan write. Any number of
processes may work on one plan, on any machines that share its folder; each may
be killed and started again. streamlab merge makes the table of all results.

which points:
  --shard I/N       of N parts the I-th: points I, I + N, I + 2N, ... In a task of
                    a Slurm array the default is the task's part; else all points
  --skip-failed     not those that failed before; else they are tried again
  --stop-failed     none behind the first one that fails
how:
  -j, --jobs N      of a class: tests that run at a time (default 1)
others:
  --quiet           no summary on stderr
  -h, --help        print this and stop
SIGTERM: the point that is being worked on is finished, then the command ends.
Exit status: 0 all its points have results, 1 some failed or the plan cannot be
read, 2 wrong usage, 143 after SIGTERM if points are left.
]]

local jobs_option = { read = command.whole(1, 1024), name = "jobs" }
local options, words = command.read(usage, {
    j = jobs_option, jobs = jobs_option, shard = kinds.shard_option, ["skip-failed"] = true,
    ["stop-failed"] = true, quiet = true,
}, ...)

local function choose_shard()
    if options.shard then
        return options.shard
    end
    local part, problem = shard.of_slurm()
    if problem then
        command.refuse(usage, problem)
    end
    return part
end

local tell = command.progress(options)
local part = choose_shard()
local read, kind = kinds.read(usage, words, part)
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
