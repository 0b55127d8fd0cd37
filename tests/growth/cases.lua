-- cases.lua - what is done n times, to see what that costs: rows {name, n, says, run}. One of them
-- is `planted`: its work grows with n^2, and the check has to find that.
local cases = {}

local function case(name, n, says, run)
    cases[#cases + 1] = { name = name, n = n, says = says, run = run }
end

local function stream() return lab.stream { non_blocking = true } end

local function streams(n)
    local made = {}
    for i = 1, n do made[i] = stream() end
    return made
end

local function spin(s, us, blocks) lab.spin(us or 0.001, { stream = s, blocks = blocks }) end

-- ---- streams and events ----

case("streams", 200, "streams with an operation each", function(n)
    for _, s in ipairs(streams(n)) do spin(s) end
end)

case("null_stream", 100, "operations in the NULL stream, behind as many busy blocking streams",
    function(n)
    local blocking = {}
    for i = 1, n do
        blocking[i] = lab.stream()
        spin(blocking[i])
        lab.spin(0.001)
    end
end)

case("words", 2000, "words of a tensor that a stream writes", function(n)
    local s = stream()
    local t = lab.zeros(n, { dtype = "int32", device = "cpu", pinned = true })
    for i = 1, n do s:write_value(t, i, i) end
    lab.synchronize()
end)

case("word_waits", 200, "streams that wait for a word each, which the host sets", function(n)
    local t = lab.zeros(n, { dtype = "int32", device = "cpu", pinned = true })
    for i, s in ipairs(streams(n)) do
        s:wait_value(t, i, 1)
        spin(s)
    end
    lab.host_work(1)
    for i = 1, n do t:set(i, 1) end
    lab.synchronize()
end)

case("waits", 200, "streams that wait for one event", function(n)
    local s = stream()
    spin(s, 1e5)
    local e = s:record_event()
    for _, other in ipairs(streams(n)) do
        other:wait_event(e)
        spin(other)
    end
end)

case("events", 200, "events that one stream waits for", function(n)
    local s, e = stream(), {}
    for i = 1, n do e[i] = streams(1)[1]:record_event() end
    for i = n, 1, -1 do s:wait_event(e[i]) end
    spin(s)
end)

case("synchronisations", 200, "synchronisations, beside as many streams", function(n)
    local all = streams(n)
    for _, s in ipairs(all) do spin(s) end
    for i = n, 1, -1 do all[i]:synchronize() end
    for _ = 1, n do lab.synchronize() end
end)

case("host_functions", 200, "streams with a host function each", function(n)
    for _, s in ipairs(streams(n)) do s:launch_host_func(function() end) end
end)

-- ---- memory ----

case("tensors", 200, "tensors of as many sizes, freed and made again", function(n)
    for _ = 1, 2 do
        local all = {}
        for i = 1, n do all[i] = lab.empty(i) end
        for i = 1, n do all[i]:free() end
    end
end)

case("tensors_in_flight", 200, "tensors that are freed while streams use them", function(n)
    for _, s in ipairs(streams(n)) do
        local x = lab.empty(4)
        x:fill_(1, { stream = s })
        x:free()
    end
end)

case("malloc_async", 200, "allocations in the order of streams", function(n)
    local all, memory = streams(n), {}
    for i = 1, n do memory[i] = lab.cuda.malloc_async(64 * i, all[i]) end
    for i = n, 1, -1 do lab.cuda.free_async(memory[i], all[n - i + 1]) end
end)

-- ---- graphs ----

-- f(origin, n forked streams with an operation each), in a capture.
local function captured(n, f)
    return lab.graph(function()
        local origin, forked = lab.current_stream(), streams(n)
        for _, s in ipairs(forked) do
            s:wait_stream(origin)
            spin(s)
        end
        f(origin, forked)
    end)
end

local function join(origin, forked)
    for _, s in ipairs(forked) do origin:wait_stream(s) end
end

case("graph_nodes", 200, "nodes of a graph", function(n)
    local graph = lab.graph(function() for _ = 1, n do lab.spin(0.001) end end)
    graph:launch()
end)

case("graph_join", 100, "streams that a capture forks and joins", function(n)
    local graph = captured(n, function(origin, forked)
        join(origin, forked)
        lab.spin(0.001)
    end)
    graph:launch()
end)

case("graph_records", 100, "records and waits in a capture, behind as many nodes", function(n)
    captured(n, function(origin, forked)
        local e, behind = {}, stream()
        join(origin, forked)
        for i = 1, n do e[i] = origin:record_event() end
        for i = 1, n do behind:wait_event(e[i]) end
        origin:wait_stream(behind)
    end)
end)

case("graph_tree", 128, "streams that are joined by twos, and their joins", function(n)
    captured(n, function(origin, forked)
        local step = 1
        while step < n do
            for i = 1, n - step, 2 * step do forked[i]:wait_stream(forked[i + step]) end
            step = 2 * step
        end
        origin:wait_stream(forked[1])
    end)
end)

-- Two layers of k nodes with k * k edges between them.
local function layers(k)
    captured(k, function(origin, forked)
        join(origin, forked)
        for _, s in ipairs(forked) do
            s:wait_stream(origin)
            spin(s)
        end
        join(origin, forked)
    end)
end

case("graph_layers", 200, "edges of two layers of nodes that are fully joined",
    function(n) layers(math.floor(math.sqrt(n * 8))) end)

case("planted", 50, "nodes of such layers", layers)
cases[#cases].planted = true

case("graphs", 100, "graphs, launched and updated", function(n)
    local body = function() lab.spin(0.001) end
    local graphs = {}
    for i = 1, n do graphs[i] = lab.graph(body) end
    for _, graph in ipairs(graphs) do
        graph:launch(stream())
        graph:update(body)
    end
end)

case("graphs_beside_memory", 100, "tensors that are freed beside as many graphs", function(n)
    local x, graphs = {}, {}
    for i = 1, n do
        x[i] = lab.empty(4)
        graphs[i] = lab.graph(function() lab.spin(0.001) end)
        graphs[i]:launch()
    end
    for i = 1, n do x[i]:free() end
end)

-- With fewer the collector comes to the first events between n and 4n.
case("captures", 200, "captures that go on at the same time", function(n)
    local all = streams(n)
    for _, s in ipairs(all) do s:begin_capture() end
    for _, s in ipairs(all) do
        spin(s)
        s:wait_event(s:record_event())
    end
    for _, s in ipairs(all) do s:end_capture() end
end)

-- ---- communicators ----

local function comm_of_two()
    for i = 0, 1 do lab.open { backend = "sim", index = i } end
    local t = {}
    for i = 0, 1 do t[i + 1] = lab.ones(4, { device = "cuda:" .. i }) end
    return lab.comm { devices = { 0, 1 } }, t
end

local function stream_pairs(n)
    local made = {}
    for i = 1, n do
        made[i] = {}
        for k = 0, 1 do
            made[i][k + 1] = lab.stream { device = "cuda:" .. k, non_blocking = true }
        end
    end
    return made
end

case("group", 100, "all-reduces of one group", function(n)
    local comm, t = comm_of_two()
    comm:group(function() for _ = 1, n do comm:all_reduce(t) end end)
end)

case("group_by_rank", 100, "all-reduces of one group in as many streams, one rank after the other",
    function(n)
        local comm, t = comm_of_two()
        local s = stream_pairs(n)
        comm:group(function()
            for k = 1, 2 do
                for i = 1, n do comm:all_reduce(t[k], { stream = s[i][k] }) end
            end
        end)
    end)

case("group_nested", 100, "groups in a group", function(n)
    local comm, t = comm_of_two()
    comm:group(function()
        for _ = 1, n do comm:group(function() comm:all_reduce(t) end) end
    end)
end)

case("group_sends", 100, "sends and receives of one group, in as many streams", function(n)
    local comm, t = comm_of_two()
    local s = stream_pairs(n)
    comm:group(function()
        for i = 1, n do comm:send(t[1], { dst = 1, stream = s[i][1] }) end
        for i = 1, n do comm:recv(t[2], { src = 0, stream = s[i][2] }) end
    end)
end)

case("group_comms", 50, "communicators in one group", function(n)
    local comm, t = comm_of_two()
    local all = {}
    for i = 1, n do all[i] = lab.comm { devices = { 0, 1 } } end
    comm:group(function() for i = 1, n do all[i]:all_reduce(t) end end)
end)

case("collectives_pending", 50, "collectives that wait for the other rank", function(n)
    local comm, t = comm_of_two()
    local s = stream_pairs(n)
    for k = 1, 2 do
        for i = 1, n do comm:all_reduce(t[k], { stream = s[i][k] }) end
    end
end)

-- ---- the race checker ----

local function checked(name, n, says, run)
    case("races_" .. name, n, says .. ", under the race checker", function(count)
        lab.check("warn")
        run(count)
    end)
end

checked("streams", 200, "streams with a tensor each", function(n)
    local x = {}
    for i, s in ipairs(streams(n)) do
        x[i] = lab.empty(4)
        x[i]:fill_(1, { stream = s })
        x[i]:add(1, { stream = s })
    end
end)

checked("readers", 200, "streams that read one tensor, twice", function(n)
    local x, all = lab.ones(4), streams(n)
    lab.synchronize()
    for i = 1, n do lab.add(x, 1, { stream = all[i] }) end
    for i = n, 1, -1 do lab.add(x, 1, { stream = all[i] }) end
end)

-- Slots of streams that are gone are taken again, each 200 streams: when the collector comes by
-- itself depends on all that the program holds.
checked("chain", 800, "streams that follow each other", function(n)
    local x, last = lab.ones(4), stream()
    lab.synchronize()
    for i = 1, n do
        local s = stream()
        s:wait_stream(last)
        x:fill_(1, { stream = s })
        last = s
        if i % 200 == 0 then collectgarbage() end
    end
end)

checked("closed", 200, "streams that are closed", function(n)
    for _ = 1, n do
        local s = stream()
        spin(s)
        s:close()
    end
end)

checked("parts", 200, "parts of a tensor, from its end", function(n)
    local x, s = lab.ones(2 * n), stream()
    lab.synchronize()
    for i = n, 1, -1 do x:narrow(1, 2 * i, 1):fill_(1, { stream = s }) end
end)

checked("graph", 100, "nodes side by side that read one tensor", function(n)
    local x = lab.ones(4)
    lab.synchronize()
    local graph = captured(n, function(origin, forked)
        for _, s in ipairs(forked) do lab.add(x, 1, { stream = s }) end
        join(origin, forked)
    end)
    graph:launch()
end)

checked("group", 100, "all-reduces of one group in as many streams", function(n)
    local comm, t = comm_of_two()
    local s = stream_pairs(n)
    for i = 1, n do
        t[i] = { lab.ones(4, { device = "cuda:0" }), lab.ones(4, { device = "cuda:1" }) }
    end
    lab.synchronize()
    comm:group(function() for i = 1, n do comm:all_reduce(t[i], { streams = s[i] }) end end)
end)

-- ---- threads ----

case("threads", 20, "threads that work, use a stream and are joined late", function(n)
    local all = {}
    for i = 1, n do
        all[i] = lab.thread(function()
            local s <close> = lab.stream { non_blocking = true }
            for _ = 1, 5 do lab.host_work(0.01) end
            lab.spin(0.01, { stream = s })
            s:synchronize()
        end)
    end
    for i = n, 1, -1 do all[i]:join() end
end)

-- ---- timelines ----

case("timeline", 100, "operations of a timeline with many streams, explained", function(n)
    local timeline = lab.profile(function()
        local before = stream()
        for i = 1, n do
            local s = stream()
            s:wait_stream(before)
            spin(s)
            before = s
            if i % 10 == 0 then s:synchronize() end
        end
        lab.synchronize()
    end)
    timeline:explain()
    timeline:summary()
    timeline:causes()
end)

return cases
