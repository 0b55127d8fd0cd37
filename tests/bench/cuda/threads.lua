-- threads.lua - launches from several threads of the host, from Lua beside C. A section of
-- bench.lua.

local counts, launches = { 1, 2, 4, 8 }, 10000

-- In a thread: us a launch.
local function launch(count, x, out)
    local stream, pow, now = lab.stream { non_blocking = true }, lab.pow, lab.now_us
    local options = { out = out, stream = stream }
    pow(x, 3, options)
    local began = now()
    for _ = 1, count do pow(x, 3, options) end
    local us = (now() - began) / count
    stream:synchronize()
    return us
end

-- The mean of the threads' us a launch.
local function run_lua(lab, n, pairs_of_tensors)
    local threads, us = {}, 0
    for i = 1, n do
        threads[i] = lab.thread(launch, launches, pairs_of_tensors[i][1], pairs_of_tensors[i][2])
    end
    for i = 1, n do us = us + threads[i]:join() / n end
    return us
end

local function measure(b, n)
    local raw <close> = b.closing(b.raw.threads(n))
    local tensors, theirs, ours = {}, {}, {}
    for i = 1, n do tensors[i] = { b.lab.rand(1024), b.lab.empty(1024) } end
    for i = 0, b.size.runs do
        local left, right = raw.object:run(launches) / 1000, run_lua(b.lab, n, tensors)
        if i > 0 then theirs[i], ours[i] = left, right end
    end
    b.table:ratio(("%d thread%s"):format(n, n > 1 and "s" or ""), b.report.summary(theirs),
                  b.report.summary(ours), "us", nil)
end

return function(b)
    b.table:section("Threads", ([[
pow of 1024 elements, launched by 1 to 8 threads at the same time, each into a stream of its own,
%d times: what a launch takes each of them. Median of %d runs (least to largest), Lua and raw by
turns; each thread of Lua's is a lab.thread.]]):format(launches, b.size.runs),
        "raw CUDA C", "streamlab from Lua")
    for _, n in ipairs(counts) do measure(b, n) end
end
