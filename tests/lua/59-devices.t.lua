-- 59-devices.t.lua - a recording of two simulated GPUs, whose timeline is worked out on paper.
--
--   us              0      1000     2000     3000     4000     5000
--   gpu0: left      |spin--|copy----|spin----|
--   gpu1: right     |spin--|        |spin----------------------|
--
-- The copy is of 100 MB over a link of 100 GB/s. `right` waits for `left` behind it.

local T = require "tap"
local ideal = require "lua.ideal"

local one = ideal.open{ ["peer.gb_per_s"] = 100, ["peer.latency_us"] = 0, ["peer.event_us"] = 0 }
local two = lab.open{ backend = "sim", index = 1 }
one:make_current()
lab.cuda.device_enable_peer_access(two)
local left, right, a, b
left = lab.stream{ device = one, name = "left", non_blocking = true }
right = lab.stream{ device = two, name = "right", non_blocking = true }
a, b = lab.zeros(25000000), lab.zeros(25000000, { device = two })
two:make_current()
lab.synchronize()
one:make_current()

local function program()
    lab.spin(1, { stream = left })
    lab.spin(1, { stream = right })
    b:copy_(a, { non_blocking = true, stream = left })
    right:wait_stream(left)
    lab.spin(3, { stream = right })
    lab.spin(1, { stream = left })
end

local tl = lab.profile(program)

-- ---- the timeline ---------------------------------------------------------------------

