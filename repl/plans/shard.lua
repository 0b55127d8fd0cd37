-- shard.lua - a part of a plan: of n shards the i-th has the points i, i + n, i + 2n, ...

local shard = {}

local most <const> = 1000000

local function number(name)
    return math.tointeger(tonumber(os.getenv(name)))
end

-- That of a task of a Slurm array, whose indices are MIN, MIN + STEP, ...; nil where there is none;
-- or nil and a sentence.
function shard.of_slurm()
    local id, count = number("SLURM_ARRAY_TASK_ID"), number("SLURM_ARRAY_TASK_COUNT")
    if not id or not count then
        return nil
    end
    local step = number("SLURM_ARRAY_TASK_STEP") or 1
    local at = id - (number("SLURM_ARRAY_TASK_MIN") or 0)
    if step < 1 or at < 0 or at % step ~= 0 or at // step >= count or count > most then
        return nil, ("task %d of %d in this Slurm array is no shard by itself, because its indices "
            .. "have gaps: --shard i/n names one"):format(id, count)
    end
    return { index = at // step + 1, count = count }
end

return shard
