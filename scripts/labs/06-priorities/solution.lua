-- Kernels that can be cut are cut into pieces of a tenth of a millisecond, uploads into pieces of
-- 4 MiB at most, all from one stream, so that the engine never has more than one piece to do before
-- a request's copy. A kernel that cannot be cut gives way at its blocks' ends: that is what the
-- priority is for.

local piece_ms <const>, piece_bytes <const> = 0.1, 4 << 20

function start(jobs)
    local uploads = lab.stream{name = "uploads"}
    local kernels = lab.stream{name = "kernels", priority = "low"}
    for _, job in ipairs(jobs) do
        local of = math.max(1, math.min(job.parts, math.ceil(job.kernel_ms / piece_ms)))
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
