-- graphs.t.lua - what launches of graphs compute: bit for bit what the same operations compute
-- without one; with new inputs, after updates, in several streams; and that they leave nothing.

local T = require "tap"

T.open()

local function values(t) return (t.device == "cpu" and t or t:cpu()):totable() end

-- Numbers that are exact in every dtype, and not all the same.
local function numbers(rows, columns, first)
    local list = {}
    for i = 1, rows do
        list[i] = {}
        for j = 1, columns do list[i][j] = (first + 3 * i + 5 * j) % 7 - 3 end
    end
    return list
end

local function on_gpu(rows, columns, first, dtype)
    return lab.tensor(numbers(rows, columns, first), { dtype = dtype })
end

-- ---- each operation ------------------------------------------------------------------------

-- name, f(a, b): what it enqueues with two 32 x 32 tensors; gives the tensors that it wrote
local operations = {
    { "matmul", function(a, b) return lab.matmul(a, b) end },
    { "matmul of float64", function(a, b) return lab.matmul(a:double(), b:double()) end },
    { "matmul of bfloat16", function(a, b) return lab.matmul(a:bfloat16(), b:bfloat16()) end },
    { "matmul of float16", function(a, b) return lab.matmul(a:half(), b:half()) end },
    { "matmul with TensorFloat-32", function(a, b) return lab.matmul(a, b, { tf32 = true }) end },
    { "matmul with out =", function(a, b)
        return lab.matmul(a, b, { out = lab.empty(32, 32) })
    end },
    { "add, sub, mul", function(a, b) return a + b, a - b, a * b end },
    { "div, neg, relu", function(a, b) return a / (b * b + 1), -a, b:relu() end },
    { "pow", function(a) return a:pow(2) end },
    { "numbers in place of tensors", function(a) return a * 2 + 1, 1 - a end },
    { "softmax", function(a) return a:softmax() end },
    { "sum", function(a) return a:sum() end },
    { "transpose", function(a) return a:transpose(1, 2), a:t():relu() end },
    { "casts", function(a) return a:int(), a:to("float64"), a:bfloat16():float() end },
    { "zero_ and fill_", function(a, b) return a:zero_(), b:fill_(2.5) end },
    { "new tensors", function() return lab.zeros(5), lab.ones(3, 2), lab.full(7, 4) end },
    { "rand with a seed", function()
        return lab.rand(100, { seed = 3 }), lab.randn(100, { seed = 4 })
    end },
    { "copies on the GPU", function(a, b) return a:copy_(b) end },
    { "views", function(a, b)
        a:narrow(1, 1, 16):copy_(b:narrow(1, 17, 16))
        return a, a:narrow(1, 8, 4) + 1
    end },
    { "memset of bytes", function()
        local m = lab.zeros(64, { dtype = "uint8" })
        lab.cuda.memset_async(m, 7, 32)
        return m
    end },
    { "a chain", function(a, b)
        for _ = 1, 20 do a = lab.relu(lab.matmul(a, b) * 0.125 - a) end
        return a
    end },
}

local function bits(...)
    local list = {}
    for i, t in ipairs{ ... } do list[i] = values(t) end
    return list
end

local function each_operation()
    for _, case in ipairs(operations) do
        local name, f = case[1], case[2]
        local want = bits(f(on_gpu(32, 32, 1), on_gpu(32, 32, 2)))
        local a, b = on_gpu(32, 32, 1), on_gpu(32, 32, 2)
        local made = table.pack(lab.graph(function() return f(a, b) end))
        made[1]:launch()
        T.is_deeply(bits(table.unpack(made, 2)), want, name .. ": a replay computes the same")
        a:copy_(on_gpu(32, 32, 1))
        b:copy_(on_gpu(32, 32, 2))
        made[1]:launch()
        T.is_deeply(bits(table.unpack(made, 2)), want, name .. ": and so does the next one")
    end
end

-- ---- copies between host and GPU -------------------------------------------------------------

