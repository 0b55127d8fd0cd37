-- causes.lua - the words of each cause of lost time: an entry by the name that
-- core/timeline/causes.h gives it.
--
--   title      on a card of the page
--   short      of one operation that waited: "waiting for ..."; {} is what it waited for
--   total      of all such waits in a comparison
--   part       as a part of the makespan
--   clause     in a verdict: "W waits for B"
--   sentence   what happened
--   remedy     what to do about it; there may be none
--
-- What depends on more than the cause is a function of a finding's record (sides.lua); title and
-- short are functions of its `trace` then. say.lua looks them up.

local _, core = ...
local sides, host_calls, graphs = core.words.sides, core.words.host_calls, core.words.graphs
local communication = core.words.communication
local waiter, by, at, times, lost = sides.waiter, sides.by, sides.at, sides.times, sides.lost
local waited, waits = sides.waited, sides.waits
local by_language, is_foreign, probably = sides.by_language, sides.is_foreign, sides.probably

local least_turn_ns <const> = 500000    -- on average
local short_work_ns <const> = 500000    -- on average: the host did not prepare data, or wait for it

local causes = {}

-- A part that names what was waited for.
local function part(words)
    return function(r) return words .. by(r) end
end

-- ---- unknown ---------------------------------------------------------------------------

local no_record <const> = "something that the records do not tell"

-- A recording knows what orders the program's own work. GPUs run the kernels of one process after
-- those of another, for a millisecond or two each.
local function is_of_others(r)
    return not r.by and r.trace.recorded and not r.trace.several_gpus
        and r.lost_ns // r.count >= least_turn_ns
end

causes.unknown = {
    title = "Not known", short = "a cause that was not recorded", total = "waits of unknown cause",
    part = "unknown",
    clause = function(r) return waits(r) .. no_record .. times(r) end,
    sentence = function(r)
        local perhaps = r.by and by(r) or r.trace.several_gpus and "another GPU"
            or is_of_others(r) and "another program on this GPU"
        return waited(r) .. no_record .. (perhaps and ", perhaps " .. perhaps or "")
    end,
    remedy = function(r)
        return is_of_others(r) and "nvidia-smi lists the programs that use the GPU" or nil
    end,
}

-- What ran: a part of the makespan, and no cause.
causes.none = {
    part = function(r) return waiter(r) .. " running" end,
}

-- ---- in order ----------------------------------------------------------------------------

causes.latency = {
    title = "Latency", short = "launch latency", total = "launch latency",
    part = "launch latency between operations",
    clause = function(r) return "launch latency between operations" .. times(r, "gaps") end,
    sentence = function(r)
        return ("%s%s: the usual gap until %s%s%s"):format(lost(r), times(r), waiter(r),
            r.many_waiters and " start" or " starts", graphs.shorter(r))
    end,
    remedy = "Each operation costs its start-up: make fewer and larger ones",
}

-- Before the kernel in front of it has ended, as the launch of a kernel alone can ask for.
local function may_start_early(r)
    return r.waiter and r.by and r.waiter.kind == "kernel" and r.by.kind == "kernel"
end

-- A copy waits for a kernel, or a kernel for a copy, which may only be about their buffer. What a
-- D2H copy waits for has made its data.
local function second_buffer(r)
    local waiting, ran = r.waiter and r.waiter.kind, r.by and r.by.kind
    if waiting == "memcpy_h2d" and ran == "kernel" then
        return "; if it waits only because the kernel uses its buffer, copy into a second one, in "
            .. "turns"
    elseif waiting == "kernel" and ran == "memcpy_h2d" then
        return "; with a second buffer, used in turns, a copy fills one while a kernel works on "
            .. "the other"
    elseif waiting == "kernel" and ran == "memcpy_d2h" then
        return "; if it waits only because the copy reads its buffer, let it write to a second "
            .. "one, in turns"
    end
    return ""
end

local function order_remedy(r)
    return (may_start_early(r)
            and "One stream runs one thing at a time, unless a launch asks for an early start "
                .. "(compute capability 9.0 on)"
            or "In one stream nothing runs beside a copy or a memset")
           .. ": put work that does not depend on the other into another stream, or cut both "
           .. "into pieces that take turns" .. second_buffer(r)
end

