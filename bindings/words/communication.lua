-- communication.lua - how much of the communication between ranks computation covers, in words; and
-- what to do about a collective that holds others up.

local _, core = ...
local duration, sides, percent = core.duration, core.words.sides, core.words.units.percent

local communication = {}

-- Of several GPUs the one with the most that nothing covers.
local function worst(list)
    local found = list[1]
    for _, c in ipairs(list) do
        if c.busy_ns - c.covered_ns > found.busy_ns - found.covered_ns then found = c end
    end
    return found
end

-- `list` as in a trace's or figures' field `communication`:
-- "Communication: 140 us; kernels run beside it for 40.0 us (28.6 %), and not for 100 us."
function communication.sentence(list)
    local c = worst(list)
    local gpu, beside = c.prefix:match("^(.-): "), "no kernel runs beside it"
    if c.covered_ns > 0 then
        local bare_ns = c.busy_ns - c.covered_ns
        beside = ("kernels run beside it for %s (%s)%s"):format(duration(c.covered_ns),
            percent(c.covered_ns, c.busy_ns),
            bare_ns > 0 and ", and not for " .. duration(bare_ns) or "")
    end
    return ("Communication%s: %s; %s."):format(gpu and " of " .. gpu or "",
                                               duration(c.busy_ns), beside)
end

-- ---- collectives among causes --------------------------------------------------------------

local function is_one(side) return side and side.kind == "collective" end

-- One of the two is a collective, the other is none.
function communication.is_between(r)
    return (is_one(r.by) or is_one(r.waiter)) and not (is_one(r.by) and is_one(r.waiter))
end

-- Of collectives that begin only behind the last kernel.
function communication.begin_with_part(r)
    return "Start each as soon as its part is there, beside the kernels of the next (buckets): "
           .. sides.by_language(r, {
        lua = "`async = true`, behind each part's kernels",
        pytorch = "`async_op=True` inside the backward pass, as DistributedDataParallel does",
        cuda = "in a stream of its own, behind an event that each part's last kernel records",
    })
end

-- Of a kernel behind a collective, or the other way round.
function communication.remedy(r)
    local what = is_one(r.by)
                 and "If it does not need the collective's result at once, let that run beside it: "
                 or "Let the collective begin as soon as its input is there, beside other kernels: "
    return what .. sides.by_language(r, {
        lua = "`async = true`, and `work:wait()` only where the result is used; a large one in "
              .. "pieces (buckets), each as soon as its part is there",
        pytorch = "`async_op=True`, and `work.wait()` only where the result is used; a large one "
                  .. "in buckets, each as soon as its part is there",
        cuda = "give it a stream of its own, with events before and behind it; a large one in "
               .. "pieces, each as soon as its part is there",
    })
end

return communication
