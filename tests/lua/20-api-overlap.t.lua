-- 20-api-overlap.t.lua - what overlapped with what, how much at once, gaps, and all of
-- it as JSON.

local T = require "tap"
local ideal = require "lua.ideal"
local json = require "both.json"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function near(list, want, name)
    local same = #list == #want
    for k, us in pairs(want) do same = same and math.abs(list[k] - us) < 1e-3 end
    T.ok(same, name)
    if not same then T.diag("  got " .. tostring(list[0]) .. ", " .. table.concat(list, ", ")) end
end

-- In us: kernels in alpha 0 to 1000 and in beta 0 to 2000, a copy of 100 in alpha behind
-- its kernel, one of 400 in the other direction in gamma from the beginning.
local function example()
    ideal.open{ h2d_gb_per_s = 10, d2h_gb_per_s = 10 }
    local streams = {}
    for i, name in ipairs{ "alpha", "beta", "gamma" } do
        streams[i] = lab.stream{ non_blocking = true, name = name }
    end
    local a, b, c = table.unpack(streams)
    local host = lab.empty(1000000, { device = "cpu", pinned = true, dtype = "uint8" })
    local dev = lab.empty(1000000, { dtype = "uint8" })
    local to = lab.empty(4000000, { device = "cpu", pinned = true, dtype = "uint8" })
    local from = lab.empty(4000000, { dtype = "uint8" })
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(1, { stream = a })
        lab.spin(2, { stream = b })
        dev:copy_(host, { non_blocking = true, stream = a })
        to:copy_(from, { non_blocking = true, stream = c })
    end)
    return tl, a, b, c
end

local function several()
    local tl, a, b, c = example()
    T.near(tl:overlap_us(a, b, c), 400, 1e-3, "three streams have the first 400 us in common")
    T.near(tl:overlap_us("kernel", "d2h", { stream = a, kind = "kernel" }), 400, 1e-3,
           "selections may be of different sorts")
    T.near(tl:overlap_us("compute", "d2h", "h2d"), 0, 0,
           "the copies had nothing in common, so neither have the three engines")
    refuses(function() tl:overlap_us(a, b, nil) end, "SL_EINVAL", "argument 4",
            "one that is nil by mistake is not left out")
    refuses(function() tl:overlap_us(a, b, "copies") end, "SL_EINVAL", "copies",
            "each one is checked")
    refuses(function() tl:overlap_us(a, { kid = "kernel" }, b) end, "SL_EINVAL", "kid",
            "a typo in the middle as well")
    refuses(function() tl:overlap_us() end, "SL_EINVAL", "argument 2", "none are too few")
end

-- What two selections have in common does not overlap itself.
local function shared()
    local tl, a, b, c = example()
    T.near(tl:overlap_us("compute", "compute"), 1000, 1e-3,
           "kernels overlap each other while two of them run")
    T.near(tl:overlap_us("h2d", "h2d"), 0, 0, "one copy overlaps no other of its direction")
    T.near(tl:overlap_us(a, a), 0, 0, "a stream does not overlap itself")
    T.near(tl:overlap_us(a, { stream = "alpha" }), 0, 0, "whatever it is called")
    T.near(tl:overlap_us("kernel", "compute"), 1000, 1e-3, "nor do two words for the same work")
    T.near(tl:overlap_us(a, "kernel"), 1100, 1e-3,
           "alpha's kernel ran beside beta's, not beside itself, and its copy did, too")
    T.near(tl:overlap_us("kernel", { stream = a, kind = "kernel" }), 1000, 1e-3,
           "a part and the whole")
    T.near(tl:overlap_us(b, {}), 1100, 1e-3, "beta beside anything else")
    T.near(tl:overlap_us({}, {}), 1100, 1e-3, "anything beside anything else")
    T.near(tl:overlap_us(a, b, {}), 400, 1e-3, "a third one needs a third piece of work")
    T.near(tl:overlap_us({}, {}, {}), 400, 1e-3, "which there is for 400 us")
    T.near(tl:overlap_us("kernel", {}, a), 400, 1e-3,
           "whoever is asked first leaves to the others what only they can have")
    T.near(tl:overlap_us(a, "kernel", { stream = c }, {}), 0, 0, "four at once there never were")
    local many = {}
    for i = 1, 200 do many[i] = i % 2 == 0 and b or { stream = "alpha" } end
    T.near(tl:overlap_us(table.unpack(many)), 0, 0, "nor two hundred")