causes.stream_order = {
    title = "Same stream", short = "order in its stream, behind {}", total = "stream order",
    part = part("waiting for "),
    clause = function(r)
        local beside = r.many_by and " and leave room beside them" or " and leaves room beside it"
        return waits(r) .. by(r) .. graphs.order(r) .. (r.idle and "" or beside) .. times(r)
    end,
    sentence = function(r)
        return waited(r) .. by(r) .. graphs.order(r)
               .. (r.idle and "" or ", though " .. (r.many_by and "these leave" or "that leaves")
               .. " SMs empty")
    end,
    remedy = function(r)
        if graphs.is_one(r) then
            return "If they do not depend on one another, capture them in two streams. "
                .. graphs.fork
        elseif graphs.is_launch_order(r) then
            return graphs.two_launches
        elseif communication.is_between(r) then
            return communication.remedy(r)
        elseif not r.idle then
            return "SMs are left empty: if they do not depend on one another, put them into two "
                   .. "streams, or more"
        end
        return order_remedy(r)
    end,
}

local function behind_event(r)
    if graphs.is_one(r) then
        return "an edge of the graph" .. (r.guess and ", probably from " or " from ") .. by(r)
    end
    return ("an event that was %srecorded behind "):format(probably(r)) .. by(r)
end

causes.event_wait = {
    title = "Event", short = "an event behind {}", total = "waiting for an event",
    part = part("waiting for "),
    clause = function(r) return waits(r) .. behind_event(r) .. times(r) end,
    sentence = function(r) return waited(r) .. behind_event(r) end,
    remedy = function(r)
        if communication.is_between(r) then return communication.remedy(r) end
        return "Record the event directly after the one operation whose result is used; if none is "
               .. "used, do without the wait"
               .. (graphs.is_one(r) and ": then the graph has no such edge" or second_buffer(r))
    end,
}

-- A timeline does not name the host, nor a later write that came behind nothing.
local function value_of(r)
    return r.by and "a value that was written behind " .. by(r)
        or "a value that the host wrote, or work that it enqueued later"
end

causes.value_wait = {
    title = "Value", short = "a value that {} wrote", total = "waiting for a value",
    part = part("waiting for "),
    clause = function(r) return waits(r) .. value_of(r) .. times(r) end,
    sentence = function(r) return waited(r) .. value_of(r) end,
    remedy = function()
        return "Write the value directly after the one operation whose result is used"
    end,
}

-- " (stream 7)": the name of its row, where that is another
local function default_row(r)
    local name = r.trace.default_stream
    return name:find("^stream ") and (" (%s)"):format(core.clip(name, 32)) or ""
end

causes.null_stream = {
    title = "NULL stream", short = "the NULL stream’s barrier: {}",
    total = "NULL stream's barrier",
    part = part("waiting for "),
    clause = function(r)
        return waits(r) .. by(r) .. ", as the default stream and blocking streams do" .. times(r)
    end,
    sentence = function(r)
        return waited(r) .. by(r) .. ": work in the default stream" .. default_row(r)
               .. " and work in blocking streams wait for each other"
               .. (is_foreign(r) and " (the trace does not say whether its stream is one)" or "")
    end,
    remedy = function(r)
        return ("Keep work out of the default stream%s, and wait where an order is needed")
            :format(by_language(r, {
                lua = ": lab.with(stream, ...); or give the stream non_blocking = true",
                pytorch = ", or use PyTorch's own streams, which do not wait for it",
                cuda = ", or create the stream with cudaStreamNonBlocking",
            }))
    end,
}

-- ---- for its graph -------------------------------------------------------------------------

causes.graph_busy = {
    title = "Graph still running", short = "its graph’s launch before, up to {}",
    total = "one launch of a graph at a time",
    part = part("a launch of the same graph, up to "),
    clause = function(r) return waits(r) .. graphs.launch_before(r) .. times(r) end,
    sentence = function(r)
        return waited(r) .. graphs.launch_before(r)
            .. ": launches of one graph run one after the other"
    end,
    remedy = function(r)
        return "Two graphs can run side by side, two launches of one cannot: " .. by_language(r, {
            lua = "capture the work once more with lab.graph, and launch one graph in each stream",
            pytorch = "capture a CUDAGraph for each stream",
            cuda = "instantiate the graph once more, and launch one of them in each stream",
        })
    end,
}

-- ---- for a rank ----------------------------------------------------------------------------

-- "rank 1"; of several collectives the one may have waited for another rank than the next
local function late_rank(r)
    local rank = r.waiter and not r.many_waiters and r.waiter.late_rank
    return rank and "rank " .. rank or "another rank"
end

-- " (late because of spin ...)", which its part waited for
local function why_late(r)
    local is_part = r.by and r.waiter and r.by.correlation == r.waiter.late_by
    return r.by and not is_part and " (late because of " .. by(r) .. ")" or ""
