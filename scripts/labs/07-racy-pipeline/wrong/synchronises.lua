-- fails: 1.3 1.4 2.1 2.3
-- The host waits for each batch. That orders everything, and nothing overlaps.

local up, down = lab.stream{ name = "up" }, lab.stream{ name = "down" }
local first, second = lab.stream{ name = "first" }, lab.stream{ name = "second" }

function pipeline(job)
    local values = {}
    for i = 1, #job.input do
        local k = (i - 1) % #job.x + 1
        job.x[k]:copy_(job.input[i], { non_blocking = true, stream = up })
        first:wait_stream(up)
        lab.with(first, job.first, job.x[k], job.y[k])
        second:wait_stream(first)
        lab.with(second, job.second, job.y[k], job.z[k])
        down:wait_stream(second)
        job.output[i]:copy_(job.z[k], { non_blocking = true, stream = down })
        lab.synchronize()
        values[i] = job.output[i]:get(1)
    end
    return values
end
