-- fails: 1.3 1.4 2.1 2.2
-- Cut as finely as possible. Requests are answered at once, but each piece costs its launches and
-- its gap, and the launch queue fills.

local piece_bytes <const> = 4 << 20

function start(jobs)
    local uploads = lab.stream{name = "uploads"}
    local kernels = lab.stream{name = "kernels", priority = "low"}
    for _, job in ipairs(jobs) do
        local of = job.parts
        -- As many pieces for the upload as for the kernel, unless those are none or too large.
        local per_part = math.ceil(job.input:nbytes() / of / piece_bytes)
        local from, to = job.input:chunk(of), job.on_gpu:chunk(of)
        for part = 1, of do
            if from[part] then              -- chunk may give fewer parts than it was asked for
                local pieces, targets = from[part]:chunk(per_part), to[part]:chunk(per_part)
                for i, piece in ipairs(pieces) do
                    targets[i]:copy_(piece, {non_blocking = true, stream = uploads})
                end
            end
            kernels:wait_stream(uploads)
            job.run(part, of, kernels)
        end
    end
    return {urgent = lab.stream{name = "urgent", priority = "high"}}
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
