-- sbatch.lua - streamlab sbatch PLAN: writes a script for an array of Slurm, a task for each shard of the
-- plan. It submits nothing.

local command = import "repl/run/command.lua"
local kinds = import "repl/plans/kinds.lua"
local store = import "repl/plans/store.lua"
local working = import "repl/plans/working.lua"

local usage = [[
usage: streamlab sbatch PLAN.jsonl [options]
Writes a script with which Slurm works on a plan: an array whose tasks each run
streamlab work on one shard of it. It prints the script, and submits nothing:
streamlab sbatch p.jsonl -o p.sh && sbatch p.sh

  --per-task TIME   how long a task is to take: 90s, 10m or 2h (default 10m)
  --per-point TIME  how long a point takes; without it what those took that have
                    results; if none has, some points are worked on now
  --most N          tasks at most, each then longer (default 1000, as Slurm's)
  --at-a-time N     of which so many run at a time
  -o, --output FILE write the script into FILE
  -h, --help        print this and stop
Exit status: 0 success, 1 the plan cannot be read or no point can be measured, 2
wrong usage.
]]

local most_measured <const> = 8         -- points, where none has a result
local least_limit_s <const> = 120       -- of a task; Slurm's own step is a minute

local units <const> = { ms = 1e-3, s = 1, m = 60, min = 60, h = 3600, d = 86400 }

local function duration_s(text)
    local digits, unit = text:match("^(%d*%.?%d*)(%a+)$")
    local number = tonumber(digits)
    if not number or not units[unit] or number <= 0 or number * units[unit] > 30 * units.d then
        return nil, "a time as 90s, 10m or 2h"
    end
    return number * units[unit]
end

local options, words = command.read(usage, {
    ["per-task"] = { read = duration_s }, ["per-point"] = { read = duration_s },
    most = { read = command.whole(1, 1000000) }, ["at-a-time"] = { read = command.whole(1, 1000000) },
    o = { read = command.some, name = "output" }, output = { read = command.some },
}, ...)

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

local function quoted(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
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
        ("# %d points in %d tasks; a point takes %.4g s (%s)."):format(#read.numbers, tasks, seconds,
            how),
        ('exec %s work %s --shard "$((SLURM_ARRAY_TASK_ID + 1))/%d"'):format(
            quoted(program.executable()), quoted(read.path), tasks),
    }, "\n") .. "\n"
end

local read, kind = kinds.read(usage, words)
if #read.numbers == 0 then
    command.fail(read.path .. " has no points")
end
local text = script(read, point_s(read, kind))
if options.output then
    command.write(options.output, text)
else
    io.stdout:write(text)
end
