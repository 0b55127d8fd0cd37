-- Lab 8, The puzzler: what you start from. It is right, and nothing overlaps.
--
--   streamlab submission.lua   runs the example at the end of this file
--   streamlab lab check        runs the visible tests

-- Gets ready for run(); its time does not count, and no matmul or copy of the work belongs here.
-- work has
--   matrices    a list of square matrices on the GPU
--   wanted      how many of their squares, the first ones, are wanted on the CPU as well
--   to_cpu      a list of tensors on the GPU that are wanted on the CPU
--   to_gpu      a list of tensors on the CPU, in pageable memory, that are wanted on the GPU
-- Returns whatever run() needs.
function prepare(work)
    return { work = work }
end

-- Does all of the work; this is what is timed. May be called several times with the same plan.
-- Returns a table of four lists:
--   squares     matrices[i] times itself, on the GPU
--   wanted      the first squares, on the CPU
--   on_cpu      to_cpu[i], on the CPU
--   on_gpu      to_gpu[i], on the GPU
function run(plan)
    local work = plan.work
    local done = { squares = {}, wanted = {}, on_cpu = {}, on_gpu = {} }
    for i, matrix in ipairs(work.matrices) do done.squares[i] = lab.matmul(matrix, matrix) end
    for i = 1, work.wanted do done.wanted[i] = done.squares[i]:to("cpu") end
    for i, tensor in ipairs(work.to_cpu) do done.on_cpu[i] = tensor:to("cpu") end
    for i, tensor in ipairs(work.to_gpu) do done.on_gpu[i] = tensor:to("cuda") end
    return done
end

-- The example, about a fifth of the original puzzle. Not run when the file is graded.
if arg then
    local n, work = 1024, { matrices = {}, wanted = 40, to_cpu = {}, to_gpu = {} }
    for i = 1, 200 do work.matrices[i] = lab.rand(n, n) end
    for i = 1, 60 do work.to_cpu[i] = lab.rand(n, n) end
    for i = 1, 80 do work.to_gpu[i] = lab.rand(n, n, { device = "cpu" }) end
    lab.matmul(lab.ones(n, n), lab.ones(n, n))         -- warm-up: the first launch loads kernels
    lab.synchronize()

    local plan = prepare(work)
    lab.synchronize()
    lab.check("warn")                                   -- the race checker reports on stderr
    local tl = lab.profile(run, plan)
    tl:show()

    -- What each engine has to do at least: copies by pinned memory.
    local host, a = lab.ones(n, n, { device = "cpu", pinned = true }), lab.ones(n, n)
    local b = lab.empty(n, n)
    local function alone_us(count, f)
        f()                                            -- warm-up: the first launch loads kernels
        return count * lab.profile(f):busy_us()
    end
    local needed_us = {
        kernel = alone_us(#work.matrices, function() lab.matmul(a, a, { out = b }) end),
        memcpy_d2h = alone_us(#work.to_cpu + work.wanted, function() host:copy_(b) end),
        memcpy_h2d = alone_us(#work.to_gpu, function() b:copy_(host) end),
    }
    local busiest = "kernel"
    for kind, us in pairs(needed_us) do
        if us > needed_us[busiest] then busiest = kind end
    end
    local bound_us = needed_us[busiest]
    if bound_us > 0 then
        print(string.format("%.1f ms, %.2f times the %.1f ms that the busiest engine needs (%s); "
            .. "wanted: 1.08", tl.makespan_us / 1000, tl.makespan_us / bound_us, bound_us / 1000,
            busiest))
    end
    for _, pair in ipairs{ { "kernel", "memcpy_d2h" }, { "kernel", "memcpy_h2d" },
                           { "memcpy_d2h", "memcpy_h2d" } } do
        local least = math.min(tl:busy_us(pair[1]), tl:busy_us(pair[2]))
        if least > 0 then                               -- there are both
            local percent = 100 * tl:overlap_us(pair[1], pair[2]) / least
            print(string.format("%-10s beside %-10s %3.0f %% of the shorter one%s", pair[1],
                pair[2], percent, percent < 80 and "   <- still missing" or ""))
        end
    end
    print(#lab.races() == 0 and "Nothing races." or "Something races: see the reports.")
end
