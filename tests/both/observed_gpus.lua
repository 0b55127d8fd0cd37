-- observed_gpus.lua - what facts about several GPUs look like when they are run, as observed.lua. A
-- fact finds its first GPU current, and leaves it so.

local second = require "both.second"
local observed = {}

local function stream(device, name)
    return lab.stream{ device = device, name = name, non_blocking = true }
end

local function synchronize(one, two)
    for _, device in ipairs{ two, one } do
        device:make_current()
        lab.synchronize()
    end
end

-- Runs it once unmeasured, since first times load kernels and find memory, then records it.
local function record(f)
    f()
    return lab.profile(f)
end

-- Both GPUs, their communicator, and of each a tensor and a stream.
local function ranks(name)
    local one, two = lab.device(), second()
    return { devices = { one, two }, comm = lab.comm{ devices = { one, two } },
             t = { lab.ones(1000, { device = one }), lab.ones(1000, { device = two }) },
             s = { stream(one, name .. " 0"), stream(two, name .. " 1") } }
end

local function collective_of(tl, rank)
    for _, span in ipairs(tl:spans()) do
        if span.device == rank and span.name:find("nccl") then return span end
    end
end

observed["gpus-events"] = function()
    local one, two = lab.device(), second()
    local s, t = stream(one, "s"), stream(two, "t")
    local tl = record(function()
        lab.spin(5, { stream = s })
        t:wait_event(s:record_event())
        lab.spin(1, { stream = t })
    end)
    return tl:overlap_us({ stream = s }, { stream = t }) == 0 and tl.makespan_us > 5900, true
end

-- NCCL, or a fact before, may have given access.
local function disconnect(one, two)
    for _, way in ipairs{ { one, two }, { two, one } } do
        pcall(lab.cuda.device_disable_peer_access, way[1], { device = way[2] })
    end
end

observed["gpus-through-host"] = function()
    local one, two = lab.device(), second()
    local a, b = lab.ones(1 << 24), lab.empty(1 << 24, { device = two })
    local c = lab.ones(1 << 24, { device = "cpu", pinned = true })
    local s, t = stream(one, "s"), stream(one, "t")
    disconnect(one, two)
    local function us(copies, downloads)
        return record(function()
            if copies then b:copy_(a, { non_blocking = true, stream = s }) end
            if downloads then c:copy_(a, { non_blocking = true, stream = t }) end
        end).makespan_us
    end
    return us(true, true) > 0.9 * (us(true, false) + us(false, true)), true
end

observed["gpus-peer"] = function()
    local one, two = lab.device(), second()
    local a, b = lab.ones(1 << 24), lab.empty(1 << 24, { device = two })
    local function copy_us()
        return record(function() b:copy_(a) end).makespan_us
    end
    disconnect(one, two)
    local through_host_us = copy_us()
    lab.cuda.device_enable_peer_access(one, { device = two })
    lab.cuda.device_enable_peer_access(two, { device = one })
    return copy_us() < 0.5 * through_host_us, true
end

observed["collective-stream"] = function()
    local r = ranks("stream")
    local host_us
    local tl = record(function()
        local start_us = lab.now_us()
        for i = 1, 2 do lab.spin(20, { stream = r.s[i] }) end
        r.comm:all_reduce(r.t, { streams = r.s })
        host_us = lab.now_us() - start_us
        for i = 1, 2 do lab.spin(1, { stream = r.s[i] }) end
    end)
    synchronize(table.unpack(r.devices))
    local in_order, last_us = true, -math.huge
    for _, span in ipairs(tl:spans()) do
        if span.device == 0 then
            in_order, last_us = in_order and span.start_us >= last_us, span.end_us
        end
    end
    r.comm:free()
    return in_order and host_us < 15000, true
end

observed["collective-late"] = function()
    local r = ranks("late")
    local tl = record(function()
        lab.spin(5, { stream = r.s[2] })
        r.comm:all_reduce(r.t, { streams = r.s })
    end)
    local early, late = collective_of(tl, 0), collective_of(tl, 1)
    r.comm:free()
    return early.end_us - early.start_us > 4000 and late.end_us - late.start_us < 1000
        and early.end_us > late.start_us, true
end

-- Two blocks of 1024 threads fill an SM.
observed["collective-sms"] = function()
    local r = ranks("sms")
    local beside = stream(r.devices[1], "beside")
    local function fill()
        lab.spin(2, { blocks = 2 * r.devices[1].sm_count, threads = 1024, stream = beside })
    end
    local alone_us = record(fill).makespan_us
    local tl = record(function()
        lab.spin(20, { stream = r.s[2] })
        r.comm:all_reduce(r.t, { streams = r.s })
        lab.host_work(1)                        -- until its blocks are there
        fill()
    end)
    r.comm:free()
    return alone_us < 2500 and tl:busy_us(beside) > 3500, true
end

return observed
