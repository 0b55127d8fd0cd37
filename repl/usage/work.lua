-- work.lua - the command line of streamlab work.

local values = import "repl/run/values.lua"

return {
    usage = "streamlab work [options] PLAN.jsonl",
    about = [[
Works on the points of a plan that have no result yet, and writes a file for each
into the folder PLAN.results. A plan is what lab.sweep with the option `plan`,
streamlab lab grade --plan and streamlab compare --plan write. Any number of
processes may work on one plan, on any machines that share its folder; each may
be killed and started again. streamlab merge makes the table of all results.]],
    { title = "which points",
        { "--shard I/N", read = values.shard, [[
            of N parts the I-th: points I, I + N, I + 2N, ... In a task of
            a Slurm array the default is the task's part; else all points]] },
        { "--skip-failed", "not those that failed before; else they are tried again" },
        { "--stop-failed", "none behind the first one that fails" } },
    { title = "how",
        { "-j, --jobs N", read = values.whole(1, 1024), [[
            of a class: tests that run at a time (default 1)]] } },
    { title = "others",
        { "--quiet", "no summary on stderr" } },
    ending = [[
SIGTERM: the point that is being worked on is finished, then the command ends.
Exit status: 0 all its points have results, 1 some failed or the plan cannot be
read, 2 wrong usage, 143 after SIGTERM if points are left.]],
}
