-- What both files of tests use: pieces of work to hand to the student's functions, and a recording
-- that also knows how long the host was held.

local common = {}

-- A function that keeps the current stream busy for some ms, then makes a tensor of one value.
function common.work(ms, value)
    return function()
        lab.spin(ms)
        return lab.full(value, 4, 4)
    end
end

-- The same by `count` products of 2048 x 2048: kernels of another name, that need the whole GPU.
function common.products(count, value)
    local a, out = lab.empty(2048, 2048), lab.empty(2048, 2048)
    return function()
        for _ = 1, count do lab.matmul(a, a, { out = out }) end
        return lab.full(value, 4, 4)
    end
end

-- A function that copies some MiB to the GPU, and returns a small tensor that it copies as well.
function common.upload(mib, value)
    local pinned = { device = "cpu", pinned = true }
    local big, there = lab.empty(mib, 512, 512, pinned), lab.empty(mib, 512, 512)
    local small, result = lab.full(value, 4, 4, pinned), lab.empty(4, 4)
    return function()
        there:copy_(big, { non_blocking = true })
        return result:copy_(small, { non_blocking = true })
    end
end

-- Warm-up: runs each function once, unrecorded. On a real GPU the first launch loads the kernel,
-- and the first pinned memory takes longer.
function common.warm_up(...)
    for _, f in ipairs{ ... } do f() end
    local squares = lab.mul(lab.ones(32, 32), lab.ones(32, 32))
    squares:cpu()
    local pinned = squares:cpu{ non_blocking = true }
    lab.synchronize()
    pinned:free()
end

-- Gives the timeline of f(...), for which percentage of its makespan the call held the host, and
-- what it returned.
function common.profile(f, ...)
    local function timed(from_us, ...) return lab.now_us() - from_us, ... end
    local function keep(tl, held_us, ...) return tl, 100 * held_us / tl.makespan_us, ... end
    return keep(lab.profile(function(...) return timed(lab.now_us(), f(...)) end, ...))
end

-- Asserts that the host was free: no call waited for long, and all of them together took little.
-- A real host needs some us for each call, and is interrupted now and then.
function common.host_is_free(t, tl, held_percent, at_most_percent)
    local in_all_percent = tl.simulated and at_most_percent or math.max(60, at_most_percent)
    return t:host_block(tl, { at_most_percent = at_most_percent,
                              gpu_at_most_percent = math.max(40, at_most_percent) })
        and t:at_most(held_percent, in_all_percent,
                      "percent of the makespan in which the call held the host")
end

-- The element r, c of what fetch gave, at this moment; of anything else than a tensor of the host
-- what it is.
function common.element(got, r, c)
    if type(got) ~= "userdata" then return "no tensor" end
    return got.device == "cpu" and got:get(r, c) or "a tensor on the GPU, not on the host"
end

return common
