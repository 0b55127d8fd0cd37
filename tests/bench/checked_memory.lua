-- checked_memory.lua [CALLS] - by how many MB the process grows while CALLS operations (1 M) run
-- under the race checker: on a hundred tensors in eight streams, with events between them and a
-- wait for the device every 10,000. Prints that. A work-load for bench.lua, not a test.
local n <const> = tonumber(arg[1]) or 1000000

lab.open { backend = "sim", profile = "textbook" }
local streams, tensors, events, how = {}, {}, {}, {}
for i = 1, 8 do
    streams[i] = lab.stream { non_blocking = i % 2 == 0 }
    events[i] = lab.event { timing = false }
    how[i] = {}
    for k = 1, 100 do
        tensors[k] = tensors[k] or lab.empty(64)
        how[i][k] = { out = tensors[k], stream = streams[i] }
    end
end

local function resident_kib()
    for line in io.lines("/proc/self/status") do
        local kib = line:match("^VmRSS:%s*(%d+)")
        if kib then return tonumber(kib) end
    end
end

-- All that is done to a tensor before comes first: the stream waits for the one before.
local add <const> = lab.add
local at = 0
local function operations(count)
    for i = 1, count // 3 do
        local s, tensor = i % 8 + 1, i % 100 + 1
        streams[at % 8 + 1]:record_event(events[at % 8 + 1])
        streams[s]:wait_event(events[at % 8 + 1])
        add(tensors[tensor], 1, how[s][tensor])
        at = s - 1
        if i % 3333 == 0 then lab.synchronize() end
    end
    lab.synchronize()
end

lab.check("warn")
operations(100000)
collectgarbage()
local before = resident_kib()
operations(n)
collectgarbage()
assert(#lab.races() == 0)
print(("%.3f"):format((resident_kib() - before) * 1024 / 1e6))
