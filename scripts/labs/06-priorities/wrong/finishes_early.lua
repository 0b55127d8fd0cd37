-- fails: 1.1 1.2 1.3 2.1 2.2 2.3
-- All is cut as it should be, and `finish` waits for the requests alone.

local piece_ms <const> = 0.4

function start(jobs)
    local uploads = lab.stream{ name = "uploads" }
    local kernels = lab.stream{ name = "kernels", priority = "low" }
    for _, job in ipairs(jobs) do
        job.on_gpu:copy_(job.input, { non_blocking = true, stream = uploads })
        kernels:wait_stream(uploads)
        local of = math.max(1, math.min(job.parts, math.ceil(job.kernel_ms / piece_ms)))
        for part = 1, of do job.run(part, of, kernels) end
    end
    return { urgent = lab.stream{ name = "urgent", priority = "high" } }
end

function answer(state, request)
    local stream = state.urgent
    request.on_gpu:copy_(request.input, { non_blocking = true, stream = stream })
    request.run(stream)
    request.output:copy_(request.result, { non_blocking = true, stream = stream })
end

function finish(state)
    state.urgent:synchronize()
end
