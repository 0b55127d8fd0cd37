-- fails: 1.3 1.4 2.1 2.3
-- What the race checker proposes, taken by the letter: wait_stream waits for all that the other
-- stream holds now, and that includes the batch in the other slot. Right, and the second slot gains
-- next to nothing.

local up, down = lab.stream{ name = "up" }, lab.stream{ name = "down" }
local first, second = lab.stream{ name = "first" }, lab.stream{ name = "second" }

function pipeline(job)
    for i = 1, #job.input do
        local k = (i - 1) % #job.x + 1
        up:wait_stream(first)
        job.x[k]:copy_(job.input[i], { non_blocking = true, stream = up })
        first:wait_stream(up)
        first:wait_stream(second)
        lab.with(first, job.first, job.x[k], job.y[k])
        second:wait_stream(first)
        second:wait_stream(down)
        lab.with(second, job.second, job.y[k], job.z[k])
        down:wait_stream(second)
        job.output[i]:copy_(job.z[k], { non_blocking = true, stream = down })
    end
    down:synchronize()
    local values = {}
    for i, output in ipairs(job.output) do values[i] = output:get(1) end
    return values
end
