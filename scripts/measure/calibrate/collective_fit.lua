-- collective_fit.lua - the figures of a profile's `comm` table from times between two GPUs.
--
-- The simulator's model (core/sim/comm_cost.c), turned around: a collective takes a base, so many
-- steps, and the root of the sum of squares of two times: its bytes over the link, and through the
-- blocks of its kernel. A limit on channels changes the second alone.

local lists = import "repl/run/lists.lua"
local statistics = import "repl/run/statistics.lua"

local collective_fit = {}

-- Between two GPUs: steps, and which part of the bytes goes through the blocks of a GPU and over
-- its link.
local courses <const> = {
    all_reduce = { steps = 2, passed = 1.5, sent = 1 },
    all_gather = { steps = 1, passed = 1, sent = 0.5 },
    reduce_scatter = { steps = 1, passed = 1, sent = 0.5 },
}

local function bytes_us(collective, bytes, blocks, rates)
    local course = courses[collective]
    local link_us = rates.link and course.sent * bytes / (rates.link * 1e3) or 0
    local blocks_us = course.passed * bytes / (blocks * rates.channel * 1e3)
    return math.sqrt(link_us ^ 2 + blocks_us ^ 2)
end

-- The rates in GB/s, {link =, channel =}, with which rows {blocks =, us =} of an all_reduce of so
-- many bytes deviate least, relatively, where `fixed_us` of each time are base and steps. Squares
-- of times are a line over 1 / blocks^2. `link` is nil where it does not show; nil: the blocks do
-- not.
function collective_fit.rates(rows, bytes, fixed_us)
    local line = statistics.line(lists.map(rows, function(row)
        local y = math.max(row.us - fixed_us, 1e-3) ^ 2
        return { 1 / row.blocks ^ 2, y, 1 / y ^ 2 }
    end))
    if line.slope ~= line.slope or line.slope <= 0 then
        return nil
    end
    local course = courses.all_reduce
    return { channel = course.passed * bytes / math.sqrt(line.slope) * 1e-3,
             link = line.level > 0 and course.sent * bytes / math.sqrt(line.level) * 1e-3 or nil }
end

-- One protocol's {base =, step =, channel =, link =}, or nil. `rows` and `bytes` as above; `small`
-- are times of two collectives with one and two steps: {one = {name, bytes, us, blocks}, two =
-- {...}}.
function collective_fit.protocol(rows, bytes, small)
    local base, step, rates = 0, 0, nil
    local function rest(which)
        local name, n, us, blocks = table.unpack(small[which])
        return us - bytes_us(name, n, blocks, rates)
    end
    for _ = 1, 50 do
        rates = collective_fit.rates(rows, bytes, base + courses.all_reduce.steps * step)
        if not rates then
            return nil
        end
        step = math.max(0, rest "two" - rest "one")
        base = math.max(0, rest "one" - step)
    end
    return { base = base, step = step, channel = rates.channel, link = rates.link }
end

return collective_fit