end

local function at_once()
    local tl, a, b = example()
    near(tl:concurrency("kernels"), { [0] = 0, 1000, 1000 },
         "kernels: two for the first millisecond, one for the second")
    near(tl:concurrency("engines"), { [0] = 0, 1500, 500 },
         "engines: compute with d2h for 400 us, with h2d for 100")
    near(tl:concurrency(), { [0] = 0, 1500, 500 }, "which is what it counts if not asked otherwise")
    near(tl:concurrency("streams"), { [0] = 0, 900, 700, 400 },
         "streams: all three for 400 us, alpha and beta up to 1100")
    near(tl:concurrency("spans"), { [0] = 0, 900, 700, 400 }, "spans: no more than streams here")
    T.is(tl:concurrency("streams").max, 3, ".max is the most at once")
    near(tl:concurrency("spans", a), { [0] = 0, 1100 }, "a selection as second argument")
    near(tl:concurrency("kernels", b), { [0] = 0, 2000 }, "of the kernels of a stream")
    near(tl:concurrency(nil, "h2d"), { [0] = 0, 100 }, "or with nothing as the first")
    local total, seen = 0, {}
    for k, us in ipairs(tl:concurrency("streams")) do
        total, seen[#seen + 1] = total + us, k
    end
    T.is_deeply(seen, { 1, 2, 3 }, "ipairs goes through it")
    T.near(total, tl.makespan_us, 1e-3, "and all of it is the makespan")
    local none = tl:concurrency("spans", "memset")
    T.is(#none, 0, "nothing selected, nothing at once")
    T.is(none[0], 0, "not even idle time")
    T.is(none.max, 0, "and none at most")
    refuses(function() tl:concurrency("kernel") end, "SL_EINVAL",
            'cannot count "kernel" at once; it counts "engines", "kernels", "spans" or "streams"',
            "an unknown word, and what there is")
    refuses(function() tl:concurrency({ stream = a }) end, "SL_EINVAL", "argument 2",
            "a selection as the first argument")
    refuses(function() tl:concurrency("kernels", { kind = "memset" }) end, "SL_EINVAL", "memset",
            "kernels of another kind")
    refuses(function() tl:concurrency("spans", { strem = a }) end, "SL_EINVAL", "strem",
            "a typo in the selection")
    refuses(function() tl:concurrency("spans", a, b) end, "SL_EINVAL", "too many",
            "an argument too many")
end

local function holes()
    ideal.open()
    local s, other = table.unpack(ideal.streams(2))
    lab.host_work(7)                    -- the clock is not at 0 when the recording begins
    local tl = lab.profile(function()
        lab.spin(1, { stream = s })
        lab.host_work(3)
        lab.spin(1, { stream = s })
        lab.spin(3, { stream = other })
        lab.host_work(5)
        lab.spin(1, { stream = s })
    end)
    local gaps = tl:gaps()
    T.is(#gaps, 2, "the device stood still twice")
    T.near(gaps[1].start_us, 1000, 1e-3, "first from the end of the first kernel")
    T.near(gaps[1].end_us, 3000, 1e-3, "until the host went on")
    T.near(gaps[2].start_us, 6000, 1e-3, "then from the end of the longer one")
    T.near(gaps[2].end_us, 8000, 1e-3, "to the last start")
    T.near(gaps[1].start_us, tl:spans()[1].end_us, 1e-9, "on the clock of tl:spans()")
    local of_stream = tl:gaps(s)
    T.is(#of_stream, 2, "a stream has its own")
    T.near(of_stream[2].start_us, 4000, 1e-3, "wherever others were busy")
    T.is(#tl:gaps(other), 0, "one span has none")
    T.is(#tl:gaps("h2d"), 0, "nor has an engine without work")
    local idle = 0
    for _, gap in ipairs(gaps) do idle = idle + gap.end_us - gap.start_us end
    T.near(idle, tl:concurrency()[0], 1e-3, "together they are the idle time")
    T.near(idle + tl:busy_us(), tl.makespan_us, 1e-3, "and with the busy time the makespan")
    refuses(function() tl:gaps("kernels") end, "SL_EINVAL", "kernels", "a selection is checked")
    refuses(function() tl:gaps{ name = 5 } end, "SL_EINVAL", "name", "and its fields")
    refuses(function() tl:gaps("h2d", "d2h") end, "SL_EINVAL", "too many", "there is one at most")
end

local function as_json()
    local tl, a = example()
    local text = tl:json()
    T.is(text, tl:json(), "json gives the same string every time")
    T.ok(not text:find("\n$"), "print ends it with a newline")
    local figures = json.read(text)
    T.near(figures.makespan_us, tl.makespan_us, 1e-3, "makespan_us")
    T.near(figures.wall_us, tl.wall_us, 1e-3, "wall_us")
    T.near(figures.lower_bound_us, tl:bounds().lower_us, 1e-3, "lower_bound_us")
    T.near(figures.makespan_over_bound, 1, 1e-4, "makespan_over_bound")
    T.is(figures.busiest_engine, "compute", "busiest_engine")
    T.is(figures.device, lab.device().name, "device")
    T.is(figures.simulated, true, "simulated")
    T.is(figures.span_count, 4, "span_count")
    T.is_deeply(figures.count, { kernel = 2, memcpy_h2d = 1, memcpy_d2h = 1 }, "count by kind")
    for kind, us in pairs(figures.busy_us) do
        T.near(us, tl:busy_us(kind), 1e-3, "busy_us of " .. kind)
    end
    T.near(figures.overlap_us["kernel&memcpy_d2h"], 400, 1e-3, "overlap_us by pair of kinds")
    T.near(figures.overlap_us["memcpy_h2d&memcpy_d2h"], 0, 0, "also where there is none")
    T.near(figures.engine_busy_us.h2d, 100, 1e-3, "engine_busy_us")
    T.is(#figures.concurrency_us.engines, 3, "concurrency_us, idle time first")
    T.near(figures.concurrency_us.engines[3], 500, 1e-3, "of engines")
    T.near(figures.concurrency_us.kernels[3], 1000, 1e-3, "and of kernels")
    T.is(#figures.streams, 3, "the streams with work")
    T.is(figures.streams[1].name, "alpha", "by name")
    T.near(figures.streams[1].busy_us, tl:busy_us(a), 1e-3, "with their busy times")
    T.is(json.read(lab.profile(function() end):json()).makespan_over_bound, json.null,
         "an empty timeline has no ratio")
    refuses(function() tl:json(1) end, "SL_EINVAL", "must be a table of options, got number",
            "json takes options alone")
end

local function not_while_recording()
    ideal.open()
    local tl = lab.record()
    for _, name in ipairs{ "overlap_us", "concurrency", "gaps", "json" } do
        refuses(function() tl[name](tl) end, "SL_ESTATE", "still recording",
                "the recording must have ended for " .. name)
    end
    tl:stop()
    T.is(#tl:gaps(), 0, "then there are answers")
    T.is(tl:concurrency().max, 0, "also of nothing")
end

for _, test in ipairs{ several, shared, at_once, holes, as_json, not_while_recording } do test() end
T.done()
