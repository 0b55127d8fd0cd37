-- Lab 4, pipelining a batch: what you start from. README.md has the task.
-- The results are right; but there is one stream, and never do two engines work at the same time.

-- Applies work(x, y), which writes y by x on the GPU, to the batch `input` in `chunks` chunks, and
-- puts the results into `output`. Both are pinned tensors of the host.
function map(input, output, chunks, work)
    local from, to = input:chunk(chunks), output:chunk(chunks)
    for i = 1, #from do
        local x = from[i]:to("cuda", { non_blocking = true })
        local y = lab.empty(x:size())
        work(x, y)
        to[i]:copy_(y, { non_blocking = true })
    end
    lab.synchronize()
end

-- The same with step(i, x, y), which also depends on the step before it.
function scan(input, output, chunks, step)
    local from, to = input:chunk(chunks), output:chunk(chunks)
    local x, y = lab.empty(from[1]:size()), lab.empty(from[1]:size())
    for i = 1, #from do
        x:copy_(from[i], { non_blocking = true })
        step(i, x, y)
        to[i]:copy_(y, { non_blocking = true })
    end
    lab.synchronize()
end

-- A good number of chunks, from 1 to 128, for map(input, output, chunks, work).
function choose(input, output, work)
    return 8
end

-- From here on an example, for `streamlab submission.lua`, this file's name when it is yours. The
-- tests do not run it.
if arg then
    local mib, chunks = 64, 8
    local input = lab.full(1, mib << 18, { device = "cpu", pinned = true })
    local output = lab.zeros(mib << 18, { device = "cpu", pinned = true })
    local most = 0

    local function busy(us)                     -- the whole GPU, so that two take turns
        lab.spin(us / 1000, { blocks = 2 * lab.device().sm_count, threads = 1024 })
    end
    local function work(x, y)
        most = math.max(most, lab.live().device_bytes >> 20)
        lab.mul(x, 3, { out = y })
        busy(19 * x:nbytes() / 2 ^ 20)
    end
    local order = {}
    local function step(i, x, y)
        table.insert(order, i)
        work(x, y)
    end

    local function report(name, f, argument, asked_mib)
        most = 0
        collectgarbage()                        -- what an earlier run has left does not count
        local before = lab.live().device_bytes >> 20
        local tl = lab.profile(f, input, output, chunks, argument)
        print(("%s: %.2f ms, %d stream%s, %d MiB of the GPU's memory"):format(name,
            tl.makespan_us / 1000, tl.stream_count, tl.stream_count == 1 and "" or "s",
            most - before))
        tl:show()
        print(("    copies up beside kernels: %.0f %%, beside copies down: %.0f %%"):format(
            100 * tl:overlap_us("memcpy_h2d", "kernel") / tl:busy_us("memcpy_h2d"),
            100 * tl:overlap_us("memcpy_h2d", "memcpy_d2h") / tl:busy_us("memcpy_h2d")))
        print(("    asked for: less than 1.8 ms, at most 3 streams and %d MiB, 65 %% and 60 %%\n")
            :format(asked_mib))
    end
    report("map", map, work, 48)
    report("scan", scan, step, 32)
    print("    order of the steps: " .. table.concat(order, " ") .. "\n")

    print("map by the number of chunks; choose says " .. choose(input, output, work))
    for e = 0, 7 do
        local tl = lab.profile(map, input, output, 1 << e, work)
        print(("%5d chunks %7.2f ms"):format(1 << e, tl.makespan_us / 1000))
    end
end
