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

function language.kernel(name, blocks, threads, shared)
    return ("    kernel(%s, %d, %d, %d),"):format(name, blocks, threads, shared)
end

function language.copy(copy)
    return ('    { from = "%s", to = "%s", bytes = %d },'):format(copy.from, copy.to, copy.bytes)
end

function language.graph(i, body)
    return ("graphs[%d] = lab.graph(function()\n%s\nend, { stream = captures[1] })"):format(i, body)
end

language.text = [==[
@about@

local runs <const> = tonumber(arg[1]) or 5
local follow_us <const> = @follow@ -- from one kernel to the next of its stream

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
    pageable = bytes(@from_pageable@, { device = "cpu" }),
}
local to <const> = {
    device = bytes(@to_device@, {}),
    pinned = bytes(@to_pinned@, { device = "cpu", pinned = true }),
}
local set <const> = bytes(@set_bytes@, {})

-- ---- kernels: how long a block has to be busy is measured ------------------------------------

local sms <const> = lab.device().sm_count
local aside <const> = lab.stream{ non_blocking = true }
local first <const>, last <const> = lab.event(), lab.event()

-- From one launch to the next of the same stream.
local function period_us(options, us)
    local function many(n)
        lab.spin(0.5, { stream = aside }) -- until all are enqueued
        first:record(aside)
        for _ = 1, n do lab.spin(us / 1000, options) end
        last:record(aside)
        last:synchronize()
        return first:elapsed_time(last) * 1000
    end
    return (many(20) - many(10)) / 10
end

local shapes <const> = {}

-- Launches follow each other by `fixed` and `slope` times what each block is busy.
local function shape_of(blocks, threads, shared)
    local key = ("%d %d %d"):format(blocks, threads, shared)
    if not shapes[key] then
        local options = { blocks = blocks > 0 and blocks or 2 * sms, threads = threads,
                          shared_bytes = shared, stream = aside }
        period_us(options, 2)
        local short, long = period_us(options, 2), period_us(options, 6)
        local slope = math.max(0.1, (long - short) / 4)
        shapes[key] = { options = options, slope = slope, fixed = short - 2 * slope }
    end
    return shapes[key]
end

local function kernel(_, blocks, threads, shared) return shape_of(blocks, threads, shared) end

local kernels <const> = {
@kernels@
}
local copies <const> = {
@copies@
}

-- ---- calls --------------------------------------------------------------------------------

local function launch(gap, k, stream, us)
    at(gap)
    k.options.stream = stream
    lab.spin(math.max(0, us + follow_us - k.fixed) / k.slope / 1000, k.options)
end
local function copy(gap, c, stream)
    at(gap)
    -- Results that are not page-locked mostly go to memory that is new.
    local target = to[c.to] or lab.empty(c.bytes, { device = "cpu", dtype = "uint8" })
    lab.cuda.memcpy_async(target, from[c.from], c.bytes, { stream = stream })
end
local function copy_and_wait(gap, c, stream)
    copy(gap, c, stream)
    if c.from ~= "pageable" and c.to ~= "pageable" then stream:synchronize() end
    begin()
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