local function host_copies()
    for _, pinned in ipairs{ true, false } do
        local kind = pinned and "pinned" or "pageable"
        local source = lab.tensor(numbers(64, 64, 1), { device = "cpu", pinned = pinned })
        local result = lab.zeros(64, 64, { device = "cpu", pinned = pinned })
        local x = lab.zeros(64, 64)
        local g = lab.graph(function()
            x:copy_(source, { non_blocking = true })
            x:mul(2, { out = x })
            result:copy_(x, { non_blocking = true })
        end)
        T.is(result:get(1, 1), 0, kind .. ": the capture copies nothing")
        for round = 1, 3 do
            source:copy_(lab.tensor(numbers(64, 64, round), { device = "cpu" }))
            g:launch()
            lab.synchronize()
            local want = lab.tensor(numbers(64, 64, round), { device = "cpu" }):totable()
            for _, row in ipairs(want) do
                for j, v in ipairs(row) do row[j] = 2 * v end
            end
            T.is_deeply(result:totable(), want, kind
                .. ": each launch copies what is in host memory then")
        end
    end
end

-- ---- inputs and updates ------------------------------------------------------------------------

local function inputs()
    local x, w = lab.zeros(32, 32), on_gpu(32, 32, 5)
    local g, y = lab.graph(function() return lab.relu(lab.matmul(x, w)) end)
    for round = 1, 5 do
        x:copy_(on_gpu(32, 32, round))
        g:launch()
        T.is_deeply(values(y), values(lab.relu(lab.matmul(on_gpu(32, 32, round), w))),
                    "a launch reads what was copied into its input")
    end
    T.is(g.launches, 5, "launches are counted")
end

local function updates()
    local x, y = lab.full(3, 16), lab.full(5, 16)
    local out = lab.zeros(16)
    local g = lab.graph(function() lab.add(x, 1, { out = out }) end)
    for i, case in ipairs{ { x, 2, 5 }, { y, 2, 7 }, { y, 10, 15 } } do
        T.is(g:update(function() lab.add(case[1], case[2], { out = out }) end), true,
             "an update is made")
        g:launch()
        T.is(out:get(16), case[3], ("launches do what the update %d was"):format(i))
    end
    local small, big = lab.zeros(8), lab.zeros(64)
    g = lab.graph(function() lab.add(small, 1, { out = small }) end)
    T.is(g:update(function() lab.add(big, 1, { out = big }) end), true,
         "an update may change sizes")
    g:launch()
    T.is_deeply({ small:get(1), big:get(64) }, { 0, 1 }, "which then count")
    local product
    local m = on_gpu(32, 32, 1)
    g, product = lab.graph(function() return lab.matmul(m, m) end)
    local fine, other = g:update(function() return lab.matmul(m, m:neg()) end)
    T.is(fine, false, "another number of nodes is no update")
    T.like(other, "^the graph has 1 node and the new one 2", "and it says so")
    g:launch()
    T.is_deeply(values(product), values(lab.matmul(m, m)), "the graph is as it was")
end

local function update_in_flight()
    local x = lab.zeros(1024)
    local g = lab.graph(function() lab.spin(3) x:add(1, { out = x }) end)
    for i = 1, 5 do
        g:launch()
        g:update(function() lab.spin(3) x:add(i * 10, { out = x }) end)
    end
    T.is(x:get(1), 1 + 10 + 20 + 30 + 40,
         "an update does not change launches that are on their way")
end

-- ---- streams -----------------------------------------------------------------------------------

