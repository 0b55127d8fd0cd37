-- Events by batch instead of by slot, without times, in streams that are made in each call.

function pipeline(job)
    local slots, read = #job.x, { first = {}, second = {}, down = {} }
    local up, first, second, down = lab.stream(), lab.stream(), lab.stream(), lab.stream()
    local function mark(list, i, stream)
        list[i] = lab.event{ timing = false }
        list[i]:record(stream)
        return list[i]
    end
    for i, input in ipairs(job.input) do
        local k, before = (i - 1) % slots + 1, i - slots
        if read.first[before] then up:wait_event(read.first[before]) end
        job.x[k]:copy_(input, { non_blocking = true, stream = up })
        first:wait_event(up:record_event())
        if read.second[before] then first:wait_event(read.second[before]) end
        lab.with(first, job.first, job.x[k], job.y[k])
        second:wait_event(mark(read.first, i, first))
        if read.down[before] then second:wait_event(read.down[before]) end
        lab.with(second, job.second, job.y[k], job.z[k])
        down:wait_event(mark(read.second, i, second))
        job.output[i]:copy_(job.z[k], { non_blocking = true, stream = down })
        mark(read.down, i, down)
    end
    lab.synchronize()
    local values = {}
    for i = 1, #job.output do values[i] = job.output[i]:get(1) end
    return values
end
