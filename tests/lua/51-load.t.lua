-- 51-load.t.lua - lab.load: a trace file becomes a timeline like any other, without a device.
local T = require "tap"
local ideal = require "lua.ideal"

local path = os.tmpname()
local program = os.getenv("STREAMLAB") or "build/streamlab"
local foreign = "tests/timeline/data/pytorch.json"

-- Before any device is open: what the environment says of one does not matter.
local function without_device()
    local command = "STREAMLAB_BACKEND=nonsense '" .. program .. "' -e '"
        .. "local tl = lab.load(\"" .. foreign .. "\") print(tl) tl:summary()' 2>&1"
    local pipe = assert(io.popen(command))
    local out = pipe:read("a")
    pipe:close()
    T.like(out, "^timeline of 6 spans, makespan 550.0 us, wall 1000.0 us\nTo gain by this cause "
        .. "alone: .-%.\n\nmakespan",
        "a trace is loaded and read without a device")
end

-- PyTorch's profiler: figures worked out by hand, see tests/timeline/t-61-kineto-read.c.
local function from_pytorch()
    local tl = lab.load(foreign)
    T.is(tl.span_count, 6, "PyTorch's trace has its operations")
    T.is(tl.makespan_us, 550, "their makespan")
    T.is(tl.wall_us, 1000, "and the host's time")
    T.is(tl:busy_us("kernel"), 100.125 + 40, "busy times follow")
    T.is(tl:busy_us{ stream = "stream 20" }, 200 + 50 + 1.024 + 40, "also by stream")
    T.is(tl:overlap_us("kernel", { name = "triton_poi_fused_pow_0" }), 50, "so do overlaps")
    T.is(tl:bounds().critical_path_us, 515.125, "and bounds")
    T.is(tl.recording, false, "it is no recording")
    T.is(tl:stop(), tl, "stopping it does nothing")
    T.is(tl.notice, nil, "and there is nothing to tell")
    T.is_deeply(tl.doubts, {}, "nothing is in doubt")
    T.like(tl:text(), "stream 20 |", "its chart names the streams as the file does")
    local spans = tl:spans()
    T.is(spans[1].start_us, 50, "times count from the trace's first event")
    T.is(spans[5].host_waited, true, "a pageable copy blocked the host")
    T.is(spans[2].registers, 168, "a kernel has its registers")
    T.is(spans[2].shared_bytes, 188636, "and its shared memory")
    T.is(spans[3].shared_bytes, 0, "which may be none")
    T.is(spans[1].registers, nil, "a copy has no registers")
    T.is(spans[1].shared_bytes, nil, "and no shared memory")
    T.is(spans[6].registers, nil, "nor has a kernel of which the file does not tell")
end

local function record()
    local s = lab.stream{ name = "side", priority = "high" }
    return lab.profile(function()
        local x = lab.ones(256, 256, { pinned = true, device = "cpu" })
        local y = x:to("cuda", { non_blocking = true, stream = s })
        lab.matmul(y, y, { stream = s })
        local e = s:record_event()
        lab.current_stream():wait_event(e)
        lab.spin(0.1, { blocks = 3, threads = 64, shared_bytes = 4096 })
        s:launch_host_func(function() end)
        y:cpu()
        e:synchronize()
        lab.host_work(0.05)
        s:synchronize()
    end)
end

