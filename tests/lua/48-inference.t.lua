-- 48-inference.t.lua - causes inferred from records alone, as on a real GPU, against what
-- the simulator knows.

local T = require "tap"
local agreement = require "lua.agreement"
local programs = require "lua.programs"

local streamlab <const> = os.getenv("STREAMLAB") or "build/streamlab"

local function random_programs()
    local count, adds_up = agreement.new(), true
    for seed = 1, 60 do
        local tl = programs.run(seed)
        agreement.add(count, tl)
        local sum = 0
        for _, part in ipairs(tl:makespan_parts{ inferred = true }) do sum = sum + part.lost_us end
        adds_up = adds_up and math.abs(sum - tl.makespan_us) < 1e-3
    end
    T.diag(("random programs: %.2f %% of %.0f us idle time have the cause that they had"):format(
           agreement.percent(count), count.total))
    for _, line in ipairs(agreement.worst(count, 5)) do T.diag(line) end
    T.ok(agreement.percent(count) >= 95, "in random programs 95 % of the time is inferred right")
    T.ok(adds_up, "what is inferred adds up to the makespan")
end

local function scripts()
    for _, script in ipairs{ "puzzler", "experiments/default_stream", "experiments/events_race",
                             "experiments/callbacks", "experiments/priorities" } do
        local command = "'%s' --backend sim tests/lua/agree_on.lua scripts/%s.lua 2>&1"
        local pipe = io.popen(command:format(streamlab, script))
        local text = pipe:read("a")
        pipe:close()
        local same, total = text:match("agreement (%S+) (%S+)\n$")
        if not same then T.diag(text) end
        local percent = 0
        if same then
            percent = agreement.percent{ same = tonumber(same), total = tonumber(total) }
        end
        T.diag(("%s: %.2f %% of %s us"):format(script, percent, total))
        T.ok(percent >= 95, "in scripts/" .. script .. ".lua 95 % are inferred right")
    end
end

-- What one planted cause comes to when it is inferred, in the row that it holds up: the
-- largest loss.
local function cause_of(tl, pick)
    local largest = { lost_us = 0 }
    for _, finding in ipairs(tl:causes{ inferred = true }) do
        if pick(finding) and finding.lost_us > largest.lost_us then largest = finding end
    end
    return largest.cause
end

local function planted()
    lab.open{ backend = "sim", profile = "textbook" }
    local a, b = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local urgent = lab.stream{ non_blocking = true, priority = "high" }
    local host = lab.empty(1 << 22, { device = "cpu", pinned = true })
    local device, other = lab.empty(1 << 22), lab.empty(1 << 22)
    lab.synchronize()
    local idle = function(f) return f.idle end
    local busy = function(f) return not f.idle end
    T.is(cause_of(lab.profile(function()
        lab.spin(1, { stream = a })
        local e = a:record_event()
        b:wait_event(e)
        device:copy_(host, { non_blocking = true, stream = b })
    end), idle), "event_wait", "an event")
    T.is(cause_of(lab.profile(function()
        device:copy_(host, { non_blocking = true, stream = a })
        other:copy_(host, { non_blocking = true, stream = b })
    end), busy), "engine_busy", "an engine")
    T.is(cause_of(lab.profile(function()
        lab.spin(1, { blocks = 132 * 2, threads = 1024, stream = a })
        lab.spin(0.1, { blocks = 132, threads = 1024, stream = b })
    end), busy), "no_sm_room", "no room")
    T.is(cause_of(lab.profile(function()        -- the second wave has half the blocks
        lab.spin(1, { blocks = 132 * 3, threads = 1024, stream = a })
        lab.spin(0.1, { blocks = 132, threads = 1024, stream = b })
    end), busy), "no_sm_room", "room behind the last wave of a kernel that still runs")
    T.is(cause_of(lab.profile(function()
        lab.spin(1, { blocks = 132 * 2, threads = 1024, stream = a })
        lab.spin(0.1, { blocks = 132 * 2, threads = 1024, stream = b })
        lab.spin(3, { blocks = 132 * 2, threads = 1024, stream = urgent })
    end), busy), "priority", "a more urgent kernel")
    T.is(cause_of(lab.profile(function()
        lab.spin(1, { stream = a })
        a:synchronize()
        device:copy_(host, { non_blocking = true, stream = b })
    end), idle), "host_blocked", "a synchronisation")
    T.is(cause_of(lab.profile(function()
        lab.spin(1, { stream = a })
        lab.host_work(2)
        device:copy_(host, { non_blocking = true, stream = b })
    end), idle), "host_work", "the host's own work")
    T.is(cause_of(lab.profile(function()
        for _ = 1, 2000 do lab.spin(0.1, { stream = a }) end
        device:copy_(host, { non_blocking = true, stream = b })
    end), idle), "launch_queue_full", "a full launch queue")
end

random_programs()
scripts()
planted()
T.done()
