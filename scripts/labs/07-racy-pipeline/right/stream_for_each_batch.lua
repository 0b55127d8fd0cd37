-- A stream for each batch that is on its way, more of them than slots: in its stream a batch is in
-- order by itself, and events stand for the buffers alone. In its own step a batch comes behind the
-- one before, so that two batches never share an engine.

function pipeline(job)
    local count, slots = #job.input, #job.x
    local streams, left_x, left_y, left_z = {}, {}, {}, {}
    for k = 1, math.min(count, 4) do streams[k] = lab.stream{ non_blocking = true } end
    for i = 1, count do
        local s, k, before = streams[(i - 1) % #streams + 1], (i - 1) % slots + 1, i - slots
        local function free(events)
            if events[before] then s:wait_event(events[before]) end
        end
        free(left_x)
        job.x[k]:copy_(job.input[i], { non_blocking = true, stream = s })
        free(left_y)
        if left_x[i - 1] then s:wait_event(left_x[i - 1]) end
        lab.with(s, job.first, job.x[k], job.y[k])
        left_x[i] = s:record_event()
        free(left_z)
        if left_y[i - 1] then s:wait_event(left_y[i - 1]) end
        lab.with(s, job.second, job.y[k], job.z[k])
        left_y[i] = s:record_event()
        job.output[i]:copy_(job.z[k], { non_blocking = true, stream = s })
        left_z[i] = s:record_event()
    end
    lab.synchronize()
    local values = {}
    for i, output in ipairs(job.output) do values[i] = output:get(1) end
    return values
end
