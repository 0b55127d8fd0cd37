-- fails: 1.2 2.1 2.2
-- Cut as it should be, but "1 is the high priority": CUDA clamps 1 to 0, which is the lowest.

local piece_ms <const>, piece_bytes <const> = 0.4, 8 << 20

function start(jobs)
    local uploads = lab.stream{name = "uploads"}
    local kernels = lab.stream{name = "kernels", priority = 0}
    for _, job in ipairs(jobs) do
        local of = math.max(1, math.min(job.parts, math.ceil(job.kernel_ms / piece_ms)))
        local from, to = job.input:chunk(of), job.on_gpu:chunk(of)
        for part = 1, of do
            if from[part] then              -- chunk may give fewer parts than it was asked for
                local pieces = math.ceil(from[part]:nbytes() / piece_bytes)
                local sources, targets = from[part]:chunk(pieces), to[part]:chunk(pieces)
                for i, source in ipairs(sources) do
                    targets[i]:copy_(source, {non_blocking = true, stream = uploads})
                end
            end
            kernels:wait_stream(uploads)
            job.run(part, of, kernels)
        end
    end
    return {urgent = lab.stream{name = "urgent", priority = 1}}
end

function answer(state, request)
    local stream = state.urgent
    request.on_gpu:copy_(request.input, {non_blocking = true, stream = stream})
    request.run(stream)
    request.output:copy_(request.result, {non_blocking = true, stream = stream})
end

function finish(state)
    lab.synchronize()
end