local function spans()
    local list = {}
    for i, s in ipairs(ideal.spans(tl)) do
        list[i] = ("%s %s %d: %g to %g"):format(s.stream, s.engine, s.device, s.from_us, s.to_us)
    end
    T.is_deeply(list, {
        "gpu0: left compute 0: 0 to 1000", "gpu1: right compute 1: 0 to 1000",
        "gpu0: left p2p 0: 1000 to 2000", "gpu1: right compute 1: 2000 to 5000",
        "gpu0: left compute 0: 2000 to 3000",
    }, "spans of both GPUs are in one timeline, on one clock")
    T.is(tl.makespan_us, 5000, "the makespan is that of both")
    T.is(tl.stream_count, 2, "streams of both are counted")
    T.is(#tl.devices, 2, "it lists the GPUs")
    T.is(tl.devices[2].index, 1, "with their numbers")
    T.is(tl.device_index, 0, "the one that was current is the first")
end

local function figures()
    T.is(tl:busy_us("compute"), 4000, "compute is that of any GPU: from 0 to 1000, 2000 to 5000")
    T.is(tl:busy_us{ device = 0, engine = "compute" }, 2000, "or of one that is named")
    T.is(tl:busy_us{ device = 1 }, 4000, "as is all work of a GPU")
    T.is(tl:overlap_us({ device = 0, engine = "compute" }, { device = 1 }), 2000,
         "both compute from 0 to 1000 and from 2000 to 3000")
    T.is(tl:busy_us(right), 4000, "a stream of the second GPU selects its own work")
    T.is(tl:busy_us{ stream = "right" }, 4000, "as does its name,")
    T.is(tl:busy_us{ stream = "gpu1: right" }, 4000, "with the GPU or without")
    ideal.refuses(T, function() tl:busy_us{ device = 2 } end, "SL_ENOTFOUND", "device 2",
                  "a GPU that has no work is refused")
    local bounds = tl:bounds()
    T.is(bounds.busiest_engine_us, 4000, "the busiest engine is one of one GPU,")
    T.is_deeply({ bounds.busiest_engine, bounds.busiest_device }, { "compute", 1 }, "of the second")
    T.is(bounds.critical_path_us, 5000, "the longest chain goes across: spin, copy, spin")
    T.is(bounds.serial_us, 7000, "all work one after the other")
    local at_once = tl:concurrency("engines")
    T.is_deeply({ at_once[0], at_once[1], at_once[2] }, { 0, 3000, 2000 },
                "each GPU has engines of its own")
end

-- The copy, 0 to 1000, is gpu0's: beside it gpu0 computes from 0 to 250, and gpu1 all the time.
local function overlaps()
    local beside = lab.stream{ device = one, non_blocking = true }
    local core = debug.getregistry()["streamlab.internals"]
    local recorded = lab.profile(function()
        b:copy_(a, { non_blocking = true, stream = left })
        lab.spin(0.25, { stream = beside })
        lab.spin(1, { stream = right })
    end)
    local text, json = core.words.summary(core.figures(recorded)), recorded:json()
    T.like(text, "\ngpu0: compute +250 us +25%.0 %% +1\ngpu0: p2p +1%.00 ms +100%.0 %% +1\n"
           .. "gpu1: compute +1%.00 ms +100%.0 %% +1\n", "the summary has engines of each GPU")
    T.like(text, "\noverlap +time +of shorter\ngpu0: compute & p2p +250 us +100%.0 %%\n\n",
           "what two GPUs do at the same time is no overlap of one")
    T.ok(json:find('"overlap_us": {"gpu0: kernel&memcpy_p2p": 250.000}', 1, true),
         "in JSON as well, of kinds")
    T.ok(json:find('"engine_overlap_us": {"gpu0: compute&p2p": 250.000}', 1, true),
         "and of engines")
end

local function sentences()
    local list = {}
    for i, cause in ipairs(tl:causes()) do list[i] = cause.sentence end
    local text = table.concat(list, "\n")
    T.like(text, 'On gpu1 no kernel ran for 1%.00 ms: spin in stream "gpu1: right" at %S+ '
           .. 'waited for an event that was recorded behind Memcpy PtoP %(Device %-> Device%) '
           .. 'in stream "gpu0: left"',
           "a wait for the other GPU's event is explained with its name")
    T.like(text, "On gpu0 no P2P copy ran for 1%.00 ms", "which engine was idle is said, too")
end

-- ---- pictures and files ---------------------------------------------------------------

local function read(path)
    local file <close> = assert(io.open(path, "rb"))
    return file:read("a")
end

local function files()
    local base = os.tmpname()
    tl:save(base .. ".json")
    local back = lab.load(base .. ".json")
    back:save(base .. ".2.json")
    T.is_deeply(back:spans(), tl:spans(), "a trace file has the spans of both")
    T.is_deeply(back:calls(), tl:calls(), "and the calls")
    T.is_deeply(back.devices, tl.devices, "and which GPUs they are of")
    T.is(read(base .. ".2.json"), read(base .. ".json"), "saved again it is the same file")
    local text = read(base .. ".json")
    T.like(text, '"pid":1,"tid":8,.-"device":1,.-"stream":8',
           "each GPU's events have its number, and streams are numbered by GPU")
    T.like(text, '"wait_on_stream":8,"wait_on_device":0', "a wait says whose record it was for")
    tl:save(base .. ".svg", { rows = "engines" })
    text = read(base .. ".svg")
    for _, row in ipairs{ "gpu0: compute", "gpu0: P2P copies", "gpu1: compute" } do
        T.ok(text:find(row, 1, true), ("a picture has a row '%s'"):format(row))
    end
    tl:save(base .. ".html")
    local page = read(base .. ".html")
    T.like(page, '"gpus":%["gpu0: ","gpu1: "%]', "so has the page")
    T.ok(page:find('"overlaps":[\n{"of":[0,4],"common":0,"shortest":1000000,"place":0}]', 1, true),
         "whose overlaps are those of one GPU")
    for _, suffix in ipairs{ "", ".json", ".2.json", ".svg", ".html" } do
        os.remove(base .. suffix)
    end
end

-- ---- one GPU alone --------------------------------------------------------------------

local function alone()
    local first = lab.profile(function() lab.spin(1, { stream = left }) end)
    T.is(first:spans()[1].stream, "left", "where one GPU has work, names do not mention it")
    T.is(first:spans()[1].stream_id, left.id, "and streams keep their ids")
    local second = lab.profile(function() lab.spin(1, { stream = right }) end)
    T.is(second:spans()[1].stream, "right", "also where it is the other one")
    T.is(second:spans()[1].device, 1, "whose number the span has")
end

local function joining()
    local three
    local recorded = lab.profile(function()
        lab.spin(1, { stream = left })
        three = lab.open{ backend = "sim", index = 2 }
        lab.spin(1)
        one:make_current()
    end)
    T.is(recorded.span_count, 2, "a GPU that is opened meanwhile is recorded, too")
    T.is(recorded:spans()[2].stream, "gpu2: default", "with its NULL stream")
    T.is(recorded:spans()[2].device, three.index, "and its number")
end

-- ---- the same again --------------------------------------------------------------------

local function again()
    local profile = two.profile
    T.ok(lab.open{ backend = "sim", profile = profile, index = 1 } == two,
         "a GPU that is open is given to whoever asks for its profile")
    for key, value in pairs{ profile = "a100", host = "t4", overrides = { sm_count = 1 } } do
        local _, err = pcall(lab.open, { backend = "sim", index = 1, [key] = value })
        T.like(tostring(err), "device 1 of this machine is open already %(profile .-%): without "
               .. "profile, host and overrides lab.open gives it", "not with another " .. key)
    end
    one:make_current()
end

-- A device that is open, opened again, is one of a second machine: the error tells the two apart.
local function of_another_machine()
    local other = lab.open{ backend = "sim", index = 0 }
    ideal.refuses(T, function() lab.add(a, lab.ones(25000000, { device = other })) end,
                  "SL_EDEVICE",
                  'on sim 0 of another machine than .-: lab.open of a device that is open makes a '
                  .. 'second machine; "cuda:0" and comm.devices name the open one',
                  "a tensor of a second machine")
    one:make_current()
end

of_another_machine()
again()
spans()
figures()
overlaps()
sentences()
files()
alone()
joining()
left, right, a, b = nil, nil, nil, nil
T.done()
