-- sbatch.lua - the command line of streamlab sbatch.

local values = import "repl/run/values.lua"

local units <const> = { ms = 1e-3, s = 1, m = 60, min = 60, h = 3600, d = 86400 }

local function duration_s(text)
    local digits, unit = text:match("^(%d*%.?%d*)(%a+)$")
    local number = tonumber(digits)
    if not number or not units[unit] or number <= 0 or number * units[unit] > 30 * units.d then
        return nil, "a time as 90s, 10m or 2h"
    end
    return number * units[unit]
end

return {
    usage = "streamlab sbatch PLAN.jsonl [options]",
    about = [[
Writes a script with which Slurm works on a plan: an array whose tasks each run
streamlab work on one shard of it. It prints the script, and submits nothing:
streamlab sbatch p.jsonl -o p.sh && sbatch p.sh]],
    {
        { "--per-task TIME", read = duration_s, [[
            how long a task is to take: 90s, 10m or 2h (default 10m)]] },
        { "--per-point TIME", read = duration_s, [[
            how long a point takes; without it what those took that have
            results; if none has, some points are worked on now]] },
        { "--most N", read = values.whole(1, 1000000), [[
            tasks at most, each then longer (default 1000, as Slurm's)]] },
        { "--at-a-time N", read = values.whole(1, 1000000), "of which so many run at a time" },
        { "-o, --output FILE", read = values.some, "write the script into FILE" } },
    ending = [[
Exit status: 0 success, 1 the plan cannot be read or no point can be measured, 2
wrong usage.]],
}