local function forks()
    local streams = { lab.stream(), lab.stream(), lab.stream() }
    local x = on_gpu(32, 32, 3)
    local function fork(origin)
        local parts = {}
        for i, s in ipairs(streams) do
            s:wait_stream(origin)
            parts[i] = lab.with(s, function() return lab.matmul(x, x) * i end)
        end
        for _, s in ipairs(streams) do origin:wait_stream(s) end
        return parts[1] + parts[2] + parts[3]
    end
    local want = values(fork(lab.current_stream()))
    local g, y = lab.graph(function() return fork(lab.current_stream()) end)
    T.is(#g:nodes(), 8, "the work of all streams is captured")
    for _ = 1, 3 do
        y:zero_()
        g:launch()
        T.is_deeply(values(y), want, "a fork computes the same")
    end
    for _, s in ipairs(streams) do s:synchronize() end
    local z = lab.with(streams[1], function() return x + 1 end)
    T.is_deeply(values(z), values(x + 1), "afterwards the streams are ordinary ones")
end

local function launches_in_streams()
    local a, b = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local x, y = lab.zeros(4096), lab.zeros(4096)
    local g = lab.graph(function() lab.spin(0.2) x:add(1, { out = x }) end)
    local h = lab.graph(function() lab.spin(0.2) y:add(1, { out = y }) end)
    lab.synchronize()
    for _ = 1, 10 do
        g:launch(a)
        g:launch{ stream = b }
        h:launch(b)
    end
    lab.synchronize()
    T.is(x:get(4096), 20, "launches of one graph run one after the other, also in two streams")
    T.is(y:get(4096), 10, "another graph runs beside it")
    x:zero_({ stream = a })
    g:launch(a)
    local late = x:mul(10, { stream = a })
    a:synchronize()
    T.is(late:get(1), 10, "a launch comes behind earlier work of its stream and before later work")
end

local function uncaptured()
    local s = lab.stream{ non_blocking = true }
    local x, y = lab.zeros(16), lab.zeros(16)
    lab.synchronize()
    local g = lab.graph(function()
        x:add(1, { out = x })
        y:add(1, { out = y, stream = s })
    end)
    s:synchronize()
    T.is(#g:nodes(), 1, "a stream that does not wait for the capture is not captured")
    T.is(y:get(1), 1, "its work runs at once")
    T.is(x:get(1), 0, "what is captured does not")
    g:launch()
    g:launch()
    T.is_deeply({ x:get(1), y:get(1) }, { 2, 1 }, "and a launch does that alone")
end

local function priorities()
    local high = lab.stream{ priority = "high" }
    local x = lab.zeros(16)
    local function work()
        local origin = lab.current_stream()
        high:wait_stream(origin)
        x:add(1, { out = x, stream = high })
        origin:wait_stream(high)
    end
    local g, h = lab.graph(work, { priorities = true }), lab.graph(work)
    T.is(g:nodes()[1].priority, high.priority,
         "a node knows the priority of the stream where it was captured")
    T.is_deeply({ g.priorities, h.priorities }, { true, false },
                "a graph knows whether it keeps them")
    g:launch()
    h:launch()
    T.is(x:get(1), 2, "both do their work")
end

-- ---- host functions -----------------------------------------------------------------------------

local function host_functions()
    local said, x = {}, lab.zeros(4, { device = "cpu", pinned = true })
    local y = lab.zeros(4)
    local g = lab.graph(function()
        local s = lab.current_stream()
        y:add(1, { out = y })
        x:copy_(y, { non_blocking = true })
        s:launch_host_func(function() said[#said + 1] = x:get(1) end)
        y:mul(2, { out = y })
    end)
    T.is(#said, 0, "a captured host function is not called")
    for _ = 1, 3 do g:launch() end
    lab.synchronize()
    -- (0 + 1) * 2 = 2; (2 + 1) * 2 = 6; 6 + 1
    T.is_deeply(said, { 1, 3, 7 }, "each launch calls it, at its place")
    g = lab.graph(function() lab.current_stream():launch_host_func(function() error("oh") end) end)
    g:launch()
    local fine, err = pcall(lab.synchronize)
    T.ok(not fine and err.code == "SL_EHOSTFUNC" and err.message:find("oh"),
         "its error is raised by a later call")
    T.ok(pcall(lab.synchronize), "once")
end

-- ---- memory -------------------------------------------------------------------------------------

local function freed_inputs()
    local x, w = on_gpu(32, 32, 1), on_gpu(32, 32, 2)
    local want = values(lab.matmul(x, w) + x)
    local g, y = lab.graph(function() return lab.matmul(x, w) + x end)
    x:free()
    w = nil -- luacheck: ignore
    collectgarbage()
    local others = {}
    for i = 1, 20 do others[i] = lab.full(i, 32, 32) end
    for _ = 1, 3 do
        g:launch()
        T.is_deeply(values(y), want, "a graph has its inputs also when they were freed")
    end
    for i = 1, 20 do
        if others[i]:get(1, 1) ~= i then T.ok(false, "and lends them to nobody") end
    end
    y:free()
    g:launch()
    lab.synchronize()
    T.is(others[7]:get(32, 32), 7, "also what it makes")
    g:free()
end

-- How much is alive, without what waits to be collected.
local function alive()
    collectgarbage()
    lab.synchronize()
    collectgarbage()
    local live = lab.live()
    return { live.graphs, live.buffers, live.ops, live.streams, live.events, live.device_bytes }
end

local function leaks()
    local x = lab.zeros(64, 64)
    local before = alive()
    do
        local g, y = lab.graph(function() return lab.matmul(x, x) + 1 end)
        g:launch()
        local started = alive()
        for _ = 1, 1000 do g:launch() end
        T.is_deeply(alive(), started, "1000 launches leave nothing behind")
        for i = 1, 100 do g:update(function() y = lab.matmul(x, x) + i end) end
        g:launch()
        T.is(y:get(1, 1), 100, "after a hundred updates the last one counts")
        y = nil -- luacheck: ignore
        T.is(alive()[1], 1, "there is one graph")
    end
    T.is_deeply(alive(), before, "afterwards there is what there was before")
    for i = 1, 100 do
        local g = lab.graph(function() return x + i end)
        g:launch()
    end
    T.is_deeply(alive(), before, "a hundred graphs are gone when they are collected")
    for i = 1, 100 do
        pcall(lab.graph, function()
            local _ = x + i
            error("no")
        end)
    end
    T.is_deeply(alive(), before, "and a hundred captures with an error at once")
    local list = {}
    for i = 1, 10 do
        list[i] = lab.graph(function() lab.spin(0.5) x:add(1, { out = x }) end)
        list[i]:launch()
        list[i]:free()
    end
    T.is(x:get(1, 1), 10, "launches of freed graphs run to their end")
    T.is_deeply(alive(), before, "and leave nothing")
end

local function collector_inside()
    local x = lab.zeros(256)
    local g, y = lab.graph(function()
        local sum = x
        for _ = 1, 50 do
            sum = sum + 1               -- the one before has no variable any more
            collectgarbage()
        end
        return sum
    end)
    for i = 1, 3 do
        x:fill_(i)
        g:launch()
        T.is(y:get(256), i + 50, "the collector may run in a capture")
    end
end

local function collected_inside()
    local x = lab.zeros(256)
    for _ = 1, 3 do lab.graph(function() return x + 1 end):launch() end
    local g = lab.graph(function()
        x:add(1, { out = x })
        collectgarbage()                -- those three
        x:add(1, { out = x })
    end)
    T.is(#lab.graphs(), 1, "graphs are collected during a capture")
    g:launch()
    T.is(x:get(1), 2, "which they do not spoil")
end

-- A GPU's clock and the host's agree to some microseconds.
local function recorded()
    local x, s = lab.zeros(1 << 20), lab.stream{ name = "s" }
    local g = lab.graph(function() for _ = 1, 4 do x:add(1, { out = x }) end end, { stream = s })
    local spans = lab.profile(function() g:launch{ stream = s } g:launch{ stream = s } end):spans()
    T.is(#spans, 8, "a recording has each node of each launch")
    local late, long = 0, 0
    for i, span in ipairs(spans) do
        if i > 1 and span.start_us >= spans[i - 1].end_us - 0.1 then late = late + 1 end
        if span.end_us > span.start_us then long = long + 1 end
    end
    T.is(late, 7, "one behind the other")
    T.is(long, 8, "each with the time that it took")
end

-- Forks and joins of a graph are its edges: the launch is the only call.
local function one_call()
    local x, y = lab.zeros(64), lab.zeros(64)
    local main, side = lab.stream{ name = "main" }, lab.stream{ name = "side" }
    lab.synchronize()
    local g = lab.graph(function()
        for _ = 1, 8 do
            side:wait_stream(main)
            x:add(1, { out = x })
            lab.with(side, function() y:add(1, { out = y }) end)
            main:wait_stream(side)
        end
    end, { stream = main })
    g:launch{ stream = main }
    lab.synchronize()
    local tl = lab.profile(function() g:launch{ stream = main } end)
    local names = {}
    for _, call in ipairs(tl:calls()) do
        if not call.of_stop then names[#names + 1] = call.name end
    end
    T.is(table.concat(names, " "), "cudaGraphLaunch", "a launch with forks and joins is one call")
    T.is(tl.span_count, 16, "which ran all nodes")
end

for _, part in ipairs{ each_operation, host_copies, inputs, updates, update_in_flight, forks,
                       launches_in_streams,
                       uncaptured, priorities, host_functions, freed_inputs, leaks,
                       collector_inside,
                       collected_inside, recorded, one_call } do
    part()
end
T.done()
