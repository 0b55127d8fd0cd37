-- fails: 1.3 2.1 2.2 2.3
-- The highest priority for requests, and nothing else: a block that runs does not give way.

function start(jobs)
    for i, job in ipairs(jobs) do
        local stream = lab.stream{ name = "job " .. i, priority = "low" }
        job.on_gpu:copy_(job.input, { non_blocking = true, stream = stream })
        job.run(1, 1, stream)               -- part 1 of 1: the whole kernel
    end
    return { requests = lab.stream{ name = "requests", priority = "high" } }
end

function answer(state, request)
    local stream = state.requests
    request.on_gpu:copy_(request.input, { non_blocking = true, stream = stream })
    request.run(stream)
    request.output:copy_(request.result, { non_blocking = true, stream = stream })
end

function finish(state)
    lab.synchronize()
end