end

causes.late_rank = {
    title = "Late rank", short = "another rank of its collective",
    total = "waiting for another rank",
    part = function(r) return "waiting for " .. late_rank(r) end,
    clause = function(r)
        return waits(r) .. late_rank(r) .. why_late(r) .. ", on its SMs" .. times(r)
    end,
    sentence = function(r)
        return waited(r) .. late_rank(r) .. why_late(r) .. ", and held its SMs meanwhile: a "
               .. "collective begins when all ranks have come to it"
    end,
    remedy = "Give the ranks equal work before it, or call it later, behind work that this rank "
             .. "can do meanwhile",
}

causes.comm_busy = {
    title = "Communicator busy", short = "its communicator, busy with {}",
    total = "one collective of a communicator at a time",
    part = part("the communicator busy with "),
    clause = function(r) return waits(r) .. by(r) .. ", of the same communicator" .. times(r) end,
    sentence = function(r)
        return waited(r) .. by(r) .. ": the collectives of one communicator run one after the "
               .. "other, in whichever streams"
    end,
    remedy = function(r)
        return "Collectives of two communicators may run at the same time: " .. by_language(r, {
            lua = "make one for each stream with lab.comm",
            pytorch = "give each its own dist.new_group",
            cuda = "make one for each stream, with ncclCommSplit",
        })
    end,
}

causes.comm_last = {
    title = "Communication last", short = "the last kernel; its part may be there behind {}",
    total = "collectives behind the last kernel",
    part = part("behind the last kernel, after "),
    clause = function(r)
        return waiter(r) .. (r.many_waiters and " begin" or " begins")
            .. " only behind the last kernel"
               .. times(r)
    end,
    sentence = function(r)
        return ("%s ran for %s%s, and no kernel beside %s: %s began only behind the last "
            .. "kernel"):format(
            waiter(r), core.duration(r.lost_ns), times(r), r.count > 1 and "them" or "it",
            r.count > 1 and "they" or "it")
    end,
    remedy = communication.begin_with_part,
}

-- It did not wait: it ran, and had fewer SMs.
local function some_sms(r)
    return r.sms and ("on %d of %d SMs"):format(r.sms, r.sm_count) or "on fewer SMs"
end

causes.fewer_sms = {
    title = "Fewer SMs", short = "the SMs that {} held", total = "kernels on fewer SMs",
    part = part("fewer SMs beside "),
    clause = function(r)
        return ("%s %s %s beside %s%s"):format(waiter(r), r.many_waiters and "run" or "runs",
            some_sms(r), by(r), times(r))
    end,
    sentence = function(r)
        return ("%s ran %s for %s%s: %s held the others, and no block of it fits beside one of "
            .. "these")
            :format(waiter(r), some_sms(r), core.duration(r.lost_ns), times(r), by(r))
    end,
    remedy = function(r)
        return "A collective with fewer channels leaves more SMs and takes longer: "
            .. by_language(r, {
            lua = "lab.comm{ channels = n }; copies between GPUs need no SMs",
            pytorch = "NCCL_MAX_CTAS in the environment",
            cuda = "maxCTAs of ncclConfig_t, or NCCL_MAX_CTAS in the environment",
        })
    end,
}

-- ---- for the engine ------------------------------------------------------------------------

causes.channel_alias = {
    title = "Hardware channel", short = "the hardware channel it shares with {}",
    total = "same hardware channel",
    part = part("same hardware channel as "),
    clause = function(r)
        return waits(r) .. by(r) .. (", whose stream %sshares a hardware channel with %s own")
            :format(probably(r), r.many_waiters and "their" or "its") .. times(r)
    end,
    sentence = function(r)
        return waited(r) .. by(r) .. (", whose stream %sshares a hardware channel with its own")
            :format(probably(r))
    end,
    remedy = "Use fewer streams, or more channels: CUDA_DEVICE_MAX_CONNECTIONS, from 8 up to 32, "
             .. "set before the program starts",
}

-- By the engine of what was waited for, which may have come before the waiter's.
local one_at_a_time <const> = {
    host = ": one thread runs all host functions, one after the other",
    compute = ": without a copy engine a GPU does nothing beside a copy",
}

