-- observed_graphs.lua - the facts of docs/facts/graphs.lua when they are run; see observed.lua.

local observed = {}

local function pinned(n, value)
    return lab.full(value or 0, n, { device = "cpu", pinned = true })
end
local function pageable(n, value) return lab.full(value or 0, n, { device = "cpu" }) end

local exempt <const> = { non_blocking = true }

-- CUDA's name in the error of a capture of f, or "fine".
local function refusal(f, options)
    local fine, problem = pcall(lab.graph, f, options)
    return fine and "fine" or tostring(problem):match("cudaError%a+") or tostring(problem)
end

observed["graph-capture"] = function()
    local x = lab.zeros(4)
    local g = lab.graph(function() lab.add(x, lab.ones(4), { out = x }) end)
    local before = x:get(1)
    g:launch()
    return ("%g, then %g"):format(before, x:get(1)), "0, then 1"
end

observed["graph-addresses"] = function()
    local x, factor, y = lab.zeros(4), 10, nil
    local g = lab.graph(function() y = lab.mul(x, lab.full(factor, 4)) end)
    local seen = {}
    for value = 1, 2 do
        x:copy_(lab.full(value, 4))
        g:launch()
        seen[value] = y:get(1)
    end
    x, factor = lab.full(3, 4), 100
    g:launch()
    return ("%g %g %g, beside %g"):format(seen[1], seen[2], y:get(1), x:get(1) * factor),
        "10 20 20, beside 300"
end

observed["graph-edges"] = function()
    local main, side = lab.stream(exempt), lab.stream(exempt)
    local g = lab.graph(function()
        side:wait_stream(main)
        lab.spin(2, { stream = side })
        lab.spin(2)
        main:wait_stream(side)
    end, { stream = main })
    g:launch(main)
    lab.synchronize()
    local ms = lab.measure(function()
        lab.spin(2, { stream = main })
        g:launch(main)
        lab.spin(2, { stream = main })
    end, { reps = 3, warmup = 1 }).median_us / 1000
    return ("three rounds: %s"):format(ms > 5.5 and ms < 7.5), "three rounds: true"
end

observed["graph-waits"] = function()
    local s, x = lab.stream(), lab.ones(4)
    local seen = {}
    for i, f in ipairs{ function() s:synchronize() end, function() s:query() end,
                        lab.synchronize, function() lab.sum(x):item() end } do
        seen[i] = refusal(f, { stream = s })
    end
    local code <const> = "cudaErrorStreamCaptureUnsupported"
    return table.concat(seen, " "), table.concat({ code, code, code, code }, " ")
end

observed["graph-outside-event"] = function()
    local s, e = lab.stream(), lab.stream():record_event()
    return refusal(function() s:wait_event(e) end, { stream = s }),
        "cudaErrorStreamCaptureIsolation"
end

