-- 20-api-calls.t.lua - tl:calls(): the host's calls as tables, fresh and from a file, and the
-- names of those that enqueue operations.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- One call of each kind, each at another time.
local function example()
    ideal.textbook()
    local s, other = lab.stream{ name = "s" }, lab.stream{ name = "other" }
    local e = lab.event()
    lab.spin(0)
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(1, { stream = s })
        e:record(s)
        other:wait_event(e)
        lab.spin(1, { stream = other })
        s:synchronize()
        e:synchronize()
        lab.synchronize()
        lab.cuda.free(lab.cuda.malloc(4096))
        lab.host_work(2)
    end)
    return tl, s, other
end

local function names(calls, field)
    local list = {}
    for i, call in ipairs(calls) do list[i] = tostring(call[field]) end
    return table.concat(list, " ")
end

local function fields()
    local tl, s, other = example()
    local calls = tl:calls()
    T.is(names(calls, "name"), "cudaEventRecord cudaStreamWaitEvent cudaStreamSynchronize "
         .. "cudaEventSynchronize cudaDeviceSynchronize cudaMalloc cudaFree host_work "
         .. "cudaDeviceSynchronize", "CUDA's names, in the order of issue")
    T.is(names(calls, "kind"), "event_record stream_wait stream_sync event_sync device_sync "
         .. "plain plain host_work device_sync", "kinds")
    T.is(names(calls, "stream"), "s other s nil nil nil nil nil nil", "streams that are named")
    T.is(calls[1].stream_id, s.id, "with their ids")
    T.is(calls[2].stream_id, other.id, "of the one that waits")
    T.is(calls[4].stream_id, nil, "an event's synchronisation names none")
    T.is(names(calls, "waited"), "false false true true true false true false true",
         "synchronisations wait, and so does cudaFree")
    T.is(names(calls, "of_stop"), "false false false false false false false false true",
         "the last one is tl:stop's, and not the script's own")
    T.near(calls[8].host_end_us - calls[8].host_start_us, 2000, 1e-6, "host_work takes its time")
    T.ok(calls[3].host_end_us - calls[3].host_start_us > 900, "a wait lasts as the kernel")
    local last, ascending, placed = 0, true, true
    for _, call in ipairs(calls) do
        ascending = ascending and call.correlation > last and call.host_start_us >= 0
        placed = placed and call.where:find("^20%-api%-calls%.t%.lua:%d+$")
        last = call.correlation
    end
    T.ok(ascending, "numbers go up, and times are relative to the recording's start")
    T.ok(placed, "where is the script's line")
    calls[1].name = "changed"
    T.is(tl:calls()[1].name, "cudaEventRecord", "each call gives new tables")
end

local function in_the_null_stream()
    ideal.textbook()
    local tl = lab.profile(function()
        lab.event():record()
        lab.default_stream():synchronize()
    end)
    T.is(names(tl:calls(), "stream_id"), "0 0 nil", "the default stream is one that is named")
end

local function from_a_file()
    local tl = example()
    local path = ideal.temporary(".json")
    tl:save(path)
    local loaded = lab.load(path)
    os.remove(path)
    T.is_deeply(loaded:calls(), tl:calls(), "a saved timeline has the same calls")
    T.is_deeply(loaded:spans(), tl:spans(), "and spans")
end

local function of_spans()
    ideal.textbook()
    local host = lab.ones(4, { device = "cpu" })
    local tl = lab.profile(function()
        lab.spin(0)
        host:cuda()
        lab.cuda.memset(lab.cuda.malloc(4), 0, 4)
        lab.current_stream():launch_host_func(function() end)
    end)
    T.is(names(tl:spans(), "call"), "cudaLaunchKernel cudaMemcpyAsync cudaMemsetAsync "
         .. "cudaLaunchHostFunc", "spans have the name of the call that enqueued them")
end

-- A reader of the timeline must see where the host's time went.
local function what_the_host_computes()
    ideal.textbook()
    local pageable, stages = lab.ones(1 << 20, { device = "cpu" }), {}
    local function now(i) stages[i] = lab.now_us() end
    local tl = lab.profile(function()
        now(1)
        local noise = lab.rand(1 << 20, { device = "cpu" })
        now(2)
        local pinned = lab.empty(1 << 20, { device = "cpu", pinned = true })
        now(3)
        pinned:fill_(2)
        now(4)
        pageable:pin_memory()
        now(5)
        noise:copy_(pinned)
    end)
    local calls = tl:calls()
    T.is(names(calls, "kind"), ("host_work "):rep(6) .. "device_sync",
         "what the host computes is work of its own")
    local list = {}
    for i = 1, 6 do list[i] = calls[i].name end
    T.is(table.concat(list, "; "), "rand_f32 on the CPU; pinned allocation; fill_f32 on the CPU; "
         .. "pinned allocation; Memcpy HtoH (Pageable -> Pinned); Memcpy HtoH (Pinned -> Pageable)",
         "with the name of what it is")
    local function lasts(i) return calls[i].host_end_us - calls[i].host_start_us end
    T.near(lasts(1), stages[2] - stages[1], 0.01, "rand on the CPU takes the time that it took")
    T.near(lasts(2), stages[3] - stages[2], 0.01, "so does pinned = true")
    T.near(lasts(3), stages[4] - stages[3], 0.01, "and fill_")
    T.near(lasts(4) + lasts(5), stages[5] - stages[4], 0.01,
           "pin_memory is an allocation and a copy")
    local path = ideal.temporary(".json")
    tl:save(path)
    T.is_deeply(lab.load(path):calls(), calls, "a saved timeline has the names")
    os.remove(path)
end

-- A call that lasts long is named as the cause; a short one is part of the loop around it.
local function causes_of_host_work()
    ideal.textbook()
    local function worst(what)
        local tl = lab.profile(function()
            lab.spin(0.001)
            what()
            lab.spin(0.001)
        end)
        local found = tl:causes()[1]
        return found.sentence .. "; " .. (found.remedy or "")
    end
    T.like(worst(function() lab.rand(1 << 20, { device = "cpu" }) end),
           "^No kernel ran for .- the host was busy in rand_f32 on the CPU at 20%-api",
           "rand on the CPU is named as what the GPU waited for")
    local function pinned() return lab.empty(1 << 20, { device = "cpu", pinned = true }) end
    pinned():free()
    T.like(worst(pinned), "^No kernel ran for .- the host was still issuing spin",
           "a short allocation is a part of issuing")
    local kept <close> = pinned()
    T.like(worst(pinned),
           "the host was busy in pinned allocation at 20%-api.-; Allocate pinned memory once",
           "a long one is named, with what helps")
    T.ok(kept.pinned, "it is long where no memory is left over")
end

local function refused()
    ideal.textbook()
    local tl <close> = lab.record()
    refuses(function() tl:calls() end, "SL_ESTATE", "still recording", "not while it is recorded")
    tl:stop()
    T.is(#tl:calls(), 1, "the wait of stop is all there is")
    refuses(function() tl:calls(1) end, "SL_EINVAL", "calls", "it takes no argument")
    refuses(function() tl.calls(5) end, "SL_EINVAL", "timeline", "nor anything but a timeline")
end

for _, test in ipairs{ fields, in_the_null_stream, from_a_file, of_spans, what_the_host_computes,
                       causes_of_host_work, refused } do test() end
T.done()