causes.engine_busy = {
    title = "Engine busy", short = "the engine, busy with {}", total = "copy engine busy",
    part = part("the engine busy with "),
    clause = function(r)
        return waits(r) .. by(r)
               .. (r.many_by and ", which keep the engine busy" or ", which keeps the engine busy")
               .. times(r)
    end,
    sentence = function(r)
        return waited(r) .. by(r)
               .. (r.by and one_at_a_time[r.by.engine] or ": a copy engine does one copy at a time")
    end,
    remedy = function(r)
        if r.by and r.by.engine == "host" then
            return "Keep host functions short, and have few of them"
        end
        return "Issue first the copy that other work waits for; all of them end sooner only with "
               .. "fewer bytes"
    end,
}

-- What waited has the higher priority already.
local function is_more_urgent(r)
    return r.waiter and r.by and not r.by.is_call and r.waiter.priority < r.by.priority
end

-- ": no SM had 104 kB of shared memory free", where one kernel waited for one other
local function what_lacked(r)
    local lack, needs = r.lack, {}
    if not lack or r.many_waiters or r.many_by or graphs.has_lost_priority(r) then return "" end
    if lack.shared_bytes then
        needs[1] = ("%.3g kB of shared memory"):format(lack.shared_bytes / 1000)
    end
    if lack.registers then needs[#needs + 1] = lack.registers .. " registers" end
    if lack.threads then needs[#needs + 1] = lack.threads .. " thread slots" end
    if lack.block_slot then needs[#needs + 1] = "a block slot" end
    local last = table.remove(needs)
    return ": no SM had " .. (needs[1] and table.concat(needs, ", ") .. " and " or "") .. last
        .. " free"
end

causes.no_sm_room = {
    title = "No room on the SMs", short = "room on the SMs beside {}", total = "no room on the SMs",
    part = part("no room beside "),
    clause = function(r)
        return waits(r) .. by(r) .. (", which %s%s no room on the SMs"):format(probably(r),
            r.many_by and "leave" or "leaves") .. times(r)
    end,
    -- A copy needs no room itself; but it may come behind a kernel that does.
    sentence = function(r)
        local is_copy = r.waiter and r.waiter.engine ~= "compute" and r.waiter.engine ~= "comm"
        return waited(r) .. by(r) .. (", which %sleft no room on the SMs"):format(probably(r))
               .. (is_copy and " for a kernel before it" or "") .. what_lacked(r)
               .. graphs.lost_priority(r)
    end,
    remedy = function(r)
        if graphs.has_lost_priority(r) then return graphs.keep_priority(r) end
        return "A kernel that fills the GPU runs alone: only smaller grids overlap, and "
               .. (is_more_urgent(r) and "a priority acts when blocks end, so make them shorter"
                   or "a higher priority lets a stream go first")
    end,
}

causes.priority = {
    title = "Priority", short = "more urgent work: {}", total = "overtaken by priority",
    part = part("overtaken by "),
    clause = function(r)
        return waits(r) .. by(r) .. ", whose stream has the higher priority" .. times(r)
    end,
    sentence = function(r)
        return waited(r) .. by(r)
               .. ", which came later but whose stream has the higher priority"
               .. graphs.lost_priority(r)
    end,
    remedy = function(r)
        if graphs.has_lost_priority(r) then return graphs.keep_priority(r) end
        return "That is what the priority asks for; give both streams the same to have them in "
               .. "order of arrival"
    end,
}

-- ---- for the host ----------------------------------------------------------------------------

-- "; the calls of its line take 48.0 us, and the time between calls the rest"
local function between_calls(r)
    local ns = r.gain_ns and r.by_host_ns or 0      -- without a gain the loss is small
    if ns == 0 or ns >= r.lost_ns // 2 then return "" end
    return ("; %s take%s %s, and the time between calls the rest"):format(
        r.by_calls == 1 and "that call" or "the calls there", r.by_calls == 1 and "s" or "",
        core.duration(ns))
end

local function issuing(r, what)
    return ("%s%s: the host %s %s, and %s"):format(lost(r), times(r), what, by(r),
        r.by_itself and "the GPU had to wait for that" or waiter(r) .. " came after that")
end

causes.launch_queue_full = {
    title = "Launch queue full", short = "room in the launch queue", total = "launch queue full",
    part = part("the launch queue full, issuing "),
    clause = function(r)
        return ("the host %swaits for room in the launch queue to issue "):format(probably(r))
               .. by(r) .. times(r)
    end,
    sentence = function(r)
        return issuing(r, probably(r) .. "waited for room in the launch queue to issue")
    end,
    remedy = "Issue fewer and larger operations, or the other streams' work before this stream's "
             .. "queue is full; CUDA_SCALE_LAUNCH_QUEUES=4x in the environment makes the queue "
             .. "longer (CUDA 12 and later)",
}

causes.host_blocked = {
    title = "Host blocked", short = "the host, held by {}", total = "host blocked",
    part = function(r)
        return ("the host %s in %s"):format(host_calls.held(r), host_calls.launch(r))
               .. (host_calls.profilers(r) or by(r))
    end,
    clause = function(r)
        local call = r.by and host_calls.holder(r) or by(r)
        return ("the host is %s in "):format(host_calls.held(r)) .. call .. times(r)
    end,
    sentence = function(r)
        local delays = r.gain_ns and r.gain_ns // 2 > r.lost_ns
        return lost(r) .. times(r) .. (": the host was %s in "):format(host_calls.held(r))
               .. host_calls.holder(r) .. host_calls.why(r)
               .. (delays and "; what comes next is issued only then" or "")
    end,
    remedy = host_calls.remedy,
}

-- In a trace of another program it is a stall of its profiler, behind which the host did this.
local function works(r) return r.by and r.by.kind == "host_work" and not is_foreign(r) end

-- What a capture has in it is no call of a timeline: the host's time behind its beginning.
local function captures(r) return r.by and r.by.name == "cudaStreamBeginCapture" end

-- Of a trace that another program wrote, what the host did between its calls is not known.
causes.host_work = {
    title = function(trace)
        return trace.language == "lua" and "Host busy" or "Host issued no work"
    end,
    short = function(trace)
        return trace.language == "lua" and "the host, busy with work of its own"
               or "the host, which issued no work"
    end,
    total = "host busy otherwise",
    part = function(r)
        if works(r) then return "the host busy in " .. by(r) end
        if captures(r) then return "the host capturing a graph" .. at(r.by, " at ") end
        return is_foreign(r) and "the host issuing no work" or "the host busy with something else"
    end,
    clause = function(r)
        if works(r) then return "the host is busy in " .. by(r) .. times(r) end
        if captures(r) then return "the host captures a graph" .. at(r.by, " at ") .. times(r) end
        return (is_foreign(r) and "the host issues no work"
                or "the host does something other than issuing work")
               .. at(r.by, ", after the call at ") .. times(r)
    end,
    sentence = function(r)
        if works(r) then
            return lost(r) .. times(r) .. ": the host was busy in " .. by(r)
        elseif captures(r) then
            return lost(r) .. times(r) .. ": the host captured a graph" .. at(r.by, " at ")
        end
        return lost(r) .. times(r)
               .. (is_foreign(r) and ": the host issued no work then"
                   or ": the host did something other than issuing work")
               .. at(r.by, ", after the call at ")
    end,
    -- Short pauses between PyTorch's calls are Python's own time for each of them.
    remedy = function(r)
        if captures(r) then return "Capture a graph once, before the part that counts" end
        local is_short = r.count > 1 and r.lost_ns // r.count < short_work_ns
        if sides.is_pytorch(r) and is_short then
            return "Python takes that time between the operations: make fewer and larger ones, or "
                   .. 'a CUDA graph (torch.compile(mode="reduce-overhead"))'
        end
        return host_calls.pin_once(r)
               or "Issue the GPU's work first, and let the host work while it runs"
    end,
}

-- Neither could have gone before the other.
local function is_in_one_stream(r)
    return r.waiter and r.by and r.waiter.stream_id == r.by.stream_id and not r.many_by
           and not r.many_waiters
end

causes.host_issuing = {
    title = "Host issuing", short = "the host, still issuing other work", total = "host issuing",
    part = function(r)
        return (r.by_itself and "the GPU waits for the host to issue " or "the host issuing ")
            .. by(r)
    end,
    clause = function(r)
        return (r.by_itself and "the GPU waits for the host to issue "
                or "the host is still issuing ") .. by(r) .. times(r)
    end,
    sentence = function(r)
        return issuing(r, "was still issuing") .. between_calls(r) .. graphs.host_bound(r)
    end,
    remedy = function(r)
        if graphs.is_launch(r.by) then
            return "The GPU waits for launches: capture more work in one graph, or several rounds "
                .. "of it"
        end
        if not (r.by_itself or is_in_one_stream(r)) then
            return "Issue the two alternately, or first the one that came too late"
                   .. graphs.or_one(r)
        end
        return "The GPU waits for launches: fewer and larger operations keep it busy"
               .. by_language(r, {
                   lua = ", or a CUDA graph (lab.graph)",
                   pytorch = ', or a CUDA graph (torch.compile(mode="reduce-overhead"))',
                   cuda = ", or a CUDA graph",
               })
    end,
}

return causes