observed["graph-malloc"] = function()
    local kept = {}
    local function allocate() kept[#kept + 1] = lab.cuda.malloc(1024) end
    local seen = {}
    for i, mode in ipairs{ "global", "thread_local", "relaxed" } do
        seen[i] = refusal(allocate, { mode = mode })
    end
    for _, m in ipairs(kept) do lab.cuda.free(m) end
    local code <const> = "cudaErrorStreamCaptureUnsupported"
    return table.concat(seen, " "), table.concat({ code, code, "fine" }, " ")
end

observed["graph-threads"] = function()
    local e = lab.stream():record_event()
    lab.synchronize()
    local seen = {}
    for i, mode in ipairs{ "global", "thread_local" } do
        seen[i] = refusal(function()
            local th = lab.thread(function(event) return (pcall(event.query, event)) end, e)
            seen.answers = (seen.answers or "") .. " " .. tostring(th:join())
        end, { mode = mode })
    end
    return table.concat(seen, " ") .. seen.answers,
        "cudaErrorStreamCaptureUnsupported fine false true"
end

observed["graph-unjoined"] = function()
    local main, side = lab.stream(), lab.stream()
    local function fork(ms)
        return refusal(function()
            side:wait_stream(main)
            lab.spin(0)
            if ms then lab.spin(ms, { stream = side }) end
        end, { stream = main })
    end
    return fork() .. ", " .. fork(1), "fine, cudaErrorStreamCaptureUnjoined"
end

observed["graph-captured-event"] = function()
    local s, e, outside = lab.stream(), lab.event(), lab.stream():record_event()
    local g = lab.graph(function() lab.spin(0) e:record() end, { stream = s })
    g:launch(s)
    lab.synchronize()
    local seen = {}
    for i, f in ipairs{ function() e:query() end, function() e:synchronize() end,
                        function() outside:elapsed_time(e) end, function() s:wait_event(e) end } do
        local fine, problem = pcall(f)
        seen[i] = fine and "fine" or tostring(problem):match("cudaError%a+") or tostring(problem)
    end
    local code <const> = "cudaErrorInvalidValue"
    return table.concat(seen, " "), table.concat({ code, code, code, code }, " ")
end

observed["graph-one-at-a-time"] = function()
    local one, two = lab.stream(exempt), lab.stream(exempt)
    local graphs = {}
    for i = 1, 2 do graphs[i] = lab.graph(function() lab.spin(5) end, { stream = one }) end
    local function ms(first, second)
        return lab.measure(function()
            first:launch(one)
            second:launch(two)
        end, { reps = 3, warmup = 1 }).median_us / 1000
    end
    return ("one graph apart: %s, two graphs apart: %s"):format(ms(graphs[1], graphs[1]) > 9,
        ms(graphs[1], graphs[2]) > 9), "one graph apart: true, two graphs apart: false"
end

-- When a small grid is done that is launched in the middle of a long one.
local function done_ms(launch, stream, long, wave)
    lab.synchronize()
    lab.spin(0.25, { blocks = 40 * wave, threads = 1024, stream = long })
    lab.host_work(2.1)
    local start_us = lab.now_us()
    launch()
    stream:synchronize()
    local ms = (lab.now_us() - start_us) / 1000
    lab.synchronize()
    return ms
end

observed["graph-priority"] = function()
    local wave <const> = 2 * lab.device().sm_count
    local long, usual = lab.stream(exempt), lab.stream(exempt)
    local urgent = lab.stream{ non_blocking = true, priority = "high" }
    local function is_soon(captured, launched, priorities)
        local g = lab.graph(function()
            lab.spin(0.25, { blocks = wave, threads = 1024, stream = captured })
        end, { stream = captured, priorities = priorities })
        g:launch(launched)
        return done_ms(function() g:launch(launched) end, launched, long, wave) < 4
    end
    local seen = {}
    for _, priorities in ipairs{ false, true } do
        seen[#seen + 1] = tostring(is_soon(urgent, usual, priorities))
        seen[#seen + 1] = tostring(is_soon(usual, urgent, priorities))
    end
    return table.concat(seen, " "), "false true true false"
end

-- What a launch behind a kernel of 5 ms copies to the GPU, if the host writes the source after the
-- call.
local function copied(source)
    local s, x = lab.stream(exempt), lab.zeros(1024)
    local g = lab.graph(function() x:copy_(source, { non_blocking = true }) end, { stream = s })
    g:launch(s)
    lab.synchronize()
    source:fill_(5)
    lab.spin(5, { stream = s })
    g:launch(s)
    source:fill_(6)
    s:synchronize()
    return x:get(1)
end

observed["graph-pageable-source"] = function()
    return ("%g, pinned %g"):format(copied(pageable(1024)), copied(pinned(1024))), "5, pinned 6"
end

-- Whether the launch call of a copy to the CPU waits for the kernel in front of it.
local function launch_waits(target)
    local s, x = lab.stream(exempt), lab.ones(1024)
    local g = lab.graph(function()
        lab.spin(5)
        target:copy_(x, { non_blocking = true })
    end, { stream = s })
    g:launch(s)
    lab.synchronize()
    local start_us = lab.now_us()
    g:launch(s)
    local waited = lab.now_us() - start_us > 2500
    lab.synchronize()
    return waited
end

observed["graph-pageable-target"] = function()
    return ("%s, pinned %s"):format(launch_waits(pageable(1024)), launch_waits(pinned(1024))),
        "true, pinned false"
end

observed["graph-update"] = function()
    local a, b, sum = lab.ones(4), lab.full(2, 4), lab.zeros(4)
    local function adds(input, times)
        return function() for _ = 1, times do lab.add(sum, input, { out = sum }) end end
    end
    local g = lab.graph(adds(a, 2))
    local first, second = g:update(adds(b, 2)), g:update(adds(b, 3))
    g:launch()
    return ("%s %s %g"):format(first, second, sum:get(1)), "true false 4"
end

return observed
