-- 38-determinism.t.lua - the same script gives the same bytes of timeline.
--
-- Twice in a process, in another process, with the collector off, eager or in
-- another mode, and after a lot of garbage.

local T = require "tap"
local ideal = require "lua.ideal"

-- A bit of everything, with tensors that die at whatever moment the collector
-- chooses. It is run from a text, so that another process can run the same.
local workload = [==[
local path, eager = ...
lab.open{backend = "sim", profile = "textbook"}
local s = {}
for i = 1, 10 do s[i] = lab.stream{non_blocking = i % 3 ~= 0, priority = -(i % 6),
    name = "worker " .. i} end
local tl = lab.profile(function()
    local host = lab.rand(512, 512, {device = "cpu", pinned = true, seed = 1})
    local plain = lab.rand(512, 512, {device = "cpu", seed = 2})
    for round = 1, 20 do
        for i = 1, 10 do
            lab.with(s[i], function()
                local x = lab.empty(512, 512)
                x:copy_(i % 2 == 0 and host or plain, {non_blocking = true})
                local y = lab.matmul(x, x)
                y = lab.pow(y, 2)
                lab.add(x, y, {out = x})
                local e = s[i]:record_event()
                s[i % 10 + 1]:wait_event(e)
                if round % 5 == 0 then y:to("cpu", {non_blocking = true}) end
            end)
            if eager then collectgarbage() end
        end
        s[round % 10 + 1]:launch_host_func(function() end)
        lab.host_work(0.01)
        lab.spin(0.05, {blocks = 100 * round, stream = s[1]})
        if round % 7 == 0 then lab.ones(1000):sum():item() end
    end
end)
tl:save(path)
return tl.makespan_us
]==]

local run = assert(load(workload, "=workload.lua"))

local function settings_of_the_collector_do_not_show()
    local paths = {}
    local function trace(eager)
        local path = ideal.temporary(".json")
        paths[#paths + 1] = path
        local makespan = run(path, eager)
        return ideal.read(path), makespan
    end
    local first, makespan = trace()
    T.ok(#first > 1000 and makespan > 0, "the workload makes a trace")
    local again, same_makespan = trace()
    T.ok(first == again, "the same script twice gives the same bytes")
    T.is(same_makespan, makespan, "and the same makespan")

    collectgarbage("stop")
    T.ok(trace() == first, "with the collector stopped as well")
    collectgarbage("restart")
    collectgarbage("generational")
    T.ok(trace() == first, "in generational mode as well")
    collectgarbage("incremental", 100, 1000, 1)
    T.ok(trace() == first, "with a hasty incremental collector as well")
    collectgarbage("incremental", 200, 100, 13)
    T.ok(trace(true) == first, "with a full collection after every operation as well")

    local garbage = {}
    for i = 1, 20000 do garbage[i % 100 + 1] = { tostring(i), i } end
    T.ok(trace() == first, "after a lot of garbage as well")
    for _, path in ipairs(paths) do os.remove(path) end
end

local function another_process_gives_the_same_bytes()
    local here, there = ideal.temporary(".json"), ideal.temporary(".json")
    run(here)
    local status, output = ideal.run_text(
        "local f = assert(load([====[" .. workload .. "]====], '=workload.lua'))\n"
        .. "local junk = {} for i = 1, 1000 do junk[i] = {i} end\n"
        .. ("f(%q)\n"):format(there))
    if T.is(status, 0, "the workload runs in a process of its own") then
        T.ok(ideal.read(there) == ideal.read(here), "another process gives the same bytes")
    else
        T.diag(output)
    end
    os.remove(here)
    os.remove(there)
end

local function values_are_the_same_too()
    local function result()
        ideal.textbook()
        local a = lab.rand(64, 64, { seed = 3 })
        local b = lab.pow(a, 2)
        return lab.add(a, b):totable()
    end
    T.is_deeply(result(), result(), "values computed twice are equal")
end

settings_of_the_collector_do_not_show()
another_process_gives_the_same_bytes()
values_are_the_same_too()
T.done()
