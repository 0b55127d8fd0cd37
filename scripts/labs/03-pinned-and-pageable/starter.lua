-- Lab 3, pinned and pageable memory: what you start from. README.md has the task.
-- Everything here gives the right results, and all of it takes too long. `times` and `count` are
-- at least 1.

-- For i = 1 to `times`: copies `source`, pageable memory of the host, to the GPU as x, and calls
-- work(i, x), which overwrites x.
function feed(source, times, work)
    local x = lab.empty(source:numel())
    for i = 1, times do
        x:copy_(source, { non_blocking = true })
        work(i, x)
    end
end

-- For i = 1 to `count`: lets the host's load(i, buffer) fill `size` elements of host memory,
-- copies them to the GPU, and calls work(i, x) for the copy x.
function stage(count, size, load, work)
    local x = lab.empty(size)
    for i = 1, count do
        local buffer = lab.empty(size, { device = "cpu" })
        load(i, buffer)
        x:copy_(buffer)
        work(i, x)
    end
end

-- For i = 1 to `count`: gets a result of `size` elements by make(i), which is on the GPU, copies
-- it to the host, and calls the host's use(i, buffer) for the copy.
function collect(count, size, make, use)
    for i = 1, count do
        use(i, make(i):to("cpu"))
    end
end

-- From here on an example, for `streamlab submission.lua`, this file's name when it is yours. The
-- tests do not run it.
if arg then
    local size, count, pinned = 2 ^ 20, 6, {}               -- 4 MiB each
    local host_ms, gpu_ms = 0.4, 0.32

    local function work() lab.spin(gpu_ms) end
    local function load(i, buffer)
        pinned.stage = buffer.pinned
        lab.host_work(host_ms)
        buffer:set(1, i)
    end
    local y = lab.empty(size)
    local function make(i)
        lab.spin(gpu_ms)
        return y:fill_(i)
    end
    local right = true
    local function use(i, buffer)
        pinned.collect = buffer.pinned
        right = right and buffer:get(1) == i
        lab.host_work(host_ms)
    end

    local source = lab.ones(size, { device = "cpu" })
    for _, times in ipairs{ 1, 24 } do
        local tl = lab.profile(feed, source, times, function() lab.spin(0.01) end)
        print(("feed, %s: %.2f ms, the source is %s afterwards"):format(
            times == 1 and "once" or times .. " times",
            tl.wall_us / 1000, source.pinned and "PINNED" or "pageable"))
    end
    print("    asked for: once about 0.3 ms, 24 times less than 4 ms\n")

    local function report(name, tl)
        print(("%s: %.2f ms, its buffers are %s"):format(name, tl.makespan_us / 1000,
            pinned[name] and "pinned" or "PAGEABLE"))
        tl:show()
        print(("    asked for: hardly more than %.1f ms; host and GPU at the same time\n")
            :format(count * host_ms + 0.4))
    end
    report("stage", lab.profile(stage, count, size, load, work))
    report("collect", lab.profile(collect, count, size, make, use))
    print("collect: what `use` read was " .. (right and "right" or "WRONG"))
end
