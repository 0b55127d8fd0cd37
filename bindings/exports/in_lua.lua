-- in_lua.lua - exported programs in Lua: see scripts.lua.

local language = { first = 1, own_us = 3, call_end = "", loop_end = "end" }

language.how = [[
Run it with "streamlab FILE [runs]".]]

function language.comment(text) return "-- " .. text:gsub("\n", "\n-- "):gsub(" +\n", "\n") end

function language.loop(times) return ("for _ = 1, %d do"):format(times) end

function language.stream(stream)
    if stream.null then return "    lab.default_stream()," end
    return ("    lab.stream{ non_blocking = %s, priority = %d },"):format(not stream.blocking,
        stream.priority)
end

function language.kernel(name, blocks, threads, shared, in_graph)
    return ("    kernel(%s, %d, %d, %d, %s),"):format(name, blocks, threads, shared, in_graph)
end

function language.copy(copy)
    return ('    { from = "%s", to = "%s", bytes = %d, us = %.2f },'):format(copy.from, copy.to,
        copy.bytes, copy.us)
end

function language.graph(i, body)
    return ("graphs[%d] = lab.graph(function()\n%s\nend, { stream = captures[1] })"):format(i, body)
end

language.text = [==[
@about@

local runs <const> = tonumber(arg[1]) or 5
-- From one kernel to the next of its stream, and of its graph.
local follow_us <const>, graph_follow_us <const> = @follow@, @graph_follow@

-- ---- time: each call is as long behind the last one that waited as it was -------------------

local due_us = 0

local function at(gap_us)
    due_us = due_us + gap_us
    local left_us = due_us - lab.now_us()
    if left_us > 0 then lab.host_work(left_us / 1000) end
end

local function begin() due_us = lab.now_us() end

-- ---- what there is --------------------------------------------------------------------------

local streams <const> = {
@streams@
}
local captures <const> = {}
for i = 1, @n_captures@ do captures[i] = lab.stream{ non_blocking = true } end
local events <const> = {}
for i = 1, @n_events@ do events[i] = lab.event{ timing = false } end

local function bytes(n, options)
    options.dtype = "uint8"
    return n > 0 and lab.ones(n, options) or nil
end
local from <const> = {
    device = bytes(@from_device@, {}),
    pinned = bytes(@from_pinned@, { device = "cpu", pinned = true }),
}
local to <const> = {
    device = bytes(@to_device@, {}),
    pinned = bytes(@to_pinned@, { device = "cpu", pinned = true }),
}
-- What is copied again and again is in the processor's cache: several, of which copies take turns.
local function ring(n)
    local list = {}
    for i = 1, n > 0 and math.min(16, (64 << 20) // n + 1) or 0 do
        list[i] = bytes(n, { device = "cpu" })
    end
    return list
end
local rings <const> = { from = ring(@from_pageable@), to = ring(@to_pageable@) }
local turn = 0
local set <const> = bytes(@set_bytes@, {})

-- ---- kernels: how long a block has to be busy is measured ------------------------------------

local sms <const> = lab.device().sm_count
local aside <const> = lab.stream{ non_blocking = true }
local first <const>, last <const> = lab.event(), lab.event()

-- From one launch to the next of the same stream, or graph.
local function period_us(options, us, in_graph)
    local function spins(n)
        for _ = 1, n do lab.spin(us / 1000, options) end
    end
    local function many(n)
        local graph = in_graph and lab.graph(function() spins(n) end, { stream = aside })
        lab.spin(0.5, { stream = aside }) -- until all are enqueued
        first:record(aside)
        if graph then graph:launch(aside) else spins(n) end
        last:record(aside)
        last:synchronize()
        return first:elapsed_time(last) * 1000
    end
    return (many(30) - many(10)) / 20
end

-- Launches follow each other by `fixed` and `slope` times what each block is busy.
local function measured(options, in_graph)
    period_us(options, 2, in_graph)
    local short, long = period_us(options, 2, in_graph), period_us(options, 6, in_graph)
    local slope = math.max(0.1, (long - short) / 4)
    return { slope = slope, fixed = short - 2 * slope }
end

local shapes <const> = {}

local function kernel(_, blocks, threads, shared, in_graph)
    local key = ("%d %d %d"):format(blocks, threads, shared)
    local options = { blocks = blocks > 0 and blocks or 2 * sms, threads = threads,
                      shared_bytes = shared, stream = aside }
    local shape = shapes[key] or { options = options, stream = measured(options) }
    shapes[key] = shape
    if in_graph then shape.graph = shape.graph or measured(options, true) end
    return shape
end

local kernels <const> = {
@kernels@
}
local copies <const> = {
@copies@
}

-- ---- calls --------------------------------------------------------------------------------

-- What a kernel takes longer than it should, the next ones of its stream take less.
local debts <const> = {}
local function spin_us(us, times, stream)
    local left_us = us - times.fixed + (debts[stream] or 0)
    debts[stream] = math.max(-5, math.min(0, left_us))
    return math.max(0, left_us) / times.slope
end

local function launch(gap, k, stream, us)
    at(gap)
    k.options.stream = stream
    lab.spin(spin_us(us + follow_us, k.stream, stream) / 1000, k.options)
end
local function node(k, stream, us)
    k.options.stream = stream
    lab.spin(spin_us(us + graph_follow_us, k.graph, stream) / 1000, k.options)
end
local function copy(gap, c, stream)
    at(gap)
    turn = turn + 1
    local target = to[c.to] or rings.to[turn % math.min(c.turns, #rings.to) + 1]
    local source = from[c.from] or rings.from[turn % math.min(c.turns, #rings.from) + 1]
    lab.cuda.memcpy_async(target, source, c.bytes, { stream = stream })
end
local function is_pageable(c) return c.from == "pageable" or c.to == "pageable" end
local function copy_and_wait(gap, c, stream)
    copy(gap, c, stream)
    if not is_pageable(c) then stream:synchronize() end
    begin()
end

-- Whether the program copied memory that is in the processor's cache: what comes nearer to its time.
local function copy_us(c, turns)
    local n <const> = math.max(2, math.min(20, (256 << 20) // c.bytes))
    c.turns = turns
    lab.synchronize()
    local start_us = lab.now_us()
    for _ = 1, n do copy(0, c, aside) end
    aside:synchronize()
    return (lab.now_us() - start_us) / n
end
for _, c in ipairs(copies) do
    if is_pageable(c) and c.bytes > 0 then
        copy_us(c, 16)
        local far, near = math.abs(copy_us(c, 16) - c.us), math.abs(copy_us(c, 1) - c.us)
        c.turns = far < near and 16 or 1
    end
end

local function set_bytes(gap, n, stream)
    at(gap)
    lab.cuda.memset_async(set, 0, n, { stream = stream })
end
local function record(gap, event, stream)
    at(gap)
    event:record(stream)
end
local function wait(gap, event, stream)
    at(gap)
    stream:wait_event(event)
end
local function wait_for_stream(gap, stream)
    at(gap)
    stream:synchronize()
    begin()
end
local function wait_for_event(gap, event)
    at(gap)
    event:synchronize()
    begin()
end
local function wait_for_device(gap)
    at(gap)
    lab.synchronize()
    begin()
end
local function replay(gap, graph, stream)
    at(gap)
    graph:launch(stream)
end

local graphs <const> = {}
@graphs@

-- ---- the program ----------------------------------------------------------------------------

local function program()
@body@
end

local times_ms <const> = {}
for run = 0, runs do -- the first one warms up
    lab.synchronize()
    begin()
    local start_us = due_us
    program()
    lab.synchronize()
    times_ms[run] = (lab.now_us() - start_us) / 1000
end
table.sort(times_ms)
@say@(("%.3f ms, median of %d runs"):format(times_ms[(runs + 1) // 2], runs))
]==]

return language