-- Every field of every span but where the device time of a kernel came from.
local function our_own(suffix)
    local tl = record()
    local file = path .. suffix
    tl:save(file)
    local back = lab.load(file)
    local a, b = tl:spans(), back:spans()
    local same = #a == #b
    for i = 1, #a do
        for _, key in ipairs{ "name", "kind", "stream", "stream_id", "engine", "bytes",
            "correlation", "where", "blocks", "threads", "registers", "shared_bytes" } do
            same = same and a[i][key] == b[i][key]
        end
        for _, key in ipairs{ "start_us", "end_us", "host_start_us", "host_end_us" } do
            same = same and math.abs(a[i][key] - b[i][key]) < 0.002
        end
    end
    T.ok(same, "a saved timeline comes back: " .. suffix)
    local spun
    for _, span in ipairs(b) do spun = span.name == "spin" and span or spun end
    T.is(spun.threads .. " " .. spun.registers .. " " .. spun.shared_bytes, "64 16 4096",
        "a kernel with its threads, their registers and the block's shared memory")
    T.near(back.makespan_us, tl.makespan_us, 0.002, "with its makespan")
    T.near(back:overlap_us("kernel", "h2d"), tl:overlap_us("kernel", "h2d"), 0.002, "its overlap")
    T.near(back:bounds().lower_us, tl:bounds().lower_us, 0.002, "and its bound")
    local again = path .. ".again" .. suffix
    back:save(again)
    local first, second = assert(io.open(file, "rb")), assert(io.open(again, "rb"))
    T.ok(first:read("a") == second:read("a"), "saved again it is the same file")
    first:close()
    second:close()
    os.remove(file)
    os.remove(again)
end

