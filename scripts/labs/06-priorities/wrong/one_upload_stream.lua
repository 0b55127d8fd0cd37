-- fails: 1.4 2.1 2.2
-- Uploads are cut, but into pieces of one stream. The engine stays with a channel that has a copy
-- ready: to a request they are one copy of 512 MiB.

local piece_ms <const>, piece_bytes <const> = 0.4, 8 << 20

function start(jobs)
    local uploads = lab.stream{name = "uploads"}
    local kernels = lab.stream{name = "kernels", priority = "low"}
    local piece = piece_bytes // 4                      -- elements of a piece
    for _, job in ipairs(jobs) do
        local size, uploaded = job.input:numel(), 0
        local of = math.max(1, math.min(job.parts, math.ceil(job.kernel_ms / piece_ms)))
        for part = 1, of do
            local needed = math.min(size, part * math.ceil(size / of))
            while uploaded < needed do                  -- no more than this part needs
                local count = math.min(piece, size - uploaded)
                job.on_gpu:narrow(1, uploaded + 1, count):copy_(
                    job.input:narrow(1, uploaded + 1, count),
                    {non_blocking = true, stream = uploads})
                kernels:wait_stream(uploads)
                uploaded = uploaded + count
            end
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
