-- Lab 7: three waits on the way down, for data, and three on the way back, for free buffers.

local up, down = lab.stream{ name = "up" }, lab.stream{ name = "down" }
local first, second = lab.stream{ name = "first" }, lab.stream{ name = "second" }

function pipeline(job)
    -- x_read[k] happens when the first stage has read x[k] for the last time so far, and so on.
    local x_read, y_read, z_read = {}, {}, {}
    for i = 1, #job.input do
        local k = (i - 1) % #job.x + 1
        if x_read[k] then up:wait_event(x_read[k]) end
        job.x[k]:copy_(job.input[i], { non_blocking = true, stream = up })

        first:wait_stream(up)
        if y_read[k] then first:wait_event(y_read[k]) end
        lab.with(first, job.first, job.x[k], job.y[k])
        x_read[k] = first:record_event()        -- the same event says that y[k] is written

        second:wait_event(x_read[k])
        if z_read[k] then second:wait_event(z_read[k]) end
        lab.with(second, job.second, job.y[k], job.z[k])
        y_read[k] = second:record_event()

        down:wait_event(y_read[k])
        job.output[i]:copy_(job.z[k], { non_blocking = true, stream = down })
        z_read[k] = down:record_event()
    end

    down:synchronize()                          -- the last download is behind all else
    local values = {}
    for i, output in ipairs(job.output) do values[i] = output:get(1) end
    return values
end
