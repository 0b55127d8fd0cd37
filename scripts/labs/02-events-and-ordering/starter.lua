-- Lab 2: events and ordering. Change the four functions: as they stand they give the right results,
-- one thing after the other. `streamlab submission.lua`, this file's name, shows how they do.

-- produce() gives a tensor x, prepare() another one, w; neither needs the other, and both shall run
-- at the same time. consume(x, w) needs both. Returns what consume gave, and waits for nothing.
function hand_over(produce, prepare, consume)
    local x = produce()
    local w = prepare()
    return consume(x, w)
end

-- source() gives a tensor x. Each function of the list `branches` makes a tensor of it, all at the
-- same time, each in a stream of its own. join gets the list of these tensors when all are done.
-- Returns what join gave, and waits for nothing.
function fan(source, branches, join)
    local x, results = source(), {}
    for i, branch in ipairs(branches) do
        results[i] = branch(x)
    end
    return join(results)
end

-- Runs the functions of the list `steps` in one stream, and returns the list of the milliseconds
-- that each took on the GPU. Waits once, when all have been issued, and for this stream alone.
function time_each(steps)
    local times = {}
    for i, step in ipairs(steps) do
        lab.synchronize()
        local from_us = lab.now_us()
        step()
        lab.synchronize()
        times[i] = (lab.now_us() - from_us) / 1000
    end
    return times
end

-- Round i, from 1 to count: produce(slot, i) fills a slot and consume(slot, i) reads it. The rounds
-- take the tensors of the list `slots` round-robin. Produces in one stream and consumes in another
-- one, at the same time. Returns the list of what consume gave, and waits for nothing.
function relay(slots, count, produce, consume)
    local results = {}
    for i = 1, count do
        local slot = slots[(i - 1) % #slots + 1]
        produce(slot, i)
        results[i] = consume(slot, i)
    end
    return results
end

-- What `streamlab submission.lua` shows. It is not run when the file is graded.
if arg then
    local big = lab.empty(32, 512, 512, { device = "cpu", pinned = true })
    local on_gpu = lab.empty(32, 512, 512)
    local function copy() on_gpu:copy_(big, { non_blocking = true }) end
    local function kernel(ms) return function() lab.spin(ms) end end

    -- Runs f(...), shows the chart, and says what is wrong with the order and the time.
    local function try(title, limit_ms, missing, f, ...)
        lab.check("warn")                       -- a race is reported as it is found
        local from_us, held_us = lab.now_us()
        local tl, result = lab.profile(function(...)
            from_us = lab.now_us()
            local result = f(...)
            held_us = lab.now_us() - from_us
            return result
        end, ...)
        print(("\n%s: %.2f ms, in which the call held the host for %.2f"):format(title,
            tl.makespan_us / 1000, held_us / 1000))
        tl:show()
        if #lab.races() > 0 then print("MISSING: an order. Two operations race, see the report") end
        if tl.makespan_us > 1000 * limit_ms then
            print(("MISSING: %s. It can be done in %.2f ms"):format(missing, limit_ms))
        end
        return result, held_us
    end
    local function expect(what, got, wanted)
        if got ~= wanted then print(("MISSING: %s is %s, not %s"):format(what, got, wanted)) end
    end
    local function expect_free(held_us)
        if held_us > 400 then print("MISSING: a host that waits for nothing") end
    end

    local x, w = lab.ones(4, 4), lab.ones(4, 4)
    local result, held_us = try("hand_over", 1.6, "two parts at once", hand_over,
        function() lab.spin(1) return x:fill_(7) end,
        function() copy() return w:fill_(6) end,
        function(a, b) lab.spin(0.5) return lab.mul(a, b) end)
    expect("the product of 7 and 6", result:get(1, 1), 42)
    expect_free(held_us)

    local function branch(input) lab.spin(0.8) return lab.mul(input, 2) end
    result, held_us = try("fan", 1.4, "the branches at once", fan,
        function() lab.spin(0.4) return x:fill_(5) end, { branch, branch, branch },
        function(parts) return lab.add(parts[1], lab.add(parts[2], parts[3])) end)
    expect("the sum of three times 10", result:get(1, 1), 30)
    expect_free(held_us)

    local times = try("time_each", 0.45, "steps without gaps: wait only once", time_each,
        { kernel(0.05), kernel(0.03), kernel(0.08), kernel(0.04), kernel(0.06), kernel(0.05),
          kernel(0.07), kernel(0.02) })
    for i, ms in ipairs{ 0.05, 0.03, 0.08, 0.04, 0.06, 0.05, 0.07, 0.02 } do
        print(("step %d: %.3f ms, a little more than %.2f expected"):format(i, times[i], ms))
    end

    local results
    results, held_us = try("relay", 3.2, "filling beside reading", relay,
        { lab.zeros(4, 4), lab.zeros(4, 4) }, 4,
        function(slot, i) copy() slot:fill_(i) end,
        function(slot) lab.spin(0.6) return lab.mul(slot, 10) end)
    for i = 1, 4 do expect("result " .. i, results[i]:get(1, 1), 10.0 * i) end
    expect_free(held_us)
    print("\nThe tests: streamlab lab check")
end
