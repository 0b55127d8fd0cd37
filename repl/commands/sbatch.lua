-- sbatch.lua - streamlab sbatch PLAN: writes a script for an array of Slurm, a task for each shard
-- of the plan. It submits nothing.

local command = import "repl/run/command.lua"
local kinds = import "repl/plans/kinds.lua"
local store = import "repl/plans/store.lua"
local texts = import "repl/run/text.lua"
local working = import "repl/plans/working.lua"

local most_measured <const> = 8         -- points, where none has a result
local least_limit_s <const> = 120       -- of a task; Slurm's own step is a minute

local options, words = command.read(import "repl/usage/sbatch.lua", { ... })

-- The mean of what points with results took, in seconds, and how many these are; nil: none.
local function mean_s(read, kept)
    local sum, n, is_done = 0, 0, kept:list()
    for _, number in ipairs(read.numbers) do
        local digest = read:digest(number)
        local fields = is_done[digest] and kept:read(digest)
        if fields and type(fields.seconds) == "number" then
            sum, n = sum + fields.seconds, n + 1
        end
    end
    return n > 0 and sum / n or nil, n
end

-- Works on points from all parts of the plan: the first ones may be the shortest.
local function measure(read, kind, kept)
    local pending, some = working.pending(read, kept), {}
    local n = math.min(#pending, most_measured)
    for i = 1, n do
        some[i] = pending[1 + (i - 1) * #pending // n]
    end
    local done, problem = working.run(read, kind, kept, some, {})
    if not done then
        command.fail(problem)
    end
end

local function point_s(read, kind)
    if options["per-point"] then
        return options["per-point"], "given"
    end
    local kept = store.open(read.path)
    if not mean_s(read, kept) then
        measure(read, kind, kept)
    end
    local seconds, n = mean_s(read, kept)
    if not seconds then
        command.fail("no point could be measured: --per-point says how long one takes")
    end
    return seconds, ("the mean of %d"):format(n)
end

-- Twice as long as it should take, in whole minutes.
local function limit_text(task_s)
    local minutes = math.ceil(math.max(2 * task_s, least_limit_s) / 60)
    return ("%02d:%02d:00"):format(minutes // 60, minutes % 60)
end

local function script(read, seconds, how)
    local per_task = options["per-task"] or 600
    local tasks = math.max(1, math.ceil(#read.numbers * seconds / per_task))
    tasks = math.min(tasks, #read.numbers, options.most or 1000)
    local name = read.path:match("([^/]*)%.jsonl$"):gsub("[^%w._-]", "_")
    local together = options["at-a-time"] and "%" .. options["at-a-time"] or ""
    local gpu = type(read.body.device) == "table" and read.body.device.backend == "cuda"
    return table.concat({
        "#!/bin/sh",
        "#SBATCH --job-name=" .. name,
        ("#SBATCH --array=0-%d%s"):format(tasks - 1, together),
        "#SBATCH --cpus-per-task=1",
        gpu and "#SBATCH --gres=gpu:1" or "#SBATCH --nodes=1",
        "#SBATCH --time=" .. limit_text(#read.numbers * seconds / tasks),
        "#SBATCH --signal=B:TERM@30",
        "#SBATCH --open-mode=append",
        ("#SBATCH --output=%s_%%a.out"):format(name),
        ("# %d points in %d tasks; a point takes %.4g s (%s)."):format(#read.numbers, tasks,
            seconds,
            how),
        ('exec %s work %s --shard "$((SLURM_ARRAY_TASK_ID + 1))/%d"'):format(
            texts.shell_word(program.executable()), texts.shell_word(read.path), tasks),
    }, "\n") .. "\n"
end

local read, kind = kinds.read(words)
if #read.numbers == 0 then
    command.fail(read.path .. " has no points")
end
local text = script(read, point_s(read, kind))
if options.output then
    command.write(options.output, text)
else
    io.stdout:write(text)
end
