-- A kernel that can be cut is cut into pieces of 0.4 ms, so that never more than one piece is in
-- front of a request: a running block is not stopped. A kernel that cannot be cut gives way where
-- its blocks end: that is what the priority is for. The uploads are short, and stay as they are.

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
    lab.synchronize()
end
