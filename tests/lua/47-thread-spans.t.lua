-- 47-thread-spans.t.lua - timelines of several threads of the host: which one made each call, in
-- lists, pictures and trace files, and what is found out from that.

local T = require "tap"
local ideal = require "lua.ideal"

local function read(path)
    local file <close> = assert(io.open(path, "rb"))
    return file:read "a"
end

local function saved(tl, suffix)
    local path = os.tmpname()
    os.remove(path)
    path = path .. suffix
    tl:save(path)
    local text = read(path)
    return text, path
end

local function of_two_threads()
    ideal.open{ ["host.launch_us"] = 4 }
    return lab.profile(function()
        lab.spin(0.5)
        local th = lab.thread(function()
            local s = lab.stream{ non_blocking = true, name = "side" }
            local e = lab.event()
            lab.spin(1, { stream = s })
            e:record(s)
            s:synchronize()
            lab.host_work(0.25)
        end)
        lab.spin(0.5)
        th:join()
    end)
end

local function lists_name_the_thread()
    local tl = of_two_threads()
    local by_thread = { [0] = 0, 0 }
    for _, span in ipairs(tl:spans()) do by_thread[span.thread] = by_thread[span.thread] + 1 end
    T.is_deeply(by_thread, { [0] = 2, 1 }, "spans have the thread that launched them")
    local calls = {}
    for _, call in ipairs(tl:calls()) do calls[#calls + 1] = call.thread .. " " .. call.kind end
    table.sort(calls)
    T.is(table.concat(calls, ", "),
         "0 device_sync, 0 plain, 1 event_record, 1 host_work, 1 stream_sync", "and so have calls")
    local join
    for _, call in ipairs(tl:calls()) do join = call.name == "thread:join" and call or join end
    -- The thread begins at 4; its launch ends at 8 or 9, its kernel 1000 later, its work 250 after
    -- that.
    T.near(join.host_end_us - join.host_start_us, 1250, 10,
           "the join is a call, as long as it waited")
end

local function one_thread_is_as_ever()
    ideal.open()
    local tl = lab.profile(function() lab.spin(1) lab.synchronize() end)
    T.is(tl:spans()[1].thread, nil, "with one thread spans have no field for it")
    T.is(tl:calls()[1].thread, nil, "nor have calls")
    local text, path = saved(tl, ".json")
    os.remove(path)
    T.ok(not text:find(",\"thread\":", 1, true) and not text:find "thread 1", "nor has a trace")
end

local function pictures_have_a_row_for_each()
    local text, path = saved(of_two_threads(), ".svg")
    os.remove(path)
    T.ok(text:find(">host</text>", 1, true), "a picture has a row of the first thread")
    T.ok(text:find(">thread 1</text>", 1, true), "and one of the other")
    T.ok(not text:find(">thread 2</text>", 1, true), "and no more")
end

local function traces_come_back()
    local tl = of_two_threads()
    local text, path = saved(tl, ".json")
    T.like(text, '"thread_name","pid":4242,"tid":5001,"ts":0,"args":{"name":"thread 1"}',
           "in a trace the thread has a row with its name")
    local back = lab.load(path)
    os.remove(path)
    T.is_deeply(back:spans(), tl:spans(), "spans that are read again are the same")
    T.is_deeply(back:calls(), tl:calls(), "and calls")
    local again, other = saved(back, ".json")
    os.remove(other)
    T.ok(again == text, "and the file that is written then")
end

local function programs_of_tasks_are_refused()
    T.throws_like(function() of_two_threads():save("no.goal") end,
                  "needs a timeline of one thread of the host",
                  "a GOAL file needs an order that threads do not have")
end

local function a_wait_holds_its_own_thread()
    ideal.open()
    local tl = lab.profile(function()
        local waits = lab.thread(function()
            local s = lab.stream{ non_blocking = true }
            lab.spin(1, { stream = s })
            s:synchronize()
            lab.spin(1, { stream = s })
        end)
        local other = lab.thread(function()
            lab.host_work(1.5)
            lab.spin(3, { stream = lab.stream{ non_blocking = true } })
        end)
        waits:join()
        other:join()
    end)
    -- From 0 to 2 one kernel after the other, from 1.5 to 4.5 the third.
    T.is(tl.makespan_us, 4500, "two threads, one of which waits")
    T.is(tl:bounds().critical_path_us, 3000,
         "what the other one launches need not follow what the first has waited for")
end

local function the_host_is_the_thread_that_launched()
    ideal.open()
    local tl = lab.profile(function()
        local late = lab.thread(function()
            local s = lab.stream{ non_blocking = true }
            lab.spin(1, { stream = s })
            lab.host_work(1.5)
            lab.spin(1, { stream = s })
        end)
        local busy = lab.thread(function()
            for _ = 1, 100 do lab.event() lab.host_work(0.1) end
        end)
        late:join()
        busy:join()
    end)
    local found
    for _, cause in ipairs(tl:causes()) do found = cause.cause == "host_work" and cause or found end
    local work = tl:calls()
    local where
    for _, call in ipairs(work) do
        if call.kind == "host_work" and call.host_end_us - call.host_start_us > 1000 then
            where = call.where
        end
    end
    T.is(found.lost_us, 500, "the gap is explained by the work of the thread that launched late")
    T.is(found.by_where, where, "and not by what another thread did meanwhile")
end

lists_name_the_thread()
one_thread_is_as_ever()
pictures_have_a_row_for_each()
traces_come_back()
programs_of_tasks_are_refused()
a_wait_holds_its_own_thread()
the_host_is_the_thread_that_launched()

T.done()
