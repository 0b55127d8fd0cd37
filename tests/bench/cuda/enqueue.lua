-- enqueue.lua - what a call holds the host: one call from Lua beside the one call of CUDA
-- that does its work. A section of bench.lua.

local calls_a_batch, batches = 200, 100

-- The calls as a script writes them, in a stream that lab.use has made the current one; each a
-- function that gives the nanoseconds of a batch. The device is idle before a batch; waiting
-- for it afterwards is not in the time. The third result ends the use of the stream.
local function lua_calls(b)
    local lab, now = b.lab, b.raw.now_ns
    local matmul, pow, synchronize = lab.matmul, lab.pow, lab.synchronize
    local stream, other = lab.stream(), lab.stream()
    local function matrix(seed) return lab.tensor(b.pattern({ 128, 128 }, seed)) end
    local function vector(n, seed, options) return lab.tensor(b.pattern({ n }, seed), options) end
    local pinned = { device = "cpu", pinned = true }
    local t = { a = matrix(1), b = matrix(2), c = lab.empty(128, 128), x = vector(4096, 3),
                y = lab.empty(4096), host_from = vector(256, 4, pinned), to = lab.empty(256),
                from = vector(256, 6), host_to = lab.empty(256, pinned) }
    local into_c, into_y, at_once = { out = t.c }, { out = t.y }, { non_blocking = true }
    local untimed, timed, recorded = lab.event { timing = false }, lab.event(),
        lab.event { timing = false }
    recorded:record(other)

    local function ended(began)
        local held = now() - began
        synchronize()
        return held
    end
    local guard = lab.use(stream)
    return t, {
        matmul = function()
            local x, y, options, began = t.a, t.b, into_c, now()
            for _ = 1, calls_a_batch do matmul(x, y, options) end
            return ended(began)
        end,
        matmul_written = function()
            local x, y, c, began = t.a, t.b, t.c, now()
            for _ = 1, calls_a_batch do matmul(x, y, { out = c }) end
            return ended(began)
        end,
        pow = function()
            local x, options, began = t.x, into_y, now()
            for _ = 1, calls_a_batch do pow(x, 3, options) end
            return ended(began)
        end,
        pow_written = function()
            local x, y, began = t.x, t.y, now()
            for _ = 1, calls_a_batch do pow(x, 3, { out = y }) end
            return ended(began)
        end,
        h2d_written = function()
            local to, from, began = t.to, t.host_from, now()
            for _ = 1, calls_a_batch do to:copy_(from, { non_blocking = true }) end
            return ended(began)
        end,
        h2d = function()
            local to, from, options, began = t.to, t.host_from, at_once, now()
            for _ = 1, calls_a_batch do to:copy_(from, options) end
            return ended(began)
        end,
        d2h = function()
            local to, from, options, began = t.host_to, t.from, at_once, now()
            for _ = 1, calls_a_batch do to:copy_(from, options) end
            return ended(began)
        end,
        record = function()
            local event, s, began = untimed, stream, now()
            for _ = 1, calls_a_batch do event:record(s) end
            return ended(began)
        end,
        record_timing = function()
            local event, s, began = timed, stream, now()
            for _ = 1, calls_a_batch do event:record(s) end
            return ended(began)
        end,
        wait = function()
            local event, s, began = recorded, stream, now()
            for _ = 1, calls_a_batch do s:wait_event(event) end
            return ended(began)
        end,
    }, guard
end

-- What is called from Lua, the raw kinds beside it, and how many us more it may take.
local plan = {
    { "matmul", 0.25, { "lt_matmul", "matmul 128x128, raw: cublasLtMatmul" },
      { "sgemm", "matmul 128x128, raw: cublasSgemm", no_more = true } },
    { "pow", 0.2, { "pow", "pow(x, 3), 4096 elements" } },
    { "h2d", 0.15, { "h2d", "copy H2D, 1 KiB, pinned" } },
    { "d2h", 0.15, { "d2h", "copy D2H, 1 KiB, pinned" } },
    { "record", 0.15, { "record", "event record, no timing" } },
    { "record_timing", 0.15, { "record_timing", "event record, timing" } },
    { "wait", 0.15, { "wait", "stream wait" } },
    { "matmul_written", 0.3, { "lt_matmul", "matmul, options written in the call" } },
    { "pow_written", 0.3, { "pow", "pow, options written in the call" } },
    { "h2d_written", 0.3, { "h2d", "copy H2D, options written in the call" } },
}

-- Samples in us a call, by raw kind, and of the calls from Lua under "lua".
local function measure(b, e, from_lua, kinds)
    local samples = { lua = {} }
    local function take(name, ns) table.insert(samples[name], ns / calls_a_batch / 1000) end
    for _, kind in ipairs(kinds) do
        samples[kind[1]] = {}
        e:batch(kind[1], calls_a_batch)
    end
    from_lua()
    for i = 1, batches do
        if i % 2 == 0 then take("lua", from_lua()) end
        for _, kind in ipairs(kinds) do take(kind[1], e:batch(kind[1], calls_a_batch)) end
        if i % 2 == 1 then take("lua", from_lua()) end
    end
    for name, list in pairs(samples) do samples[name] = b.report.summary(list, 0.1) end
    return samples
end

local function check_values(b, t, e)
    local c = t.c:totable()[1]
    b.check("matmul beside cublasLtMatmul", c, e:values("lt_matmul", 128))
    b.check("matmul beside cublasSgemm", c, e:values("sgemm", 128))
    b.check("pow", t.y:totable(), e:values("pow", 4096))
    b.check("copy H2D", t.to:totable(), e:values("h2d", 256))
    b.check("copy D2H", t.host_to:totable(), e:values("d2h", 256))
end

return function(b)
    b.table:section("What a call holds the host", ([[
Time of a call, in batches of %d on a GPU that was idle; the wait after a batch is not in it. Lua
and raw batches alternate; median of %d (10 %% and 90 %% of them). Lua calls functions held in
locals and methods by name, in the current stream (lab.use); out= and non_blocking= come in a
table that is used again, in the last three rows in one that is written in the call.]])
        :format(calls_a_batch, batches), "raw CUDA C", "streamlab from Lua")
    local e <close> = b.closing(b.raw.enqueue())
    local t, calls, guard = lua_calls(b)
    local _ <close> = guard
    for _, entry in ipairs(plan) do
        local kinds = table.move(entry, 3, #entry, 1, {})
        local samples = measure(b, e.object, calls[entry[1]], kinds)
        for _, kind in ipairs(kinds) do
            local raw, lua = samples[kind[1]], samples.lua
            if kind.no_more then b.table:ratio(kind[2], raw, lua, "us", 1)
            else b.table:difference(kind[2], raw, lua, "us", entry[2]) end
        end
    end
    check_values(b, t, e.object)
end