local function write(text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
end

-- Every kind of doubt is described on the page about trace files.
local function described()
    local header <close> = assert(io.open("core/timeline/doubts.h"))
    local page <close> = assert(io.open("docs/api/trace_files.lua"))
    local text, missing, n = page:read("a"), {}, 0
    for name in header:read("a"):gmatch("X%([%u_]+, \"([%l_]+)\"%)") do
        n = n + 1
        if not text:find("`" .. name .. "`", 1, true) then missing[#missing + 1] = name end
    end
    T.ok(n > 10, "there are more than ten kinds of doubt")
    T.is(table.concat(missing, " "), "", "each is described")
end

local function several_devices()
    local kernel = '{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":7,"ts":%d,"dur":1}'
    write("[" .. kernel:format(0, 1) .. "," .. kernel:format(1, 2) .. "]")
    local tl = lab.load(path)
    T.like(tl.notice, "work on several GPUs: 0 %(1 operation%), 1 %(1%)%. This is GPU 0",
        "what of a file is left out is in the notice")
    T.is_deeply(tl.doubts, {
        { kind = "several_gpus", count = 2, sentence = tl.notice:match("^[^\n]+") },
        { kind = "no_launch", count = 1,
          sentence = "The trace has no launches: when the host issued the operations is not "
              .. "known." },
    }, "and in the list of what is in doubt")
    T.like(tl:json(), '"doubts": %[\n    {"kind": "several_gpus", "count": 2, "us": null, '
        .. '"sentence": "The trace has',
        "also in JSON")
    local page = path .. ".html"
    tl:save(page)
    local file = assert(io.open(page))
    T.like(file:read("a"), '"doubts":"The trace has work on several GPUs:[^"]*The trace has no '
        .. 'launches:',
        "and on a page")
    file:close()
    os.remove(page)
    T.is_deeply({ tl.device_index, table.unpack(tl.device_indices) }, { 0, 0, 1 },
        "the timeline knows its GPU and the others")
    local other = lab.load(path, { device = 1 })
    T.is(other.device_index, 1, "which can be loaded as well")
    T.like(tl:text{ columns = 40 }, "^stream 7 |#+%.+|  50%%", "charts of both have the same axis")
    T.like(other:text{ columns = 40 }, "^stream 7 |%.+#+|  50%%", "on which each has its place")
    T.is(select(2, pcall(lab.load, path, { device = 2 })).code, "SL_ENOTFOUND",
        "a GPU that it has not is refused")
end

-- A hostile file may name a million.
-- Work of two GPUs, on the second one in two streams, by a graph and by the host.
local function on_two_gpus()
    local one, two = lab.open{ backend = "sim", index = 0 }, lab.open{ backend = "sim", index = 1 }
    local a = lab.stream{ name = "a", device = one }
    local b, c = lab.stream{ name = "b", device = two }, lab.stream{ device = two }
    local g = lab.graph(function()
        c:wait_stream(b)
        lab.spin(0.1, { stream = b })
        lab.spin(0.2, { stream = c })
        b:wait_stream(c)
    end, { stream = b })
    one:make_current()
    local tl = lab.profile(function()
        lab.spin(1, { stream = a })
        b:wait_event(a:record_event())
        lab.spin(0.5, { stream = b })
        c:wait_event(b:record_event())
        lab.spin(0.25, { stream = c })
        c:launch_host_func(function() end)
        g:launch{ stream = b }
        a:wait_event(c:record_event())
        lab.spin(0.3, { stream = a })
    end)
    two:make_current()
    lab.synchronize()
    return tl
end

local function one_of_ours()
    local all = on_two_gpus()
    all:save(path .. ".json")
    for index, names in ipairs{ { "a" }, { "b", "c" } } do
        local device = index - 1
        local tl = lab.load(path .. ".json", { device = device })
        local spans, want = tl:spans(), {}
        for _, span in ipairs(all:spans()) do
            if span.device == device then table.insert(want, span) end
        end
        T.is(#spans, #want, ("GPU %d of our own trace has its operations"):format(device))
        for i, span in ipairs(want) do
            for _, field in ipairs{ "name", "kind", "engine", "device", "start_us", "end_us",
                                    "host_start_us", "where", "correlation", "blocks" } do
                if spans[i][field] ~= span[field] then
                    T.is(spans[i][field], span[field], ("%s of operation %d"):format(field, i))
                end
            end
            T.is(spans[i].stream, (span.stream:gsub("^gpu%d: ", "")),
                 "in a stream without the GPU's number")
        end
        T.is(tl.device_index, device, "it says which it is")
        T.is(#tl.devices, 1, "and has no other")
        T.is_deeply(tl.device_indices, { 0, 1 }, "but knows of both")
        T.like(tl.notice, "^The trace has work on several GPUs: 0 %(2 operations%), 1 %(5%)%. This "
            .. "is GPU " .. device
               .. ", without what it waited for on the others%.$", "which it says")
        T.is(tl:busy_us{ stream = names[1] }, all:busy_us{ stream = names[1], device = device },
             "a stream is as busy as with the others")
        T.is(tl:overlap_us("kernel", "kernel"), all:overlap_us({ device = device, kind = "kernel" },
             { device = device, kind = "kernel" }), "kernels overlap as there")
        T.is(tl.wall_us, all.wall_us, "the host's time is the trace's")
        T.ok(#tl:text() > 0 and tl:bounds().critical_path_us > 0, "it has a chart and bounds")
        tl:save(path .. ".one.json")
        T.is(#lab.load(path .. ".one.json"):spans(), #want, "and can be saved again")
        os.remove(path .. ".one.json")
    end
    T.is(lab.load(path .. ".json").span_count, all.span_count, "without a number it is all of them")
    T.is(#lab.load(path .. ".json").devices, 2, "with both GPUs")
    ideal.refuses(T, function() lab.load(path .. ".json", { device = 2 }) end, "SL_ENOTFOUND",
                  "no work on GPU 2; it has on 0 %(2 operations%), 1 %(5%)",
                  "a GPU that it does not have")
    os.remove(path .. ".json")
end

local function many_devices()
    local kernels = {}
    for i = 0, 999 do
        kernels[i + 1] = ('{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":7,"ts":%d,"dur":1}')
            :format(i, i)
    end
    write("[" .. table.concat(kernels, ",") .. "]")
    local tl = lab.load(path)
    T.like(tl.notice, " 14 %(1%), 15 %(1%) and 984 more%. This is GPU 0",
        "of many GPUs the first are named")
    T.is(#tl.device_indices, 16, "and listed")
    T.is(lab.load(path, { device = 63 }).device_indices[17], 63, "with the one that was asked for")
    T.is(lab.load(path, { device = 64 }).device_indices[17], 64, "whichever that is")
    local _, err = pcall(lab.load, path, { device = 1000 })
    T.like(tostring(err), "15 %(1%) and 984 more$", "in the refusal as well")
end

-- A file of our own, as far as it matters here, with an operation and a line of this script.
local function by_hand(stream, here)
    write('{"streamlab":{"streams":[]},"traceEvents":[\n'
        .. '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4242,"tid":4242,'
        .. '"ts":0,"dur":1,"args":{"correlation":1,"where":"' .. here .. '"}},\n'
        .. '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":' .. stream + 7 .. ',"ts":2,"dur":3,'
        .. '"args":{"correlation":1,"stream":' .. stream + 7 .. '}}]}')
end

local function largest_stream()
    by_hand(0xFFFFFFFF, "x.lua:1")
    local span = lab.load(path):spans()[1]
    T.is(span.stream, "stream 4294967295", "the largest stream id makes a name")
    T.is(span.stream_id, 0xFFFFFFFF, "and is a number")
end

-- What the file does not quote stays unquoted: the script may have changed since.
local function no_lines_of_this_script()
    lab.open{ backend = "sim" }
    local recorded = lab.profile(function() lab.spin(1) end)
    local here = recorded:spans()[1].where
    by_hand(1, here)
    local tl = lab.load(path)
    T.is(tl:spans()[1].where, here, "a file can name a line of this script")
    tl:save(path .. ".json")
    local file = assert(io.open(path .. ".json"))
    T.is(file:read("a"):find("lab.profile", 1, true), nil,
        "which is not taken for the line that ran then")
    file:close()
    os.remove(path .. ".json")
end

-- Recorded on an H200; the overlaps are HTA's, to the ns (make check-hta compares them).
local function from_a_gpu()
    local blocking = lab.load("tests/timeline/data/torch_puzzler_blocking.json.gz")
    T.is(blocking.span_count, 24 + 8 + 8, "a trace that PyTorch wrote on a GPU is read")
    T.near(blocking:overlap_us("kernel", "memcpy_d2h"), 7592.308, 1e-6, "its overlaps are HTA's")
    T.is(blocking:overlap_us("kernel", "memcpy_h2d"), 0, "also where there are none")
    local cause = blocking:causes()[1]
    T.is(cause.cause, "host_blocked", "and the puzzler's cause is found in it")
    T.is(cause.inferred, true, "by its records")
    T.like(cause.remedy, "non_blocking=True", "the remedy is in PyTorch's words")
    local other = lab.load("tests/timeline/data/torch_puzzler_nonblocking.json.gz")
    T.near(other:overlap_us("memcpy_h2d", "memcpy_d2h"), 927.613, 1e-6,
        "without blocking the copies overlap")
    local events = lab.load("tests/timeline/data/torch_events.json.gz"):causes()
    T.is(events[1].cause, "event_wait", "a wait for a record that the trace does not name is seen")
    T.is(events[1].guess, true, "and said to be a guess")
    T.is(cause.guess, false, "which a copy that blocks the host is not")
    T.is(events[1].engine, "h2d", "by the copy that followed")
    T.is(events[1].count, 1, "which is one wait, though eight kernels were before the record")
end

local function refusals()
    ideal.refuses(T, function() lab.load(path .. ".none") end, "SL_EIO", "No such file",
        "a file that is not there")
    ideal.refuses(T, function() lab.load("tests") end, "SL_EINVAL", "no recording", "a folder")
    write("")
    ideal.refuses(T, function() lab.load(path) end, "SL_EINVAL", "is empty", "an empty file")
    write('{"traceEvents":[]}')
    ideal.refuses(T, function() lab.load(path) end, "SL_EINVAL", "has no GPU events",
        "a trace without a GPU")
    write('[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":-1}]')
    ideal.refuses(T, function() lab.load(path) end, "SL_EINVAL",
        'event 1 %("k"%): its "dur" is %-1, not 0 or more', "a negative duration")
    ideal.refuses(T, function() lab.load() end, "SL_EINVAL", "path", "no path")
    ideal.refuses(T, function() lab.load(path, {}, 1) end, "SL_EINVAL", "one too many",
        "three arguments")
    ideal.refuses(T, function() lab.profile(function() end):save(path .. ".gz") end, "SL_EINVAL",
        "must end in .json, .json.gz", "saving as .gz alone")
end

without_device()
from_pytorch()
from_a_gpu()
our_own(".json")
our_own(".json.gz")
described()
several_devices()
one_of_ours()
many_devices()
largest_stream()
no_lines_of_this_script()
refusals()
os.remove(path)
T.done()
