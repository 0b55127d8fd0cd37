-- pages.lua - writes the pages that the browser's tests look at, on the simulated GPU.
--
--   streamlab pages.lua FOLDER WHAT, of those below or a number of operations
--
-- puzzler: blocking.html, nonblocking.html, pinned.html; events: a copy, and a kernel
-- that waits for its event; host.html: a host that computes and page-locks between two copies, and
-- host-trace.html, the same from its trace; foreign: a trace of PyTorch's;
-- changes: one with changes that gain something; operators: another, with ranges of the host;
-- steps: one with a step; ranges: one with ranges of two threads, twelve deep; shared: one line's
-- copies in two streams; hostile: names that would be HTML or scripts if they were not escaped; a
-- number: as many operations in 8 streams.

local lab = require "streamlab"
local folder, what = arg[1], arg[2]

local function save(tl, name)
    tl:save(folder .. "/" .. name .. ".html")
end

local function puzzler()
    local profile, names = lab.profile, { "nonblocking", "blocking", "pinned" }
    function lab.profile(...)
        local tl = profile(...)
        save(tl, table.remove(names, 1))
        return tl
    end
    arg = {}
    dofile("scripts/puzzler.lua")
end

local function hostile()
    lab.open{ backend = "sim" }
    local name = "</script><img src=x onerror=document.title='caught'><b>"
    local stream = lab.stream{ name = name }
    local work = assert(load("local lab, stream = ... lab.spin(1, {stream = stream})", "@" .. name))
    save(lab.profile(function() work(lab, stream) end), "hostile")
end

local function events()
    lab.open{ backend = "sim" }
    local load, compute = lab.stream{ name = "load" }, lab.stream{ name = "compute" }
    local host = lab.zeros(1024, 1024, { device = "cpu", pinned = true })
    save(lab.profile(function()
        local x = host:to("cuda", { non_blocking = true, stream = load })
        compute:wait_event(load:record_event())
        lab.pow(x, 2, { stream = compute })
    end), "events")
end

local function host()
    lab.open{ backend = "sim" }
    local tl = lab.profile(function()
        local noise = lab.rand(1024, 1024, { device = "cpu" })
        noise:cuda()
        lab.ones(1024, 1024, { device = "cpu", pinned = true }):cuda()
    end)
    save(tl, "host")
    local trace = folder .. "/worker-17_of_256.1763900000000000000.pt.trace.json"
    tl:save(trace)
    save(lab.load(trace), "host-trace")
end

local function foreign()
    save(lab.load("tests/timeline/data/planted/host_prepares.json.gz"), "foreign")
end

-- What changes would gain of a program that was recorded on an H200, with timelines of three.
local function changes()
    save(lab.load("tests/timeline/data/planted/copies_in_compute_stream.json.gz"), "changes")
end

local function operators()
    save(lab.load("tests/timeline/data/torch_puzzler_blocking.json.gz"), "operators")
end

-- A kernel in a range within a step, which is one by its name alone.
local function steps()
    local path = folder .. "/steps.json"
    local file = assert(io.open(path, "w"))
    file:write([[{"deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [
{"ph":"X","cat":"user_annotation","name":"step 1","pid":1,"tid":1,"ts":1,"dur":100},
{"ph":"X","cat":"user_annotation","name":"forward","pid":1,"tid":1,"ts":1,"dur":40},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,
 "args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":50,
 "args":{"device":0,"stream":7,"correlation":1}}]}]])
    file:close()
    save(lab.load(path), "steps")
end

-- Two threads, each with a kernel of 40 us in a stream of its own: operators 0 to 10, one in the
-- other, in a module; and one whose name would be HTML.
local function ranges()
    local path, events = folder .. "/ranges.json", {}
    local function add(cat, name, pid, tid, ts, dur, args)
        local head = ('{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,')
            :format(cat, name, pid, tid)
        events[#events + 1] = head .. ('"ts":%d,"dur":%d,"args":{%s}}'):format(ts, dur, args or "")
    end
    add("user_annotation", "ProfilerStep#1", 1, 1, 5, 200)
    add("python_function", "nn.Module: Linear_0", 1, 1, 10, 100)
    for i = 0, 10 do add("cpu_op", "op::" .. i, 1, 1, 11 + i, 90 - 2 * i) end
    add("cuda_runtime", "cudaLaunchKernel", 1, 1, 40, 9, '"correlation":1')
    add("cpu_op", "aten::<img src=x>", 1, 2, 42, 20)
    add("cuda_runtime", "cudaLaunchKernel", 1, 2, 45, 5, '"correlation":2')
    add("kernel", "gemm", 0, 7, 50, 40, '"device":0,"stream":7,"correlation":1')
    add("kernel", "add", 0, 8, 60, 40, '"device":0,"stream":8,"correlation":2')
    local file = assert(io.open(path, "w"))
    file:write('{"deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [\n',
        table.concat(events, ",\n"), "]}")
    file:close()
    save(lab.load(path), "ranges")
end

local function shared()
    lab.open{ backend = "sim" }
    local streams, x = { lab.stream{ name = "one" }, lab.stream{ name = "two" } },
        lab.zeros(1024, 1024)
    save(lab.profile(function()
        for i = 1, 4 do x:to("cpu", { stream = streams[i % 2 + 1] }) end
    end), "shared")
end

local function many(n)
    lab.open{ backend = "sim" }
    local streams, x = {}, lab.zeros(64, { pinned = true, device = "cpu" })
    local y = lab.zeros(64)
    for i = 1, 8 do streams[i] = lab.stream{ name = "stream " .. i } end
    save(lab.profile(function()
        for i = 1, n do
            local options = { stream = streams[i % 8 + 1], blocks = 8 + i % 5 }
            if i % 16 == 3 then
                y:copy_(x, { non_blocking = true, stream = options.stream })
            elseif i % 16 == 9 then
                x:copy_(y, { non_blocking = true, stream = options.stream })
            else
                lab.spin(0.002 + 0.001 * (i % 7), options)
            end
        end
    end), tostring(n))
end

if what == "puzzler" then
    puzzler()
elseif what == "events" then
    events()
elseif what == "host" then
    host()
elseif what == "shared" then
    shared()
elseif what == "steps" then
    steps()
elseif what == "ranges" then
    ranges()
elseif what == "changes" then
    changes()
elseif what == "operators" then
    operators()
elseif what == "foreign" then
    foreign()
elseif what == "hostile" then
    hostile()
elseif what == "empty" then
    lab.open{ backend = "sim" }
    save(lab.profile(function() end), "empty")
else
    many(math.tointeger(tonumber(what)))
end
